"""The versions of the running agents: looked up outside the event loop, and used as soon as they are known."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from covey.agents.running_version import running_version
from covey.hosts.processes import described
from covey.kernel.processes.program_version import ProgramVersions

if TYPE_CHECKING:
    from collections.abc import Callable

    from covey.agents.screens.registry import Registry
    from covey.fleet.agent_sources import AgentSources
    from covey.fleet.watch.runtimes import Runtime, Runtimes
    from covey.hosts.processes import Process
    from covey.kernel.tasks import Tasks


class LiveVersions:
    """Looks up versions. `changed` is called with the id of a runtime whose version has become known.

    Its adapter is then the one of that version.
    """

    def __init__(
        self,
        registry: Registry,
        runtimes: Runtimes,
        sources: dict[str, AgentSources],
        changed: Callable[[str], None],
        tasks: Tasks,
    ) -> None:
        self.programs = ProgramVersions(os.environ)
        self._registry = registry
        self._runtimes = runtimes
        self._sources = sources
        self._changed = changed
        self._tasks = tasks

    def begin(self, runtime: Runtime, now: Callable[[], float], *, here: bool) -> None:
        """Look up the version of an agent in the background; only on this machine (`here`) are there files to read."""
        self._sources[runtime.runtime_id].on_version = lambda version: self._use(runtime.runtime_id, version, now())
        if runtime.version:
            self._use(runtime.runtime_id, runtime.version, now())
            return
        process = self._runtimes.process(runtime.runtime_id) or described(runtime.pid, runtime.process_started)
        if here and process is not None:
            self._tasks.spawn("version of an agent", self._find(runtime, process, now))

    async def _find(self, runtime: Runtime, process: Process, now: Callable[[], float]) -> None:
        adapter = self._registry.adapters[runtime.agent]
        found = await asyncio.to_thread(running_version, process, runtime.started_at, adapter, self.programs)
        agent = self._sources.get(runtime.runtime_id)
        if found and agent is not None and not agent.version:  # a version from the agent's own files is more reliable
            self._use(runtime.runtime_id, found, now())

    def _use(self, runtime_id: str, version: str, now: float) -> None:
        agent = self._sources[runtime_id]
        caveat = self._registry.adapters[agent.runtime.agent].at(version).caveat
        agent.runtime = self._runtimes.set_version(runtime_id, version, caveat)
        agent.use_version(version, now)
        self._changed(runtime_id)
