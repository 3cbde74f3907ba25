"""Real agents against the scripted model: their programs, and a marker that skips where the lab has not the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lab import agents
from lab.install import program_of

if TYPE_CHECKING:
    from lab.agents.agent import Agent

PROMPT = "heartbeat agent"
"""In every prompt that a beat gives to an agent."""
HEARTBEAT = "---\ninterval: 10s\n---\nSay how it is.\n"


def needs(*names: str) -> pytest.MarkDecorator:
    """For tests that start these agents."""
    missing = [name for name in names if not program_of(agents.find(name)).exists()]
    return pytest.mark.skipif(
        bool(missing), reason=f"the lab has not installed {', '.join(missing)}: ./run lab install"
    )


def real(name: str) -> Agent:
    kind = agents.find(name)
    return kind(program_of(kind))
