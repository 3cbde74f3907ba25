"""The agents that the node of this home sees, asked by a peer: it has no fleet of its own."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from covey.contract import OPERATIONS
from covey.kernel.client import Client, Interrupted, NotAnswered, NotRunning, NotUnderstood
from covey.kernel.home import Home

if TYPE_CHECKING:
    from covey.kernel.operations.call import Caller

ORIGIN = next(operation for operation in OPERATIONS if operation.name == "origin")
ASK_S = 5.0


async def agent_at_node(home: str, caller: Caller) -> str:
    """Return the agent of the fleet that has started the caller, in words; empty if the node names none.

    Without the node, what a peer finds out by itself decides: see `covey.consent`.
    """
    if caller.pid is None:
        return ""
    client = Client(Home(home).node.socket, timeout=ASK_S)
    try:
        found = await asyncio.to_thread(client.call, ORIGIN, {"pid": caller.pid})
    except (NotRunning, NotAnswered, Interrupted, NotUnderstood):
        return ""
    return f"{found['agent']} in {found['pane_id']}" if found["agent"] else ""
