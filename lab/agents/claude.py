"""Claude Code."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from covey.agents.claude import AGENT
from lab.agents.agent import Agent, Launch, RunSetup, choice, screen
from lab.model.server import Tool

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from lab.terminal import Pane

KEY = "sk-fake"
# Without MessageDisplay, which runs for every piece of a streamed answer, and WorktreeCreate, which would replace git's
# work.
HOOKS = tuple(
    "SessionStart SessionEnd UserPromptSubmit UserPromptExpansion PreToolUse PostToolUse PostToolUseFailure "
    "PostToolBatch PermissionRequest PermissionDenied Notification Stop StopFailure SubagentStart SubagentStop "
    "PreCompact PostCompact TaskCreated TaskCompleted Elicitation ElicitationResult TeammateIdle".split()
)
HOOKS_OF_FEBRUARY = tuple(
    "SessionStart SessionEnd UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure PermissionRequest "
    "Notification Stop SubagentStart SubagentStop PreCompact TaskCompleted TeammateIdle".split()
)
"""An event whose name is not known makes 2.1.48 stop at its start and ignore all settings."""
OPTIONS = {"suggestions": "CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION", "foreground": "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"}
MCP_SERVER = Path(__file__).parents[1] / "mcp_server.py"
STATES = {"idle": "idle", "busy": "running", "waiting": "waiting_approval"}


class Claude(Agent):
    name = AGENT.name
    title = AGENT.title
    package = AGENT.package
    version = "2.1.325"
    older = ("2.1.236", "2.1.48")
    program_name = AGENT.program

    ready = screen(r"^❯[\s\S]*^  (⏸|⏵⏵|\? for shortcuts)")
    approval = screen(r"(Do you want to .*|Would you like to .*|Exit plan mode)\?[\s\S]*❯ 1\. ")
    question = screen(r"Enter to select · ↑/↓ to navigate")
    trust = screen(r"Yes, I trust this folder")
    retrying = screen(r"· Retrying in")
    failure = screen(r"● .*API Error")
    trust_keys: ClassVar[tuple[str, ...]] = ("Down", "Enter")
    hooks: ClassVar[tuple[str, ...]] = HOOKS
    asking_mode: ClassVar[str] = "manual"
    """The permission mode in which it asks before it changes anything."""

    tools = {
        "shell": lambda command: Tool("Bash", {"command": command, "description": "A harmless command"}),
        "approval": lambda command: Tool(
            "Bash", {"command": command, "description": "Change something"}, "waiting_approval"
        ),
        "write": lambda path: Tool("Write", {"file_path": path, "content": "written by the lab\n"}, "waiting_approval"),
        "edit": lambda path: Tool(
            "Edit", {"file_path": path, "old_string": "written", "new_string": "changed"}, "waiting_approval"
        ),
        "fetch": lambda url: Tool("WebFetch", {"url": url, "prompt": "Summarise"}, "waiting_approval"),
        "plan": lambda text: Tool("ExitPlanMode", {"plan": text}, "waiting_approval"),
        "mcp": lambda word: Tool("mcp__lab__ping", {"word": word}, "waiting_approval"),
        "question": lambda text: Tool(
            "AskUserQuestion",
            {"questions": [choice(text, multiSelect=False)]},
            "waiting_input",
        ),
        "subagent": lambda prompt: Tool(
            "Agent", {"description": "Look around", "prompt": prompt, "subagent_type": "general-purpose"}
        ),
    }

    def prepare(self, setup: RunSetup) -> Launch:
        config = setup.home / ".claude"
        config.mkdir(parents=True, exist_ok=True)
        state = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "hasSeenAutoDefaultNotice": True,
            "customApiKeyResponses": {"approved": [KEY], "rejected": []},
            "projects": {str(setup.project): {"hasTrustDialogAccepted": True}} if setup.trusted else {},
        }
        (config / ".claude.json").write_text(json.dumps(state))
        argv = [str(self.program), "--permission-mode", self.asking_mode]
        if setup.record:
            hook = {"hooks": [{"type": "command", "command": f"{setup.recorder} {setup.hooks}"}]}
            settings = setup.root / "hooks.json"
            settings.write_text(json.dumps({"hooks": {event: [hook] for event in self.hooks}}))
            argv += ["--settings", str(settings)]
        if "mcp" in setup.options:
            servers = {"lab": {"command": sys.executable, "args": [str(MCP_SERVER)]}}
            argv += ["--mcp-config", json.dumps({"mcpServers": servers})]
        env = {
            "CLAUDE_CONFIG_DIR": str(config),
            "ANTHROPIC_BASE_URL": setup.model,
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_MAX_RETRIES": str(setup.retries),
            "CLAUDE_CODE_TMPDIR": str(setup.root / "tmp"),
            # Some releases ask the model for a suggestion after every turn: work that nobody sees.
            "CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION": "false",
            **dict.fromkeys(
                [
                    "DISABLE_AUTOUPDATER",
                    "DISABLE_INSTALLATION_CHECKS",
                    "DISABLE_TELEMETRY",
                    "DISABLE_ERROR_REPORTING",
                    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
                    "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL",
                ],
                "1",
            ),
            **{name: "1" for option, name in OPTIONS.items() if option in setup.options},
        }
        if "signed-out" in setup.options:
            del env["ANTHROPIC_API_KEY"]
        if "settings-error" in setup.options:
            hook = {"hooks": [{"type": "command", "command": "true"}]}
            (config / "settings.json").write_text(json.dumps({"hooks": {"AnEventThatNoReleaseKnows": [hook]}}))
        return Launch(argv, env)

    def transcripts(self, setup: RunSetup) -> list[Path]:
        return sorted((setup.home / ".claude" / "projects").glob("*/*.jsonl"))

    def session_files(self, setup: RunSetup) -> list[Path]:
        return sorted((setup.home / ".claude" / "sessions").glob("*.json"))

    async def witness(self, setup: RunSetup, pane: Pane) -> AsyncIterator[str]:  # noqa: ARG002 - its files tell all
        """Yield the state from sessions/<pid>.json, which Claude rewrites at every change and removes at a clean exit.

        While it asks whether to trust the folder there is only a key beside it. It calls an error idle: the last entry
        of the transcript distinguishes them.
        """
        while True:
            files = self.session_files(setup)
            if not files and list((setup.home / ".claude" / "sessions").glob("*.key")) and not self._trusted(setup):
                yield "waiting_approval"
            for file in files:
                try:
                    session = json.loads(file.read_text())
                except (OSError, ValueError):
                    continue
                state = STATES.get(session.get("status"), "")
                if state == "idle" and self._failed(setup):
                    state = "error"
                yield "waiting_input" if session.get("waitingFor") == "input needed" else state
            await asyncio.sleep(0.05)

    def _trusted(self, setup: RunSetup) -> bool:
        return '"hasTrustDialogAccepted":true' in (setup.home / ".claude" / ".claude.json").read_text().replace(" ", "")

    def _failed(self, setup: RunSetup) -> bool:
        """Return whether the last entry of the newest conversation is an API error."""
        newest = max(self.transcripts(setup), key=lambda file: file.stat().st_mtime, default=None)
        said = [line for line in newest.read_text().splitlines() if '"type":"assistant"' in line] if newest else []
        return bool(said) and '"isApiErrorMessage":true' in said[-1]


class ClaudeOfAugust(Claude):
    """2.1.236 proposes to trust the folder."""

    version = "2.1.236"
    trust_keys = ("Enter",)
    skips = {
        "compact": "it does not compact a conversation of one turn",
        "queue": "it hands a queued prompt to the model beside the result of a tool, in words of its own",
    }


class ClaudeOfFebruary(ClaudeOfAugust):
    """2.1.48 draws an error as the result of a tool, and has fewer hooks."""

    version = "2.1.48"
    hooks = HOOKS_OF_FEBRUARY
    asking_mode = "default"
    skips = {
        "queue": ClaudeOfAugust.skips["queue"],
        "retry": "it repeats a request a few times before it shows that it does",
    }
    warm_up = 4.0
    failure = screen(r"[●⎿] .*API Error")
