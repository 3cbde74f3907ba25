"""All agents that can run a beat, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from covey.beats.agents.claude import Claude
from covey.beats.agents.codex import Codex
from covey.beats.agents.copilot import Copilot
from covey.beats.agents.gemini import Gemini
from covey.beats.agents.opencode import OpenCode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.beats.agents.agent import Agent

AGENTS: Mapping[str, Agent] = {agent.name: agent for agent in (Claude(), Codex(), Copilot(), Gemini(), OpenCode())}
