"""GitHub Copilot CLI: reads every file in its folder of hooks, so ours is one of its own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from covey.agents.copilot import AGENT
from covey.agents.integration.integration import Integration
from covey.agents.integration.user_environment import Launch

if TYPE_CHECKING:
    from pathlib import Path

    from covey.agents.integration.user_environment import UserEnvironment


class CopilotIntegration(Integration):
    agent = AGENT
    # In this spelling payloads name their event; in Copilot's own, `agentStop` and so on, they do not.
    events = (
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PermissionRequest",
        "Notification",
        "Stop",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "ErrorOccurred",
    )
    waiting = frozenset({"PermissionRequest"})
    tried = ("1.0.12", "1.0.80", "1.0.102")
    remarks = ("Copilot reads its hooks when it starts: restart sessions that run already.",)

    def file(self, user: UserEnvironment) -> Path:
        return user.folder("COPILOT_HOME", ".copilot") / "hooks" / "covey.json"

    def content(self, user: UserEnvironment) -> bytes:
        hook = {"type": "command", "bash": user.command(self.name)}
        hooks = {event: [{**hook, "timeoutSec": self.limit_s(event)}] for event in self.events}
        return json.dumps({"version": 1, "hooks": hooks}, indent=2).encode() + b"\n"

    def launch(self, user: UserEnvironment) -> Launch:
        """A plugin named on the command line, which brings its hooks."""
        folder = user.covey / "hooks" / "copilot"
        about = {
            "name": "covey",
            "description": "Tells Covey what the agent is doing",
            "version": "1.0.0",
            "hooks": "hooks.json",
        }
        files = {folder / "plugin.json": json.dumps(about).encode() + b"\n", folder / "hooks.json": self.content(user)}
        return Launch(["--plugin-dir", str(folder)], {}, files)


INTEGRATION = CopilotIntegration()
