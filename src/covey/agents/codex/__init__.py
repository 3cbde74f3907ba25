"""Codex, by OpenAI."""

from __future__ import annotations

from covey.agents.agent import Agent

AGENT = Agent(
    name="codex",
    title="Codex",
    program="codex",
    install="npm install -g @openai/codex",
    package="@openai/codex",
)
