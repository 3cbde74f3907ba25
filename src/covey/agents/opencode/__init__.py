"""opencode."""

from __future__ import annotations

from covey.agents.agent import Agent

AGENT = Agent(
    name="opencode",
    title="opencode",
    program="opencode",
    install="npm install -g opencode-ai",
    package="opencode-ai",
)
