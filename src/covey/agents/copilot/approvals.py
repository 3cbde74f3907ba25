"""Approvals of Copilot CLI: no dialog while the hook waits, and the hook is run for what is allowed as well.

Whatever else the hook prints, or if it fails, Copilot denies: no answer is no output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.agents.approvals import APPROVAL, Approvals, PermissionRequest, given_input
from covey.agents.call_text import call_text
from covey.agents.copilot.tools import TOOLS
from covey.agents.json_values import json_object, string, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

ALLOW_ALL = frozenset({"--allow-all-tools", "--allow-all", "--yolo"})


class CopilotApprovals(Approvals):
    def read(self, payload: object) -> PermissionRequest | None:
        given = json_object(payload)
        if given.get("hookName") != "permissionRequest":
            return None
        arguments = given_input(given.get("toolInput"))
        return PermissionRequest(
            kind=APPROVAL,
            tool=text_of(given.get("toolName")),
            input=arguments,
            command=call_text(given.get("toolInput")),
            call=TOOLS.read(given.get("toolName"), given.get("toolInput")),
            folder=string(given.get("cwd")),
            helper=bool(given.get("agent_id")),
            hidden=True,
        )

    def allows_all(self, command_lines: Sequence[str]) -> bool:
        return any(not ALLOW_ALL.isdisjoint(line.split("\0")) for line in command_lines)

    def allow(self, request: PermissionRequest, *, always: bool) -> dict[str, Any]:
        del request, always
        return {"behavior": "allow"}

    def deny(self, request: PermissionRequest, message: str) -> dict[str, Any]:
        del request
        return {"behavior": "deny", "message": message}


APPROVALS = CopilotApprovals()
