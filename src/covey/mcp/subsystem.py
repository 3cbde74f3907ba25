"""MCP in the node: the process that serves it over HTTP, and the refusal of acts while they are off."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any

from covey.contract.mcp import MCP_STATUS
from covey.kernel.subsystem import Opened, Subsystem
from covey.mcp.act import act_off
from covey.mcp.address import address, recorded_port
from covey.mcp.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from covey.kernel.operations.call import Call
    from covey.kernel.subsystem import Context

CHILD = "mcp"
ALWAYS = frozenset({"keep.send"})
"""What a kept agent may do although acting is off: write to its own channels, which somebody has made for that."""


@contextlib.asynccontextmanager
async def opened(context: Context) -> AsyncIterator[Opened]:
    """Keep the HTTP server running, if it is wanted, as long as the daemon runs."""
    get = context.config.current.get
    child = None
    if get("mcp.http"):
        argv = [sys.executable, "-m", "covey.mcp.http", context.seat.home, str(get("mcp.port"))]
        child = context.supervisor.keep(CHILD, argv, dict(os.environ))

    def status() -> dict[str, Any]:
        port = recorded_port(context.seat, child.pid) if child is not None and child.pid is not None else None
        return {"act": context.config.current.get("mcp.act"), "http": address(port) if port else None}

    async def guard(call: Call) -> None:
        if call.caller.surface != "mcp" or call.operation.name in ALWAYS:
            return
        if call.operation.mutating and not context.config.current.get("mcp.act"):
            raise act_off(call.operation.name)

    yield Opened(status=status, guard=guard)


MCP = Subsystem("mcp", opened, settings=SETTINGS, status=MCP_STATUS)
