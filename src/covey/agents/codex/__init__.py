"""Codex, by OpenAI."""

from __future__ import annotations

from covey.agents.agent import Agent, SkillFolders

AGENT = Agent(
    name="codex",
    title="Codex",
    program="codex",
    install="npm install -g @openai/codex",
    package="@openai/codex",
    skills=SkillFolders(project=".codex/skills", variable="CODEX_HOME", usual=".codex", below="skills"),
)
