"""Gemini CLI."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING, Any

from covey.agents.gemini import AGENT
from lab.agents.agent import Agent, Launch, RunSetup, choice, screen
from lab.model.server import Tool

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from lab.terminal import Pane

# Without AfterModel: it runs for every piece of a stream, and the status line names each run for three seconds.
HOOKS = (
    "SessionStart SessionEnd BeforeAgent AfterAgent BeforeModel BeforeToolSelection BeforeTool AfterTool PreCompress "
    "Notification"
).split()
RISKY = "Change something"
# A chain of commands is judged link by link, without its description: what is not marked must be allowed as such.
POLICY = f"""
[[rule]]
toolName = "run_shell_command"
decision = "allow"
priority = 100
[[rule]]
toolName = "run_shell_command"
argsPattern = "{RISKY}"
decision = "ask_user"
priority = 200
"""
# Older releases judge only the links: what may run without leave is named by how it begins.
POLICY_BY_PREFIX = """
[[rule]]
toolName = "run_shell_command"
commandPrefix = ["sleep", "ls", "true", "echo"]
decision = "allow"
priority = 100
"""
TITLES = {"◇": "idle", "✦": "running", "⏲": "running", "✋": "waiting_approval"}


class Gemini(Agent):
    name = AGENT.name
    title = AGENT.title
    package = AGENT.package
    version = "0.61.0"
    older = ("0.55.1", "0.28.2")
    program_name = AGENT.program
    skips = {
        "server-error": "it never gives up on a 5xx: when its attempts are used up it starts over without a word",
        "retry": "it waits 5, 10 and 20 seconds between attempts; retry-slow shows the first of them",
    }

    policy = POLICY
    ready = screen(r"Type your message or @path/to/file")
    approval = screen(r"● 1\. Allow once")
    question = screen(r"Enter to select · ")
    trust = screen(r"Do you trust the files in this folder\?")
    failure = screen(r"✕ .*API Error|Usage limit reached for ")
    quit_text = "/quit"

    tools = {
        "shell": lambda command: Tool("run_shell_command", {"command": command, "description": "A harmless command"}),
        "approval": lambda command: Tool(
            "run_shell_command", {"command": command, "description": RISKY}, "waiting_approval"
        ),
        "write": lambda path: Tool(
            "write_file", {"file_path": path, "content": "written by the lab\n"}, "waiting_approval"
        ),
        "fetch": lambda url: Tool("web_fetch", {"prompt": f"Summarise {url}"}, "waiting_approval"),
        "question": lambda text: Tool(
            "ask_user",
            {"questions": [choice(text, type="choice")]},
            "waiting_input",
        ),
        "subagent": lambda prompt: Tool("invoke_agent", {"agent_name": "generalist", "prompt": prompt}),
    }

    def prepare(self, setup: RunSetup) -> Launch:
        config = setup.home / ".gemini"
        (config / "policies").mkdir(parents=True, exist_ok=True)
        (config / "policies" / "lab.toml").write_text(self.policy)
        settings = {
            "general": {
                "enableAutoUpdate": False,
                "enableAutoUpdateNotification": False,
                "maxAttempts": setup.retries + 1,
            },
            "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": not setup.trusted}},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "model": {"name": "scripted"},
        }
        if setup.record:
            hook = {"hooks": [{"type": "command", "name": "lab", "command": f"{setup.recorder} {setup.hooks}"}]}
            settings["hooks"] = {event: [hook] for event in HOOKS}
        (config / "settings.json").write_text(json.dumps(settings))
        return Launch([str(self.program)], {"GEMINI_API_KEY": "sk-fake", "GOOGLE_GEMINI_BASE_URL": setup.model})

    def transcripts(self, setup: RunSetup) -> list[Path]:
        return sorted((setup.home / ".gemini" / "tmp").glob("*/chats/*.jsonl"))

    async def witness(self, setup: RunSetup, pane: Pane) -> AsyncIterator[str]:
        """Yield the state from the first character of the title.

        Recorded hooks distinguish a question from an approval, the transcript distinguishes a failure from a rest.
        """
        while True:
            state = TITLES.get((await pane.facts())["pane_title"][:1], "")
            if (
                state == "waiting_approval"
                and _last([setup.hooks], "hook_event_name", {"Notification"}).get("details", {}).get("type")
                == "ask_user"
            ):
                state = "waiting_input"
            if (
                state == "idle"
                and _last(self.transcripts(setup), "type", {"user", "gemini", "error"}).get("type") == "error"
            ):
                state = "error"
            yield state
            await asyncio.sleep(0.05)


class EarlyGemini(Gemini):
    """Releases that send even requests to loopback through the proxy. The lab's is a dead end, so they get none."""

    version = "0.28.2"
    policy = POLICY_BY_PREFIX

    def prepare(self, setup: RunSetup) -> Launch:
        launch = super().prepare(setup)
        return Launch(launch.argv, {**launch.env, "HTTPS_PROXY": "", "HTTP_PROXY": ""})

    def transcripts(self, setup: RunSetup) -> list[Path]:
        """Return none: these releases rewrite one JSON document per session."""
        del setup
        return []

    def session_files(self, setup: RunSetup) -> list[Path]:
        return sorted((setup.home / ".gemini" / "tmp").glob("*/chats/*.json"))


def _last(files: list[Path], key: str, values: set[str]) -> dict[str, Any]:
    """Return the last entry of the last file whose key has one of the values."""
    lines = files[-1].read_text().splitlines() if files and files[-1].exists() else []
    for line in reversed(lines):
        # The last line may be half written.
        with contextlib.suppress(ValueError):
            entry: dict[str, Any] = json.loads(line)
            if entry.get(key) in values:
                return entry
    return {}
