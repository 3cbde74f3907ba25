"""Monitoring of one tmux server: which panes it has, and frequent samples of the panes that are followed."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from covey.kernel.backoff import BackOff
from covey.kernel.clock import SystemClock
from covey.tmux.access import Access, open_access
from covey.tmux.changes import Change, Changes, Liveness, ServerHealth
from covey.tmux.errors import (
    TmuxError,
    TmuxGoneError,
    TmuxRefusedError,
    TmuxReplacedError,
    TmuxTimeoutError,
    TmuxUnreachableError,
    TmuxUnreadableError,
    failure,
)
from covey.tmux.listing import Question, ScreenQuestion
from covey.tmux.sampling import PaneSampler
from covey.tmux.schedule import Pace, Schedule
from covey.tmux.server import Address, Identity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Self

    from covey.hosts.executor import Executor
    from covey.kernel.clock import Clock
    from covey.tmux.listing import Listing, Pane

SCREENS_PER_QUESTION = 50
"""The most screens in one question: tmux takes commands of 16 KiB."""
SCREENS_PER_SAMPLE = 25
"""The most screens in one question that asks for other things too."""

log = logging.getLogger("covey.tmux")


class ServerMonitor:
    """Monitors one server, and is the async iterator of its changes for one reader.

        async with ServerMonitor(Local(), "/tmp/tmux-1000/default") as monitor:
            async for change in monitor: ...

    It outlives the server: a new server behind the same socket is monitored under its own identity. It never starts a
    server, never keeps one alive, and puts nothing into it: every question is a command of a client that attaches to
    nothing.
    """

    def __init__(
        self, executor: Executor, socket: str = "", *, clock: Clock | None = None, pace: Pace | None = None
    ) -> None:
        self.health = ServerHealth(liveness=Liveness.UNREACHABLE, reason="not looked at yet")
        self.panes: dict[str, Pane] = {}
        """The panes by id, as last seen; empty when the server is gone."""
        self._address = Address(executor, socket)
        self._clock = clock or SystemClock()
        self._pace = pace or Pace()
        self._changes = Changes()
        self._followed: frozenset[str] = frozenset()
        self._access: Access | None = None
        self._schedule = Schedule(self._pace)
        self._working: frozenset[str] = frozenset()
        self._back_off = BackOff(self._pace.retry, self._pace.retry_longest)
        self._task: asyncio.Task[None] | None = None

    @property
    def address(self) -> Address:
        return self._address

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(
            self._run(), name=f"watch {self._address.executor.name} {self._address.socket}"
        )
        self._task.add_done_callback(lambda _: self._changes.close())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Change:
        if (change := await self._changes.next()) is None:
            if self._task is not None and self._task.done() and not self._task.cancelled():
                self._task.result()  # raises a fault of ours in the reader
            raise StopAsyncIteration
        return change

    async def aclose(self) -> None:
        """Stop monitoring."""
        self._changes.close()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
            self._task = None

    def follow(self, pane_ids: Iterable[str]) -> None:
        """Sample these panes several times a second from now on, and no others. Unknown ids cost nothing."""
        self._followed = frozenset(pane_ids)

    def set_working(self, pane_ids: frozenset[str]) -> None:
        """Set which of the followed panes are working.

        While they change, the screens of most of them come with each sample. Work that begins in the other panes is
        noticed as soon as possible.
        """
        self._working = pane_ids

    async def command(self, *words: str) -> list[str]:
        """Run one tmux command and return the lines that it printed.

        Raises `TmuxRefusedError` if tmux refuses it, another `TmuxError` if the server cannot be asked.
        """
        escaped = [f"{word[:-1]}\\;" if word.endswith(";") else word for word in words]
        answer = await self._connected().transport.ask(escaped)
        assert answer
        if answer.ran:
            self._schedule.ran_unseen()  # as for screens
        if answer.reply.code:
            raise failure(answer.reply.errors, answer.reply.code)
        return answer.reply.out.removesuffix("\n").split("\n") if answer.reply.out else []

    async def capture(self, pane_id: str, *, escapes: bool = True) -> str:
        """Return the screen of a pane, line by line, with its colours as escape sequences or without.

        Raises `TmuxRefusedError` if there is no such pane, another `TmuxError` if the server cannot be asked.
        """
        if (screen := (await self.captures((pane_id,), escapes=escapes)).get(pane_id)) is None:
            raise TmuxRefusedError(f"can't find pane: {pane_id}")
        return screen

    async def captures(self, pane_ids: Iterable[str], *, escapes: bool = True) -> dict[str, str]:
        """Return the screens of those panes that still exist. Raises `TmuxError` if the server cannot be asked."""
        screens: dict[str, str] = {}
        wanted = list(pane_ids)
        for start in range(0, len(wanted), SCREENS_PER_QUESTION):
            screens |= await self._captures(wanted[start : start + SCREENS_PER_QUESTION], escapes=escapes)
        return screens

    async def _captures(self, pane_ids: list[str], *, escapes: bool) -> dict[str, str]:
        question = ScreenQuestion(pane_ids, escapes=escapes)
        answer = await self._connected().transport.ask(question.words)
        assert answer
        if answer.ran:
            self._schedule.ran_unseen()  # what else it has done since the last sample is not known yet
        screens = question.parse(answer.reply.out)
        if screens is not None:
            return screens
        reason = failure(answer.reply.errors, answer.reply.code or 1)
        if not isinstance(reason, TmuxRefusedError):
            raise reason
        if len(pane_ids) == 1:
            return {}
        # One of them is gone, and tmux went no further. That happens when a pane ends, so each may cost a question.
        return {
            pane_id: screen
            for one in pane_ids
            for pane_id, screen in (await self._captures([one], escapes=escapes)).items()
        }

    def _connected(self) -> Access:
        if self._access is None:
            if self.health.liveness is Liveness.GONE:
                raise TmuxGoneError(self.health.reason)
            raise TmuxUnreachableError(self.health.reason)
        return self._access

    async def _run(self) -> None:
        while True:
            if self._address.listening() is False:
                self._set_gone("nobody listens at the socket")
                await self._clock.sleep(self._pace.poll)
                self._back_off.succeed()
                continue
            try:
                await self._watch_server()
            except TmuxReplacedError:
                pass  # the new server is identified at the next turn
            except TmuxError as error:
                self._set_failed(error)
                if isinstance(error, TmuxTimeoutError):
                    await self._address.executor.reset()
            await self._clock.sleep(self._back_off.fail())

    async def _watch_server(self) -> None:
        """Ask one server again and again until that fails."""
        access = await open_access(self._address)
        try:
            self._schedule = Schedule(self._pace)
            sampler = PaneSampler(calm=self._pace.follow_calm, redrawn=self._pace.redrawn)
            self._access = access
            while True:
                await self._sample(access, sampler)
                now = self._clock.monotonic()
                pause = self._schedule.pause(
                    now,
                    cursor_moved=access.transport.cheap and sampler.cursor_moved(now),
                    changing=bool(sampler.changing(now)),
                    followed=bool(self._followed),
                    detects_idle=access.transport.detects_idle,
                )
                await self._clock.sleep(pause)
        finally:
            self._access = None
            await access.aclose()

    async def _sample(self, access: Access, sampler: PaneSampler) -> None:
        """Ask the next question if it is time for one, and record the changes."""
        now = self._clock.monotonic()
        sampler.working = self._working
        due = sampler.due(self._followed, now)
        plan = self._schedule.plan(now, some=bool(due), all_followed=due == self._followed)
        if plan is None:
            return
        if plan.if_ran and access.transport.is_idle():
            self._schedule.skipped()
            return
        question = Question()
        if plan.list_all:
            question.all_panes()
        if plan.glance:
            question.glance()
        if due:
            question.pulses(due, of=len(self.panes))
            if shown := due & self._working & sampler.changing(now):
                question.screens(sorted(shown)[:SCREENS_PER_SAMPLE])
        found = await access.listing(question, if_ran=plan.if_ran)
        self._back_off.succeed()
        now = self._clock.monotonic()
        if found is None:
            return
        listing, ran = found
        before = self.panes
        if listing.panes is not None:
            self._set_alive(access.identity, listing.panes)
        self._apply_pulses(listing, sampler, due, before, now)
        missing = listing.pulses.keys() != self.panes.keys() & due
        self._schedule.answered(plan, now, ran=ran, glance=listing.glance, missing=missing)

    def _apply_pulses(
        self, listing: Listing, sampler: PaneSampler, due: frozenset[str], before: Mapping[str, Pane], now: float
    ) -> None:
        """Record the changes that the pulses show.

        A pane that was listed in the same question is compared with the pane as it was `before` that listing.
        """
        pulses = {pane_id: pulse for pane_id, pulse in listing.pulses.items() if pane_id in due}
        moved = {pane_id for pane_id, pulse in pulses.items() if (pane := before.get(pane_id)) and pulse.differs(pane)}
        different = {
            pane_id: pulse.applied_to(pane)
            for pane_id, pulse in pulses.items()
            if (pane := self.panes.get(pane_id)) and pulse.differs(pane)
        }
        self.panes.update(different)
        touched = sampler.touched(pulses, moved, listing.head.second, now)
        self._changes.changed(
            self.health, different.values(), touched=touched - listing.screens.keys(), screens=listing.screens
        )

    def _set_failed(self, error: TmuxError) -> None:
        if isinstance(error, TmuxUnreadableError | TmuxRefusedError):
            if self.health.degraded:
                return  # the first reason stays: an answer that cannot be parsed is different each second
            health = ServerHealth(
                liveness=Liveness.ALIVE, degraded=True, reason=str(error), identity=self.health.identity
            )
        elif isinstance(error, TmuxGoneError) and not self._address.listening():
            self._set_gone(str(error))
            return
        else:
            health = ServerHealth(liveness=Liveness.UNREACHABLE, reason=str(error), identity=self.health.identity)
        if health != self.health:
            log.warning(
                "tmux server cannot be monitored", extra={"socket": self._address.socket, "reason": health.reason}
            )
        self._set_health(health)

    def _set_alive(self, identity: Identity, panes: dict[str, Pane]) -> None:
        before = self.panes
        self.panes = panes
        health = ServerHealth(liveness=Liveness.ALIVE, identity=identity)
        if health != self.health:
            self.health = health
            self._changes.server(health, panes)
            return
        different = [pane for pane in panes.values() if before.get(pane.id) != pane]
        self._changes.changed(health, different, before.keys() - panes.keys())

    def _set_gone(self, reason: str) -> None:
        self.panes = {}
        self._set_health(ServerHealth(liveness=Liveness.GONE, reason=reason, identity=self.health.identity))

    def _set_health(self, health: ServerHealth) -> None:
        if health != self.health:
            self.health = health
            self._changes.server(health, self.panes)
