"""Real agents with `covey mcp` as a server of theirs: a scripted model has them look around, and send a message."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from lab import agents
from lab.agents.agent import Agent, RunSetup
from lab.agents.codex import nested, script
from lab.headless import Headless, headless
from lab.install import install
from lab.model.server import Conversation, Tool
from lab.script import Script
from tests.covey.conftest import COMMAND
from tests.covey.fleet.actions.conftest import Composing, composing
from tests.covey.fleet.room import until

__all__ = ["composing"]
PROMPT = "Ask the others"


def tool(agent: str, name: str, arguments: dict[str, Any]) -> Tool:
    """A call of one of our tools, under the name by which this agent offers it to its model."""
    if agent == "codex":
        return script(nested(f"mcp__covey__{name}", arguments))
    return Tool(f"mcp_covey_{name}" if agent == "gemini" else f"mcp__covey__{name}", arguments)


def add_server(agent: Agent, setup: RunSetup, env: dict[str, str]) -> list[str]:
    """Put the server into the agent's settings; the command that starts the agent with the prompt."""
    server = {"command": COMMAND, "args": ["mcp"], "env": env}
    if agent.name == "claude":
        allowed = ["--allowedTools", "mcp__covey__list_agents,mcp__covey__send_message"]
        return [PROMPT, "--mcp-config", json.dumps({"mcpServers": {"covey": server}}), *allowed]
    if agent.name == "codex":
        variables = ", ".join(f"{name} = {json.dumps(value)}" for name, value in env.items())
        table = f'\n[mcp_servers.covey]\ncommand = "{COMMAND}"\nargs = ["mcp"]\nenv = {{ {variables} }}\n'
        allowed = [
            f'[mcp_servers.covey.tools.{name}]\napproval_mode = "approve"\n' for name in ("list_agents", "send_message")
        ]
        with (setup.home / ".codex" / "config.toml").open("a") as file:
            file.write(table + "".join(allowed))
        return [PROMPT]
    path = setup.home / ".gemini" / "settings.json"
    settings = json.loads(path.read_text())
    settings["mcpServers"] = {"covey": {**server, "trust": True}}
    path.write_text(json.dumps(settings))
    return ["-i", PROMPT]


@pytest.mark.parametrize("name", ["claude", "codex", "gemini"])
def test_an_agent_looks_around_and_sends_a_message_that_names_it(
    composing: Composing, tmp_path: Path, name: str
) -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm is not to be had here")
    kind = agents.find(name)
    agent = kind(install(kind).program)
    composing.covey.run("config", "set", "mcp.act", "true", "--yes")
    with headless(tmp_path) as lab:
        play(agent, lab, composing)


def play(agent: Agent, lab: Headless, composing: Composing) -> None:
    calls = {
        "look": tool(agent.name, "list_agents", {}),
        "tell": tool(agent.name, "send_message", {"ref": composing.pane, "text": "hello from over there"}),
    }
    steps = {PROMPT: ["mcp look", "mcp tell", "say Done."]}
    setup, environment = lab.setup(agent, agent.name, {PROMPT: ["say Never."]})
    lab.model.conversations[agent.name] = Conversation(
        Script.parse(steps), {**agent.tools, "mcp": lambda word: calls[word]}
    )
    ours = composing.covey.environment()
    server = {key: ours[key] for key in ("COVEY_HOME", "PYTHONPATH", "PATH", "HOME") if key in ours}
    argv = [*agent.prepare(setup).argv, *add_server(agent, setup, server)]
    variables = [f"{key}={value}" for key, value in {**environment, "TERM": "screen-256color"}.items()]
    pane = composing.fleet.tmux(
        "new-session", "-d", "-x", "120", "-y", "40", "-c", str(setup.project), "-P", "-F", "#{pane_id}",
        shlex.join(["env", "-i", *variables, *argv]),
    )  # fmt: skip
    try:
        until(lambda: len(composing.told) == 1)
    except AssertionError:
        raise AssertionError(composing.fleet.tmux("capture-pane", "-p", "-t", pane)) from None
    (row,) = [row for row in composing.fleet.rows() if row["identity"]["pane_id"] == pane]
    stamp = f"[from {agent.name} in {row['ref']}, through covey; not from a person]"
    assert composing.told == [{"message": f"{stamp}\nhello from over there"}]
