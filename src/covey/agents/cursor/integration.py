"""Cursor's CLI: hooks in hooks.json. Only documented events: one that it does not know voids the whole file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from covey.agents.cursor import AGENT
from covey.agents.integration.table import HooksTable

if TYPE_CHECKING:
    from pathlib import Path

    from covey.agents.integration.user_environment import UserEnvironment


class CursorIntegration(HooksTable):
    agent = AGENT
    events = (
        "sessionStart",
        "sessionEnd",
        "beforeSubmitPrompt",
        "preToolUse",
        "postToolUse",
        "postToolUseFailure",
        "beforeShellExecution",
        "afterShellExecution",
        "subagentStart",
        "subagentStop",
        "afterAgentResponse",
        "preCompact",
        "stop",
    )
    strict = "it ignores the whole file, hooks of others included"
    required: ClassVar = {"version": 1}
    remarks = ("Cursor has no hook for a question or an approval: those are still read from the screen.",)

    def file(self, user: UserEnvironment) -> Path:
        return user.home / ".cursor" / "hooks.json"

    def entry(self, command: str, event: str) -> dict[str, Any]:
        del event
        return {"command": command}


INTEGRATION = CursorIntegration()
