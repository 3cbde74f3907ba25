"""Gemini CLI: hooks in settings.json, which may have comments.

It has no way to be started with hooks of ours: defaults of the system can be named in its environment, but are read
only if they belong to root.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.agents.gemini import AGENT
from covey.agents.integration.table import HooksTable

if TYPE_CHECKING:
    from pathlib import Path

    from covey.agents.integration.user_environment import UserEnvironment


class GeminiIntegration(HooksTable):
    agent = AGENT
    comments = True
    # Not BeforeModel and its like: AfterModel runs for every piece of a stream,
    # and the status line names each run for three seconds.
    events = (
        "SessionStart",
        "SessionEnd",
        "BeforeAgent",
        "AfterAgent",
        "BeforeTool",
        "AfterTool",
        "PreCompress",
        "Notification",
    )
    tried = ("0.55.1", "0.61.0")
    remarks = (
        "Gemini reads its hooks when it starts: restart sessions that run already.",
        (
            'Its status line shows "Executing Hook: covey" for some seconds; '
            'set "hooksConfig": {"notifications": false} in the same file if you mind.'
        ),
    )

    def file(self, user: UserEnvironment) -> Path:
        return user.folder("GEMINI_CLI_HOME", ".") / ".gemini" / "settings.json"

    def entry(self, command: str, event: str) -> dict[str, Any]:
        milliseconds = 1000 * self.limit_s(event)
        return {"hooks": [{"type": "command", "name": "covey", "command": command, "timeout": milliseconds}]}

    def warnings(self, path: Path, content: bytes) -> list[str]:
        _, text = self._read(path, content)
        settings = text.value.get("hooksConfig")
        found = []
        if isinstance(settings, dict) and settings.get("enabled") is False:
            found.append('"hooksConfig" "enabled" is false: no hook runs until it is taken out.')
        if isinstance(settings, dict) and "covey" in (settings.get("disabled") or []):
            found.append('"hooksConfig" "disabled" names covey: its hooks do not run until that is taken out.')
        return found


INTEGRATION = GeminiIntegration()
