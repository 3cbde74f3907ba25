"""OpenAI Codex CLI."""

from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING, Any, ClassVar

from covey.agents.codex import AGENT
from lab.agents.agent import Agent, Launch, RunSetup, choice, screen
from lab.model.server import Tool

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from lab.terminal import Pane

HOOKS = tuple(
    "SessionStart SessionEnd UserPromptSubmit PreModelRequest PostModelRequest PreToolUse PermissionRequest "
    "PostToolUse Interrupt Stop SubagentStart SubagentStop PreCompact PostCompact".split()
)
SPINNER = re.compile(r"[\u2801-\u28ff] ")


def nested(tool: str, argument: object) -> str:
    return f"text(await tools.{tool}({json.dumps(argument)}));"


def script(*calls: str, waits: str = "") -> Tool:
    """Return a call of the tool `exec`: Codex's present models call most tools from a script that they pass to it."""
    return Tool("exec", {"input": "\n".join(calls)}, waits)


class Codex(Agent):
    name = AGENT.name
    title = AGENT.title
    package = AGENT.package
    version = "0.166.0"
    older = ("0.148.0", "0.101.0")
    skips = {
        "fetch": "it has no tool that fetches a page: its web search is done by the provider of the model",
        "queue": "a prompt typed while it works breaks off the answer instead of waiting for its end: see steer",
    }
    program_name = AGENT.program

    ready = screen(r"^› Ask Codex to do anything[\s\S]*^  \S+ \S+.* · ")
    approval = screen(r"Would you like to .*\?[\s\S]*› 1\. ")
    question = screen(r"\| enter to submit answer")
    trust = screen(r"^. *1\. Trust and continue")
    retrying = screen(r"Reconnecting\.\.\.")
    failure = screen(r"^■ (?!Conversation interrupted)")
    quit_text = "/quit"
    model: ClassVar[str] = "gpt-6.1-sol"
    """A model that the release knows: what tools it is given depends on it."""
    helpers: ClassVar[str] = "multi_agent_v2 = { enabled = true, non_code_mode_only = false }"
    """The feature that lets the model start helper agents."""
    hooks: ClassVar[tuple[str, ...]] = HOOKS

    tools = {
        "shell": lambda command: script(nested("exec_command", {"cmd": command})),
        "approval": lambda command: script(
            nested(
                "exec_command",
                {
                    "cmd": command,
                    "sandbox_permissions": "require_escalated",
                    "justification": "May I change something?",
                },
            ),
            waits="waiting_approval",
        ),
        "write": lambda path: script(
            nested("apply_patch", f"*** Begin Patch\n*** Add File: {path}\n+written by the lab\n*** End Patch\n"),
            waits="waiting_approval",
        ),
        "question": lambda text: Tool(
            "request_user_input",
            {"questions": [choice(text, id="choice")]},
            "waiting_input",
        ),
        "subagent": lambda prompt: script(
            nested("collaboration__spawn_agent", {"task_name": "look", "message": prompt, "fork_turns": "none"}),
            nested("collaboration__wait_agent", {}),
        ),
    }

    def prepare(self, setup: RunSetup) -> Launch:
        """Start Codex read-only, so that edits ask.

        The features let the model ask questions and reach helper agents from scripts, outside plan mode.
        """
        config = setup.home / ".codex"
        config.mkdir(parents=True, exist_ok=True)
        trust = f'[projects.{json.dumps(str(setup.project))}]\ntrust_level = "trusted"\n' if setup.trusted else ""
        # Without a provider of its own it wants an account.
        provider = "" if "signed-out" in setup.options else 'model_provider = "lab"\n'
        (config / "config.toml").write_text(f"""\
model = "{self.model}"
{provider}check_for_update_on_startup = false
suppress_unstable_features_warning = true
approval_policy = "on-request"
sandbox_mode = "read-only"
[model_providers.lab]
name = "Lab"
base_url = "{setup.model}/v1"
wire_api = "responses"
env_key = "LAB_KEY"
request_max_retries = 0
stream_max_retries = {setup.retries}
[analytics]
enabled = false
[features]
daemon_auto_start = false
default_mode_request_user_input = true
{self.helpers}
{trust}""")
        if not setup.trusted:
            # Codex asks only where there is something to be trusted: settings of the folder, or a git repository.
            (setup.project / ".codex").mkdir()
            (setup.project / ".codex" / "config.toml").write_text('model_verbosity = "low"\n')
        argv = [str(self.program)]
        if setup.record:
            argv += ["-c", f"notify={json.dumps([str(setup.recorder), str(setup.notices)])}"]
        if setup.record and self.hooks:
            hook = {"hooks": [{"type": "command", "command": f"{setup.recorder} {setup.hooks}"}]}
            (config / "hooks.json").write_text(json.dumps({"hooks": {event: [hook] for event in self.hooks}}))
        if "hook-review" in setup.options:
            hook = {"hooks": [{"type": "command", "command": "true"}]}
            (config / "hooks.json").write_text(json.dumps({"hooks": {key: [hook] for key in self.hooks[:2]}}))
        elif self.hooks and (setup.record or setup.integrated):
            argv.append("--dangerously-bypass-hook-trust")
        return Launch(argv, {"CODEX_HOME": str(config), "LAB_KEY": "sk-fake"})

    def transcripts(self, setup: RunSetup) -> list[Path]:
        return sorted((setup.home / ".codex" / "sessions").glob("*/*/*/*.jsonl"))

    async def witness(self, setup: RunSetup, pane: Pane) -> AsyncIterator[str]:
        """Yield the state from the title, which spins while Codex works and calls for action while it waits.

        What it waits for, and how a turn ended, is in the transcript.
        """
        while True:
            title = (await pane.facts())["pane_title"]
            if "Action Required" in title:
                call = self._last(setup, "function_call", "custom_tool_call")
                yield "waiting_input" if call.get("name") == "request_user_input" else "waiting_approval"
            elif title.endswith(setup.project.name):
                ended = self._last(setup, "task_started", "task_complete", "turn_aborted")
                resting = "error" if ended.get("error") else "idle"
                yield "running" if SPINNER.match(title) else resting
            await asyncio.sleep(0.05)

    def _last(self, setup: RunSetup, *kinds: str) -> dict[str, Any]:
        """Return the last entry of these kinds in the first thread's transcript; those of helper agents are younger."""
        for file in self.transcripts(setup)[:1]:
            whole, _, _ = file.read_text().rpartition("\n")  # the last line may be half written
            for line in reversed(whole.split("\n") if whole else []):
                payload: dict[str, Any] = json.loads(line)["payload"]
                if payload.get("type") in kinds:
                    return payload
        return {}


