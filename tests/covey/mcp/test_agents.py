"""Real agents with `covey mcp` as a server of theirs: a scripted model has them look around, and send a message."""

from __future__ import annotations

import asyncio
import json
import os
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
from lab.processes import end_marked
from lab.script import Script
from tests.covey.conftest import COMMAND
from tests.covey.fleet.actions.conftest import Composing, composing
from tests.covey.fleet.room import until

__all__ = ["composing"]
PROMPT = "Ask the others"
TOOLS = ("list_agents", "send_message")


def tool(agent: str, name: str, arguments: dict[str, Any]) -> Tool:
    """A call of one of our tools, under the name by which this agent offers it to its model."""
    if agent == "codex":
        return script(nested(f"mcp__covey__{name}", arguments))
    return Tool(f"mcp_covey_{name}" if agent == "gemini" else f"mcp__covey__{name}", arguments)


def server(composing: Composing) -> Path:
    """A program that is `covey mcp` for the daemon of the test; what it answers is in a file beside it.

    It sets the variables itself, because agents pass few of them on to the servers that they start.
    """
    path = composing.covey.folder / "server"
    kept = ("COVEY_HOME", "PYTHONPATH", "HOME", "PATH")
    ours = [f"export {key}={shlex.quote(value)}" for key, value in composing.covey.environment().items() if key in kept]
    path.write_text("\n".join(["#!/bin/sh", *ours, f"{COMMAND} mcp | tee {path}.answers"]))
    path.chmod(0o700)
    return path


def add_server(agent: Agent, setup: RunSetup, program: Path) -> list[str]:
    """Put the server into the agent's settings; return further words for the command that starts the agent."""
    if agent.name == "claude":
        allowed = ["--allowedTools", ",".join(f"mcp__covey__{name}" for name in TOOLS)]
        return ["--mcp-config", json.dumps({"mcpServers": {"covey": {"command": str(program)}}}), *allowed]
    if agent.name == "codex":
        lines = ["[mcp_servers.covey]", f'command = "{program}"']
        for name in TOOLS:
            lines += [f"[mcp_servers.covey.tools.{name}]", 'approval_mode = "approve"']
        with (setup.home / ".codex" / "config.toml").open("a") as file:
            file.write("\n".join(["", *lines, ""]))
        return []
    path = setup.home / ".gemini" / "settings.json"
    settings = {**json.loads(path.read_text()), "mcpServers": {"covey": {"command": str(program), "trust": True}}}
    path.write_text(json.dumps(settings))
    return []


@pytest.mark.parametrize("name", ["claude", "codex", "gemini"])
def test_an_agent_looks_around_and_sends_a_message_that_names_it(
    composing: Composing, tmp_path: Path, name: str
) -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm is not to be had here")
    kind = agents.find(name)
    agent = kind(install(kind).program)
    composing.covey.run("config", "set", "mcp.act", "true", "--yes")
    run = f"mcp-{name}-{os.getpid()}"
    with headless(tmp_path) as lab:
        try:
            play(agent, lab, composing, run)
        finally:
            asyncio.run(end_marked(run))  # some agents outlive the end of their tmux server


def play(agent: Agent, lab: Headless, composing: Composing, run: str) -> None:
    calls = {
        "look": tool(agent.name, "list_agents", {}),
        "tell": tool(agent.name, "send_message", {"ref": composing.pane, "text": "hello from over there"}),
    }
    steps = {PROMPT: ["mcp look", "mcp tell", "say Done."]}
    setup, environment = lab.setup(agent, run, {PROMPT: ["say Never."]})
    lab.model.conversations[run] = Conversation(Script.parse(steps), {**agent.tools, "mcp": lambda word: calls[word]})
    program = server(composing)
    argv = [*agent.prepare(setup).argv, *add_server(agent, setup, program)]
    variables = [f"{key}={value}" for key, value in {**environment, "TERM": "screen-256color"}.items()]
    pane = composing.fleet.tmux(
        "new-session", "-d", "-x", "120", "-y", "40", "-c", str(setup.project), "-P", "-F", "#{pane_id}",
        shlex.join(["env", "-i", *variables, *argv]),
    )  # fmt: skip
    answers = program.with_suffix(".answers")
    try:
        until(lambda: answers.exists() and '"send_message"' in answers.read_text())
        until(lambda: composing.covey.run("send", pane, "--text", PROMPT, "--yes").code == 0)
        sent = composing.covey.run("receipts", "list").result["items"]
        if (
            next(one for one in sent if one["text"] == PROMPT)["rung"] == "typed"
        ):  # its screen changed, so Enter was not pressed
            composing.fleet.tmux("send-keys", "-t", pane, "Enter")
        until(lambda: len(composing.told) == 1)
    except AssertionError:
        raise AssertionError(composing.fleet.tmux("capture-pane", "-p", "-t", pane)) from None
    (row,) = [row for row in composing.fleet.rows() if row["identity"]["pane_id"] == pane]
    stamp = f"[from {agent.name} in {row['ref']}, through covey; not from a person]"
    assert composing.told == [{"message": f"{stamp}\nhello from over there"}]
