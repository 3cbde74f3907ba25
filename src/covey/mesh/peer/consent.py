"""Decisions of a person, who may join a mesh and who is removed from it, are refused to callers within an agent."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from covey.contract import OPERATIONS
from covey.kernel.client import Client, Interrupted, NotAnswered, NotRunning, NotUnderstood
from covey.kernel.home import Home
from murli import EXIT_CONFLICT, AgentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from covey.contract import Operation
    from covey.kernel.operations.call import Call, Handler

ORIGIN = next(operation for operation in OPERATIONS if operation.name == "origin")
ASK_S = 5.0


def left_to_people(handlers: Mapping[str, Handler], operations: Iterable[Operation], home: str) -> dict[str, Handler]:
    """Return the handlers; those of operations of consent refuse callers within an agent."""
    consent = {operation.name for operation in operations if operation.consent}
    return {name: _refusing(handler, home) if name in consent else handler for name, handler in handlers.items()}


def _refusing(handler: Handler, home: str) -> Handler:
    async def checked(call: Call) -> Any:
        await refuse_agents(home, call)
        return await handler(call)

    return checked


async def refuse_agents(home: str, call: Call) -> None:
    """Raise AgentError if an agent has started the caller: the node knows, if it runs and the caller's socket tells."""
    if call.caller.pid is None:
        return
    client = Client(Home(home).node.socket, timeout=ASK_S)
    try:
        found = await asyncio.to_thread(client.call, ORIGIN, {"pid": call.caller.pid})
    except (NotRunning, NotAnswered, Interrupted, NotUnderstood):
        return  # without the node nobody knows of agents
    if found["agent"]:
        raise AgentError(
            f"{call.operation.name} is for a person to decide, and this call comes from {found['agent']} in "
            f"{found['pane_id']}",
            code=EXIT_CONFLICT,
            error="agents_cannot_approve",
            suggestion="Ask the person to do it, in a terminal of their own.",
        )
