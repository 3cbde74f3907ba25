"""One tmux server and the agents in it: panes and processes give runtimes, titles and screens give claims."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Protocol

from covey.fleet.watch.runtimes import Change, PaneProcess, Runtimes, Server
from covey.hosts.errors import HostError
from covey.tmux.changes import Liveness
from covey.tmux.errors import TmuxError, TmuxUnreachableError
from covey.tmux.monitor import ServerMonitor

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from covey.fleet.agent_sources import AgentSources
    from covey.kernel.clock import Clock
    from covey.tmux import changes, listing
    from covey.tmux.changes import ServerHealth
    from covey.tmux.host import TmuxHost

RESCAN_S = (0.3, 1.0, 3.0)
"""When to read the processes again after a program began in a pane: a launcher's program comes late."""
CAPTURE_EVERY_S = 0.05
"""The least time between two captures of the same screen."""

log = logging.getLogger("covey.fleet")


class ServerListener(Protocol):
    """What a server watch reports to."""

    runtimes: Runtimes

    @property
    def sources(self) -> Mapping[str, AgentSources]: ...
    def on_runtime_changes(self, changes: Iterable[Change]) -> None: ...
    def on_server_state(self, server: ServerWatch) -> None: ...
    def on_pane_changed(self, runtime_id: str) -> None: ...


