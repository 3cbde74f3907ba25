"""The tools of Codex, as its hooks name them (0.101 to 0.166)."""

from __future__ import annotations

from covey.policy.tool_call import PATCH, SHELL
from covey.policy.tools import Tool, Tools, other_tool

TOOLS = Tools(
    {
        "Bash": Tool(SHELL, {"command": "text", "description": "text"}, needs=("command",), command="command"),
        "apply_patch": Tool(PATCH, {"command": "text", "description": "text"}, needs=("command",), command="command"),
        "request_user_input": other_tool(questions="json"),
    },
    mcp_prefix="mcp__",
)
