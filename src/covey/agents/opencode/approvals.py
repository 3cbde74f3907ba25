"""Approvals of opencode: our plugin has the hook wait beside its dialog, and gives the decision to opencode's own API.

The dialog stays on the screen; whoever answers first decides. Several requests can be open at once.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from covey.agents.approvals import (
    APPROVAL,
    QUESTION,
    Approvals,
    PermissionRequest,
    questions_in,
)
from covey.agents.call_text import call_text, questions_text
from covey.agents.json_values import json_list, json_object, string
from covey.agents.opencode.tools import TOOLS
from covey.agents.signals.ids import safe_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from covey.policy.tool_call import ToolCall

SHELL = "bash"
ENDED = frozenset({"permission.replied", "question.replied", "question.rejected"})


class OpencodeApprovals(Approvals):
    always_refused = ""
    one_dialog = False

    def read(self, payload: object) -> PermissionRequest | None:
        given = json_object(payload)
        about = json_object(given.get("properties"))
        own, folder = safe_id(about.get("id")), string(given.get("cwd"))
        if given.get("hook_event_name") != "PermissionRequest" or not own:
            return None
        if given.get("type") == "question.asked":
            questions = questions_in(about)
            return PermissionRequest(
                kind=QUESTION,
                tool="question",
                input={"questions": json_list(about.get("questions"))},
                command=questions_text({"questions": about.get("questions")}),
                call=TOOLS.read("question", {"questions": about.get("questions")}),
                folder=folder,
                hidden=False,
                questions=questions,
                call_id=own,
            )
        tool, patterns = string(about.get("permission")), [string(one) for one in json_list(about.get("patterns"))]
        details, arguments = json_object(about.get("metadata")), json_object(given.get("tool_input"))
        whole = {**details, **arguments, "patterns": patterns}
        if given.get("type") != "permission.asked" or (tool == SHELL and not whole.get("command")):
            return None  # releases before 1.18 do not tell the whole command: nobody could be shown what is asked
        lasting = [string(one) for one in json_list(about.get("always"))]
        return PermissionRequest(
            kind=APPROVAL,
            tool=tool,
            input=whole,
            command=call_text(_shown(about.get("patterns"), details, arguments)),
            call=_call_of(given, tool, details),
            folder=folder,
            hidden=False,
            suggestions=(_remembered(tool, lasting),) if lasting else (),
            call_id=own,
        )

    def ended_call(self, payload: object) -> bytes | None:
        given = json_object(payload)
        ended = given.get("hook_event_name") == "event" and string(given.get("type")) in ENDED
        return safe_id(json_object(given.get("properties")).get("requestID")).encode() or None if ended else None

    def ran_call(self, payload: object) -> bytes | None:
        """The reply is told for our own answers too, so what it was counts."""
        reply = string(json_object(json_object(payload).get("properties")).get("reply"))
        return self.ended_call(payload) if reply in {"once", "always"} else None

    def allow(self, request: PermissionRequest, *, always: bool) -> dict[str, Any]:
        """What is allowed for always is allowed until opencode ends."""
        return _call(f"/permission/{request.call_id}/reply", {"reply": "always" if always else "once"})

    def deny(self, request: PermissionRequest, message: str) -> dict[str, Any]:
        if request.kind == QUESTION:
            return _call(f"/question/{request.call_id}/reject", {})
        return _call(f"/permission/{request.call_id}/reply", {"reply": "reject", "message": message})

    def answer(self, request: PermissionRequest, answers: Sequence[str]) -> dict[str, Any]:
        chosen = []
        for question, answer in zip(request.questions, answers, strict=True):
            labels = [option for option in question.options if option in answer.split(", ")]
            chosen.append(labels if question.several and labels else [answer])
        return _call(f"/question/{request.call_id}/reply", {"answers": chosen})


def _call_of(given: dict[str, Any], permission: str, details: dict[str, Any]) -> ToolCall:
    """Return the call for which a permission is asked, by the input of its tool, which our plugin adds.

    The permission itself tells less: not the folder in which a command runs.
    """
    name, arguments = string(given.get("tool_name")), given.get("tool_input")
    call = TOOLS.read(name, arguments)
    changed = details.get("filepath")
    files = [posixpath.normpath(posixpath.join(string(given.get("cwd")), path)) for path in call.paths]
    if not name:
        why = "the input of its tool is not told: renew the plugin with `covey integrate opencode`"
    elif TOOLS.asked_as.get(name, name) != permission:
        why = f"it asks for {permission[:60]!r}, which the tool {name[:60]!r} does not say"
    elif _contradict(details, json_object(arguments)) or changed not in [None, *files]:
        why = "what it asks for is not what its tool was given"
    else:
        return call
    return replace(call, unread=why)


def _contradict(details: dict[str, Any], arguments: dict[str, Any]) -> bool:
    """Return whether a permission and the input of its tool say different things."""
    return any(arguments[key] != value for key, value in details.items() if key in arguments)


def _shown(patterns: object, details: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """Return what a person is shown of a request: its details, the tool's input and the patterns it is judged by."""
    if _contradict(details, arguments) or "patterns" in {*details, *arguments}:
        return {"tool_input": arguments, "metadata": details, "patterns": patterns}
    return {**details, **arguments, "patterns": patterns}


def _call(url: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return what our plugin sends to opencode."""
    return {"url": url, "body": body}


def _remembered(tool: str, patterns: Sequence[str]) -> dict[str, Any]:
    """Return the rule that opencode would remember, in the form that all agents have here."""
    return {"rules": [{"toolName": tool, "ruleContent": pattern} for pattern in patterns]}


APPROVALS = OpencodeApprovals()
