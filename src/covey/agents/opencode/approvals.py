"""Approvals of opencode: our plugin has the hook wait beside its dialog, and gives the decision to opencode's own API.

The dialog stays on the screen; whoever answers first decides. Several requests can be open at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.agents.approvals import (
    APPROVAL,
    QUESTION,
    Approvals,
    PermissionRequest,
    call_text,
    paths_in,
    questions_in,
    questions_text,
)
from covey.agents.json_values import json_list, json_object, string
from covey.agents.signals.ids import safe_id

if TYPE_CHECKING:
    from collections.abc import Sequence

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
                command=questions_text(questions),
                folder=folder,
                hidden=False,
                questions=questions,
                call_id=own,
            )
        tool, patterns = string(about.get("permission")), [string(one) for one in json_list(about.get("patterns"))]
        details = json_object(about.get("metadata"))
        if given.get("type") != "permission.asked" or (tool == SHELL and not details.get("command")):
            return None  # releases before 1.18 do not tell the whole command: nobody could be shown what is asked
        lasting = [string(one) for one in json_list(about.get("always"))]
        whole = {**details, "patterns": patterns}
        return PermissionRequest(
            kind=APPROVAL,
            tool=tool,
            input=whole,
            command=call_text(whole),
            paths=paths_in({**details, "path": details.get("filepath")}),
            folder=folder,
            hidden=False,
            suggestions=(_remembered(tool, lasting),) if lasting else (),
            call_id=own,
        )

    def ended_call(self, payload: object) -> bytes | None:
        given = json_object(payload)
        ended = given.get("hook_event_name") == "event" and given.get("type") in ENDED
        return safe_id(json_object(given.get("properties")).get("requestID")).encode() or None if ended else None

    def ran_call(self, payload: object) -> bytes | None:
        """The reply is told for our own answers too, so what it was counts."""
        reply = json_object(json_object(payload).get("properties")).get("reply")
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


def _call(url: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return what our plugin sends to opencode."""
    return {"url": url, "body": body}


def _remembered(tool: str, patterns: Sequence[str]) -> dict[str, Any]:
    """Return the rule that opencode would remember, in the form that all agents have here."""
    return {"rules": [{"toolName": tool, "ruleContent": pattern} for pattern in patterns]}


APPROVALS = OpencodeApprovals()
