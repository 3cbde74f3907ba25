"""Claude Code: hooks in settings.json.

It can also post hooks over HTTP by itself, but not SessionStart, and a bearer token would have to stand in its settings or its environment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.fleet.integrate.place import Launch
from covey.fleet.integrate.table import HooksTable

if TYPE_CHECKING:
    from pathlib import Path

    from covey.fleet.integrate.place import Place


class Claude(HooksTable):
    name = "claude"
    title = "Claude Code"
    # Not MessageDisplay, which runs for every piece of an answer, nor WorktreeCreate, which would replace git's work.
    events = (
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PermissionRequest",
        "PermissionDenied",
        "Notification",
        "Stop",
        "StopFailure",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
        "Elicitation",
        "ElicitationResult",
    )
    remarks = ("Sessions that run already may have to be restarted before they call the hooks.",)

    def file(self, place: Place) -> Path:
        return place.folder("CLAUDE_CONFIG_DIR", ".claude") / "settings.json"

    def entry(self, command: str) -> dict[str, Any]:
        return {"hooks": [{"type": "command", "command": command, "timeout": 5}]}

    def warnings(self, path: Path, content: bytes) -> list[str]:
        _, text = self._read(path, content)
        return ['"disableAllHooks" is set: no hook runs until it is taken out.'] if text.value.get("disableAllHooks") else []

    def launch(self, place: Place) -> Launch:
        """Hooks from a file named on the command line run beside the user's own."""
        file = place.covey / "hooks" / "claude.json"
        return Launch(["--settings", str(file)], {}, {file: self.content(place)})
