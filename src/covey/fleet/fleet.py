"""The fleet inside the daemon: every agent that can be seen, on every target.

Targets and tmux servers report agents that start, move and end; each agent's sources report claims; `LiveStates` makes
rows and events of them. Rows are in memory, and in the database as of the last event (`saved_agents`); the journal
holds every signal that was applied and every change of state.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from msgspec.structs import replace

from covey.contract.fleet_events import AGENT_STARTED, FLEET_PICTURE, TARGET_ADDED, TARGET_HEALTH, TARGET_REMOVED
from covey.fleet.agent_sources import AgentSources
from covey.fleet.answers.view import with_servers
from covey.fleet.live_versions import LiveVersions
from covey.fleet.state.drift import Drift
from covey.fleet.state.live_states import LiveStates
from covey.fleet.state.model import PROCESS
from covey.fleet.state.outbox import Outbox
from covey.fleet.watch.runtimes import Ended, Moved, Runtime, Runtimes, Started, Suspended
from covey.fleet.watch.target_watch import TargetWatch
from covey.fleet.watch.target_watches import TargetWatches
from covey.hosts.exits import Exits
from covey.kernel.store.errors import StoreError
from covey.kernel.tasks import Tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Self

    from covey.agents.screens.registry import Registry
    from covey.fleet.answers.view import Row, TargetStatus
    from covey.fleet.state.judge import Rules
    from covey.fleet.state.model import Claim, Verdict
    from covey.fleet.state.saved_agents import SavedAgent
    from covey.fleet.watch.runtimes import Change
    from covey.fleet.watch.server_watch import ServerWatch
    from covey.fleet.watch.targets import TargetRecord, Targets
    from covey.kernel.clock import Clock
    from covey.kernel.events.events import Events
    from covey.kernel.metrics import Metrics
    from covey.tmux.host import TmuxHost

CATCH_UP_S = 2.0
"""Between attempts to write to a journal that could not be written."""
READ_FROM_PANE = frozenset({"title", "screen"})
"""Sources that are read again as soon as the pane is seen."""

log = logging.getLogger("covey.fleet")


class Fleet:
    """Every agent that can be seen."""

    def __init__(
        self,
        registry: Registry,
        events: Events,
        clock: Clock,
        metrics: Metrics,
        *,
        rules: Rules,
        book: Targets,
        place: Callable[[TargetRecord], TmuxHost],
        saved: Sequence[SavedAgent] = (),
    ) -> None:
        """`place` returns how a target is reached; `saved` are the agents that the last daemon knew."""
        self.registry = registry
        self.book = book
        self.runtimes = Runtimes(registry.identify, [one.runtime for one in saved])
        self.sources: dict[str, AgentSources] = {}
        """The agents that are observed, by runtime id."""
        self._tasks = Tasks(clock, metrics)
        self.watches = TargetWatches(book, self._tasks)
        self._clock = clock
        self._place = place
        self._saved = saved
        self._outbox = Outbox(events, self._not_written)
        self.drift = Drift(self._outbox.append, {adapter.name: adapter.title for adapter in registry})
        self.states = LiveStates(rules, clock, self._outbox, self.drift, self.sources, self.watches)
        self.instance_id = self.states.new_id()
        """A random id of this fleet instance; remote nodes use it to detect a restart."""
        self.versions = LiveVersions(registry, self.runtimes, self.sources, self.states.refresh, self._tasks)
        self.on_agent_started: Callable[[], None] = lambda: None
        """Called after an agent was detected and can be given hook deliveries."""
        self._exits = Exits(self._on_exit, clock)
        self._published_health: dict[str, tuple[str, str]] = {}
        """The health and the reason of each target as the journal has them."""
        self._unannounced: set[str] = set()
        """Agents whose `agent.started` could not be written."""
        self._catching_up = False

    async def __aenter__(self) -> Self:
        self._tasks.keep("fleet events", self._outbox.run)
        for known in self.book.all:
            self._start_watch(known)
        for saved in self._saved:
            self._resume(saved)
        self._tasks.spawn("levels of the last daemon", self.states.drop_unconfirmed())
        return self

    async def __aexit__(self, *_: object) -> None:
        self.states.stop()
        for agent in self.sources.values():
            agent.stop()
        await self._tasks.aclose()
        await self._exits.aclose()
        await self._outbox.aclose()

    # What is known.

    def rows(self) -> list[Row]:
        return with_servers(self.states.rows.values(), self.targets())

    def targets(self) -> list[TargetStatus]:
        return self.watches.statuses()

    def verdict(self, runtime_id: str) -> Verdict:
        return self.states.verdict(runtime_id)

    def claims(self, runtime_id: str) -> list[Claim]:
        """Return the claims in force about an agent; none if it is not observed."""
        return self.states.claims(runtime_id)

    def local_runtimes(self) -> list[Runtime]:
        """Return the observed agents of this machine."""
        local = self.watches.local_name
        return [agent.runtime for agent in self.sources.values() if agent.runtime.target == local]

    def new_id(self) -> str:
        """Return an id that is greater than the id of every signal so far."""
        return self.states.new_id()

    # The journal.

    def leave_picture(self, *, gap: bool = False) -> asyncio.Future[bool]:
        """Write all that is known to the journal. `gap`: some events before it are missing there.

        Returns whether the picture is in the journal, as soon as that is known.
        """
        targets = [
            {"target": target.target, "health": target.health, "reason": target.reason} for target in self.targets()
        ]
        data = {**self.states.picture(), "targets": targets, "gap": gap}
        return self._outbox.append(FLEET_PICTURE, "", data, self.states.now())

    def _not_written(self, kind: str, subject: str) -> None:
        """Note an event that the journal lacks, and make up for it when the journal can be written again."""
        if kind == AGENT_STARTED:
            self._unannounced.add(subject)
        if not self._catching_up:
            self._catching_up = True
            self._tasks.keep("events that the journal lacks", self._catch_up)

    async def _catch_up(self) -> None:
        """As soon as the journal can be written again, write a picture, and `agent.started` where it is missing."""
        written = False
        while not written:
            await self._clock.sleep(CATCH_UP_S)
            written = await self.leave_picture(gap=True)
        self._catching_up = False
        for runtime_id in sorted(self._unannounced & self.states.rows.keys()):
            self.states.announce_late(runtime_id)
        self._unannounced.clear()

    # Targets.

    def add_target(self, known: TargetRecord) -> None:
        """Begin to watch a target that is new."""
        self._start_watch(known)
        status = self.watches[known.name].status
        data = {"target": known.name, "kind": known.kind, "health": status.health, "reason": status.reason}
        self._outbox.append(TARGET_ADDED, known.name, data, self.states.now())

    def _start_watch(self, known: TargetRecord) -> None:
        watch = TargetWatch(known.name, lambda: self._place(known), self, self._clock, self._tasks)
        watch.last_seen = known.last_seen_at
        self._published_health[known.name] = (known.health, "")
        self.watches.start(watch)

    async def remove_target(self, name: str) -> None:
        """Stop watching a target. Its rows are gone at once; to close its connection may take some seconds."""
        task = self.watches.stop(name)
        self._published_health.pop(name, None)
        for socket in {runtime.socket for runtime in self.runtimes.all if runtime.target == name}:
            self.on_runtime_changes(
                replace(ended, why="target_removed")
                for ended in self.runtimes.server_gone(name, socket, self._clock.time())
            )
        self._outbox.append(TARGET_REMOVED, name, {"target": name}, self.states.now())
        await asyncio.wait({task})

    async def on_target_checked(self, watch: TargetWatch) -> None:
        """Publish how a target is after it was tried, and note it in the database."""
        if watch.name not in self.watches:
            return
        self._publish_health(watch)
        self.states.update_questions()
        try:
            await self.book.seen(watch.name, watch.status.health, watch.last_seen)
        except StoreError as error:
            log.warning("target health not persisted", extra={"target": watch.name, "reason": error.message})

    def on_server_state(self, server: ServerWatch) -> None:
        """Publish how a target is after one of its tmux servers has changed."""
        if server.target in self.watches:
            self._publish_health(self.watches[server.target], server.socket)

    def _publish_health(self, watch: TargetWatch, socket: str | None = None) -> None:
        """Evaluate the agents of a target, or of one server on it; publish the target's health if it has changed."""
        status = watch.status
        before = self._published_health[status.target]
        changed = before != (status.health, status.reason)
        self._published_health[status.target] = (status.health, status.reason)
        if changed or socket is not None:
            for runtime in self.runtimes.all:
                if runtime.target == status.target and socket in {None, runtime.socket}:
                    self.states.evaluate(runtime.runtime_id)
        if changed:
            data = {"target": status.target, "health": status.health, "reason": status.reason, "previous": before[0]}
            self._outbox.append(TARGET_HEALTH, status.target, data, self.states.now())

    # Agents.

    def on_runtime_changes(self, changes: Iterable[Change]) -> None:
        """Begin and end to observe agents as they start, move, are suspended and end."""
        for change in changes:
            runtime = change.runtime
            if isinstance(change, Started):
                self._start(runtime)
            elif isinstance(change, Ended):
                self._end(runtime, change.why)
            elif agent := self.sources.get(runtime.runtime_id):
                agent.runtime = runtime
                if isinstance(change, Moved):
                    self.states.evaluate(runtime.runtime_id)
                elif isinstance(change, Suspended):
                    agent.on_suspended(self.states.now(), suspended=runtime.suspended)

    def on_pane_changed(self, runtime_id: str) -> None:
        """Rebuild the row of an agent whose pane has another title, name or place."""
        self.states.refresh(runtime_id)

    def on_remote_claim(self, runtime_id: str, source: str, claim: Claim | None, at: float, seq: int) -> None:
        """Apply the claim of a source on another machine; None withdraws its last one."""
        self.states.apply(runtime_id, source, claim, self.new_id(), at, seq)

    def _start(self, runtime: Runtime) -> None:
        agent = self._observe(runtime)
        self.states.start(runtime.runtime_id)
        if runtime.suspended:
            agent.on_suspended(self.states.now(), suspended=True)
        self.versions.begin(runtime, self.states.now, here=runtime.target == self.watches.local_name)
        agent.start()
        self.on_agent_started()
        self.watches[runtime.target].agent_detected()

    def _observe(self, runtime: Runtime, levels: Iterable[Claim] = ()) -> AgentSources:
        here = runtime.target == self.watches.local_name
        adapter = self.registry.adapters[runtime.agent]
        agent = AgentSources(
            runtime, adapter, self.states.apply_claim, self._clock, self._tasks, here=here, levels=levels
        )
        self.sources[runtime.runtime_id] = agent
        if here:
            self._exits.watch(runtime.runtime_id, runtime.pid, runtime.process_started)
        return agent

    def _resume(self, saved: SavedAgent) -> None:
        """Continue with an agent where the last daemon left it.

        Whether it is still there is seen at the next scan of its pane, or reported by the kernel.
        """
        runtime = saved.runtime
        if runtime.agent not in self.registry.adapters or runtime.target not in self.watches:
            # Its description or its target was removed meanwhile.
            self.states.resume(saved)
            self.runtimes.forget(runtime.runtime_id)
            self.states.end(runtime.runtime_id, "removed")
            return
        levels = [claim for claim in saved.claims if claim.level]
        read_again = {*READ_FROM_PANE, PROCESS}
        agent = self._observe(runtime, [claim for claim in levels if claim.source in read_again])
        self.states.resume(saved, unconfirmed={claim.source for claim in levels} - read_again)
        self.versions.begin(runtime, self.states.now, here=runtime.target == self.watches.local_name)
        agent.start()

    def _end(self, runtime: Runtime, why: str) -> None:
        agent = self.sources.pop(runtime.runtime_id, None)
        if agent is None:
            return
        agent.stop()
        self.drift.ended(runtime.runtime_id)
        self._exits.forget(runtime.runtime_id)
        self.states.end(runtime.runtime_id, why)

    def _on_exit(self, runtime_id: str) -> None:
        """End a runtime whose process has ended, as the kernel reports."""
        self.on_runtime_changes(self.runtimes.exited(runtime_id, self._clock.time()))
