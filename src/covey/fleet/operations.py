"""What the daemon does for each operation of the fleet, and the fleet's life inside it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from covey.contract.fleet import OPERATIONS
from covey.contract.replay import REPLAY
from covey.fleet import integrate
from covey.fleet.adapters.registry import load
from covey.fleet.bar import bar
from covey.fleet.fleet import Fleet
from covey.fleet.history import History
from covey.fleet.integrate.spool import Spool
from covey.fleet.judge import Rules
from covey.fleet.references import resolve
from covey.fleet.target_operations import TargetOperations, places
from covey.fleet.targets import LOCAL, MIGRATION, Targets
from covey.fleet.view import Filters, panes, sessions, summary, windows
from covey.fleet.wait import Wait
from covey.fleet.watch import Watch
from covey.fleet.why import why
from covey.kernel.daemon import Subsystem
from covey.kernel.operations import resumed
from murli import not_found

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from covey.fleet.adapters.registry import Explanation
    from covey.kernel.api import Call, Handler
    from covey.kernel.daemon import Daemon

SPOOL_EVERY_S = 2.0

log = logging.getLogger("covey.fleet")


@contextlib.asynccontextmanager
async def opened(daemon: Daemon) -> AsyncIterator[Mapping[str, Handler]]:
    """The fleet while the daemon lives, and its handlers."""
    get = daemon.config.current.get
    registry = load(Path(daemon.home.path) / "adapters")
    for problem in registry.problems:
        log.warning("an adapter was left out", extra={"problem": str(problem), "suggestion": problem.suggestion})
    rules = Rules(completed_for=float(get("fleet.completed_s")))
    place = places(get("fleet.sockets"), os.environ, get("fleet.ssh_config"), Path(daemon.home.node_dir) / "ssh")
    integrate.refresh(Path.home(), {**os.environ, "COVEY_HOME": daemon.home.path})
    async with (
        History.kept(daemon.events, daemon.clock, rules) as history,
        Fleet(registry, daemon.events, daemon.clock, rules=rules, book=await Targets.open(daemon.store, daemon.clock), place=place) as fleet,
    ):
        operations = FleetOperations(daemon, fleet, history)
        chores = [
            asyncio.create_task(operations.read_spool(), name="spool"),
            asyncio.create_task(history.picture(fleet), name="pictures of the fleet"),
        ]
        daemon.parts["fleet"] = operations.status
        try:
            yield operations.handlers()
        finally:
            for chore in chores:
                chore.cancel()
            await asyncio.gather(*chores, return_exceptions=True)


FLEET = Subsystem((*OPERATIONS, REPLAY), migrations=(MIGRATION,), open=opened)


class FleetOperations:
    """The handlers, each a method that takes a call and returns a result."""

    def __init__(self, daemon: Daemon, fleet: Fleet, history: History) -> None:
        self._daemon = daemon
        self._fleet = fleet
        self._history = history
        self._spool = Spool(Path(daemon.home.node_dir) / "spool")
        daemon.metrics.gauge("covey_agents", "Agents that are seen.", lambda: len(fleet.rows()))

    def handlers(self) -> Mapping[str, Handler]:
        return {
            "list.panes": self.panes,
            "list.windows": self.windows,
            "list.sessions": self.sessions,
            "watch": self.watch,
            "why": self.why,
            "wait": self.wait,
            "bar": self.bar,
            "replay": self.replay,
            "adapters.list": self.adapters,
            "adapters.explain": self.explain,
            "hooks": self.hooks,
            **TargetOperations(self._fleet).handlers(),
        }

    def status(self) -> dict[str, Any]:
        """The fleet's part of `covey status`."""
        targets = self._fleet.targets()
        return {"targets": [asdict(target) for target in targets], "summary": summary(self._fleet.rows(), [target.target for target in targets])}

    async def panes(self, call: Call) -> dict[str, Any]:
        return panes(*self._asked(call))

    async def windows(self, call: Call) -> dict[str, Any]:
        return windows(*self._asked(call), with_agent_status=call.params["with_agent_status"])

    async def sessions(self, call: Call) -> dict[str, Any]:
        return sessions(*self._asked(call), group_by=call.params["group_by"], agent_summary=call.params["agent_summary"])

    def _asked(self, call: Call) -> tuple[Any, Any, Filters, float]:
        targets = self._fleet.targets()
        return self._fleet.rows(), targets, Filters.of(call.params, targets), self._daemon.clock.time()

    async def watch(self, call: Call) -> AsyncIterator[bytes]:
        cursor = await resumed(self._daemon, call)
        return Watch(self._fleet, self._daemon.events, self._daemon.clock, call.params, "" if cursor is None else str(cursor)).lines()

    async def wait(self, call: Call) -> AsyncIterator[bytes]:
        return Wait(self._fleet, self._daemon.events, self._daemon.clock, call.params).lines()

    async def why(self, call: Call) -> dict[str, Any]:
        row = resolve(call.params["ref"], self._fleet.rows())
        here = self._fleet.book.get(row.target).kind == LOCAL
        return why(row, self._fleet.verdict(row.runtime_id), self._daemon.clock.time(), here=here)

    async def bar(self, call: Call) -> dict[str, Any]:
        targets = self._fleet.targets()
        filters = Filters.of(call.params, targets)
        rows = [row for row in self._fleet.rows() if filters.match(row)]
        return bar(rows, [target for target in targets if filters.covers(target.target)], call.params["format"])

    async def replay(self, call: Call) -> dict[str, Any]:
        return await self._history.replay(call.params, self._fleet.targets())

    async def adapters(self, _: Call) -> dict[str, Any]:
        registry = self._fleet.registry
        items = [await asyncio.to_thread(self._adapter, name) for name in registry.adapters]
        return {"items": items, "problems": [{"problem": str(problem), "suggestion": problem.suggestion} for problem in registry.problems]}

    def _adapter(self, name: str) -> dict[str, Any]:
        adapter = self._fleet.registry.adapters[name]
        state, file, detail = "none", "", "it has no way to tell"
        if name in integrate.NAMES:
            found = integrate.status(name, Path.home(), {**os.environ, "COVEY_HOME": self._daemon.home.path})
            state, file, detail = found.state, str(found.file), found.detail
        return {
            "agent": name,
            "title": adapter.title,
            "origin": adapter.origin,
            "contract_version": adapter.contract_version,
            "capabilities": asdict(adapter.capabilities),
            "integration": {"state": state, "file": file, "detail": detail},
        }

    async def explain(self, call: Call) -> dict[str, Any]:
        agent = call.params["agent"]
        if self._fleet.registry.get(agent) is None:
            error = not_found(f"there is no adapter for {agent!r}", "See `covey adapters list`, or describe the agent in a TOML file.", field="agent")
            error.valid_values = sorted(self._fleet.registry.adapters)
            raise error
        found = self._fleet.registry.explain(agent, call.params["screen"], call.params["title"] or "", version=call.params["agent_version"] or "")
        return _explained(found)

    async def hooks(self, call: Call) -> dict[str, Any]:
        self._hook(call.params["agent"], call.headers, call.params["payload"])
        return {}

    def _hook(self, agent: str, headers: Mapping[str, str], body: bytes) -> None:
        """Take in what a hook delivered. It is never refused for its form: an agent must not be told off for telling."""
        try:
            payload = json.loads(body)
        except (ValueError, RecursionError):
            log.warning("a hook delivered no JSON", extra={"agent": agent, "bytes": len(body)})
            return
        pids = [int(word) for word in headers.get("x-covey-pid", "").replace(",", " ").split() if word.isascii() and word.isdigit()][:32]
        told = headers.get("x-covey-at", "")
        at = int(told) / 1000 if told.isascii() and told.isdigit() and len(told) < 16 else self._daemon.clock.time()  # noqa: PLR2004 - milliseconds of this age
        self._fleet.hook(agent, headers.get("x-covey-tmux", ""), headers.get("x-covey-pane", ""), pids, payload, at)

    async def read_spool(self) -> None:
        """What hooks left while the daemon was down or busy, in order, each once. What nobody can be found for yet stays where it is safe."""
        while True:
            for spooled in self._spool.waiting():
                if self._fleet.crowded:
                    break
                self._hook(spooled.agent, spooled.headers, spooled.body)
                spooled.done()
                await asyncio.sleep(0)
            if lost := self._spool.dropped():
                log.warning("hooks left more than the spool holds", extra={"lost": lost})
            await self._daemon.clock.sleep(SPOOL_EVERY_S)


def _explained(found: Explanation) -> dict[str, Any]:
    reading = found.reading or found.title_reading
    return {
        "agent": found.agent,
        "state": found.state,
        "reason": found.reason,
        "detail": reading.detail if reading else "",
        "rule": reading.evidence.pattern if reading else "",
        "evidence": reading.evidence.text if reading else "",
        "caveat": found.caveat,
        "tried": [{"rule": rule.rule, "state": rule.state, "why": rule.why} for rule in (*found.screen_rules, *found.title_rules)],
    }
