"""The folders of the agents that come with Covey."""

from __future__ import annotations

import subprocess
import sys

import pytest

from covey.agents.registry import HEADLESS, INTEGRATIONS, SIGNALS, agents_by_program, known_agents
from covey.agents.screens.registry import load

AGENTS = ["claude", "codex", "copilot", "cursor", "gemini", "opencode"]


def test_every_folder_is_listed_under_its_name() -> None:
    assert list(known_agents()) == AGENTS
    assert [agent.name for agent in known_agents().values()] == AGENTS
    assert list(agents_by_program()) == ["claude", "codex", "copilot", "cursor-agent", "gemini", "opencode"]


def test_parts_are_those_of_the_folders() -> None:
    assert list(SIGNALS) == list(INTEGRATIONS) == AGENTS
    assert list(HEADLESS) == [name for name in AGENTS if name != "cursor"]
    assert len(HEADLESS) == len(AGENTS) - 1
    assert "cursor" not in HEADLESS
    assert "nobody" not in HEADLESS
    assert HEADLESS.get("headless") is None, "a shared part is not an agent"


@pytest.mark.parametrize("name", AGENTS)
def test_all_parts_of_an_agent_have_its_identity(name: str) -> None:
    agent = known_agents()[name]
    adapter = load(packages=False).adapters[name]
    assert (adapter.name, adapter.title) == (agent.name, agent.title)
    assert agent.program in adapter.process.names
    assert INTEGRATIONS[name].agent is agent
    assert agent.package in agent.install
    if name in HEADLESS:
        assert (HEADLESS[name].name, HEADLESS[name].program) == (agent.name, agent.program)


def test_the_list_of_agents_imports_none_of_their_parts() -> None:
    program = (
        "import sys; from covey.agents.registry import HEADLESS, known_agents; known_agents(); list(HEADLESS)\n"
        "print(*sorted(name for name in sys.modules if name.startswith('covey.agents.') and name.count('.') > 2))"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == []
