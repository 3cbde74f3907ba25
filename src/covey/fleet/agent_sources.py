"""The sources of one agent (hooks, files, title, screen, process), each read as claims about its state."""

from __future__ import annotations

import logging
import re
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from covey.agents.json_values import json_object
from covey.agents.registry import INTEGRATIONS, SIGNALS, TURN_STORES, TURNS
from covey.agents.signals.signals import SESSION_STARTED, Level, Notice
from covey.agents.signals.sources import Pauses, find, follow, last_lines, owner
from covey.agents.turns import reply_in
from covey.fleet.state.model import DERIVED, PROCESS, SEEN, SURE, Claim
from covey.kernel.backoff import BackOff
from covey.kernel.time_limit import TooLongError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterable

    from covey.agents.screens.adapter import Adapter
    from covey.agents.screens.patterns import Reading
    from covey.agents.signals.signals import HookReader, Source
    from covey.agents.turns import Turn
    from covey.fleet.watch.runtimes import Runtime
    from covey.kernel.clock import Clock
    from covey.kernel.tasks import Tasks

    Report = Callable[["AgentSources", str, Claim | None, str, float], object]
    """Called with the agent, the source, its claim (None: the source withdraws its last one), a key under which the
    same claim is applied only once, and when it happened."""

ONLY_ON_SCREEN = frozenset({"compacting", "background_agents"})
"""Reasons that only the screen shows, and reliably: a title or a footer that says otherwise is wrong."""
BLIND_S = 1.0
"""A screen that cannot be read for this long is not understood; before that it may be a frame that is half drawn."""
STARTING_S = 30.0
"""An agent whose screen could never be read is starting until it is this old."""
FIRST_REST_S, LONGEST_REST_S = 2.0, 60.0
"""Between two attempts to read what took too long, so that it costs the daemon little however often it is drawn."""
STARTING, NOT_UNDERSTOOD = "starting", "unsupported_signal"
"""Reasons of a state that is unknown because the screen cannot be read."""
TRANSCRIPT = "transcript"
"""The name of the file that holds a conversation."""
TURNS_BYTES = 4_000_000
"""At the end of a transcript, from which turns are read."""
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""Most agents have the id of a conversation in the path of its transcript."""
SGR = re.compile(r"\x1b\[[0-9;:]*m|\x1b\]8;[^\x1b\x07]*(?:\x1b\\|\x07)|[\x0e\x0f]|\x1b\([0B]")
"""The escape sequences that colour a screen and mark its links."""

log = logging.getLogger("covey.fleet")


class AgentSources:
    """The sources of one runtime.

    Hooks are returned as notices; title, screen, process and files are passed to `report` when their claims change.
    A runtime that is not `here` has only its process, title and screen: its files are on another machine.
    """

    def __init__(
        self,
        runtime: Runtime,
        adapter: Adapter,
        report: Report,
        clock: Clock,
        tasks: Tasks,
        *,
        here: bool = True,
        levels: Iterable[Claim] = (),
    ) -> None:
        """`levels` are the claims that the last daemon knew: what has not changed since is not reported again."""
        self.runtime = runtime
        self.adapter = adapter
        self.version = ""
        """Of the agent, as far as it is known."""
        self.last_reply = (0.0, "")
        """What a hook delivered at the end of a turn, and when."""
        self._signals = SIGNALS.get(adapter.name) if here else None
        self._hooks: HookReader | None = self._signals.hooks() if self._signals else None
        self._report = report
        self._clock = clock
        self._levels = {claim.source: claim for claim in levels}
        self._drawn: tuple[str, str] | None = None
        self._reading: Reading | None = None
        self._unread_since: float | None = None
        self._was_read = "screen" in self._levels
        self._unread_check: asyncio.Task[None] | None = None
        self._rest: asyncio.Task[None] | None = None
        self._rests = BackOff(FIRST_REST_S, LONGEST_REST_S, jitter=False)
        self._session = ""
        self._is_session_verified = False
        self._pauses = Pauses()
        self._tasks = tasks
        self._files: dict[tuple[str, str], asyncio.Task[None]] = {}
        self.on_version: Callable[[str], None] = lambda _: None
        """Called with the version that one of the agent's files names."""

    def use_version(self, version: str, now: float) -> None:
        """Read the agent with the patterns of its version, and report again what was read without knowing it."""
        before = self.adapter.caveat
        self.version = version
        self.adapter = self.adapter.at(version)
        drawn = self._drawn
        self._drawn = None
        for source, claim in self._levels.items() if self.adapter.caveat != before else ():
            self._report(self, source, claim, f"{source} {now} {version}", now)
        if drawn is not None:
            self.on_screen(*drawn, now)

    def start(self) -> None:
        """Follow the files that the agent writes."""
        self._follow_files()

    def stop(self) -> None:
        """Stop following files, and the timer of an unread screen."""
        for task in self._files.values():
            task.cancel()
        self._files.clear()
        self._stop_unread_check()
        if self._rest is not None:
            self._rest.cancel()

    def on_hook(
        self, payload: object, at: float, delivery_id: str = "", *, verified: bool = True, only_claimed: bool = False
    ) -> list[Notice]:
        """Return what one of the agent's hooks says, under the id of its delivery if it has one.

        What is `only_claimed` names no conversation whose files are followed.
        """
        notices = self._hooks.normalise(payload, at) if self._hooks else []
        if reply := reply_in(payload):
            self.last_reply = (at, reply)
        if delivery_id:
            notices = [replace(notice, dedupe_key=f"{delivery_id}/{number}") for number, notice in enumerate(notices)]
        for notice in () if only_claimed else notices:
            self._follow_session(notice, verified=verified)
        return notices

    def on_suspended(self, now: float, *, suspended: bool) -> None:
        """Report that the process was stopped or continued. Nothing else that is known of a stopped agent is true."""
        claim = None
        if suspended:
            claim = Claim(
                source=PROCESS,
                state="unknown",
                at=now,
                level=True,
                strength=SURE,
                reason="suspended",
                detail="it is suspended; fg in its shell continues it",
                evidence="its process is stopped",
            )
            self._unread_since = None
            self._stop_unread_check()
        self._level(PROCESS, claim, now)

    def knows_event(self, payload: object) -> bool:
        """Return whether the event that a hook delivered is known by its name; one without a name counts as known."""
        found = json_object(payload)
        name = found.get("hook_event_name") or found.get("hookName")
        known = self._signals.events if self._signals else frozenset()
        return not name or not known or name in known or name in INTEGRATIONS[self.adapter.name].events

    @property
    def reports_itself(self) -> bool:
        """Whether the agent has hooks or files that are read here."""
        return self._signals is not None

    @property
    def followed_files(self) -> set[str]:
        """The names of the agent's files that are followed, e.g. `transcript`."""
        return {name for name, _ in self._files}

    def turns(self) -> list[Turn] | None:
        """Return the last turns of the conversation, the oldest first; None if they cannot be read. It reads files."""
        reader, (_, path) = TURNS.get(self.adapter.name), self.conversation()
        return reader().read(last_lines(path, TURNS_BYTES)) if reader and path else None

    def conversation(self) -> tuple[str, str]:
        """Return the id of the conversation and the file that holds it; each is empty if it is not known."""
        if self._signals is None:
            return "", ""
        process = owner(self.runtime.pid, ticks=self.runtime.process_started, began=self.runtime.started_at)
        if store := TURN_STORES.get(self.adapter.name):
            return self._session, store.file_of(process) if self._session else ""
        for source in self._signals.sources(process, self._session):
            if source.name == TRANSCRIPT and (path := find(source, process)):
                return self._session or (UUID.findall(path) or [""])[-1], path
        return self._session, ""

    def on_title(self, title: str, now: float) -> None:
        """Report what the title of the pane says, if that has changed."""
        reading = self._understood(partial(self.adapter.read_title, title))
        self._level("title", _claim("title", reading, DERIVED, now) if reading else None, now)

    @property
    def shows_running(self) -> bool:
        """Whether the screen showed a running agent when it was last read."""
        return self._reading is not None and self._reading.state == "running"

    def on_screen(self, escapes: str, title: str, now: float) -> None:
        """Report what the pane shows (given with its colours), if that means something else than before."""
        if self._drawn != (escapes, title):
            self._drawn = (escapes, title)
            read = partial(self.adapter.read_screen, without_escapes(escapes), escapes, title)
            self._reading = self._understood(read)
        elif self._reading is not None:
            return  # most captures are equal to the last one
        if self._reading is None:
            self._unread_since = now if self._unread_since is None else self._unread_since
            self._unread(now)
            return
        self._unread_since = None
        self._was_read = True
        self._stop_unread_check()
        strength = SURE if self._reading.dialog or self._reading.reason in ONLY_ON_SCREEN else SEEN
        self._level("screen", _claim("screen", self._reading, strength, now), now)

    def _understood(self, read: Callable[[], Reading | None]) -> Reading | None:
        """Return what a screen or title means. One that takes too long is not understood, and nothing for a while."""
        if self._rest is not None:
            return None
        try:
            return read()
        except TooLongError:
            rest_s = self._rests.fail()
            log.warning(
                "reading what an agent shows took too long",
                extra={"agent": self.adapter.name, "runtime": self.runtime.runtime_id, "next_attempt_s": rest_s},
            )
            self._rest = self._tasks.spawn("rest after a screen that took too long", self._read_later(rest_s))
            return None

    async def _read_later(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        self._rest = None
        drawn = self._drawn
        self._drawn = None
        if drawn is not None:
            self.on_screen(*drawn, self._clock.time())

    def _unread(self, now: float) -> None:
        """Claim that the state is unknown while the screen cannot be read.

        A pane that does not change is not captured again, so a timer ends the grace period.
        """
        assert self._unread_since is not None
        waits = self._unread_since + BLIND_S - now
        if not self._was_read and (starting := self.runtime.started_at + STARTING_S - now) > 0:
            self._level("screen", self._unknown(STARTING, "it has drawn nothing that can be read yet", now), now)
            waits = starting
        elif waits <= 0:
            self._level(
                "screen", self._unknown(NOT_UNDERSTOOD, f"its screen is not understood ({self._named})", now), now
            )
        if waits > 0 and self._unread_check is None:
            self._unread_check = self._tasks.spawn("timer of an unread screen", self._check_unread(waits))

    async def _check_unread(self, waits: float) -> None:
        await self._clock.sleep(waits)
        self._unread_check = None
        if self._unread_since is not None:
            self._unread(self._clock.time())

    def _stop_unread_check(self) -> None:
        if self._unread_check is not None:
            self._unread_check.cancel()
            self._unread_check = None

    @property
    def _named(self) -> str:
        """The agent, with its version where that is known."""
        return f"{self.adapter.title} {self.version}".strip()

    def _unknown(self, reason: str, detail: str, now: float) -> Claim:
        return Claim(
            source="screen",
            state="unknown",
            at=now,
            level=True,
            strength=SEEN,
            reason=reason,
            detail=detail,
            evidence="no rule holds",
        )

    def _level(self, source: str, claim: Claim | None, now: float) -> None:
        """Report a level that has changed its meaning; it may be drawn differently with the same meaning."""
        before = self._levels.get(source)
        if claim is None:
            if before is not None:
                del self._levels[source]
                self._report(self, source, None, f"{source} {now}", now)
            return
        if before is not None:
            if _meaning(before) == _meaning(claim):
                return
            same = before.state == claim.state
            claim = replace(
                claim, at=before.at if same else claim.at, previous=before.previous if same else before.state
            )
        self._levels[source] = claim
        self._pauses.look_closely()
        self._report(self, source, claim, f"{source} {now}", now)

    def _follow_session(self, notice: Notice, *, verified: bool = True) -> None:
        """Follow the files of the conversation that a notice names, if it is the first one or has just begun.

        One that is followed because an unverified hook named it gives way to what a verified one names.
        """
        is_known = self._session and (self._is_session_verified or not verified)
        if notice.session_id and (notice.kind == SESSION_STARTED or not is_known):
            self._use_session(notice.session_id, verified=verified)

    def _use_session(self, session: str, *, verified: bool = True) -> None:
        self._is_session_verified = verified or (session == self._session and self._is_session_verified)
        if session != self._session:
            self._session = session
            self._follow_files()

    def _follow_files(self) -> None:
        """Follow the files of the present conversation, and no others."""
        if self._signals is None:
            return
        process = owner(self.runtime.pid, ticks=self.runtime.process_started, began=self.runtime.started_at)
        wanted = {(source.name, source.pattern): source for source in self._signals.sources(process, self._session)}
        for key in [key for key in self._files if key not in wanted]:
            self._files.pop(key).cancel()
        for key, source in wanted.items():
            if key not in self._files:
                self._files[key] = self._tasks.keep(f"{source.name} of an agent", partial(self._follow, source))

    async def _follow(self, source: Source) -> None:
        """Report what one file says, until cancelled."""
        process = owner(self.runtime.pid, ticks=self.runtime.process_started, began=self.runtime.started_at)
        try:
            async for entry in follow(source, process, self._clock.time, self._pauses):
                self._on_file(source.name, entry)
        except Exception:
            log.warning(
                "following a file of an agent failed",
                extra={"source": source.name, "runtime": self.runtime.runtime_id},
            )
            raise

    def _on_file(self, source: str, entry: Notice | Level | None) -> None:
        """Report one entry of a file. None: the file is gone."""
        if isinstance(entry, Notice):
            self._follow_session(entry)
            if (claim := entry.claim(source)) is not None:
                self._report(self, source, claim, notice_key(source, entry), entry.at)
        elif isinstance(entry, Level):
            if entry.version and entry.version != self.version:
                self.on_version(entry.version)
            if entry.session_id:
                self._use_session(entry.session_id)
            key = f"{source} {entry.at} {entry.state} {entry.reason}"
            self._report(self, source, entry.claim(source), key, entry.at)
        else:
            self._report(self, source, None, f"{source} {self._clock.time()}", self._clock.time())


def notice_key(source: str, notice: Notice) -> str:
    """Return the key under which a notice is applied only once."""
    return notice.dedupe_key or f"{source} {notice.at}"


def _claim(source: str, reading: Reading, strength: int, now: float) -> Claim:
    return Claim(
        source=source,
        state=reading.state,
        at=now,
        level=True,
        strength=strength,
        reason=reading.reason,
        detail=reading.detail,
        evidence=f"{source} {reading.evidence}",
    )


def _meaning(claim: Claim) -> tuple[str, str, str, int]:
    """Return what makes one level differ from another."""
    return claim.state, claim.reason, claim.detail, claim.strength


def without_escapes(escapes: str) -> str:
    """Return a screen without its colours and links."""
    return SGR.sub("", escapes) if "\x1b" in escapes or "\x0e" in escapes else escapes
