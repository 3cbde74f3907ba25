"""GitHub Copilot CLI."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from covey.agents.copilot import AGENT
from lab.agents.agent import Agent, Launch, RunSetup, screen
from lab.model.server import Tool

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from lab.terminal import Pane

HOOKS = (
    "SessionStart SessionEnd UserPromptSubmit userPromptTransformed PreToolUse preMcpToolCall PostToolUse "
    "PostToolUseFailure PermissionRequest Notification Stop SubagentStart SubagentStop PreCompact ErrorOccurred"
).split()
"""In this spelling most payloads name their event; in Copilot's own, `agentStop` and so on, none do.

Two have no other spelling.
"""
HARMLESS = ("ls", "sleep", "true")
"""Commands of the scenarios that are to run without asking."""
QUESTION = {"properties": {"way": {"type": "string", "title": "Way", "enum": ["First", "Second"]}}, "required": ["way"]}


class Copilot(Agent):
    name = AGENT.name
    title = AGENT.title
    package = AGENT.package
    version = "1.0.102"
    older = ("1.0.80", "1.0.12")
    program_name = AGENT.program

    ready = screen(r"^❯[\s\S]*(?:/ commands|shift\+tab switch mode)")
    approval = screen(r"Do you want to .*\?[\s\S]*❯ \d\. ")
    question = screen(r"enter accept · ctrl\+d decline")
    trust = screen(r"Confirm folder trust[\s\S]*❯ \d\. ")
    retrying = screen(r"Retrying\.\.\.")
    failure = screen(r"^ ✗ (Failed to get response|Authentication failed|\d{3} )")
    # Two Escapes do the same, but are taken for one key unless some 50 ms lie between them.
    interrupt_keys = ("C-c",)
    # Nothing limits its five retries, which wait longer each time.
    give_up = 40.0

    tools = {
        "shell": lambda command: Tool("bash", {"command": command, "description": "A harmless command"}),
        "approval": lambda command: Tool(
            "bash", {"command": command, "description": "Change something"}, "waiting_approval"
        ),
        "write": lambda path: Tool("create", {"path": path, "file_text": "written by the lab\n"}, "waiting_approval"),
        # Offline it has no fetch tool of its own, but asks in the same way for an address in a command.
        "fetch": lambda url: Tool(
            "bash", {"command": f"curl -sS {url}", "description": "Read the page"}, "waiting_approval"
        ),
        "question": lambda text: Tool("ask_user", {"message": text, "requestedSchema": QUESTION}, "waiting_input"),
        "subagent": lambda prompt: Tool(
            "task", {"name": "helper", "description": "Look around", "prompt": prompt, "agent_type": "general-purpose"}
        ),
    }

    def prepare(self, setup: RunSetup) -> Launch:
        home = setup.home / ".copilot"
        home.mkdir(parents=True, exist_ok=True)
        (home / "config.json").write_text(json.dumps({"trustedFolders": [str(setup.project)] if setup.trusted else []}))
        (home / "settings.json").write_text(json.dumps({"banner": "never", "showTipsOnStartup": False}))
        if setup.record:
            hook = {"type": "command", "bash": f"{setup.recorder} {setup.hooks}", "timeoutSec": 10}
            (home / "hooks").mkdir()
            (home / "hooks" / "record.json").write_text(
                json.dumps({"version": 1, "hooks": {event: [hook] for event in HOOKS}})
            )
        env = {
            "COPILOT_HOME": str(home),
            # It unpacks 230 MB at its first start: once beside the program, not once for each run.
            "COPILOT_PKG_CACHE_HOME": str(self.program.parents[1] / ".cache" / "copilot"),
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_PROVIDER_BASE_URL": f"{setup.model}/v1",
            "COPILOT_PROVIDER_API_KEY": "sk-fake",
            "COPILOT_MODEL": "scripted",
            "COPILOT_PROVIDER_MAX_PROMPT_TOKENS": "100000",
            "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS": "10000",
        }
        return Launch([str(self.program), *(f"--allow-tool=shell({command})" for command in HARMLESS)], env)

    def transcripts(self, setup: RunSetup) -> list[Path]:
        return sorted((setup.home / ".copilot" / "session-state").glob("*/events.jsonl"))

    def session_files(self, setup: RunSetup) -> list[Path]:
        return sorted((setup.home / ".copilot").glob("open-sessions-state.json"))

    async def witness(self, setup: RunSetup, pane: Pane) -> AsyncIterator[str]:  # noqa: ARG002 - the transcript tells all
        """Yield the state from Copilot's transcript, which holds all that happens, not only the conversation.

        It begins with the first prompt; before that there is only a list of open sessions.
        """
        history = _History()
        read = 0
        while True:
            files = self.transcripts(setup)
            if files:
                for line in files[0].read_bytes()[read:].splitlines(keepends=True):
                    if line.endswith(b"\n"):
                        read += len(line)
                        history.add(json.loads(line))
                yield history.state
            elif setup.trusted and self.session_files(setup):  # the list knows nothing of a trust dialog
                yield "idle"
            await asyncio.sleep(0.02)


class CopilotWithChoices(Copilot):
    """Releases whose tool for questions takes a list of choices."""

    version = "1.0.80"
    give_up = 80.0
    question = screen(r"[Ee]nter (?:to )?(?:accept|confirm|select)")

    tools = {
        **Copilot.tools,
        "question": lambda text: Tool("ask_user", {"question": text, "choices": ["First", "Second"]}, "waiting_input"),
    }


class EarlyCopilot(CopilotWithChoices):
    """The first releases that work offline with a model of one's own."""

    version = "1.0.12"
    skips = {"write": "its tool takes only absolute paths, which a scenario cannot know"}


class _History:
    """The state that follows from the events of one session."""

    def __init__(self) -> None:
        self._turn = "idle"
        self._permissions: set[str] = set()
        self._questions: set[str] = set()

    @property
    def state(self) -> str:
        if self._permissions:
            return "waiting_approval"
        return "waiting_input" if self._questions else self._turn

    def add(self, event: dict[str, Any]) -> None:
        data = event["data"]
        match event["type"]:
            case "permission.requested":
                self._permissions.add(data["requestId"])
            case "permission.completed":
                self._permissions.discard(data["requestId"])
            case "tool.execution_start" if data["toolName"] == "ask_user":
                self._questions.add(data["toolCallId"])
            case "tool.execution_complete":
                self._questions.discard(data["toolCallId"])
            case "user.message" | "assistant.turn_start" | "session.compaction_start":
                self._turn = "running"
            # An event with an agentId is a helper agent's.
            case "assistant.turn_end" | "session.compaction_complete" | "abort" if "agentId" not in event:
                self._turn = "idle"
            case "session.error":
                self._turn = "error"
