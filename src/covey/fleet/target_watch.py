"""One target, watched: whether it can be reached, and every tmux server on it. It has tasks of its own, so it delays nobody else when it hangs."""

from __future__ import annotations

import asyncio
import logging
import random
from typing import TYPE_CHECKING, Protocol

from covey import __version__
from covey.fleet import far_node, server_watch
from covey.fleet.far_node import FarNode
from covey.fleet.server_watch import ServerWatch
from covey.fleet.view import Target
from covey.hosts.errors import HostError
from covey.kernel.clock import sleep_until
from covey.tmux.changes import Liveness
from covey.tmux.errors import TmuxUnreachableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from covey.kernel.clock import Clock
    from covey.tmux import listing
    from covey.tmux.host import TmuxHost

EVERY_S = 2.0
"""Between looks for sockets, which also show that the target is there."""
RETRY_S, RETRY_LONGEST_S = 0.5, 30.0
"""Before a target that could not be reached is tried again: doubled each time, with jitter."""
GOODBYE_S = 0.5
"""How long another machine is given to hear that we leave; one that is well needs a few milliseconds, and one that hangs would take all."""
NOT_YET = "not looked at yet"

log = logging.getLogger("covey.fleet")


class Station(server_watch.Station, far_node.Station, Protocol):
    """What a target's watch reports to."""

    async def reached(self, target: TargetWatch) -> None:
        """The target was tried, and `target` says how it is."""
        ...


