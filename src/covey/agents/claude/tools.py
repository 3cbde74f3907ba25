"""The tools of Claude Code, as its hooks name them (2.1.48 to 2.1.325)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from covey.policy.tool_call import SHELL, WEB
from covey.policy.tools import Tool, Tools, file_tool, other_tool

if TYPE_CHECKING:
    from collections.abc import Mapping

_EDIT = {"old_string": str, "new_string": str, "replace_all": bool}


def _edits_objection(given: Mapping[str, object]) -> str:
    """Return why the changes of a file are not of the declared form; empty if they are."""
    edits = given.get("edits")
    if not isinstance(edits, list) or not all(isinstance(edit, dict) for edit in edits):
        return "edits is not a list of changes"
    known = all(key in _EDIT and isinstance(value, _EDIT[key]) for edit in edits for key, value in edit.items())
    return "" if known else "a change in edits has a part that Covey does not know"


TOOLS = Tools(
    {
        "Bash": Tool(
            SHELL,
            {
                "command": "text",
                "description": "text",
                "timeout": "number",
                "run_in_background": "flag",
                "dangerouslyDisableSandbox": "off",
            },
            needs=("command",),
            command="command",
        ),
        "Edit": file_tool("file_path", old_string="text", new_string="text", replace_all="flag"),
        "MultiEdit": file_tool("file_path", edits="json")._replace(objection=_edits_objection),
        "Write": file_tool("file_path", content="text"),
        "NotebookEdit": file_tool(
            "notebook_path", cell_id="text", new_source="text", cell_type="text", edit_mode="text"
        ),
        "Read": file_tool("file_path", offset="number", limit="number", pages="text", allow_large="flag"),
        "LS": file_tool("path", ignore="texts"),
        "Glob": file_tool("path", needs=False, deep=True, inside=["pattern"]),
        "Grep": Tool(
            "file",
            {
                "pattern": "text",
                "path": "text",
                "glob": "text",
                "type": "text",
                "output_mode": "text",
                "-i": "flag",
                "-n": "flag",
                "-o": "flag",
                "-A": "number",
                "-B": "number",
                "-C": "number",
                "context": "number",
                "head_limit": "number",
                "offset": "number",
                "multiline": "flag",
            },
            needs=("pattern",),
            paths=("path",),
            inside=("glob",),
            deep=True,
        ),
        "WebFetch": other_tool(WEB, url="text", prompt="text", offset="number"),
        "WebSearch": other_tool(WEB, query="text", allowed_domains="texts", blocked_domains="texts"),
        "Task": other_tool(description="text", prompt="text", subagent_type="text", model="text"),
        "Agent": other_tool(
            description="text",
            prompt="text",
            subagent_type="text",
            model="text",
            effort="text",
            run_in_background="flag",
            isolation="off",
        ),
        "Skill": other_tool(skill="text", args="text"),
        "ExitPlanMode": other_tool(plan="text", planFilePath="text", allowedPrompts="off"),
        "EnterPlanMode": other_tool(),
        "Monitor": Tool(
            SHELL,
            {"command": "text", "description": "text", "timeout_ms": "number", "ws": "off"},
            needs=("command",),
            command="command",
        ),
        "TaskStop": other_tool(task_id="text", shell_id="text"),
        "CronCreate": other_tool(cron="text", prompt="text", recurring="flag", durable="off"),
        "CronDelete": other_tool(id="text"),
        "CronList": other_tool(),
        "ScheduleWakeup": other_tool(delaySeconds="number", reason="text", prompt="text", stop="flag", noop="flag"),
        "ListAgents": other_tool(channel="text", q="text"),
        "ReportFindings": other_tool(level="text", findings="json"),
        "ToolSearch": other_tool(query="text", max_results="number"),
        "DeferredToolPlaceholder": other_tool(),
        "AskUserQuestion": other_tool(questions="json", answers="json", annotations="json", metadata="json"),
    },
    mcp_prefix="mcp__",
    never={
        "Workflow": "it is given a program",
        "EnterWorktree": "it changes the folder in which the agent works",
        "ExitWorktree": "it changes the folder in which the agent works, and may delete one",
        "SendMessage": "it tells a different agent what to do",
    },
)
