"""All agents that can run a beat, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from covey.beats.agents.claude import Claude

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.beats.agents.agent import Agent

AGENTS: Mapping[str, Agent] = {agent.name: agent for agent in (Claude(),)}
