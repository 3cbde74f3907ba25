"""One tmux server and the agents in it: panes and processes give runtimes, titles and screens give claims."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Protocol

from covey.fleet.processes import ProcessesError
from covey.fleet.runtimes import Change, Pane, Runtimes, Server
from covey.tmux.changes import Liveness
from covey.tmux.errors import TmuxError, TmuxUnreachableError
from covey.tmux.monitor import ServerMonitor

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from covey.fleet.place import Place
    from covey.fleet.watched import Watched
    from covey.kernel.clock import Clock
    from covey.tmux import changes, listing
    from covey.tmux.changes import ServerHealth

LATER_S = (0.3, 1.0, 3.0)
"""When to look at the processes again after something began in a pane: a launcher's program comes late."""
LEAST_S = 0.05
"""Between two looks at the same screen."""

log = logging.getLogger("covey.fleet")


class Station(Protocol):
    """What a server's watch reports to."""

    runtimes: Runtimes

    @property
    def watched(self) -> Mapping[str, Watched]: ...
    def changed(self, changes: Iterable[Change]) -> None: ...
    def stands(self, server: ServerWatch) -> None: ...
    def moved(self, runtime_id: str) -> None: ...


class ServerWatch:
    def __init__(self, target: str, place: Place, socket: str, station: Station, clock: Clock) -> None:
        self.target = target
        self.socket = socket
        self.standing: ServerHealth | None = None
        """How it stands with the server; None until that is known."""
        self.scanned = False
        """Whether the processes in its panes have been looked at."""
        self.trouble = ""
        """Why the processes in its panes cannot be seen, if they cannot."""
        self._place = place
        self._station = station
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
        """Run one tmux command in this server and return its lines; TmuxUnreachableError while it is not watched."""
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
                        self._station.stands(self)
                    if change.health.liveness is Liveness.GONE:
                        self._seen.clear()
                        self._station.changed(
                            self._station.runtimes.server_gone(self.target, self.socket, self._clock.time())
                        )
                    elif change.health.liveness is Liveness.ALIVE:
                        self._news(change)
                        self._read(change.screens, watch)
            finally:
                for chore in chores:
                    chore.cancel()
                for timer in self._again:
                    timer.cancel()
                self._watch = None

    def _news(self, change: changes.Change) -> None:
        begun, now = False, self._clock.time()
        for pane in change.panes:
            before, self._seen[pane.id] = self._seen.get(pane.id), pane
            begun |= before is None or (before.pid, before.command) != (pane.pid, pane.command)
            if (before is None or _shown(before) != _shown(pane)) and (watched := self._watched(pane.id)):
                watched.title(pane.title, now)
                self._station.moved(watched.runtime.runtime_id)
        ended = [pane_id for pane_id in change.gone if self._seen.pop(pane_id, None)]
        if begun or ended:
            self.rescan()
            loop = asyncio.get_running_loop()
            self._again = [timer for timer in self._again if timer.when() > loop.time()]
            if not self._again:
                self._again = [loop.call_later(later, self.rescan) for later in LATER_S]
        perhaps = change.touched.union(pane.id for pane in change.panes) - change.screens.keys()
        self._look_at(pane_id for pane_id in perhaps if self._watched(pane_id))

    def rescan(self) -> None:
        """Look soon what is in front in each pane."""
        self._stale.set()

    async def _keep_scanning(self, watch: ServerMonitor) -> None:
        """Scan when something may be another, resting as long as it took: a machine where much begins and ends has better things to do."""
        while True:
            await self._stale.wait()
            self._stale.clear()
            began, before = self._clock.monotonic(), self.trouble
            try:
                await self._scan(watch)
                self.trouble, self.scanned = "", True
            except (ProcessesError, TmuxError) as error:
                self.trouble = str(error)
            if self.trouble != before:
                self._station.stands(self)
            await self._clock.sleep(self._clock.monotonic() - began)

    async def _scan(self, watch: ServerMonitor) -> None:
        """Which agent is in which pane."""
        identity = watch.health.identity
        if identity is None or watch.health.liveness is not Liveness.ALIVE:
            return
        panes = [Pane(pane.id, pane.pid, pane.window_id) for pane in watch.panes.values()]
        table = await self._place.processes([pane.pid for pane in panes])
        if watch.health.identity != identity or watch.health.liveness is not Liveness.ALIVE:
            return  # meanwhile it is another server, or who knows
        server = Server(self.target, self.socket, identity.pid, identity.started)
        self._station.changed(self._station.runtimes.update(server, panes, table, self._clock.time()))
        ours = self._ours()
        if (
            ours != self._followed
        ):  # by runtime: the next server has the same pane ids, and so has the next agent in a pane
            new = [
                pane_id
                for pane_id, runtime_id in ours.items()
                if self._followed.get(pane_id) != runtime_id and pane_id in watch.panes
            ]
            self._followed = ours
            watch.follow(ours)
            for pane_id in new:
                self._station.watched[ours[pane_id]].title(watch.panes[pane_id].title, self._clock.time())
            self._look_at(ours)

    def _ours(self) -> dict[str, str]:
        """Runtimes by pane; a suspended one does not draw there."""
        return {
            runtime.pane_id: runtime.runtime_id
            for runtime in self._station.runtimes.all
            if (runtime.target, runtime.socket, runtime.suspended) == (self.target, self.socket, False)
            and runtime.runtime_id in self._station.watched
        }

    def _watched(self, pane_id: str) -> Watched | None:
        """The agent in a pane, as of the last scan, if it is still there."""
        return self._station.watched.get(self._followed.get(pane_id, ""))

    def _look_at(self, pane_ids: Iterable[str]) -> None:
        self._due.update(pane_ids)
        if self._due:
            self._wake.set()

    async def _sample(self, watch: ServerMonitor) -> None:
        """Read the screens that may have changed, each as often as it changes but not more often than it can be read in peace."""
        looked: dict[str, float] = {}
        while True:
            await self._wake.wait()
            self._wake.clear()
            due, self._due = self._due, set()
            now = self._clock.monotonic()
            looked = {pane_id: at for pane_id, at in looked.items() if now - at < LEAST_S}
            if ripe := due - looked.keys():
                looked.update(dict.fromkeys(ripe, now))
                await self._capture(watch, ripe)
            if early := due - ripe:
                await self._clock.sleep(min(looked[pane_id] for pane_id in early) + LEAST_S - now)
                self._look_at(early)

    async def _capture(self, watch: ServerMonitor, pane_ids: Iterable[str]) -> None:
        try:
            screens = await watch.captures(pane_ids)
        except TmuxError as error:
            log.debug("screens could not be read", extra={"socket": self.socket, "reason": str(error)})
            return
        self._read(screens, watch)

    def _read(self, screens: Mapping[str, str], watch: ServerMonitor) -> None:
        """Pass on what panes show."""
        for pane_id, screen in screens.items():
            if (watched := self._watched(pane_id)) and (pane := watch.panes.get(pane_id)):
                watched.screen(screen, pane.title, self._clock.time())
        if screens:
            self._working = (self._working - screens.keys()).union(
                pane_id for pane_id in screens if (watched := self._watched(pane_id)) and watched.works
            )
            watch.set_working(self._working)


def _shown(pane: listing.Pane) -> tuple[object, ...]:
    """What the row of an agent tells of its pane."""
    return (
        pane.title,
        pane.path,
        pane.session_name,
        pane.window_id,
        pane.window_name,
        pane.window_index,
        pane.pane_index,
    )
