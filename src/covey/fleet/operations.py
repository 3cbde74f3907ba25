"""What the daemon does for each operation of the fleet, and the fleet's life inside it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from covey.agents import integration as integrate
from covey.agents.integration.spool import Spool
from covey.agents.registry import INTEGRATIONS
from covey.agents.screens.explain import explained
from covey.agents.screens.registry import load
from covey.consent.guard import consent_guard
from covey.contract import actions, actions_events, approvals, approvals_events, dialogs, navigation, policy
from covey.contract.fleet import OPERATIONS
from covey.contract.fleet_events import EVENTS
from covey.contract.fleet_shapes import FLEET_STATUS
from covey.contract.replay import REPLAY
from covey.fleet import doctor
from covey.fleet.actions import queued, receipt
from covey.fleet.actions.dialog_operations import DialogOperations
from covey.fleet.actions.operations import ActionOperations
from covey.fleet.actions.origin import agent_of, origin_of
from covey.fleet.answers.bar import bar
from covey.fleet.answers.live_screen import live_screen
from covey.fleet.answers.references import resolve
from covey.fleet.answers.view import Filters, panes, sessions, summary, windows
from covey.fleet.answers.wait_stream import WaitStream
from covey.fleet.answers.watch_stream import WatchStream
from covey.fleet.answers.why import why
from covey.fleet.approvals import pending, presence
from covey.fleet.approvals.operations import ApprovalOperations
from covey.fleet.fleet import Fleet
from covey.fleet.history.history import History
from covey.fleet.ingest.ingest import HookIngest
from covey.fleet.ingest.sender import checked
from covey.fleet.navigation import places as navigation_places
from covey.fleet.navigation.operations import NavigationOperations
from covey.fleet.policy.live_policy import LivePolicy
from covey.fleet.policy.operations import PolicyOperations
from covey.fleet.remote.remote_feed import RemoteFeed
from covey.fleet.settings import SETTINGS
from covey.fleet.state import saved_agents
from covey.fleet.state.judge import Rules
from covey.fleet.target_operations import TargetOperations, places
from covey.fleet.watch.targets import MIGRATION, Targets
from covey.kernel.operations.call import Caller
from covey.kernel.operations.kernel_operations import check_cursor
from covey.kernel.subsystem import Opened, Subsystem
from covey.kernel.tasks import Tasks
from murli import EXIT_CANCELLED, AgentError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from covey.kernel.metrics import Labels
    from covey.kernel.operations.call import Call, Handler
    from covey.kernel.operations.stream import Batch
    from covey.kernel.subsystem import Context

DRIFT = "covey_drift_total"
UNVERIFIED = "covey_hooks_unverified_total"

log = logging.getLogger("covey.fleet")


@contextlib.asynccontextmanager
async def opened(context: Context) -> AsyncIterator[Opened]:
    """Watch the fleet while the daemon lives."""
    get = context.config.current.get
    registry = load(Path(context.seat.home) / "adapters")
    for problem in registry.problems:
        log.warning("an adapter was left out", extra={"problem": str(problem), "suggestion": problem.suggestion})
    rules = Rules(completed_for=float(get("fleet.completed_s")))
    place = places(get("fleet.sockets"), os.environ, get("fleet.ssh_config"), Path(context.seat.directory) / "ssh")
    integrate.refresh(Path.home(), {**os.environ, "COVEY_HOME": context.seat.home})
    book = await Targets.open(context.store, context.clock)
    saved = await context.store.read(saved_agents.load)
    async with (
        History.kept(context.events, context.clock, rules, book, saved) as history,
        Fleet(
            registry, context.events, context.clock, context.metrics, rules=rules, book=book, place=place, saved=saved
        ) as fleet,
        Tasks(context.clock, context.metrics) as tasks,
    ):
        spool = Spool(Path(context.seat.directory) / "spool")
        ingest = HookIngest(fleet, context.events, context.clock)
        fleet.on_agent_started = ingest.agent_detected
        live_policy = LivePolicy(context)
        await live_policy.current()
        approving = ApprovalOperations(fleet, context, ingest, live_policy)
        operations = FleetOperations(context, fleet, history, ingest, spool, approving)
        tasks.keep("spool", lambda: ingest.drain(spool))
        tasks.keep("pictures of the fleet", lambda: history.picture(fleet))
        acting = ActionOperations(fleet, context, tasks)
        await acting.queue.open()
        answering = DialogOperations(fleet, context)
        policies = PolicyOperations(context, live_policy)
        navigating = NavigationOperations(fleet, context)
        parts = (operations, acting, approving, answering, policies, navigating)
        handlers = {name: handler for part in parts for name, handler in part.handlers().items()}
        async with approving.running(tasks):
            yield Opened(
                handlers,
                operations.status,
                guard=consent_guard(context.config, lambda caller: agent_of(fleet, caller)),
            )


FLEET = Subsystem(
    "fleet",
    opened,
    operations=(
        *OPERATIONS,
        REPLAY,
        *actions.OPERATIONS,
        *approvals.OPERATIONS,
        *dialogs.OPERATIONS,
        *policy.OPERATIONS,
        *navigation.OPERATIONS,
    ),
    migrations=(
        MIGRATION,
        saved_agents.MIGRATION,
        receipt.MIGRATION,
        receipt.ANSWERS_MIGRATION,
        queued.MIGRATION,
        pending.MIGRATION,
        presence.MIGRATION,
        navigation_places.MIGRATION,
    ),
    settings=SETTINGS,
    status=FLEET_STATUS,
    events=(*EVENTS, *actions_events.EVENTS, *approvals_events.EVENTS),
    checks=doctor.checks,
    findings=doctor.findings,
)


class FleetOperations:
    """The handlers, each a method that takes a call and returns a result."""

    def __init__(
        self,
        context: Context,
        fleet: Fleet,
        history: History,
        ingest: HookIngest,
        spool: Spool,
        approving: ApprovalOperations,
    ) -> None:
        self._context = context
        self._fleet = fleet
        self._history = history
        self._ingest = ingest
        self._spool = spool
        self._approving = approving
        context.metrics.counter(
            UNVERIFIED, "Deliveries of hooks whose sender is not known to come from the agent that they name."
        )
        context.metrics.counter(DRIFT, "What could not be understood, by agent, version and kind.")
        fleet.drift.on_count = lambda agent, version, kind: context.metrics.count(
            DRIFT, agent=agent, version=version, kind=kind
        )
        context.metrics.gauges("covey_agents", "Agents that are seen, by state, kind and target.", self._count_agents)
        context.metrics.gauges("covey_targets", "Targets by health.", self._count_targets)

    def _count_agents(self) -> Counter[Labels]:
        return Counter(
            (("agent", row.agent), ("state", row.state), ("target", row.target)) for row in self._fleet.rows()
        )

    def _count_targets(self) -> Counter[Labels]:
        return Counter((("health", target.health),) for target in self._fleet.targets())

    def handlers(self) -> Mapping[str, Handler]:
        return {
            "list.panes": self.panes,
            "list.windows": self.windows,
            "list.sessions": self.sessions,
            "watch": self.watch,
            "why": self.why,
            "conversation": self.conversation,
            "origin": self.origin,
            "wait": self.wait,
            "bar": self.bar,
            "replay": self.replay,
            "adapters.list": self.adapters,
            "adapters.explain": self.explain,
            "hooks": self.hooks,
            "signals": self.signals,
            **TargetOperations(self._fleet).handlers(),
        }

    def status(self) -> dict[str, Any]:
        """The fleet's part of `covey status`."""
        targets = self._fleet.targets()
        return {
            "targets": [asdict(target) for target in targets],
            "summary": summary(self._fleet.rows(), [target.target for target in targets]),
            **self._approving.status(),
        }

    async def panes(self, call: Call) -> dict[str, Any]:
        return panes(*self._asked(call), sort=call.params["sort"])

    async def windows(self, call: Call) -> dict[str, Any]:
        return windows(*self._asked(call), with_agent_status=call.params["with_agent_status"])

    async def sessions(self, call: Call) -> dict[str, Any]:
        return sessions(
            *self._asked(call), group_by=call.params["group_by"], agent_summary=call.params["agent_summary"]
        )

    def _asked(self, call: Call) -> tuple[Any, Any, Filters, float]:
        targets = self._fleet.targets()
        return self._fleet.rows(), targets, Filters.of(call.params, targets), self._context.clock.time()

    async def origin(self, call: Call) -> dict[str, str]:
        runtime = origin_of(self._fleet, Caller("internal", pid=call.params["pid"]))
        return {"agent": "", "pane_id": ""} if runtime is None else {"agent": runtime.agent, "pane_id": runtime.pane_id}

    async def watch(self, call: Call) -> AsyncIterator[Batch]:
        if call.resume_after is not None:
            await check_cursor(self._context.events, self._context.store, call.resume_after)
        return WatchStream(
            self._fleet, self._context.events, self._context.clock, call.params, call.resume_after
        ).batches()

    async def wait(self, call: Call) -> AsyncIterator[Batch]:
        return WaitStream(self._fleet, self._context.events, self._context.clock, call.params).batches()

    async def conversation(self, call: Call) -> dict[str, Any]:
        row = resolve(call.params["ref"], self._fleet.rows())
        agent = self._fleet.sources.get(row.runtime_id)
        name, transcript = await asyncio.to_thread(agent.conversation) if agent else ("", "")
        return {"runtime_id": row.runtime_id, "agent": row.agent, "id": name, "transcript": transcript}

    async def why(self, call: Call) -> dict[str, Any]:
        row = resolve(call.params["ref"], self._fleet.rows())
        in_full = self._fleet.watches[row.target].status.node.startswith("ok")
        return why(row, self._fleet.verdict(row.runtime_id), self._context.clock.time(), in_full=in_full)

    async def signals(self, call: Call) -> AsyncIterator[Batch]:
        return RemoteFeed(self._fleet, self._context.events, self._context.clock, call.params).batches()

    async def bar(self, call: Call) -> dict[str, Any]:
        targets = self._fleet.targets()
        filters = Filters.of(call.params, targets)
        rows = [row for row in self._fleet.rows() if filters.match(row)]
        away = self._approving.presence.away
        covered = [target for target in targets if filters.covers(target.target)]
        return bar(rows, covered, call.params["format"], away=away)

    async def replay(self, call: Call) -> dict[str, Any]:
        return await self._history.replay(call.params, self._fleet.targets())

    async def adapters(self, _: Call) -> dict[str, Any]:
        registry = self._fleet.registry
        items = [await asyncio.to_thread(self._adapter, name) for name in registry.adapters]
        return {
            "items": items,
            "problems": [{"problem": str(problem), "suggestion": problem.suggestion} for problem in registry.problems],
        }

    def _adapter(self, name: str) -> dict[str, Any]:
        fleet, adapter = self._fleet, self._fleet.registry.adapters[name]
        state, file, detail, installed = "none", "", "it has no way to tell", []
        if name in INTEGRATIONS:
            environment = {**os.environ, "COVEY_HOME": self._context.seat.home}
            found = integrate.status(name, Path.home(), environment)
            state, file, detail = found.state, str(found.file), found.detail
            installed = integrate.programs(name, environment, fleet.versions.programs)
        running = Counter((row.version, row.version_note) for row in fleet.rows() if row.agent == name)
        return {
            "agent": name,
            "title": adapter.title,
            "origin": adapter.origin,
            "contract_version": adapter.contract_version,
            "capabilities": asdict(adapter.capabilities),
            "integration": {"state": state, "file": file, "detail": detail},
            "tested": list(adapter.tested),
            "installed": [
                {"path": one.path, "version": one.version, "note": one.problem or adapter.at(one.version).caveat}
                for one in installed
            ],
            "running": [
                {"version": version, "count": count, "note": note} for (version, note), count in sorted(running.items())
            ],
            "drift": [
                {"version": one.version, "counts": one.counts, "alarming": one.alarming}
                for one in fleet.drift.counts
                if one.agent == name
            ],
        }

    async def explain(self, call: Call) -> dict[str, Any]:
        params = call.params
        if params["pane"]:
            params = {**params, **await live_screen(self._fleet, params["pane"])}
        return explained(self._fleet.registry, params)

    async def hooks(self, call: Call) -> dict[str, Any]:
        agent, payload = call.params["agent"], call.params["payload"]
        delivery = self._ingest.parse(agent, call.headers, payload)
        if delivery is None:
            return {}
        delivery = await checked(delivery, call.caller)
        if not delivery.verified:
            self._context.metrics.count(UNVERIFIED, agent=agent)
        if await self._ingest.deliver(delivery):
            return {}
        has_spool = bool(delivery.id)  # a sender that gives an id has a spool
        if has_spool or not await asyncio.to_thread(self._spool.put, agent, call.headers, payload, delivery.at):
            raise AgentError(
                "the hook cannot be taken in now",
                code=EXIT_CANCELLED,
                error="not_now",
                suggestion="Leave it in the spool, under the same id.",
                recoverable=True,
            )
        return {}
