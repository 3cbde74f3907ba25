"""One tmux server, watched: which panes there are, and closely those that somebody follows."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from covey.kernel.backoff import BackOff
from covey.kernel.clock import SystemClock
from covey.tmux.access import Access, find
from covey.tmux.attention import Attention
from covey.tmux.changes import Change, Changes, Liveness, Standing
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
from covey.tmux.schedule import Pace, Schedule
from covey.tmux.server import Address, Identity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Self

    from covey.hosts.executor import Executor
    from covey.kernel.clock import Clock
    from covey.tmux.listing import Listing, Pane

TOGETHER = 50
"""So many screens are asked for in one question: tmux takes commands of 16 KiB."""
WITH_A_LOOK = 25
"""And so many in one that asks for other things too."""

log = logging.getLogger("covey.tmux")


class Watch:
    """A watched server, and the async iterator of its changes for one reader.

        async with Watch(Local(), "/tmp/tmux-1000/default") as watch:
            async for change in watch: ...

    It outlives the server: a new one behind the same socket is taken up, under its own identity. It never starts one, never keeps one alive, and puts nothing into it: every question is
    a command of a client that attaches to nothing.
    """

    def __init__(
        self, executor: Executor, socket: str = "", *, clock: Clock | None = None, pace: Pace | None = None
    ) -> None:
        self.standing = Standing(liveness=Liveness.UNREACHABLE, reason="not looked at yet")
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
                self._task.result()  # a fault of ours is the reader's to know
            raise StopAsyncIteration
        return change

    async def aclose(self) -> None:
        """Stop watching."""
        self._changes.close()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
            self._task = None

    def follow(self, pane_ids: Iterable[str]) -> None:
        """Look at these panes several times a second from now on, and at no others. Ids that are not there cost nothing."""
        self._followed = frozenset(pane_ids)

    def set_working(self, pane_ids: frozenset[str]) -> None:
        """Say in which of the followed panes something goes on: while they change, the screens of most of them come with each look. What begins in the others is seen as soon as possible."""
        self._working = pane_ids

    async def command(self, *words: str) -> list[str]:
        """Run one tmux command and return the lines that it printed. `TmuxRefusedError` if tmux refuses it, another `TmuxError` if the server cannot be asked."""
        answer = await self._connected().way.ask([f"{word[:-1]}\\;" if word.endswith(";") else word for word in words])
        assert answer
        if answer.ran:
            self._schedule.ran()  # as for screens
        if answer.reply.code:
            raise failure(answer.reply.complaints, answer.reply.code)
        return answer.reply.out.removesuffix("\n").split("\n") if answer.reply.out else []

    async def capture(self, pane_id: str, *, escapes: bool = True) -> str:
        """What a pane shows, line by line, with its colours as escape sequences or without. `TmuxRefusedError` if there is no such pane."""
        if (screen := (await self.captures((pane_id,), escapes=escapes)).get(pane_id)) is None:
            raise TmuxRefusedError(f"can't find pane: {pane_id}")
        return screen

    async def captures(self, pane_ids: Iterable[str], *, escapes: bool = True) -> dict[str, str]:
        """What those panes show that are still there. Raises a `TmuxError` if the server cannot be asked."""
        screens: dict[str, str] = {}
        asked = list(pane_ids)
        for start in range(0, len(asked), TOGETHER):
            screens |= await self._captures(asked[start : start + TOGETHER], escapes=escapes)
        return screens

    async def _captures(self, pane_ids: list[str], *, escapes: bool) -> dict[str, str]:
        question = ScreenQuestion(pane_ids, escapes=escapes)
        answer = await self._connected().way.ask(question.words)
        assert answer
        if answer.ran:
            self._schedule.ran()  # what else it has done since the last look is not known yet
        screens = question.read(answer.reply.out)
        if screens is not None:
            return screens
        reason = failure(answer.reply.complaints, answer.reply.code or 1)
        if not isinstance(reason, TmuxRefusedError):
            raise reason
        if len(pane_ids) == 1:
            return {}
        # One of them is gone, and tmux went no further. It happens when a pane ends, so it may take a question for each.
        return {
            pane_id: screen
            for one in pane_ids
            for pane_id, screen in (await self._captures([one], escapes=escapes)).items()
        }

    def _connected(self) -> Access:
        if self._access is None:
            raise (TmuxGoneError if self.standing.liveness is Liveness.GONE else TmuxUnreachableError)(
                self.standing.reason
            )
        return self._access

    async def _run(self) -> None:
        while True:
            if self._address.listening() is False:
                self._gone("nobody listens at the socket")
                await self._clock.sleep(self._pace.poll)
                self._back_off.succeed()
                continue
            try:
                await self._attend()
            except TmuxReplacedError:
                pass  # the next one is found out about soon
            except TmuxError as error:
                self._failed(error)
                if isinstance(error, TmuxTimeoutError):
                    await self._address.executor.reset()
            await self._clock.sleep(self._back_off.fail())

    async def _attend(self) -> None:
        """Ask one server again and again until that fails."""
        access = await find(self._address)
        try:
            self._schedule = Schedule(self._pace)
            attention = Attention(calm=self._pace.follow_calm, redrawn=self._pace.redrawn)
            self._access = access
            while True:
                await self._look(access, attention)
                now = self._clock.monotonic()
                moved, warm = access.way.cheap and attention.moved(now), bool(attention.warm(now))
                pause = self._schedule.pause(
                    now, moved=moved, warm=warm, followed=bool(self._followed), counted=access.way.counts
                )
                await self._clock.sleep(pause)
        finally:
            self._access = None
            await access.aclose()

    async def _look(self, access: Access, attention: Attention) -> None:
        now = self._clock.monotonic()
        attention.working = self._working
        wanted = attention.wanted(self._followed, now)
        plan = self._schedule.plan(now, some=bool(wanted), all_followed=wanted == self._followed)
        if plan is None:
            return
        if plan.if_ran and access.way.still():
            self._schedule.still()
            return
        question = Question()
        if plan.list_all:
            question.all_panes()
        if plan.glance:
            question.glance()
        if wanted:
            question.pulses(wanted, of=len(self.panes))
            if shown := wanted & self._working & attention.warm(now):
                question.screens(sorted(shown)[:WITH_A_LOOK])
        found = await access.listing(question, if_ran=plan.if_ran)
        self._back_off.succeed()
        now = self._clock.monotonic()
        if found is None:
            return
        listing, ran = found
        before = self.panes
        if listing.panes is not None:
            self._alive(access.identity, listing.panes)
        self._felt(listing, attention, wanted, before, now)
        missing = listing.pulses.keys() != self.panes.keys() & wanted
        self._schedule.asked(plan, now, ran=ran, glance=listing.glance, missing=missing)

    def _felt(
        self, listing: Listing, attention: Attention, wanted: frozenset[str], before: Mapping[str, Pane], now: float
    ) -> None:
        """Tell what the pulses show. A pane that was listed in the same question is compared with what it was before."""
        pulses = {pane_id: pulse for pane_id, pulse in listing.pulses.items() if pane_id in wanted}
        moved = {pane_id for pane_id, pulse in pulses.items() if (pane := before.get(pane_id)) and pulse.differs(pane)}
        different = {
            pane_id: pulse.of(pane)
            for pane_id, pulse in pulses.items()
            if (pane := self.panes.get(pane_id)) and pulse.differs(pane)
        }
        self.panes.update(different)
        touched = attention.touched(pulses, moved, listing.head.second, now)
        self._changes.changed(
            self.standing, different.values(), touched=touched - listing.screens.keys(), screens=listing.screens
        )

    def _failed(self, error: TmuxError) -> None:
        if isinstance(error, TmuxUnreadableError | TmuxRefusedError):
            if self.standing.degraded:
                return  # the first reason stands: an answer that cannot be read is another one each second
            standing = Standing(
                liveness=Liveness.ALIVE, degraded=True, reason=str(error), identity=self.standing.identity
            )
        elif isinstance(error, TmuxGoneError) and not self._address.listening():
            self._gone(str(error))
            return
        else:
            standing = Standing(liveness=Liveness.UNREACHABLE, reason=str(error), identity=self.standing.identity)
        if standing != self.standing:
            log.warning(
                "a tmux server cannot be watched", extra={"socket": self._address.socket, "reason": standing.reason}
            )
        self._stand(standing)

    def _alive(self, identity: Identity, panes: dict[str, Pane]) -> None:
        before, self.panes = self.panes, panes
        standing = Standing(liveness=Liveness.ALIVE, identity=identity)
        if standing != self.standing:
            self.standing = standing
            self._changes.server(standing, panes)
            return
        different = [pane for pane in panes.values() if before.get(pane.id) != pane]
        self._changes.changed(standing, different, before.keys() - panes.keys())

    def _gone(self, reason: str) -> None:
        self.panes = {}
        self._stand(Standing(liveness=Liveness.GONE, reason=reason, identity=self.standing.identity))

    def _stand(self, standing: Standing) -> None:
        if standing != self.standing:
            self.standing = standing
            self._changes.server(standing, self.panes)
