"""Claude Code: hooks in settings.json.

It can also post hooks over HTTP by itself, but not SessionStart, and a bearer token would have to stand in its settings
or its environment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from covey.agents.claude import AGENT
from covey.agents.integration.table import HooksTable
from covey.agents.integration.user_environment import Launch

if TYPE_CHECKING:
    from pathlib import Path

    from covey.agents.integration.user_environment import UserEnvironment


class ClaudeIntegration(HooksTable):
    agent = AGENT
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
    waiting = frozenset({"PermissionRequest"})
    # By the names in every release of npm from 2.0.0 to 2.1.90, and in 2.1.236 and 2.1.325.
    since: ClassVar = {
        "SubagentStart": "2.0.44",
        "PermissionRequest": "2.0.45",
        "PostToolUseFailure": "2.0.56",
        "Elicitation": "2.1.63",
        "ElicitationResult": "2.1.63",
        "PostCompact": "2.1.76",
        "StopFailure": "2.1.78",
        "PermissionDenied": "2.1.88",
    }
    tried = ("2.1.48", "2.1.77", "2.1.87", "2.1.88", "2.1.236", "2.1.325")
    strict = (
        "it stops at every start with a message about its settings, and may ignore the whole file, deny rules included"
    )
    remarks = ("Sessions that run already may have to be restarted before they call the hooks.",)

    def file(self, user: UserEnvironment) -> Path:
        return user.folder("CLAUDE_CONFIG_DIR", ".claude") / "settings.json"

    def entry(self, command: str, event: str) -> dict[str, Any]:
        return {"hooks": [{"type": "command", "command": command, "timeout": self.limit_s(event)}]}

    def warnings(self, path: Path, content: bytes) -> list[str]:
        _, text = self._read(path, content)
        return (
            ['"disableAllHooks" is set: no hook runs until it is taken out.']
            if text.value.get("disableAllHooks")
            else []
        )

    def launch(self, user: UserEnvironment) -> Launch:
        """Hooks from a file named on the command line run beside the user's own."""
        file = user.covey / "hooks" / "claude.json"
        return Launch(["--settings", str(file)], {}, {file: self.content(user)})


INTEGRATION = ClaudeIntegration()
