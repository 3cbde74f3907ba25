"""The tools of Copilot CLI, as its two kinds of hooks name them (1.0.12 to 1.0.102).

The hook that asks for permission has the command, or the file and the change that Copilot has made of the call; the
hook before a tool has the model's own input under names of Claude Code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from covey.policy.tool_call import FILE, SHELL, WEB
from covey.policy.tools import Tool, Tools, file_tool, other_tool

if TYPE_CHECKING:
    from collections.abc import Mapping


def _diff_objection(given: Mapping[str, object]) -> str:
    """Return why the change that Copilot shows is not that of the file that it names; empty if it is, or there is none.

    The lines of the change itself begin with a sign or a blank, so a line that begins so is Copilot's own.
    """
    diff, path = given.get("diff"), given.get("file_path")
    if not isinstance(diff, str):
        return ""
    heads = [line for line in diff.split("\n") if line.startswith("diff --git ")]
    return "" if heads == [f"diff --git a{path} b{path}"] else "its change names a different file than its input"


_SHELL = Tool(
    SHELL,
    {
        "command": "text",
        "description": "text",
        "shellId": "text",
        "sessionId": "text",
        "mode": "text",
        "detach": "flag",
        "initial_wait": "number",
        "timeout": "number",
        "async": "flag",
    },
    needs=("command",),
    command="command",
)
_CREATE = file_tool("path", file_text="text")
_EDIT = file_tool("path", old_str="text", new_str="text")
_VIEW = file_tool("path", view_range="json", forceReadLargeFiles="flag")
_GREP = Tool(
    FILE,
    {
        "pattern": "text",
        "paths": "places",
        "output_mode": "text",
        "glob": "text",
        "type": "text",
        "-i": "flag",
        "-n": "flag",
        "-A": "number",
        "-B": "number",
        "-C": "number",
        "head_limit": "number",
        "multiline": "flag",
    },
    needs=("pattern",),
    paths=("paths",),
    inside=("glob",),
    deep=True,
)
_GLOB = Tool(
    FILE,
    {"pattern": "text", "paths": "places"},
    needs=("pattern",),
    paths=("paths",),
    inside=("pattern",),
    deep=True,
)
_SQL = "its statements can open files that its input does not name as such"
_TASK = other_tool(
    description="text",
    prompt="text",
    agent_type="text",
    name="text",
    model="text",
    reasoning_effort="text",
    context_tier="text",
    mode="text",
)

TOOLS = Tools(
    {
        "bash": _SHELL,
        "Bash": _SHELL,
        "edit": file_tool("file_path", diff="text")._replace(objection=_diff_objection),
        "create": _CREATE,
        "Write": _CREATE,
        "Edit": _EDIT,
        "grep": _GREP,
        "Grep": _GREP,
        "glob": _GLOB,
        "Glob": _GLOB,
        "view": _VIEW,
        "Read": _VIEW,
        "web_fetch": other_tool(WEB, url="text", max_length="number", start_index="number", raw="flag"),
        "WebFetch": other_tool(WEB, url="text", max_length="number", start_index="number", raw="flag"),
        "task": _TASK,
        "Agent": _TASK,
        "skill": other_tool(skill="text"),
        "ask_user": other_tool(message="text", requestedSchema="json", question="text", choices="texts"),
        "AskUserQuestion": other_tool(message="text", requestedSchema="json", question="text", choices="texts"),
        "read_bash": other_tool(shellId="text", delay="number"),
        "stop_bash": other_tool(shellId="text"),
        "list_bash": other_tool(),
        "list_agents": other_tool(include_completed="flag", scope="text"),
        "read_agent": other_tool(agent_id="text", wait="flag", timeout="number", since_turn="number"),
        "write_agent": other_tool(agent_id="text", agent_ids="texts", scope="text", message="text"),
        "fetch_copilot_cli_documentation": other_tool(),
    },
    never={"sql": _SQL, "session_store_sql": _SQL},
)
