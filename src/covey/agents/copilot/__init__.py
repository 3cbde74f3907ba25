"""GitHub Copilot CLI."""

from __future__ import annotations

from covey.agents.agent import Agent

AGENT = Agent(
    name="copilot",
    title="GitHub Copilot CLI",
    program="copilot",
    install="npm install -g @github/copilot",
    package="@github/copilot",
)
