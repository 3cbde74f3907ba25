"""Cursor's CLI. Known from public facts only; its own program has not been run."""

from __future__ import annotations

from covey.agents.agent import Agent

AGENT = Agent(
    name="cursor",
    title="Cursor CLI",
    program="cursor-agent",
    install="curl https://cursor.com/install -fsS | bash",
    # The npm package called cursor-agent is something else.
)
