"""The agents themselves, with Covey's hooks in their settings, answered by a daemon while they ask."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from covey.kernel.config.config import set_value
from covey.kernel.daemon import Daemon
from covey.kernel.home import Home
from covey.kernel.operations.call import Caller
from covey.node.settings import SETTINGS
from covey.node.subsystems import SUBSYSTEMS
from lab.agents.agent import Agent
from lab.agents.claude import Claude
from lab.agents.codex import Codex
from lab.agents.copilot import Copilot
from lab.agents.opencode import OpenCode
from lab.bench import bench
from lab.install import program_of
from lab.measure import integrate
from lab.observer import COVEY, home_of
from lab.play import play
from lab.scenario import Scenario, read

LIMIT_S = 120.0
"""For a request to come; the agent has to start first, on a machine that may be busy."""
MESSAGE, QUESTION = "Not this one.", "Which of the two ways?"
pytestmark = pytest.mark.once
APPROVED, DENIED, LEFT = "touch approved", "touch denied", "touch left"


def scenario(*, asks: bool) -> Scenario:
    """A command approved from elsewhere, one denied, one that the terminal answers, and perhaps a question."""
    question = ["type Ask me", "until completed"] if asks else []
    person = [
        *("type Do the first", "until completed"),
        *("type Do the second", "until completed"),
        *("type Do the third", "until waiting_approval", "approve", "until completed"),
        *question,
        "quit",
    ]
    model = {
        "Do the first": [f"approval {APPROVED}", "say Done."],
        "Do the second": [f"approval {DENIED}", "say Then not."],
        "Do the third": [f"approval {LEFT}", "say Done."],
        "Ask me": [f"question {QUESTION}", "say Then I know."],
    }
    return read("approvals", {"about": "Approvals.", "person": person, "model": model})


def needed(agent: type[Agent]) -> Any:
    """The agent as a parameter, skipped where it is not installed."""
    missing = not program_of(agent).exists() or shutil.which("tmux") is None
    reason = f"{agent.title} is not installed in the lab: ./run lab install {agent.name}"
    return pytest.param(agent, id=agent.name, marks=pytest.mark.skipif(missing, reason=reason))


class Person:
    """Somebody elsewhere, who answers through the daemon."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon

    async def call(self, name: str, **params: Any) -> Any:
        return await self._daemon.dispatcher.call(name, params, Caller("internal", subsystem="test"))

    async def asked(self, command: str, status: str = "open") -> dict[str, Any]:
        """The approval for a command, as soon as it has this status."""
        until = time.monotonic() + LIMIT_S
        while True:
            items = (await self.call("approvals", all=True))["items"]
            for item in items:
                asked = item["shell_command"] or "\n".join(item["command"].splitlines()[:1])
                if (asked, item["status"]) == (command, status):
                    return item  # type: ignore[no-any-return]
            assert time.monotonic() < until, f"{command!r} is not {status}: {items}"
            await asyncio.sleep(0.05)


def append(file: Path, text: str) -> None:
    with file.open("a") as opened:
        opened.write(text)


async def played(
    agent: type[Agent], person: Callable[[Person], Coroutine[Any, Any, None]], scenario: Scenario, *, policy: str = ""
) -> tuple[set[str], str]:
    """Play a scenario while a person elsewhere does their part; return the files made, and the transcript."""

    async with bench(integrate=integrate) as shared:
        home = Home(str(home_of(COVEY, shared.folder)))
        set_value(home.node, SETTINGS, "fleet.sockets", json.dumps([str(shared.terminal.socket)]))
        append(Path(home.node.config_file), policy)
        async with Daemon.running(home.node, subsystems=SUBSYSTEMS) as daemon, asyncio.TaskGroup() as group:
            group.create_task(person(Person(daemon)))
            run = await play(shared, agent(program_of(agent)), scenario, agent.name)
        files = [*run.agent.transcripts(run.setup), *(run.setup.home / ".local/share/opencode").glob("opencode.db*")]
        transcript = "".join(file.read_text(errors="replace") for file in files)
        return {file.name for file in run.setup.project.iterdir()}, transcript


@pytest.mark.parametrize("agent", [needed(Claude), needed(Codex), needed(Copilot), needed(OpenCode)])
async def test_an_agent_does_what_is_decided_elsewhere_or_asks_at_its_terminal(agent: type[Agent]) -> None:
    is_hidden = agent in {Codex, Copilot}
    ends: list[str] = []

    async def person(away: Person) -> None:
        if is_hidden:
            await away.call("away")
        await away.call("approve", ref=(await away.asked(APPROVED))["id"])
        await away.call("deny", ref=(await away.asked(DENIED))["id"], message=MESSAGE)
        if is_hidden:
            await away.asked(LEFT)
            await away.call("here")
        ends.append((await away.asked(LEFT, "withdrawn"))["why"])
        assert (await away.asked(DENIED, "answered"))["decision"] == "deny", "the denial stays in the record"
        if is_hidden:
            await away.call("away")
        if agent is not Copilot:  # its questions have no hook that could answer them
            await away.call("answer", ref=(await away.asked(QUESTION))["id"], option=["2"])

    made, told = await played(agent, person, scenario(asks=agent is not Copilot))
    assert made & {"approved", "denied", "left"} == {"approved", "left"}
    assert ends == ["you are here: it asks at its terminal" if is_hidden else "it was answered at its terminal"]
    assert MESSAGE in told, "the model reads why"
    answered = (
        rf"{re.escape(QUESTION)}[^.]*Second" if agent is not OpenCode else rf'{re.escape(QUESTION)}\\*"=\\*"Second'
    )
    assert agent is Copilot or re.search(answered, told), "and the answer"


POLICY = f"""
[[policy.rule]]
name = "makes"
effect = "allow"
command = "{APPROVED}"

[[policy.rule]]
name = "keeps"
effect = "deny"
command = "{DENIED}"
"""


@pytest.mark.parametrize("agent", [needed(Claude), needed(Codex), needed(Copilot), needed(OpenCode)])
async def test_an_agent_does_what_the_policy_decides_and_asks_for_the_rest(agent: type[Agent]) -> None:
    decided: list[tuple[str, str, str, str]] = []
    messages: list[str] = []

    async def person(here: Person) -> None:
        for command in (APPROVED, DENIED):
            item = await here.asked(command, "answered")
            decided.append((command, item["decision"], item["via"], item["by"]["rule"]))
            messages.append(item["message"])

    made, told = await played(agent, person, scenario(asks=False), policy=POLICY)
    assert made & {"approved", "denied", "left"} == {"approved", "left"}, "the third is left to the terminal"
    assert decided == [(APPROVED, "allow", "policy", "makes"), (DENIED, "deny", "policy", "keeps")]
    assert "keeps" in messages[1]
    assert messages[1] in told.replace("\\", ""), "the model reads why"
