"""Cursor's CLI, of which the lab has only a stand-in: see lab/standins/cursor_agent.py for what that stands on."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING

from lab.agents.agent import Agent, Launch, RunSetup, screen
from lab.model.server import Tool
from lab.standins.cursor_session import VERSION

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from lab.terminal import Pane

HOOKS = (
    "sessionStart sessionEnd beforeSubmitPrompt preToolUse postToolUse postToolUseFailure beforeShellExecution "
    "afterShellExecution afterFileEdit subagentStart subagentStop afterAgentThought afterAgentResponse preCompact stop"
).split()
HARMLESS = ("cat", "echo", "ls", "printf", "pwd", "seq", "sleep", "true")


class Cursor(Agent):
    name = "cursor"
    title = "Cursor CLI (stand-in)"
    package = ""
    version = VERSION
    program_name = "cursor_agent.py"
    stand_in = True
    compact_text = "/compress"

    ready = screen(r"^  → (Plan, search, build anything|Add a follow-up)\s")
    approval = screen(r"^ (Run this command|Write to this file|Allow this web fetch)\?[\s\S]*^  → ")
    question = screen(r"^  → Answer questions \(Enter to select/next, Esc to skip\)")
    trust = screen(r"Do you trust the contents of this directory\?")
    retrying = screen(r"Reconnecting")
    failure = screen(r"^  Error: \[\w+\] ")
    approve_keys = ("y",)
    deny_keys = ("n", "Enter")
    """`n` opens a box that asks what to do instead; left empty it just skips."""
    interrupt_keys = ("C-c",)
    trust_keys = ("a",)
    quit_text = "/quit"
    settle = 0.1

    tools = {
        "shell": lambda command: Tool("shell", {"command": command}),
        "approval": lambda command: Tool("shell", {"command": command}, "waiting_approval"),
        "write": lambda path: Tool("write", {"path": path, "contents": "written by the lab\n"}, "waiting_approval"),
        "fetch": lambda url: Tool("fetch", {"url": url}, "waiting_approval"),
        "question": lambda text: Tool(
            "ask_question", {"question": text, "options": ["First", "Second"]}, "waiting_input"
        ),
        "subagent": lambda prompt: Tool("task", {"description": "Look around", "prompt": prompt}),
    }

    def prepare(self, setup: RunSetup) -> Launch:
        config = setup.home / ".cursor"
        config.mkdir()
        permissions = {"allow": [f"Shell({command})" for command in HARMLESS], "deny": []}
        (config / "cli-config.json").write_text(json.dumps({"version": 1, "permissions": permissions}))
        if setup.record:
            hooks = {event: [{"command": f"{setup.recorder} {setup.hooks}"}] for event in HOOKS}
            (config / "hooks.json").write_text(json.dumps({"version": 1, "hooks": hooks}))
        if setup.trusted:
            trust = config / "projects" / str(setup.project).strip("/").replace("/", "-") / ".workspace-trusted"
            trust.parent.mkdir(parents=True)
            trust.write_text("{}")
        # Where Cursor's installer puts it, so that the process has the name a user's has.
        program = setup.home / ".local" / "bin" / "cursor-agent"
        program.parent.mkdir(parents=True)
        program.symlink_to(self.program)
        env = {"CURSOR_STANDIN_MODEL": setup.model, "CURSOR_STANDIN_RETRIES": str(setup.retries)}
        return Launch([sys.executable, "-ESB", str(program)], env)

    def transcripts(self, setup: RunSetup) -> list[Path]:
        return sorted((setup.home / ".cursor" / "projects").glob("*/agent-transcripts/*/*.jsonl"))

    def session_files(self, setup: RunSetup) -> list[Path]:
        return sorted((setup.home / ".cursor" / "chats").glob("*/*/meta.json"))

    async def witness(self, setup: RunSetup, pane: Pane) -> AsyncIterator[str]:  # noqa: ARG002 - the stand-in says all in its file
        """Yield the states that the stand-in writes to states.jsonl, a file that Cursor's own program does not have."""
        while True:
            for file in (setup.home / ".cursor" / "chats").glob("*/*/states.jsonl"):
                for line in file.read_text().splitlines()[-1:]:
                    yield json.loads(line)["state"]
            await asyncio.sleep(0.05)
