"""One agent under observation: everything that says something about it becomes claims, each from its own source."""

from __future__ import annotations

import asyncio
import logging
import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from covey.fleet.adapters.signals import claude, codex, copilot, cursor, gemini, opencode
from covey.fleet.adapters.signals.signals import SESSION_STARTED, Level, Notice
from covey.fleet.adapters.signals.sources import follow, owner
from covey.fleet.model import DERIVED, SEEN, SURE, Claim

if TYPE_CHECKING:
    from collections.abc import Callable

    from covey.fleet.adapters.adapter import Adapter
    from covey.fleet.adapters.patterns import Reading
    from covey.fleet.adapters.signals.signals import Hooks, Signals, Source
    from covey.fleet.runtimes import Runtime
    from covey.kernel.clock import Clock

    Say = Callable[[str, Claim | None, str, float], asyncio.Future[bool] | None]
    """Told: the source, what it claims (None: nothing any more), a key under which the same is never told twice, and when it happened. If it is news:
    whether it is in the journal, as soon as that is known."""

SIGNALS: dict[str, Signals] = {
    "claude": claude.SIGNALS,
    "codex": codex.SIGNALS,
    "copilot": copilot.SIGNALS,
    "cursor": cursor.SIGNALS,
    "gemini": gemini.SIGNALS,
    "opencode": opencode.SIGNALS,
}
PLAIN = frozenset({"compacting", "background_agents"})
"""What only the screen tells, and plainly: a title or a footer that says otherwise is wrong."""
BLIND_S = 1.0
"""A screen that cannot be read for this long has nothing to say; a shorter while is a frame that was half drawn."""
SGR = re.compile(r"\x1b\[[0-9;:]*m|\x1b\]8;[^\x1b\x07]*(?:\x1b\\|\x07)|[\x0e\x0f]|\x1b\([0B]")
"""What colours a screen and marks its links."""

log = logging.getLogger("covey.fleet")


class Watched:
    """The sources of one runtime. One that is not `here` has only its title and its screen: its files are on another machine."""

    def __init__(self, runtime: Runtime, adapter: Adapter, say: Say, clock: Clock, *, here: bool = True) -> None:
        self.runtime = runtime
        self.adapter = adapter
        self._signals = SIGNALS.get(adapter.name) if here else None
        self._hooks: Hooks | None = self._signals.hooks() if self._signals else None
        self._say = say
        self._clock = clock
        self._levels: dict[str, Claim] = {}
        self._drawn: tuple[str, str] | None = None
        self._reading: Reading | None = None
        self._unread_since: float | None = None
        self._session = ""
        self._tasks: dict[tuple[str, str], asyncio.Task[None]] = {}

    def start(self) -> None:
        """Follow the files that the agent writes."""
        self._follow_files()

    def stop(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        self._tasks.clear()

    def hook(self, payload: object, at: float, key: str = "") -> asyncio.Future[bool] | None:
        """Take in what one of its hooks delivered, under that key if it has one. Whether it is in the journal, as soon as that is known; None: it is no news."""
        said = None
        for number, notice in enumerate(self._hooks.normalise(payload, at) if self._hooks else ()):
            said = self._heard("hook", replace(notice, dedupe_key=f"{key}/{number}") if key else notice) or said
        return said

    def title(self, title: str, now: float) -> None:
        self._level("title", self.adapter.read_title(title), DERIVED, now)

    def screen(self, escapes: str, title: str, now: float) -> None:
        """Take in what the pane shows, with its colours."""
        if self._drawn != (escapes, title):  # most looks find what the last one found
            self._drawn, self._reading = (escapes, title), self.adapter.read_screen(_plain(escapes), escapes, title)
        reading = self._reading
        if reading is None and "screen" in self._levels:
            self._unread_since = self._unread_since or now
            if now - self._unread_since < BLIND_S:
                return
        if reading is not None:
            self._unread_since = None
        strength = SURE if reading and (reading.dialog or reading.reason in PLAIN) else SEEN
        self._level("screen", reading, strength, now)

    def _level(self, source: str, reading: Reading | None, strength: int, now: float) -> None:
        """A level is told when it changes; how it is drawn may vary without its meaning anything else."""
        before = self._levels.get(source)
        if reading is None:
            if before is not None:
                del self._levels[source]
                self._say(source, None, f"{source} {now}", now)
            return
        if before is not None and (before.state, before.reason, before.detail, before.strength) == (
            reading.state,
            reading.reason,
            reading.detail,
            strength,
        ):
            return
        at = before.at if before is not None and before.state == reading.state else now
        claim = Claim(
            source=source,
            state=reading.state,
            at=at,
            level=True,
            strength=strength,
            reason=reading.reason,
            detail=reading.detail,
            evidence=f"{source} {reading.evidence}",
        )
        self._levels[source] = claim
        self._say(source, claim, f"{source} {now}", now)

    def _heard(self, source: str, notice: Notice) -> asyncio.Future[bool] | None:
        if notice.session_id and (notice.kind == SESSION_STARTED or not self._session):
            self._in_session(notice.session_id)
        claim = notice.claim(source)
        return None if claim is None else self._say(source, claim, notice.dedupe_key or f"{source} {notice.at}", notice.at)

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
                self._tasks[key] = asyncio.create_task(self._follow(source), name=f"{self.adapter.name} {source.name} of {self.runtime.runtime_id}")

    async def _follow(self, source: Source) -> None:
        whose = owner(self.runtime.pid, ticks=self.runtime.process_started, began=self.runtime.started_at)
        try:
            async for said in follow(source, whose, self._clock.time):
                if isinstance(said, Notice):
                    self._heard(source.name, said)
                elif isinstance(said, Level):
                    if said.session_id:
                        self._in_session(said.session_id)
                    self._say(source.name, said.claim(source.name), f"{source.name} {said.at} {said.state} {said.reason}", said.at)
                else:
                    self._say(source.name, None, f"{source.name} {self._clock.time()}", self._clock.time())
        except asyncio.CancelledError:
            raise
        except Exception:
            log.exception("a source of an agent failed", extra={"source": source.name, "runtime": self.runtime.runtime_id})


def _plain(escapes: str) -> str:
    """A screen without its colours."""
    return SGR.sub("", escapes) if "\x1b" in escapes or "\x0e" in escapes else escapes
