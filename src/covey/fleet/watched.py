"""One agent under observation: everything that says something about it becomes claims, each from its own source."""

from __future__ import annotations

import asyncio
import logging
import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from covey.agents.json_values import json_object
from covey.agents.registry import INTEGRATIONS, SIGNALS
from covey.agents.signals.signals import SESSION_STARTED, Level, Notice
from covey.agents.signals.sources import Pauses, follow, owner
from covey.fleet.model import DERIVED, PROCESS, SEEN, SURE, Claim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from covey.agents.screens.adapter import Adapter
    from covey.agents.screens.patterns import Reading
    from covey.agents.signals.signals import HookReader, Source
    from covey.fleet.runtimes import Runtime
    from covey.kernel.clock import Clock

    Say = Callable[[str, Claim | None, str, float], asyncio.Future[bool] | None]
    """Told: the source, what it claims (None: nothing any more), a key under which the same is never told twice, and when it happened. If it is news:
    whether it is in the journal, as soon as that is known."""

PLAIN = frozenset({"compacting", "background_agents"})
"""What only the screen tells, and plainly: a title or a footer that says otherwise is wrong."""
BLIND_S = 1.0
"""A screen that cannot be read for this long is not understood; a shorter while is a frame that was half drawn."""
STARTING_S = 30.0
"""An agent whose screen could never be read is starting until it is this old."""
STARTING, NOT_UNDERSTOOD = "starting", "unsupported_signal"
"""Reasons of a state that is unknown because the screen cannot be read."""
SGR = re.compile(r"\x1b\[[0-9;:]*m|\x1b\]8;[^\x1b\x07]*(?:\x1b\\|\x07)|[\x0e\x0f]|\x1b\([0B]")
"""What colours a screen and marks its links."""

log = logging.getLogger("covey.fleet")


