"""opencode."""

from __future__ import annotations

from covey.agents.agent import Agent, SkillFolders

AGENT = Agent(
    name="opencode",
    title="opencode",
    program="opencode",
    install="npm install -g opencode-ai",
    package="opencode-ai",
    skills=SkillFolders(
        project=".opencode/skills", variable="XDG_CONFIG_HOME", usual=".config", below="opencode/skills"
    ),
)
