"""One tmux server, watched: what panes there are, at once when that changes, and closely those that somebody follows."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

import msgspec

from covey.kernel.clock import SystemClock
from covey.tmux.attention import Attention
from covey.tmux.changes import Change, Changes, Liveness, Standing
from covey.tmux.errors import TmuxError, TmuxGoneError, TmuxProtocolError, TmuxRefusedError, TmuxTimeoutError
from covey.tmux.link import Link
from covey.tmux.server import Address, Identity

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from covey.kernel.clock import Clock
    from covey.tmux.control import Answer
    from covey.tmux.executor import Executor
    from covey.tmux.listing import Pane

CONTROL_FAILED = (TmuxTimeoutError, TmuxProtocolError, TmuxRefusedError)
"""What says something about control mode and nothing about the server: a plain command may still get through."""


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """How often, in seconds."""

    glance: float = 1.0
    """What hooks and notices may miss is looked for, hooks are checked, and the client is proved alive."""
    reconcile: float = 30.0
    """Everything is listed, whatever happens or not."""
    follow: float = 0.125
    follow_calm: float = 0.25
    """A followed pane is looked at this often while it changes, and while it does not."""
    redrawn: float = 0.25
    """How often a pane that may have been redrawn in place is called touched."""
    gap: float = 0.02
    """Between two listings at least; after a long listing four times as long as it took."""
    poll: float = 1.0
    """Between plain listings while control mode is out of order, and between glances at a socket where nobody listens."""
    retry: float = 0.5
    retry_longest: float = 30.0
    """Before control mode is tried again: doubled each time, with jitter."""


class Watch:
    """A watched server, and the async iterator of its changes for one reader.

        async with Watch(Local(), "/tmp/tmux-1000/default") as watch:
            async for change in watch: ...

    It outlives the server: a new one behind the same socket is taken up, under its own identity. It never starts one, and never keeps one alive.
    """

    def __init__(self, executor: Executor, socket: str = "", *, clock: Clock | None = None, pace: Pace | None = None) -> None:
        self.standing = Standing(liveness=Liveness.UNREACHABLE, reason="not looked at yet")
        self.panes: dict[str, Pane] = {}
        """The user's panes by id, as last seen; empty when the server is gone."""
        self._address = Address(executor, socket)
        self._clock = clock or SystemClock()
        self._pace = pace or Pace()
        self._changes = Changes()
        self._wake = asyncio.Event()
        self._followed: frozenset[str] = frozenset()
        self._follows = asyncio.Event()
        self._link: Link | None = None
        self._failures = 0
        self._task: asyncio.Task[None] | None = None

    @property
    def address(self) -> Address:
        return self._address

    @property
    def link(self) -> Link | None:
        """The open foothold; None while control mode is out of order or the server is not there."""
        return self._link

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run(), name=f"watch {self._address.executor.name} {self._address.socket}")
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
        """Stop watching and leave nothing behind in the server."""
        self._changes.close()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
            self._task = None

    def follow(self, pane_ids: Iterable[str]) -> None:
        """Look at these panes several times a second from now on, and at no others. Ids that are not there cost nothing."""
        self._followed = frozenset(pane_ids)
        if self._followed:
            self._follows.set()
        else:
            self._follows.clear()

    def look(self) -> None:
        """List everything soon."""
        self._wake.set()

    async def command(self, *words: str) -> list[str]:
        """Run one tmux command and return the lines that it printed; through a process of its own when control mode is out of order."""
        link = self._link
        return await (link.command(*words) if link else self._address.command(*words))

    async def capture(self, pane_id: str, *, escapes: bool = True) -> str:
        """What a pane shows, line by line, with its colours as escape sequences or without. `TmuxRefusedError` if there is no such pane."""
        if (screen := (await self.captures((pane_id,), escapes=escapes)).get(pane_id)) is None:
            raise TmuxRefusedError(f"can't find pane: {pane_id}")
        return screen

    async def captures(self, pane_ids: Iterable[str], *, escapes: bool = True) -> dict[str, str]:
        """What those panes show that are still there, all at once."""
        words = {pane_id: ("capture-pane", "-p", *(("-e",) if escapes else ()), "-t", pane_id) for pane_id in pane_ids}
        link = self._link
        answers = await (link.client.sealed(*words.values()) if link else asyncio.gather(*map(self._plainly, words.values())))
        return {pane_id: "\n".join([*lines, ""]) for pane_id, lines in zip(words, answers, strict=True) if not isinstance(lines, TmuxRefusedError)}

    async def _plainly(self, words: tuple[str, ...]) -> Answer:
        try:
            return await self._address.command(*words)
        except TmuxRefusedError as refusal:
            return refusal

    async def _run(self) -> None:
        while True:
            if self._address.listening() is False:
                await self._await_server()
            error = await self._control()
            if error is None:
                await self._clock.sleep(self._pace.poll)  # it was about to exit, but for us
                continue
            if isinstance(error, TmuxTimeoutError):
                await self._address.executor.reset()
            self._failures += 1
            longest = min(self._pace.retry_longest, self._pace.retry * 2 ** min(self._failures - 1, 16))
            await self._without_control(error, longest * random.uniform(0.5, 1.0))  # noqa: S311 - jitter, not a secret

    async def _await_server(self) -> None:
        self._gone("nobody listens at the socket")
        while self._address.listening() is False:
            await self._clock.sleep(self._pace.poll)
        self._failures = 0

    async def _control(self) -> TmuxError | None:
        """Watch through control mode until that fails; None if we had to leave because only we were left."""
        try:
            async with Link(self._address, self._wake.set) as link:
                await self._serve(link)
        except TmuxError as error:
            return error
        return None

    async def _serve(self, link: Link) -> None:
        work = {"topology": self._topology, "followed": self._closely, "glance": self._glance, "end": self._end}
        tasks = [asyncio.create_task(do(link), name=f"tmux {name}") for name, do in work.items()]
        self._link = link
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            self._link = None
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _end(self, link: Link) -> None:
        raise await link.client.ended()

    async def _topology(self, link: Link) -> None:
        """List whenever something woke us; ends when the server would exit if we were not there."""
        while True:
            self._wake.clear()
            began = self._clock.monotonic()
            await link.tidy()
            panes = await link.panes()
            self._failures = 0
            self._alive(link.identity, panes)
            if await link.unwanted(panes.values()):
                return
            await self._clock.sleep(max(self._pace.gap, 4 * (self._clock.monotonic() - began)))
            await self._wake.wait()

    async def _closely(self, link: Link) -> None:
        attention = Attention(calm=self._pace.follow_calm, redrawn=self._pace.redrawn)
        while True:
            await self._follows.wait()
            if wanted := attention.wanted(self._followed, self._clock.monotonic()):
                second, pulses = await link.pulses(wanted, of=len(self.panes))
                if pulses.keys() != self.panes.keys() & wanted:
                    self._wake.set()
                different = {
                    pane_id: pulse.of(pane) for pane_id, pulse in pulses.items() if (pane := self.panes.get(pane_id)) and pulse.differs(pane)
                }
                self.panes.update(different)
                touched = attention.touched(pulses, different, second, self._clock.monotonic())
                self._changes.changed(self.standing, different.values(), (), touched)
            await self._clock.sleep(self._pace.follow if attention.warm(self._clock.monotonic()) else self._pace.follow_calm)

    async def _glance(self, link: Link) -> None:
        listed = self._clock.monotonic()
        while True:
            await self._clock.sleep(self._pace.glance)
            if await link.glance() or self._clock.monotonic() - listed >= self._pace.reconcile:
                listed = self._clock.monotonic()
                self._wake.set()

    async def _without_control(self, error: TmuxError, seconds: float) -> None:
        """Do what can be done until control mode is to be tried again."""
        until = self._clock.monotonic() + seconds
        while self._address.listening() is not False:
            if isinstance(error, CONTROL_FAILED):
                try:
                    identity, panes = await self._address.look()
                    self._alive(identity, panes, degraded=f"control mode is out of order ({error}); asking once a second")
                except CONTROL_FAILED as second:
                    self._unreachable(str(second))
                except TmuxError as second:
                    error = second
            if isinstance(error, TmuxGoneError):
                self._gone(str(error))
            elif not isinstance(error, CONTROL_FAILED):
                self._unreachable(str(error))
            left = until - self._clock.monotonic()
            if left <= 0:
                return
            await self._clock.sleep(min(left, self._pace.poll))

    def _alive(self, identity: Identity, panes: dict[str, Pane], *, degraded: str = "") -> None:
        before, self.panes = self.panes, panes
        standing = Standing(liveness=Liveness.ALIVE, degraded=bool(degraded), reason=degraded, identity=identity)
        if standing != self.standing:
            self.standing = standing
            self._changes.server(standing, panes)
            return
        different = [pane for pane in panes.values() if before.get(pane.id) != pane]
        touched = panes.keys() & self._followed if degraded else ()
        self._changes.changed(standing, different, before.keys() - panes.keys(), touched)

    def _gone(self, reason: str) -> None:
        self.panes = {}
        self._stand(Standing(liveness=Liveness.GONE, reason=reason, identity=self.standing.identity))

    def _unreachable(self, reason: str) -> None:
        self._stand(Standing(liveness=Liveness.UNREACHABLE, reason=reason, identity=self.standing.identity))

    def _stand(self, standing: Standing) -> None:
        if standing != self.standing:
            self.standing = standing
            self._changes.server(standing, self.panes)
