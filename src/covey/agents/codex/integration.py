"""Codex: hooks in hooks.json, a file beside config.toml."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.agents.codex import AGENT
from covey.agents.integration.table import HooksTable
from covey.agents.integration.user_environment import Launch
from covey.kernel.config.toml_text import written

if TYPE_CHECKING:
    from pathlib import Path

    from covey.agents.integration.user_environment import UserEnvironment


class CodexIntegration(HooksTable):
    agent = AGENT
    events = (
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PostModelRequest",
        "PreToolUse",
        "PermissionRequest",
        "PostToolUse",
        "Interrupt",
        "Stop",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
    )
    waiting = frozenset({"PermissionRequest", "PreToolUse"})  # the latter for the tool that asks questions
    # 0.101.0 has no hooks and does not read the file; 0.148.0 leaves out the events that it does not know.
    tried = ("0.148.0", "0.166.0")
    remarks = (
        (
            'At its next start Codex asks once whether to trust the new hooks ("Hooks need review"): '
            "choose to trust them. Until then they do not run."
        ),
    )

    def file(self, user: UserEnvironment) -> Path:
        return user.folder("CODEX_HOME", ".codex") / "hooks.json"

    def entry(self, command: str, event: str) -> dict[str, Any]:
        return {"hooks": [{"type": "command", "command": command, "timeout": self.limit_s(event)}]}

    def launch(self, user: UserEnvironment) -> Launch:
        """Codex asks about these hooks too, once. It remembers the answer for the command, which is always the same."""
        return Launch(
            [
                word
                for event, entry in self.entries(user).items()
                for word in ("-c", f"hooks.{event}={written([entry])}")
            ]
        )


INTEGRATION = CodexIntegration()
