"""The adapters of the configuration, each a process that is kept running while its session is."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.contract.keeper_events import SESSION_ENDED, SESSION_STARTED
from covey.contract.kernel_events import Lifecycle
from covey.keeper.adapter_output import last_line
from covey.keeper.adapter_tables import KIND, NAME, SESSION

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from covey.keeper.keeper import Keeper
    from covey.kernel.subsystem import Context

LOOK_S = 2.0
"""Within which an adapter is started after its session, and ended after it."""


class AdapterProcesses:
    """Starts and ends adapters as sessions and settings change, while `run` runs."""

    def __init__(self, keeper: Keeper, context: Context) -> None:
        self._keeper = keeper
        self._context = context
        self._running: dict[str, list[str]] = {}
        """The command of each, by the name of the process."""
        self._sessions: dict[str, str] = {}
        """Whose adapter it is, by the name of the process."""
        self._held: set[str] = set()
        """Sessions whose adapters are not to run now."""
        self._applying = asyncio.Lock()

    async def run(self) -> None:
        """Follow the configuration and the sessions until cancelled."""
        reloaded = Lifecycle(self._context.seat.kind).reloaded
        async with self._context.events.subscribe(kinds=[reloaded, SESSION_STARTED, SESSION_ENDED]) as heard:
            while not heard.closed:
                await self._apply()
                await heard.take(LOOK_S if len(self._wanted()) != len(self._running) else None)

    @contextlib.asynccontextmanager
    async def ended(self, session: str) -> AsyncIterator[None]:
        """End the adapters of a session; those that are wanted afterwards are started again."""
        self._held.add(session)
        try:
            await self._apply()
            yield
        finally:
            self._held.discard(session)
            await self._apply()

    def failing(self, session: str | None = None) -> list[dict[str, Any]]:
        """Return the adapters that end again and again, of one session or of all, as the operations return them."""
        now = self._context.clock.monotonic()
        found = []
        for child in self._context.supervisor.children:
            of = self._sessions.get(child.name)
            if child.name not in self._running or of is None or session not in {None, of} or not child.is_failing(now):
                continue
            path = Path(self._context.seat.directory, "children", f"{child.name}.log")
            found.append(
                {
                    "name": child.name,
                    "session": of,
                    "restarts": child.restarts,
                    "last_line": last_line(path),
                    "log": str(path),
                }
            )
        return found

    async def _apply(self) -> None:
        async with self._applying:
            wanted = self._wanted()
            for name in [name for name, argv in self._running.items() if wanted.get(name) != argv]:
                del self._running[name]
                await self._context.supervisor.drop(name)
            for name, argv in wanted.items():
                if name not in self._running:
                    self._context.supervisor.keep(name, argv, dict(os.environ))
                    self._running[name] = argv

    def _wanted(self) -> dict[str, list[str]]:
        found = {}
        for table in self._keeper.setting("keeper.adapter"):
            agent = self._keeper.agents.get(table.get(SESSION) or self._keeper.setting("keeper.session"))
            if agent is None or not agent.record.wanted or agent.name in self._held:
                continue
            settings = {name: value for name, value in table.items() if name not in {SESSION, KIND}}
            module = f"covey.keeper.adapters.{table[KIND]}"
            name = f"adapter-{agent.name}-{table.get(NAME, table[KIND])}".lower()[:64]
            self._sessions[name] = agent.name
            found[name] = [sys.executable, "-m", module, agent.record.folder, json.dumps(settings)]
        return found
