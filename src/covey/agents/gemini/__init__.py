"""Gemini CLI, by Google."""

from __future__ import annotations

from covey.agents.agent import Agent, SkillFolders

AGENT = Agent(
    name="gemini",
    title="Gemini CLI",
    program="gemini",
    install="npm install -g @google/gemini-cli",
    package="@google/gemini-cli",
    skills=SkillFolders(project=".gemini/skills", variable="GEMINI_CLI_HOME", usual=".", below=".gemini/skills"),
)
