"""The programs of agents that Covey knows: the package that each is installed with."""

from __future__ import annotations

AGENTS = {
    "claude": ("@anthropic-ai/claude-code", "npm install -g @anthropic-ai/claude-code"),
    "codex": ("@openai/codex", "npm install -g @openai/codex"),
    "gemini": ("@google/gemini-cli", "npm install -g @google/gemini-cli"),
    "copilot": ("@github/copilot", "npm install -g @github/copilot"),
    "cursor-agent": ("", "curl https://cursor.com/install -fsS | bash"),
    "opencode": ("opencode-ai", "npm install -g opencode-ai"),
}
"""Agent programs: the npm package, and what installs it anew. (The npm package called cursor-agent is something else.)"""
