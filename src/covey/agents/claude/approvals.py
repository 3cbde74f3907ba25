"""Approvals of Claude Code: its dialog stays on the screen while the hook waits, except for the helpers' requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.agents.approvals import (
    APPROVAL,
    PLAN,
    QUESTION,
    Approvals,
    PermissionRequest,
    envelope,
    given_input,
    questions_in,
)
from covey.agents.call_text import call_text, plan_text, questions_text
from covey.agents.claude.tools import TOOLS
from covey.agents.json_values import json_object, json_objects, string, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

KINDS: dict[str, Literal["approval", "plan", "question"]] = {"AskUserQuestion": QUESTION, "ExitPlanMode": PLAN}


class ClaudeApprovals(Approvals):
    always_refused = ""

    def read(self, payload: object) -> PermissionRequest | None:
        given = json_object(payload)
        if given.get("hook_event_name") != "PermissionRequest":
            return None
        tool, arguments = text_of(given.get("tool_name")), given_input(given.get("tool_input"))
        kind = KINDS.get(tool, APPROVAL)
        questions = questions_in(arguments) if kind == QUESTION else ()
        text = {QUESTION: questions_text, PLAN: plan_text}.get(kind, call_text)
        helper = bool(given.get("agent_id"))
        return PermissionRequest(
            kind=kind,
            tool=tool,
            input=arguments,
            command=text(given.get("tool_input")),
            call=TOOLS.read(given.get("tool_name"), given.get("tool_input")),
            folder=string(given.get("cwd")),
            helper=helper,
            hidden=helper,
            suggestions=tuple(filter(_is_rule, json_objects(given.get("permission_suggestions")))),
            questions=questions,
        )

    def allow(self, request: PermissionRequest, *, always: bool) -> dict[str, Any]:
        """A plan without its input would be ignored, and the hook spent."""
        decision: dict[str, Any] = {"behavior": "allow"}
        if request.kind == PLAN:
            decision["updatedInput"] = request.input
        if always:
            decision["updatedPermissions"] = list(request.suggestions)
        return envelope(decision)

    def deny(self, request: PermissionRequest, message: str) -> dict[str, Any]:
        del request
        return envelope({"behavior": "deny", "message": message})

    def answer(self, request: PermissionRequest, answers: Sequence[str]) -> dict[str, Any]:
        texts = [question.text for question in request.questions]
        given = {**request.input, "answers": dict(zip(texts, answers, strict=True))}
        return envelope({"behavior": "allow", "updatedInput": given})


def _is_rule(suggestion: dict[str, Any]) -> bool:
    """Return whether a suggestion allows what is asked for and things like it; others change the agent's mode."""
    kind = suggestion.get("type")
    return kind == "addDirectories" or (kind == "addRules" and suggestion.get("behavior") == "allow")


APPROVALS = ClaudeApprovals()
