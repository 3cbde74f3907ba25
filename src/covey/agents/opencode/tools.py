"""The tools of opencode, as its model calls them (1.18)."""

from __future__ import annotations

from covey.policy.tool_call import SHELL, WEB
from covey.policy.tools import Tool, Tools, file_tool, other_tool

TOOLS = Tools(
    {
        "bash": Tool(
            SHELL,
            {"command": "text", "description": "text", "timeout": "number", "workdir": "text"},
            needs=("command",),
            command="command",
            folder="workdir",
        ),
        "edit": file_tool("filePath", oldString="text", newString="text", replaceAll="flag"),
        "write": file_tool("filePath", content="text"),
        "read": file_tool("filePath", offset="number", limit="number"),
        "glob": file_tool("path", needs=False, deep=True, inside=["pattern"]),
        "grep": file_tool("path", needs=False, deep=True, inside=["include"], pattern="text"),
        "webfetch": other_tool(WEB, url="text", format="text", timeout="number"),
        "task": other_tool(description="text", prompt="text", subagent_type="text", task_id="text", command="text"),
        "skill": other_tool(name="text"),
        "todowrite": other_tool(todos="json"),
        "question": other_tool(questions="json"),
    },
    asked_as={"write": "edit"},
)
