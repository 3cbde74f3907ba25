"""Gemini CLI, by Google."""

from __future__ import annotations

from covey.agents.agent import Agent

AGENT = Agent(
    name="gemini",
    title="Gemini CLI",
    program="gemini",
    install="npm install -g @google/gemini-cli",
    package="@google/gemini-cli",
)
