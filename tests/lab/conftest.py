"""Real agents for the lab's own tests, installed on the first use."""

from __future__ import annotations

import shutil

import pytest

from lab import agents
from lab.agents.agent import Agent
from lab.install import install

SMOKED = ("claude", "codex")
"""The agents that every test run starts: Claude Code, and one that needs node."""
OLDER = f"codex@{agents.find('codex').older[-1]}"
"""The older release that every test run starts, too."""


@pytest.fixture(scope="session")
def installed() -> list[type[Agent]]:
    if shutil.which("npm") is None:
        pytest.skip("npm is not to be had here")
    found = agents.chosen(SMOKED)
    for agent in (*found, agents.find(OLDER)):
        install(agent)
    return found
