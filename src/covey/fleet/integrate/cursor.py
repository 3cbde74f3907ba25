"""Cursor's CLI: hooks in hooks.json. Only documented events: one that it does not know voids the whole file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from covey.fleet.integrate.table import HooksTable

if TYPE_CHECKING:
    from pathlib import Path

    from covey.fleet.integrate.place import Place


class Cursor(HooksTable):
    name = "cursor"
    title = "Cursor CLI"
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
    program = "cursor-agent"
    strict = "it ignores the whole file, hooks of others included"
    required: ClassVar = {"version": 1}
    remarks = ("Cursor has no hook for a question or an approval: those are still read from the screen.",)

    def file(self, place: Place) -> Path:
        return place.home / ".cursor" / "hooks.json"

    def entry(self, command: str) -> dict[str, Any]:
        return {"command": command}