class CodexOfAugust(Codex):
    """0.148.0 asks for trust in other words."""

    version = "0.148.0"
    model = "gpt-5.6-sol"
    trust = screen(r"^. *1\. Yes, continue")


class CodexOfFebruary(CodexOfAugust):
    """0.101.0 has no hooks, no title that shows a state, and gives its tools to the model one by one."""

    version = "0.101.0"
    model = "gpt-5.3-codex"
    helpers = "collab = true"
    hooks = ()
    ready = screen(r"^› [A-Z][\s\S]*^  \? for shortcuts")
    skips = {
        **Codex.skips,
        "hook-review": "it has no hooks",
        "question": "its model may ask questions in plan mode only",
        "subagent": "its model must name the helper agent that it waits for, and the scripted one does not know its id",
    }
    tools = {
        "shell": lambda command: Tool("exec_command", {"cmd": command}),
        "approval": lambda command: Tool(
            "exec_command",
            {"cmd": command, "sandbox_permissions": "require_escalated", "justification": "May I change something?"},
            "waiting_approval",
        ),
        "write": lambda path: Tool(
            "apply_patch",
            {"input": f"*** Begin Patch\n*** Add File: {path}\n+written by the lab\n*** End Patch\n"},
            "waiting_approval",
        ),
    }

    def prepare(self, setup: RunSetup) -> Launch:
        """Prepare a start that asks for trust: it does so only where the settings leave open what it may do."""
        launch = super().prepare(setup)
        if not setup.trusted:
            config = setup.home / ".codex" / "config.toml"
            config.write_text(
                re.sub(r"^(approval_policy|sandbox_mode) = .*\n", "", config.read_text(), flags=re.MULTILINE)
            )
        return launch

    def witness(self, setup: RunSetup, pane: Pane) -> AsyncIterator[str]:
        """Yield nothing: neither its files nor its title show its state."""
        raise NotImplementedError
