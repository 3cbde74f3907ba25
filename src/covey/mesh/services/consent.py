"""Decisions of a person: they are refused to callers that an agent has started, as far as the system tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from covey.agents.launching import session_marks
from covey.kernel.processes.process import ancestry, environment_of
from murli import EXIT_PERMISSION, AgentError

if TYPE_CHECKING:
    from covey.kernel.operations.call import Call

AGENTS_CANNOT_APPROVE = "agents_cannot_approve"


def refuse_agents(call: Call, what: str) -> None:
    """Raise AgentError if an agent has started the caller. `what` is what only a person may do.

    The peer knows a process on its socket and what that was started with, also its parents: agents set variables for
    the programs that they start. Calls of hooks, and over MCP, are never a person's.
    """
    mark = "a hook" if call.caller.scope is not None else "an MCP client" if call.caller.surface == "mcp" else ""
    if not mark and call.caller.pid is not None:
        marks = session_marks()
        found = (marks & environment_of(pid).keys() for pid in ancestry(call.caller.pid))
        mark = next((f"a program of an agent ({min(names)} is set)" for names in found if names), "")
    if mark:
        raise AgentError(
            f"{what} is for a person to decide, and this call comes from {mark}",
            code=EXIT_PERMISSION,
            error=AGENTS_CANNOT_APPROVE,
            suggestion="Ask the person to do it, in a terminal that no agent has started.",
        )
