"""Approvals of Codex: no dialog while the hook waits. Its questions are held before the tool that asks them is run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.agents.approvals import (
    APPROVAL,
    QUESTION,
    Approvals,
    PermissionRequest,
    envelope,
    given_input,
    questions_in,
)
from covey.agents.call_text import call_text, questions_text
from covey.agents.codex.signals import QUESTION as QUESTION_TOOL
from covey.agents.codex.tools import TOOLS
from covey.agents.json_values import json_object, string, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence


class CodexApprovals(Approvals):
    def read(self, payload: object) -> PermissionRequest | None:
        given = json_object(payload)
        event, tool = given.get("hook_event_name"), text_of(given.get("tool_name"))
        is_question = event == "PreToolUse" and tool == QUESTION_TOOL
        if event != "PermissionRequest" and not is_question:
            return None
        arguments = given_input(given.get("tool_input"))
        questions = questions_in(arguments) if is_question else ()
        return PermissionRequest(
            kind=QUESTION if is_question else APPROVAL,
            tool=tool,
            input=arguments,
            command=(questions_text if is_question else call_text)(given.get("tool_input")),
            call=TOOLS.read(given.get("tool_name"), given.get("tool_input")),
            folder=string(given.get("cwd")),
            helper=bool(given.get("agent_id")),
            hidden=True,
            questions=questions,
        )

    def allow(self, request: PermissionRequest, *, always: bool) -> dict[str, Any]:
        """Nothing else may be in the decision: Codex would ignore all of it."""
        del request, always
        return envelope({"behavior": "allow"})

    def deny(self, request: PermissionRequest, message: str) -> dict[str, Any]:
        if request.kind == QUESTION:
            return _unasked(f"The person does not answer: {message}")
        return envelope({"behavior": "deny", "message": message})

    def answer(self, request: PermissionRequest, answers: Sequence[str]) -> dict[str, Any]:
        """The tool is not run, and the reason that the model reads is the answer."""
        pairs = zip(request.questions, answers, strict=True)
        told = "\n".join(f"{question.text} {answer}" for question, answer in pairs)
        return _unasked(f"The person has answered:\n{told}")


def _unasked(reason: str) -> dict[str, Any]:
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        }
    }


APPROVALS = CodexApprovals()
