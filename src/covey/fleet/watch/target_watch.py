"""One target, watched: whether it can be reached, and every tmux server on it.

It has tasks of its own, so it delays no other target when it hangs.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING, Protocol

from covey import __version__
from covey.fleet.answers.view import TargetStatus
from covey.fleet.remote import remote_node
from covey.fleet.remote.remote_node import RemoteNode, RemoteNodeListener
from covey.fleet.watch.server_watch import ServerListener, ServerWatch
from covey.hosts.errors import HostError, HostUnreachableError
from covey.kernel.backoff import BackOff
from covey.kernel.clock import sleep_until
from covey.tmux.changes import Liveness
from covey.tmux.errors import TmuxUnreachableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from covey.hosts.executor import Executor
    from covey.kernel.clock import Clock
    from covey.kernel.tasks import Tasks
    from covey.tmux import listing
    from covey.tmux.host import TmuxHost

EVERY_S = 2.0
"""Between searches for sockets, which also show that the target is there."""
RETRY_S, RETRY_LONGEST_S = 0.5, 30.0
"""Before a target that could not be reached is tried again: doubled each time, with jitter."""
GOODBYE_S = 0.5
"""How long another machine is given to end our programs there. One that answers needs a few milliseconds; one that
hangs would use any limit up."""
NOT_YET = "not looked at yet"

log = logging.getLogger("covey.fleet")


class TargetListener(ServerListener, RemoteNodeListener, Protocol):
    """What a target watch reports to."""

    async def on_target_checked(self, watch: TargetWatch) -> None:
        """Note how a target is, after it was tried."""
        ...


class TargetWatch:
    """Watches one target while `run` runs.

    `make` returns how the target is reached when that is first needed; it raises ValueError if it cannot be reached.
    """

    def __init__(
        self, name: str, make: Callable[[], TmuxHost], listener: TargetListener, clock: Clock, tasks: Tasks
    ) -> None:
        self.name = name
        self.last_seen: float | None = None
        self.executor: Executor | None = None
        """Starts programs there; None before the target was first reached."""
        self._make = make
        self._listener = listener
        self._clock = clock
        self._tasks = tasks
        self._servers: dict[str, tuple[ServerWatch, asyncio.Task[None]]] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._place: TmuxHost | None = None
        self._node: RemoteNode | None = None
        self._following: asyncio.Task[None] | None = None
        self._lost: str | None = NOT_YET
        self._tried = self._here = False
        self._wake = asyncio.Event()
        self._asked: list[asyncio.Future[None]] = []

    async def run(self) -> None:
        """Watch until cancelled, whatever happens to the target."""
        place: TmuxHost | None = None
        back_off = BackOff(RETRY_S, RETRY_LONGEST_S)
        try:
            while True:
                self._wake.clear()
                asked = list(self._asked)
                try:
                    place = self._place = place or self._make()
                    self._found(place, await place.sockets())
                    back_off.succeed()
                    pause = EVERY_S
                    asked = self._asked
                except Exception as error:
                    if not isinstance(error, (HostError, ValueError)):
                        log.exception("watching a target failed", extra={"target": self.name})
                    self._lose(str(error))
                    pause = back_off.fail()
                await self._listener.on_target_checked(self)
                self._answer(asked)
                if back_off.failures and place is not None:
                    await place.reset()
                await sleep_until(self._wake, self._clock, pause)
        finally:
            self._answer(self._asked)
            self.stop()
            if self._closing:
                await asyncio.wait(self._closing, timeout=None if place is None or place.here else GOODBYE_S)
            if place is not None:
                await place.aclose()  # without a connection, nothing waits for an answer any more
            await asyncio.gather(*self._closing, return_exceptions=True)

    def stop(self) -> None:
        """Stop watching all servers, and the remote node."""
        for socket in list(self._servers):
            self._let_go(socket)
        if self._following is not None:
            self._close(self._following)
            self._following = None

    async def connect(self) -> None:
        """Try to reach the target now; returns when that has succeeded or failed."""
        tried = asyncio.get_running_loop().create_future()
        self._asked.append(tried)
        self._wake.set()
        await tried

    def rescan(self) -> None:
        """Read the processes of all servers again, because an agent has sent something that was not detected."""
        for server, _ in self._servers.values():
            server.rescan()

    @property
    def scanned(self) -> bool:
        """Whether the processes of every tmux server on it have been read since the daemon was started."""
        return self._tried and all(server.scanned for server, _ in self._servers.values())

    def agent_detected(self) -> None:
        """Apply what the remote node said before about an agent that was detected now."""
        if self._node is not None:
            self._node.agent_detected()

    # How the target is.

    @property
    def status(self) -> TargetStatus:
        """The target as lists show it."""
        health, reason = self._health()
        return TargetStatus(
            target=self.name,
            health=health,
            reason=reason,
            sockets=tuple(sorted(self._servers)),
            node=self._node_status(),
        )

    def _node_status(self) -> str:
        if self._here:
            return f"ok {__version__}"
        return self._node.node if self._node is not None and self._following is not None else remote_node.NONE

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
        reason = next(iter((*bad, *poor)), "")
        if bad and len(bad) == len(servers):
            return "down", reason
        return ("degraded" if bad or poor else "ok"), reason

    def out_of_reach(self, socket: str) -> str | None:
        """Return why nothing can be known about the agents in a tmux server; None if it can be reached."""
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
        """Run one tmux command in one of its servers and return its lines. Raises TmuxError if that fails."""
        server = self._servers.get(socket)
        if server is None:
            raise TmuxUnreachableError(f"the tmux server at {socket} is not watched now")
        return await server[0].command(*words)

    @property
    def host(self) -> TmuxHost:
        """The machine. Raises HostUnreachableError if it is not reached now."""
        if self._place is None or self._lost is not None:
            raise HostUnreachableError(self._lost or NOT_YET)
        return self._place

    # What was found.

    def _found(self, place: TmuxHost, sockets: Iterable[str]) -> None:
        """Watch every server whose socket was found, and end those that ended unseen."""
        self.last_seen = self._clock.time()
        self._lost = None
        self._tried = True
        for socket in sockets:
            if socket not in self._servers:
                server = ServerWatch(self.name, place, socket, self._listener, self._clock)
                self._servers[socket] = (server, self._tasks.spawn("watch of a tmux server", self._attend(server)))
        self._here, self.executor = place.here, place.executor
        for socket in {runtime.socket for runtime in self._listener.runtimes.all if runtime.target == self.name} - {
            *sockets,
            *self._servers,
        }:
            # Its server ended while no daemon was running.
            self._listener.on_runtime_changes(
                self._listener.runtimes.server_gone(self.name, socket, self._clock.time())
            )
        if not place.here:
            self._forget_others(set(sockets))
            self._follow_node(place)

    def _follow_node(self, place: TmuxHost) -> None:
        """Follow the Covey on that machine, if there is one."""
        if self._following is None:
            self._node = self._node or RemoteNode(self.name, self._listener, self._clock, self.rescan)
            self._following = self._tasks.keep("remote node", partial(self._node.run, place.executor))

    def _forget_others(self, sockets: set[str]) -> None:
        """End the servers whose sockets are gone, unless they still answer.

        On another machine it cannot be seen whether a process listens at a socket.
        """
        runtimes = self._listener.runtimes
        for socket in {
            *self._servers,
            *(runtime.socket for runtime in runtimes.all if runtime.target == self.name),
        } - sockets:
            server = self._servers.get(socket)
            if server is None or server[0].standing is None or server[0].standing.liveness is not Liveness.ALIVE:
                self._let_go(socket)
                self._listener.on_runtime_changes(runtimes.server_gone(self.name, socket, self._clock.time()))

    def _lose(self, reason: str) -> None:
        """Note that the target cannot be reached. Its servers are searched for again when it is back."""
        self._lost = reason
        self._tried = True
        self.stop()

    def _let_go(self, socket: str) -> None:
        if server := self._servers.pop(socket, None):
            self._close(server[1])

    def _close(self, task: asyncio.Task[None]) -> None:
        if not task.cancelling():  # ending its programs there takes a moment, and must not be interrupted
            task.cancel()
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _attend(self, server: ServerWatch) -> None:
        """Run the watch of one server. If it ends by itself, the next search for sockets starts another."""
        try:
            await server.run()
        except Exception:
            log.warning("watching a tmux server failed", extra={"target": self.name, "socket": server.socket})
            self._listener.on_runtime_changes(
                self._listener.runtimes.server_gone(self.name, server.socket, self._clock.time())
            )
            self._ended(server)
            raise
        self._ended(server)

    def _ended(self, server: ServerWatch) -> None:
        if self._servers.get(server.socket, (None,))[0] is server:
            del self._servers[server.socket]

    def _answer(self, asked: list[asyncio.Future[None]]) -> None:
        """Let calls of `connect` return."""
        for tried in list(asked):
            self._asked.remove(tried)
            if not tried.done():  # the caller may have been cancelled
                tried.set_result(None)