class ServerWatch:
    """One tmux server on a target, watched over its restarts while `run` runs."""

    def __init__(self, target: str, place: TmuxHost, socket: str, listener: ServerListener, clock: Clock) -> None:
        self.target = target
        self.socket = socket
        self.standing: ServerHealth | None = None
        """Whether the server can be reached; None until that is known."""
        self.scanned = False
        """Whether the processes in its panes have been read."""
        self.trouble = ""
        """Why the processes in its panes cannot be read; empty if they can."""
        self._place = place
        self._listener = listener
        self._clock = clock
        self._watch: ServerMonitor | None = None
        self._seen: dict[str, listing.Pane] = {}
        self._followed: dict[str, str] = {}
        self._working: frozenset[str] = frozenset()
        self._due: set[str] = set()
        self._wake = asyncio.Event()
        self._stale = asyncio.Event()
        self._again: list[asyncio.TimerHandle] = []

    @property
    def panes(self) -> Mapping[str, listing.Pane]:
        return self._watch.panes if self._watch else {}

    async def command(self, *words: str) -> list[str]:
        """Run one tmux command in this server and return its lines. Raises TmuxUnreachableError if not watched."""
        if self._watch is None:
            raise TmuxUnreachableError(f"the tmux server at {self.socket} is not watched now")
        return await self._watch.command(*words)

    async def run(self) -> None:
        """Watch until cancelled."""
        async with (
            ServerMonitor(self._place.executor, self.socket, clock=self._clock) as watch,
            asyncio.TaskGroup() as group,
        ):
            self._watch = watch
            chores = [
                group.create_task(self._sample(watch), name=f"screens of {self.socket}"),
                group.create_task(self._keep_scanning(watch), name=f"processes of {self.socket}"),
            ]
            try:
                async for change in watch:
                    if change.kind == "server":
                        self.standing = change.health
                        self._listener.on_server_state(self)
                    if change.health.liveness is Liveness.GONE:
                        self._seen.clear()
                        self._listener.on_runtime_changes(
                            self._listener.runtimes.server_gone(self.target, self.socket, self._clock.time())
                        )
                    elif change.health.liveness is Liveness.ALIVE:
                        self._on_change(change)
                        self._on_screens(change.screens, watch)
            finally:
                for chore in chores:
                    chore.cancel()
                for timer in self._again:
                    timer.cancel()
                self._watch = None

    def _on_change(self, change: changes.Change) -> None:
        """Pass on new titles and places, and note which panes are to be captured and whether to scan."""
        begun, now = False, self._clock.time()
        for pane in change.panes:
            before = self._seen.get(pane.id)
            self._seen[pane.id] = pane
            begun = begun or before is None or (before.pid, before.command) != (pane.pid, pane.command)
            if (before is None or _shown(before) != _shown(pane)) and (agent := self._agent_in(pane.id)):
                agent.on_title(pane.title, now)
                self._listener.on_pane_changed(agent.runtime.runtime_id)
        ended = [pane_id for pane_id in change.gone if self._seen.pop(pane_id, None)]
        if begun or ended:
            self.rescan()
            loop = asyncio.get_running_loop()
            self._again = [timer for timer in self._again if timer.when() > loop.time()]
            if not self._again:
                self._again = [loop.call_later(later, self.rescan) for later in RESCAN_S]
        perhaps = change.touched.union(pane.id for pane in change.panes) - change.screens.keys()
        self._capture_soon(pane_id for pane_id in perhaps if self._agent_in(pane_id))

    def rescan(self) -> None:
        """Read the processes of all panes soon."""
        self._stale.set()

    async def _keep_scanning(self, watch: ServerMonitor) -> None:
        """Scan whenever that was asked for, and rest after each scan for as long as it took.

        A machine on which many programs begin and end needs its time for them.
        """
        while True:
            await self._stale.wait()
            self._stale.clear()
            began, before = self._clock.monotonic(), self.trouble
            try:
                await self._scan(watch)
                self.trouble, self.scanned = "", True
            except (HostError, TmuxError) as error:
                self.trouble = str(error)
            if self.trouble != before:
                self._listener.on_server_state(self)
            await self._clock.sleep(self._clock.monotonic() - began)

    async def _scan(self, watch: ServerMonitor) -> None:
        """Find out which agent is in which pane. Raises ProcessesError or TmuxError if that is not possible."""
        identity = watch.health.identity
        if identity is None or watch.health.liveness is not Liveness.ALIVE:
            return
        panes = [PaneProcess(pane.id, pane.pid, pane.window_id) for pane in watch.panes.values()]
        table = await self._place.processes([pane.pid for pane in panes])
        if watch.health.identity != identity or watch.health.liveness is not Liveness.ALIVE:
            return  # meanwhile it is another server, or its state is not known
        server = Server(self.target, self.socket, identity.pid, identity.started)
        self._listener.on_runtime_changes(self._listener.runtimes.update(server, panes, table, self._clock.time()))
        ours = self._ours()
        # Compared by runtime: the next server has the same pane ids, and so has the next agent in a pane.
        if ours != self._followed:
            new = [
                pane_id
                for pane_id, runtime_id in ours.items()
                if self._followed.get(pane_id) != runtime_id and pane_id in watch.panes
            ]
            self._followed = ours
            watch.follow(ours)
            for pane_id in new:
                self._listener.sources[ours[pane_id]].on_title(watch.panes[pane_id].title, self._clock.time())
            self._capture_soon(ours)

    def _ours(self) -> dict[str, str]:
        """Return the runtimes of this server by pane, without suspended ones, which do not draw there."""
        return {
            runtime.pane_id: runtime.runtime_id
            for runtime in self._listener.runtimes.all
            if (runtime.target, runtime.socket, runtime.suspended) == (self.target, self.socket, False)
            and runtime.runtime_id in self._listener.sources
        }

    def _agent_in(self, pane_id: str) -> AgentSources | None:
        """Return the agent in a pane, as of the last scan; None if it is not observed any more."""
        return self._listener.sources.get(self._followed.get(pane_id, ""))

    def _capture_soon(self, pane_ids: Iterable[str]) -> None:
        self._due.update(pane_ids)
        if self._due:
            self._wake.set()

    async def _sample(self, watch: ServerMonitor) -> None:
        """Capture the screens that may have changed, each at most every `CAPTURE_EVERY_S` seconds."""
        captured: dict[str, float] = {}
        while True:
            await self._wake.wait()
            self._wake.clear()
            due, self._due = self._due, set()
            now = self._clock.monotonic()
            captured = {pane_id: at for pane_id, at in captured.items() if now - at < CAPTURE_EVERY_S}
            if ripe := due - captured.keys():
                captured.update(dict.fromkeys(ripe, now))
                await self._capture(watch, ripe)
            if early := due - ripe:
                await self._clock.sleep(min(captured[pane_id] for pane_id in early) + CAPTURE_EVERY_S - now)
                self._capture_soon(early)

    async def _capture(self, watch: ServerMonitor, pane_ids: Iterable[str]) -> None:
        try:
            screens = await watch.captures(pane_ids)
        except TmuxError as error:
            log.debug("screens not captured", extra={"socket": self.socket, "reason": str(error)})
            return
        self._on_screens(screens, watch)

    def _on_screens(self, screens: Mapping[str, str], watch: ServerMonitor) -> None:
        """Pass on what panes show, and which of them show a running agent."""
        for pane_id, screen in screens.items():
            if (agent := self._agent_in(pane_id)) and (pane := watch.panes.get(pane_id)):
                agent.on_screen(screen, pane.title, self._clock.time())
        if screens:
            self._working = (self._working - screens.keys()).union(
                pane_id for pane_id in screens if (agent := self._agent_in(pane_id)) and agent.shows_running
            )
            watch.set_working(self._working)


def _shown(pane: listing.Pane) -> tuple[object, ...]:
    """Return what the row of an agent shows of its pane."""
    return (
        pane.title,
        pane.path,
        pane.session_name,
        pane.window_id,
        pane.window_name,
        pane.window_index,
        pane.pane_index,
    )
