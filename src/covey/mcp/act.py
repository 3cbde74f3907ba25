"""The refusal of acts over MCP while they are off."""

from __future__ import annotations

from murli import EXIT_PERMISSION, AgentError

MCP_ACT_OFF = "mcp_act_off"


def act_off(operation: str) -> AgentError:
    """Return the error for an operation that acts, while agents may only read."""
    return AgentError(
        f"agents may only read over MCP here, and {operation} acts",
        code=EXIT_PERMISSION,
        error=MCP_ACT_OFF,
        suggestion="The person at this machine can allow it: covey config set mcp.act true",
    )
