"""Claude Code, by Anthropic."""

from __future__ import annotations

from covey.agents.agent import Agent, SkillFolders

AGENT = Agent(
    name="claude",
    title="Claude Code",
    program="claude",
    install="npm install -g @anthropic-ai/claude-code",
    package="@anthropic-ai/claude-code",
    session_variables=(
        "AI_AGENT",
        "CLAUDECODE",
        "CLAUDE_CODE_CHILD_SESSION",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CODE_MESSAGING_SOCKET",
        "CLAUDE_CODE_MESSAGING_TOKEN",
        "CLAUDE_CODE_SESSION_ATTENDED",
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_CODE_SSE_PORT",
        "CLAUDE_ENV_FILE",
        "CLAUDE_PID",
        "CLAUDE_PROJECT_DIR",
    ),
    skills=SkillFolders(project=".claude/skills", variable="CLAUDE_CONFIG_DIR", usual=".claude", below="skills"),
)