class TargetWatch:
    """`run` is its life. `make` makes the way there when it is first needed; a `ValueError` says that there can be none."""

    def __init__(self, name: str, make: Callable[[], TmuxHost], station: Station, clock: Clock) -> None:
        self.name = name
        self.last_seen: float | None = None
        self._make = make
        self._station = station
        self._clock = clock
        self._servers: dict[str, tuple[ServerWatch, asyncio.Task[None]]] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._node: FarNode | None = None
        self._following: asyncio.Task[None] | None = None
        self._lost: str | None = NOT_YET
        self._tried = self._here = False
        self._wake = asyncio.Event()
        self._asked: list[asyncio.Future[None]] = []

    async def run(self) -> None:
        """Watch until cancelled, whatever happens to the target."""
        place: TmuxHost | None = None
        failures = 0
        try:
            while True:
                self._wake.clear()
                asked = list(self._asked)
                try:
                    place = place or self._make()
                    self._found(place, await place.sockets())
                    failures, pause = 0, EVERY_S
                    asked = self._asked
                except Exception as error:
                    if not isinstance(error, (HostError, ValueError)):
                        log.exception("watching a target failed", extra={"target": self.name})
                    self._lose(str(error))
                    failures += 1
                    pause = min(RETRY_LONGEST_S, RETRY_S * 2 ** min(failures - 1, 16)) * random.uniform(0.5, 1.0)  # noqa: S311 - jitter
                await self._station.reached(self)
                self._answer(asked)
                if failures and place is not None:
                    await place.reset()
                await sleep_until(self._wake, self._clock, pause)
        finally:
            self._answer(self._asked)
            self.stop()
            if self._closing:
                await asyncio.wait(self._closing, timeout=None if place is None or place.here else GOODBYE_S)
            if place is not None:
                await place.aclose()  # with the connection gone, nobody waits for an answer any more
            await asyncio.gather(*self._closing, return_exceptions=True)

    def stop(self) -> None:
        """Hear of no server any more from now on."""
        for socket in list(self._servers):
            self._let_go(socket)
        if self._following is not None:
            self._close(self._following)
            self._following = None

    async def connect(self) -> None:
        """Try to reach it now; returns when that has succeeded or failed."""
        tried = asyncio.get_running_loop().create_future()
        self._asked.append(tried)
        self._wake.set()
        await tried

    def rescan(self) -> None:
        """An agent has spoken that was not seen: look at the processes again."""
        for server, _ in self._servers.values():
            server.rescan()

    @property
    def scanned(self) -> bool:
        """Whether the processes of every tmux server on it have been looked at since the daemon was started."""
        return self._tried and all(server.scanned for server, _ in self._servers.values())

    def seen(self) -> None:
        """An agent of this target was seen: its own node may have spoken of it before."""
        if self._node is not None:
            self._node.seen()

    # How it is.

    @property
    def target(self) -> Target:
        health, reason = self._health()
        return Target(
            target=self.name,
            health=health,
            reason=reason,
            sockets=tuple(sorted(self._servers)),
            node=self._whose_node(),
        )

    def _whose_node(self) -> str:
        if self._here:
            return f"ok {__version__}"
        return self._node.node if self._node is not None and self._following is not None else far_node.NONE

    def _health(self) -> tuple[str, str]:
        if self._lost is not None:
            return ("down" if self._tried else "degraded"), self._lost
        servers = [server for server, _ in self._servers.values()]
        bad = [
            server.standing.reason
            for server in servers
            if server.standing and server.standing.liveness is Liveness.UNREACHABLE
        ]
        poor = [server.standing.reason for server in servers if server.standing and server.standing.degraded]
        poor += [server.trouble for server in servers if server.trouble]
        health = "down" if bad and len(bad) == len(servers) else "degraded" if bad or poor else "ok"
        return health, next(iter((*bad, *poor)), "")

    def out_of_reach(self, socket: str) -> str | None:
        """Why nothing can be said about the agents in a tmux server; None if all is well."""
        if self._lost is not None:
            return self._lost
        server = self._servers.get(socket)
        standing = server[0].standing if server else None
        if standing is None:
            return NOT_YET
        return standing.reason if standing.liveness is Liveness.UNREACHABLE or standing.degraded else None

    def pane(self, socket: str, pane_id: str) -> listing.Pane | None:
        server = self._servers.get(socket)
        return server[0].panes.get(pane_id) if server else None

    async def command(self, socket: str, *words: str) -> list[str]:
        """Run one tmux command in one of its servers and return its lines; TmuxError if that cannot be done."""
        server = self._servers.get(socket)
        if server is None:
            raise TmuxUnreachableError(f"the tmux server at {socket} is not watched now")
        return await server[0].command(*words)

    # What was found.

    def _found(self, place: TmuxHost, sockets: Iterable[str]) -> None:
        self.last_seen = self._clock.time()
        self._lost, self._tried = None, True
        for socket in sockets:
            if socket not in self._servers:
                server = ServerWatch(self.name, place, socket, self._station, self._clock)
                self._servers[socket] = (
                    server,
                    asyncio.create_task(self._attend(server), name=f"tmux {self.name} {socket}"),
                )
        self._here = place.here
        for socket in {runtime.socket for runtime in self._station.runtimes.all if runtime.target == self.name} - {
            *sockets,
            *self._servers,
        }:
            # Of a server that ended while no daemon was there to see it.
            self._station.changed(self._station.runtimes.server_gone(self.name, socket, self._clock.time()))
        if not place.here:
            self._forget_others(set(sockets))
            self._listen(place)

    def _listen(self, place: TmuxHost) -> None:
        """To a Covey there, if there is one."""
        if self._following is None:
            self._node = self._node or FarNode(self.name, self._station, self._clock, self.rescan)
            self._following = asyncio.create_task(self._attend_node(self._node, place), name=f"node {self.name}")

    def _forget_others(self, sockets: set[str]) -> None:
        """Where nobody can see whether a socket is listened at, a server is gone when its socket is, unless it says otherwise."""
        runtimes = self._station.runtimes
        for socket in {
            *self._servers,
            *(runtime.socket for runtime in runtimes.all if runtime.target == self.name),
        } - sockets:
            server = self._servers.get(socket)
            if server is None or server[0].standing is None or server[0].standing.liveness is not Liveness.ALIVE:
                self._let_go(socket)
                self._station.changed(runtimes.server_gone(self.name, socket, self._clock.time()))

    def _lose(self, reason: str) -> None:
        """It cannot be reached: what its servers are doing is not known, and they are looked for anew when it is back."""
        self._lost, self._tried = reason, True
        self.stop()

    def _let_go(self, socket: str) -> None:
        if server := self._servers.pop(socket, None):
            self._close(server[1])

    def _close(self, task: asyncio.Task[None]) -> None:
        task.cancel()  # it may take a moment to say goodbye, or find that nobody listens
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _attend_node(self, node: FarNode, place: TmuxHost) -> None:
        try:
            await node.run(place.executor)
        except asyncio.CancelledError:
            raise
        except Exception:
            log.exception("listening to a far node failed", extra={"target": self.name})

    async def _attend(self, server: ServerWatch) -> None:
        try:
            await server.run()
        except asyncio.CancelledError:
            raise
        except Exception:
            log.exception("watching a tmux server failed", extra={"target": self.name, "socket": server.socket})
            self._station.changed(self._station.runtimes.server_gone(self.name, server.socket, self._clock.time()))
        if self._servers.get(server.socket, (None,))[0] is server:
            del self._servers[server.socket]

    def _answer(self, asked: list[asyncio.Future[None]]) -> None:
        for tried in list(asked):
            self._asked.remove(tried)
            if not tried.done():  # whoever asked may have left
                tried.set_result(None)
