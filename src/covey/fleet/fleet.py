"""The fleet inside the daemon: sources in, rows and events out.

Whatever a source says passes through the engine; when the verdict changes, the row changes and an event is published. Rows are in memory, and in the
database as of the last event (`saved_agents`); the journal holds every signal that was applied and every change of state.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from msgspec.structs import replace

from covey.fleet.drift import Drift
from covey.fleet.engine import Signal
from covey.fleet.hooks import Hooks
from covey.fleet.live_versions import LiveVersions
from covey.fleet.model import PROCESS
from covey.fleet.outbox import Outbox
from covey.fleet.record import ADDED, BEGUN, HEALTH, HEARD, PICTURE, REMOVED
from covey.fleet.rows import UNREACHABLE
from covey.fleet.runtimes import Ended, Moved, Runtime, Runtimes, Started, Suspended
from covey.fleet.saved_agents import change as saved_change
from covey.fleet.states import Look, States
from covey.fleet.target_watch import NOT_YET, TargetWatch
from covey.fleet.targets import LOCAL
from covey.fleet.view import with_servers
from covey.fleet.watched import Watched
from covey.hosts.exits import Exits
from covey.kernel.ids import Ulids
from covey.kernel.store_errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, Self

    from covey.agents.screens.registry import Registry
    from covey.fleet.hooks import Word
    from covey.fleet.judge import Rules
    from covey.fleet.model import Claim, Verdict
    from covey.fleet.runtimes import Change
    from covey.fleet.saved_agents import SavedAgent
    from covey.fleet.server_watch import ServerWatch
    from covey.fleet.targets import Known, Targets
    from covey.fleet.view import Row, Target
    from covey.kernel.clock import Clock
    from covey.kernel.events import Events
    from covey.tmux.host import TmuxHost

CATCH_UP_S = 2.0
"""Between attempts to write to a journal that could not be written."""
VERIFY_S = 15.0
"""What a file or a far node said before the restart stands so long without being said again."""
SEEN_IN_PANE = frozenset({"title", "screen"})
"""Levels that are looked at again as soon as the pane is seen."""

log = logging.getLogger("covey.fleet")


class Fleet:
    """Every agent that can be seen."""

    def __init__(
        self,
        registry: Registry,
        events: Events,
        clock: Clock,
        *,
        rules: Rules,
        book: Targets,
        place: Callable[[Known], TmuxHost],
        saved: Sequence[SavedAgent] = (),
    ) -> None:
        """`place` tells how a target is reached; `saved` are the agents that the last daemon knew."""
        self.registry = registry
        self.book = book
        self.runtimes = Runtimes(registry.identify, [one.runtime for one in saved])
        self.watched: dict[str, Watched] = {}
        self._saved = saved
        self._unverified: dict[str, set[str]] = {}
        """Sources whose levels are known from the last daemon only."""
        self._unannounced: set[str] = set()
        """Agents whose `agent.started` could not be written."""
        self._catching_up: asyncio.Task[None] | None = None
        self._outbox = Outbox(events, self._unwritten)
        self._states = States(rules, self._look, self._tell_saved, lambda row: with_servers([row], self.targets())[0])
        self._clock = clock
        self._ids = Ulids(clock.time)
        self.life = self._ids()
        """Of this fleet, from its beginning to its end."""
        self._place = place
        self._targets: dict[str, tuple[TargetWatch, asyncio.Task[None]]] = {}
        self._told: dict[str, tuple[str, str]] = {}
        self._exits = Exits(self._exited, clock)
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self.hooks = Hooks(self, events, clock)
        self._tasks: list[asyncio.Task[None]] = []
        self.versions = LiveVersions(registry, self.runtimes, self.watched, self.moved)
        self.drift = Drift(self._outbox.tell, {adapter.name: adapter.title for adapter in registry})

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(self._outbox.run(), name="fleet events")]
        for known in self.book.all:
            self._begin_to_look(known)
        for saved in self._saved:
            self._resume(saved)
        self._tasks.append(asyncio.create_task(self._verify(), name="levels of the last daemon"))
        return self

    async def __aexit__(self, *_: object) -> None:
        for handle in self._timers.values():
            handle.cancel()
        for watched in self.watched.values():
            watched.stop()
        tasks = [*self._tasks, *(task for _, task in self._targets.values())]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.versions.aclose()
        await self._exits.aclose()
        await self._outbox.aclose()

    # What lists see.

    def rows(self) -> list[Row]:
        return with_servers(self._states.rows.values(), self.targets())

    def targets(self) -> list[Target]:
        return [watch.target for watch, _ in self._targets.values()]

    def verdict(self, runtime_id: str) -> Verdict:
        return self._states.verdicts[runtime_id]

    def leave_picture(self, *, gap: bool = False) -> None:
        """Put all that is known into the journal, between what happened before and what happens after. `gap`: some of what happened before is missing."""
        told = [
            {"target": target.target, "health": target.health, "reason": target.reason} for target in self.targets()
        ]
        self._outbox.tell(PICTURE, "", {**self._states.picture(), "targets": told, "gap": gap}, self._now())

    # What the journal lacks after a full disk.

    def _unwritten(self, kind: str, subject: str) -> None:
        if kind == BEGUN:
            self._unannounced.add(subject)
        if self._catching_up is None:
            self._catching_up = asyncio.create_task(self._catch_up(), name="what the journal lacks")
            self._tasks.append(self._catching_up)

    async def _catch_up(self) -> None:
        """As soon as the journal can be written again, say how things are, and who was never said to have started."""
        written = False
        while not written:
            await self._clock.sleep(CATCH_UP_S)
            self.leave_picture(gap=True)
            written = await self._outbox.written
        self._catching_up = None
        for runtime_id in sorted(self._unannounced & self._states.rows.keys()):
            row = self._states.rows[runtime_id]
            self._tell_saved(BEGUN, runtime_id, {**row.as_dict(), "previous": None, "late": True}, self._now())
        self._unannounced.clear()

    # Which targets are looked at.

    def look_at(self, known: Known) -> None:
        """Begin to watch a target that is new."""
        self._begin_to_look(known)
        target = self.target(known.name).target
        data = {"target": known.name, "kind": known.kind, "health": target.health, "reason": target.reason}
        self._outbox.tell(ADDED, known.name, data, self._now())

    def _begin_to_look(self, known: Known) -> None:
        watch = TargetWatch(known.name, lambda: self._place(known), self, self._clock)
        watch.last_seen, self._told[known.name] = known.last_seen_at, (known.health, "")
        self._targets[known.name] = watch, asyncio.create_task(watch.run(), name=f"target {known.name}")

    async def forget(self, name: str) -> None:
        """See nothing of a target any more. Its rows are gone at once; to take leave of it may take some seconds."""
        watch, task = self._targets.pop(name)
        watch.stop()
        task.cancel()
        self._told.pop(name, None)
        for socket in {runtime.socket for runtime in self.runtimes.all if runtime.target == name}:
            self.changed(
                replace(ended, why="target_removed")
                for ended in self.runtimes.server_gone(name, socket, self._clock.time())
            )
        self._outbox.tell(REMOVED, name, {"target": name}, self._now())
        await asyncio.wait({task})

    def target(self, name: str) -> TargetWatch:
        return self._targets[name][0]

    async def reached(self, target: TargetWatch) -> None:
        if target.name not in self._targets:
            return
        self._tell(target)
        self._states.update_questions(self._now())
        try:
            await self.book.seen(target.name, target.target.health, target.last_seen)
        except StoreError as error:
            log.warning(
                "how a target is could not be written down", extra={"target": target.name, "reason": error.message}
            )

    def _tell(self, target: TargetWatch, socket: str | None = None) -> None:
        """A target, or a server on it, is another than before: so may be the agents there."""
        now = target.target
        before, self._told[now.target] = self._told[now.target], (now.health, now.reason)
        if before != self._told[now.target] or socket is not None:
            for runtime in self.runtimes.all:
                if runtime.target == now.target and socket in {None, runtime.socket}:
                    self._settle(runtime.runtime_id)
        if before != self._told[now.target]:
            data = {"target": now.target, "health": now.health, "reason": now.reason, "previous": before[0]}
            self._outbox.tell(HEALTH, now.target, data, self._now())

    # What hooks say.

    def speaker(self, word: Word) -> str | None:
        """Whose word it is: the agent above the hook's process; by its pane only where no pid tells. One that is not to be seen is looked for."""
        local = self._local()
        runtime = next(filter(None, (self.runtimes.speaking(local, pid) for pid in word.pids)), None)
        if not word.pids and word.pane_id:
            runtime = self.runtimes.in_pane(local, word.tmux.partition(",")[0], word.pane_id)
        if runtime and runtime.agent == word.agent and runtime.runtime_id in self.watched:
            return runtime.runtime_id
        if local:
            self.target(local).rescan()
        return None

    def hear(self, runtime_id: str, word: Word) -> asyncio.Future[bool] | None:
        """Whether what an agent's hook says is in the journal, as soon as that is known; None: it is no news."""
        watched = self.watched[runtime_id]
        if not watched.knows(word.payload):
            self.drift.hook_not_known(watched.runtime, self._now())
        return watched.hook(word.payload, word.at, word.id)

    @property
    def sighted(self) -> bool:
        """Whether every agent of this machine can be seen, and every pane has been looked at."""
        local = self._local()
        return not local or (self.target(local).target.health == "ok" and self.target(local).scanned)

    def _local(self) -> str:
        """The name of this machine among the targets; empty if it is none of them."""
        return next((known.name for known in self.book.all if known.kind == LOCAL and known.name in self._targets), "")

    # What nodes tell each other: of our own agents, and of those on other machines.

    def own(self) -> list[Runtime]:
        local = self._local()
        return [watched.runtime for watched in self.watched.values() if watched.runtime.target == local]

    def mark(self) -> str:
        return self._ids()

    def claims(self, runtime_id: str) -> list[Claim]:
        return self._states.claims(runtime_id) if runtime_id in self.watched else []

    def told(self, runtime_id: str, source: str, claim: Claim | None, at: float, seq: int) -> None:
        self._say(runtime_id, source, claim, self._ids(), at, seq)

    # What the watches of servers report.

    def changed(self, changes: Iterable[Change]) -> None:
        for change in changes:
            runtime = change.runtime
            if isinstance(change, Started):
                self._begin(runtime)
            elif isinstance(change, Ended):
                self._end(runtime, change.why)
            elif isinstance(change, Moved):
                self._watch_again(runtime)
            elif isinstance(change, Suspended) and (watched := self.watched.get(runtime.runtime_id)):
                watched.runtime = runtime
                watched.suspend(self._now(), suspended=runtime.suspended)

    def _watch_again(self, runtime: Runtime) -> None:
        if runtime.runtime_id in self.watched:
            self.watched[runtime.runtime_id].runtime = runtime
            self._settle(runtime.runtime_id)

    def stands(self, server: ServerWatch) -> None:
        if server.target in self._targets:
            self._tell(self.target(server.target), server.socket)

    def moved(self, runtime_id: str) -> None:
        """A pane has another title, name or place: its row is another, but no news."""
        self._states.moved(runtime_id, self._now())

    def _begin(self, runtime: Runtime) -> None:
        watched = self._watch(runtime)
        self._states.start(runtime.runtime_id, self._now())
        if runtime.suspended:
            watched.suspend(self._now(), suspended=True)
        self.versions.begin(runtime, self._now, here=runtime.target == self._local())
        watched.start()
        self.hooks.agent_seen()
        self.target(runtime.target).seen()

    def _watch(self, runtime: Runtime, levels: Iterable[Claim] = ()) -> Watched:
        def say(source: str, claim: Claim | None, key: str, at: float) -> asyncio.Future[bool] | None:
            watched = self.watched[runtime.runtime_id]
            self.drift.claimed(watched.runtime, source, claim, watched.sources, self._now())
            caveat = watched.adapter.caveat
            return self._say(
                runtime.runtime_id, source, replace(claim, caveat=caveat) if claim and caveat else claim, key, at
            )

        here = runtime.target == self._local()
        watched = Watched(runtime, self.registry.adapters[runtime.agent], say, self._clock, here=here, levels=levels)
        self.watched[runtime.runtime_id] = watched
        if here:
            self._exits.watch(runtime.runtime_id, runtime.pid, runtime.process_started)
        return watched

    # What the last daemon knew.

    def _resume(self, saved: SavedAgent) -> None:
        """Go on with an agent where the last daemon left it. Whether it is still there is seen at the next look at its pane, or from the kernel."""
        runtime_id = saved.runtime.runtime_id
        levels = [claim for claim in saved.claims if claim.level]
        if saved.runtime.agent in self.registry.adapters and saved.runtime.target in self._targets:
            watched = self._watch(
                saved.runtime, [claim for claim in levels if claim.source in {*SEEN_IN_PANE, PROCESS}]
            )
            self._unverified[runtime_id] = {claim.source for claim in levels} - SEEN_IN_PANE - {PROCESS}
            self._states.resume(saved, self._now())
            self._come_back(runtime_id, self._now())
            self.versions.begin(saved.runtime, self._now, here=saved.runtime.target == self._local())
            watched.start()
        else:  # its description or its target was removed meanwhile
            self._states.resume(saved, self._now())
            self.runtimes.forget(runtime_id)
            self._states.end(runtime_id, "removed", self._now())

    async def _verify(self) -> None:
        """After a while, let go of what nobody has said again."""
        await self._clock.sleep(VERIFY_S)
        for runtime_id, sources in self._unverified.items():
            for source in sorted(sources) if runtime_id in self.watched else ():
                now = self._clock.time()
                self._say(runtime_id, source, None, f"{source} {now}", now)
        self._unverified = {}

    def _tell_saved(self, kind: str, subject: str, data: dict[str, Any], at: float) -> None:
        """Tell an event of an agent, and have the database follow in the same transaction."""
        watched = self.watched.get(subject)
        claim = (
            next((one for one in self.claims(subject) if one.source == data["source"]), None) if kind == HEARD else None
        )
        self._outbox.tell(
            kind, subject, data, at, saved_change(kind, watched.runtime if watched else None, subject, data, at, claim)
        )

    def _end(self, runtime: Runtime, why: str) -> None:
        watched = self.watched.pop(runtime.runtime_id, None)
        if watched is None:
            return
        watched.stop()
        self.drift.ended(runtime.runtime_id)
        self._exits.forget(runtime.runtime_id)
        if timer := self._timers.pop(runtime.runtime_id, None):
            timer.cancel()
        self._states.end(runtime.runtime_id, why, self._now())

    def _exited(self, runtime_id: str) -> None:
        """The kernel says that the process has ended."""
        self.changed(self.runtimes.exited(runtime_id, self._clock.time()))

    # From claims to states: a step reads the clock once.

    def _now(self) -> float:
        """The time as the journal keeps it."""
        return round(self._clock.time(), 3)

    def _look(self, runtime_id: str) -> Look | None:
        watched = self.watched.get(runtime_id)
        if watched is None:
            return None
        runtime = watched.runtime
        target = self.target(runtime.target)
        lost = target.out_of_reach(runtime.socket)
        before = self._states.rows.get(runtime_id)
        if lost == NOT_YET and before is not None:  # after a restart: as it was, until the target was looked at
            lost = before.detail if before.reason == UNREACHABLE else None
        return Look(runtime, target.pane(runtime.socket, runtime.pane_id), lost)

    def _say(
        self, runtime_id: str, source: str, claim: Claim | None, key: str, at: float, seq: int | None = None
    ) -> asyncio.Future[bool] | None:
        now = self._now()
        if runtime_id in self._unverified:
            self._unverified[runtime_id].discard(source)
        signal = Signal(
            runtime_id=runtime_id,
            source=source,
            dedupe_key=key,
            event_id=self._ids(),
            event_time=min(at, now),
            ingested_at=now,
            source_seq=seq,
            claim=claim,
        )
        if not self._states.hear(signal):
            return None
        self._come_back(runtime_id, now)
        return self._outbox.written

    def _settle(self, runtime_id: str) -> None:
        """See whether something has changed by itself."""
        if runtime_id in self.watched:
            now = self._now()
            self._states.settle(runtime_id, now)
            self._come_back(runtime_id, now)

    def _come_back(self, runtime_id: str, now: float) -> None:
        """Look again when the state may change by itself."""
        self.drift.judged(self.watched[runtime_id].runtime, self._states.verdicts[runtime_id], now)
        if timer := self._timers.pop(runtime_id, None):
            timer.cancel()
        if (due := self._states.due(runtime_id, now)) is not None:
            self._timers[runtime_id] = asyncio.get_running_loop().call_later(due - now, self._settle, runtime_id)
