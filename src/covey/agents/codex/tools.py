"""The tools of Codex, as its hooks name them (0.101 to 0.166)."""

from __future__ import annotations

from covey.policy.tool_call import PATCH, SHELL
from covey.policy.tools import Tool, Tools, other_tool

TOOLS = Tools(
    {
        "Bash": Tool(SHELL, {"command": "text", "description": "text"}, needs=("command",), command="command"),
        "apply_patch": Tool(PATCH, {"command": "text", "description": "text"}, needs=("command",), command="command"),
        "request_user_input": other_tool(questions="json"),
        "request_user_input_async": other_tool(questions="json"),
        "wait": other_tool(cell_id="text", max_tokens="number", terminate="flag", yield_time_ms="number"),
        "sleep": other_tool(duration_ms="number"),
    },
    mcp_prefix="mcp__",
    never={"exec": "it is given a program; Codex asks for what that calls"},
)
