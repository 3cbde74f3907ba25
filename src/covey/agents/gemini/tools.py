"""The tools of Gemini CLI, as its hooks name them (0.28 to 0.61)."""

from __future__ import annotations

from covey.policy.tool_call import SHELL, WEB
from covey.policy.tools import Tool, Tools, file_tool, other_tool

TOOLS = Tools(
    {
        "run_shell_command": Tool(
            SHELL,
            {
                "command": "text",
                "description": "text",
                "dir_path": "text",
                "is_background": "flag",
                "delay_ms": "number",
            },
            needs=("command",),
            command="command",
            folder="dir_path",
        ),
        "replace": file_tool(
            "file_path",
            instruction="text",
            old_string="text",
            new_string="text",
            expected_replacements="number",
            allow_multiple="flag",
        ),
        "write_file": file_tool("file_path", content="text"),
        "read_file": file_tool("file_path", start_line="number", end_line="number", offset="number", limit="number"),
        "list_directory": file_tool("dir_path", ignore="texts", file_filtering_options="json"),
        "glob": file_tool(
            "dir_path",
            needs=False,
            deep=True,
            inside=["pattern"],
            case_sensitive="flag",
            respect_git_ignore="flag",
            respect_gemini_ignore="flag",
        ),
        "grep_search": file_tool(
            "dir_path",
            needs=False,
            deep=True,
            inside=["include_pattern"],
            pattern="text",
            exclude_pattern="text",
            names_only="flag",
            max_matches_per_file="number",
            total_max_matches="number",
        ),
        "web_fetch": other_tool(WEB, prompt="text"),
        "google_web_search": other_tool(WEB, query="text"),
        "ask_user": other_tool(questions="json"),
        "invoke_agent": other_tool(agent_name="text", prompt="text", wait_for_previous="flag"),
        "activate_skill": other_tool(name="text"),
        "enter_plan_mode": other_tool(reason="text"),
        "update_topic": other_tool(title="text", summary="text", strategic_intent="text", wait_for_previous="flag"),
        "list_background_processes": other_tool(wait_for_previous="flag"),
        "read_background_output": other_tool(pid="number", lines="number", delay_ms="number", wait_for_previous="flag"),
    }
)