class Watched:
    """The sources of one runtime. One that is not `here` has only its title and its screen: its files are on another machine."""

    def __init__(
        self,
        runtime: Runtime,
        adapter: Adapter,
        say: Say,
        clock: Clock,
        *,
        here: bool = True,
        levels: Iterable[Claim] = (),
    ) -> None:
        """`levels` are those that the last daemon knew: what has not changed since is not told again."""
        self.runtime = runtime
        self.adapter = adapter
        self.version = ""
        """Of the agent, as far as it is known."""
        self._signals = SIGNALS.get(adapter.name) if here else None
        self._hooks: HookReader | None = self._signals.hooks() if self._signals else None
        self._say = say
        self._clock = clock
        self._levels = {claim.source: claim for claim in levels}
        self._drawn: tuple[str, str] | None = None
        self._reading: Reading | None = None
        self._unread_since: float | None = None
        self._was_read = "screen" in self._levels
        self._unread_check: asyncio.Task[None] | None = None
        self._session = ""
        self._pauses = Pauses()
        self._tasks: dict[tuple[str, str], asyncio.Task[None]] = {}
        self.on_version: Callable[[str], None] = lambda _: None
        """Called with the version that one of the agent's files names."""

    def use_version(self, version: str, now: float) -> None:
        """Read the agent with the patterns of its version, and tell again what was told without knowing it."""
        before = self.adapter.caveat
        self.version, self.adapter = version, self.adapter.at(version)
        drawn, self._drawn = self._drawn, None
        for source, claim in self._levels.items() if self.adapter.caveat != before else ():
            self._say(source, claim, f"{source} {now} {version}", now)
        if drawn is not None:
            self.screen(*drawn, now)

    def start(self) -> None:
        """Follow the files that the agent writes."""
        self._follow_files()

    def stop(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        self._tasks.clear()
        self._stop_unread_check()

    def hook(self, payload: object, at: float, key: str = "") -> asyncio.Future[bool] | None:
        """Take in what one of its hooks delivered, under that key if it has one. Whether it is in the journal, as soon as that is known; None: it is no news."""
        said = None
        for number, notice in enumerate(self._hooks.normalise(payload, at) if self._hooks else ()):
            said = self._heard("hook", replace(notice, dedupe_key=f"{key}/{number}") if key else notice) or said
        return said

    def suspend(self, now: float, *, suspended: bool) -> None:
        """The process was stopped, or goes on. Nothing else that is known of a stopped agent is true now."""
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

    def knows(self, payload: object) -> bool:
        """Whether the event that a hook delivered is known by its name; what has no name is left to whoever reads it."""
        said = json_object(payload)
        name = said.get("hook_event_name") or said.get("hookName")
        known = self._signals.events if self._signals else frozenset()
        return not name or not known or name in known or name in INTEGRATIONS[self.adapter.name].events

    @property
    def sources(self) -> set[str]:
        """The files of the agent that are followed."""
        return {name for name, _ in self._tasks}

    def title(self, title: str, now: float) -> None:
        reading = self.adapter.read_title(title)
        self._level("title", _claim("title", reading, DERIVED, now) if reading else None, now)

    @property
    def works(self) -> bool:
        """Whether the screen showed an agent that works when it was last read."""
        return self._reading is not None and self._reading.state == "running"

    def screen(self, escapes: str, title: str, now: float) -> None:
        """Take in what the pane shows, with its colours."""
        if self._drawn != (escapes, title):
            self._drawn, self._reading = (escapes, title), self.adapter.read_screen(_plain(escapes), escapes, title)
        elif self._reading is not None:
            return  # most looks find what the last one found
        if self._reading is None:
            self._unread_since = now if self._unread_since is None else self._unread_since
            self._unread(now)
            return
        self._unread_since, self._was_read = None, True
        self._stop_unread_check()
        strength = SURE if self._reading.dialog or self._reading.reason in PLAIN else SEEN
        self._level("screen", _claim("screen", self._reading, strength, now), now)

    def _unread(self, now: float) -> None:
        """Claim that the state is unknown while the screen cannot be read. A pane that stands still is not looked at again, so a timer ends the grace."""
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
            self._unread_check = asyncio.create_task(
                self._check_unread(waits), name=f"unread screen of {self.runtime.runtime_id}"
            )

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
        """Pass on a level that has changed; how it is drawn may vary without its meaning anything else."""
        before = self._levels.get(source)
        if claim is None:
            if before is not None:
                del self._levels[source]
                self._say(source, None, f"{source} {now}", now)
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
        self._say(source, claim, f"{source} {now}", now)

    def _heard(self, source: str, notice: Notice) -> asyncio.Future[bool] | None:
        if notice.session_id and (notice.kind == SESSION_STARTED or not self._session):
            self._in_session(notice.session_id)
        claim = notice.claim(source)
        return (
            None if claim is None else self._say(source, claim, notice.dedupe_key or f"{source} {notice.at}", notice.at)
        )

    def _in_session(self, session: str) -> None:
        if session != self._session:
            self._session = session
            self._follow_files()

    def _follow_files(self) -> None:
        if self._signals is None:
            return
        whose = owner(self.runtime.pid, ticks=self.runtime.process_started, began=self.runtime.started_at)
        wanted = {(source.name, source.pattern): source for source in self._signals.sources(whose, self._session)}
        for key in [key for key in self._tasks if key not in wanted]:
            self._tasks.pop(key).cancel()
        for key, source in wanted.items():
            if key not in self._tasks:
                self._tasks[key] = asyncio.create_task(
                    self._follow(source), name=f"{self.adapter.name} {source.name} of {self.runtime.runtime_id}"
                )

    async def _follow(self, source: Source) -> None:
        whose = owner(self.runtime.pid, ticks=self.runtime.process_started, began=self.runtime.started_at)
        try:
            async for said in follow(source, whose, self._clock.time, self._pauses):
                if isinstance(said, Notice):
                    self._heard(source.name, said)
                elif isinstance(said, Level):
                    if said.version and said.version != self.version:
                        self.on_version(said.version)
                    if said.session_id:
                        self._in_session(said.session_id)
                    self._say(
                        source.name,
                        said.claim(source.name),
                        f"{source.name} {said.at} {said.state} {said.reason}",
                        said.at,
                    )
                else:
                    self._say(source.name, None, f"{source.name} {self._clock.time()}", self._clock.time())
        except asyncio.CancelledError:
            raise
        except Exception:
            log.exception(
                "a source of an agent failed", extra={"source": source.name, "runtime": self.runtime.runtime_id}
            )


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
    """What makes a level another one."""
    return claim.state, claim.reason, claim.detail, claim.strength


def _plain(escapes: str) -> str:
    """A screen without its colours."""
    return SGR.sub("", escapes) if "\x1b" in escapes or "\x0e" in escapes else escapes
