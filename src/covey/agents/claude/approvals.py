"""Approvals of Claude Code: its dialog stays on the screen while the hook waits, except for the helpers' requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.agents.approvals import (
    APPROVAL,
    PLAN,
    QUESTION,
    Approvals,
    PermissionRequest,
    call_text,
    envelope,
    paths_in,
    questions_in,
    questions_text,
)
from covey.agents.json_values import json_object, json_objects, string

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
        tool, arguments = string(given.get("tool_name")), json_object(given.get("tool_input"))
        kind = KINDS.get(tool, APPROVAL)
        questions = questions_in(arguments) if kind == QUESTION else ()
        texts = {QUESTION: questions_text(questions), PLAN: string(arguments.get("plan")) or "the plan on its screen"}
        helper = bool(given.get("agent_id"))
        return PermissionRequest(
            kind=kind,
            tool=tool,
            input=arguments,
            command=texts.get(kind) or call_text(arguments),
            paths=paths_in(arguments) if kind == APPROVAL else (),
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
