"""The process that serves send_to_channel and list_channels to kept agents over MCP, while there are any."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from covey.kernel.regular_file import read_regular

if TYPE_CHECKING:
    from covey.keeper.keeper import Keeper
    from covey.kernel.subsystem import Context

CHILD = "keeper-mcp"
PORT_FILE = "keeper-mcp.port"
"""In the directory of the daemon: the port, and the pid of the process that listens."""
LISTENS_S, LOOK_S = 10.0, 0.05
LONGEST = 64


class ToolServer:
    """One process for all kept agents. It is told which session calls by the token that the session was given."""

    def __init__(self, context: Context, keeper: Keeper) -> None:
        self._context = context
        self._keeper = keeper
        self._file = Path(context.seat.directory) / PORT_FILE
        self._runs = False
        self._turn = asyncio.Lock()

    def port(self) -> int | None:
        """Return the port at which it listens; None if it does not run."""
        return self._recorded() if self._runs else None

    def _recorded(self) -> int | None:
        try:
            port, _, _ = read_regular(self._file, LONGEST).decode("ascii").partition(" ")
        except (OSError, UnicodeDecodeError):
            return None
        return int(port) if port.isdigit() else None

    async def run_if_needed(self) -> None:
        """Start it if the agent of a session is to run, and wait until it listens."""
        async with self._turn:
            await self._run_if_needed()

    async def _run_if_needed(self) -> None:
        if self._runs or not any(record.wanted for record in self._keeper.records.by_name.values()):
            return
        # Agents that run already have been given the port of the last time.
        kept = self._recorded() if any(agent.record.pane_id for agent in self._keeper.agents.values()) else None
        wanted = str(kept or self._keeper.setting("keeper.mcp_port"))
        argv = [sys.executable, "-m", "covey.mcp.channel_http", self._context.seat.home, wanted]
        child = self._context.supervisor.keep(CHILD, argv, dict(os.environ))
        self._runs = True
        until = self._context.clock.monotonic() + LISTENS_S
        while self._context.clock.monotonic() < until and not self._listens(child.pid):
            await self._context.clock.sleep(LOOK_S)

    def _listens(self, pid: int | None) -> bool:
        try:
            return read_regular(self._file, LONGEST).decode("ascii").split()[1:] == [str(pid)]
        except (OSError, UnicodeDecodeError):
            return False
