"""`covey mcp`: this process becomes an MCP server."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from covey.contract import Operation
    from covey.kernel.home import Home


def mcp(home: Home, _: Operation, __: dict[str, Any]) -> NoReturn:
    """Speak MCP until standard input ends."""
    from covey.mcp.stdio import run

    run(home)
