"""The reasons of states: one vocabulary for all agents. What an agent calls it is translated here, and nowhere else."""

from __future__ import annotations

import re

REASONS = {
    # error
    "api_error": "the model could not be reached, or refused the request",
    "rate_limited": "too much was asked of the model: a rate limit, a quota or a plan's allowance",
    "signed_out": "the agent is not signed in, or its key is refused",
    # waiting_approval
    "permission_prompt": "it asks for leave to do something",
    "plan_approval": "it asks for leave to carry out a plan",
    "trust_prompt": "it asks whether the folder is trusted",
    "hook_review": "it asks whether hooks are trusted",
    "refusal_reason": "it asks why something was refused",
    "action_required": "its title says that it waits; for what, only its screen tells",
    # waiting_input
    "question": "it has asked a question",
    "elicitation": "a tool server has asked a question through it",
    "dialog_open": "a list or dialog that somebody opened takes every key",
    "loop_detected": "it asks whether to go on, because it repeats itself",
    "settings_error": "it stopped at its start over its settings",
    # running
    "working": "it works",
    "generating": "the model answers",
    "prompt_submitted": "a prompt was sent",
    "turn_started": "a turn has begun",
    "tool": "a tool runs",
    "tool_finished": "a tool has ended, and the turn goes on",
    "tool_failed": "a tool has failed, and the turn goes on",
    "permission_denied": "something was refused, and the turn goes on",
    "answered": "a question was answered, and the turn goes on",
    "retrying": "a request failed and is tried again",
    "compacting": "the conversation is being shortened",
    "background_agents": "helpers work in the background",
    "background_tasks": "tasks in the background hold the turn",
    # completed and idle
    "turn_completed": "the turn is done",
    "turn_ended": "it was seen to come to rest",
    "completed_earlier": "the turn was done a while ago",
    "ready": "it waits for a prompt",
    "interrupted": "the turn was interrupted",
    "compacted": "the conversation was shortened",
    "no_response": "the turn ended without an answer",
    "session_started": "a session has begun",
    # unknown
    "no_signal": "nothing is known of it",
    "stale_signal": "nothing was heard of it for a long time",
    "starting": "it has drawn nothing that can be read yet",
    "unsupported_signal": "its screen is not understood",
    "suspended": "its process is stopped",
    "target_unreachable": "its machine or tmux server cannot be reached",
}
"""Every reason that a row can have, and what it means."""
_SAME = {
    "usage_limit": "rate_limited",
    "rate_limit": "rate_limited",
    "rate_limit_error": "rate_limited",
    "quota": "rate_limited",
    "billing_error": "rate_limited",
    "resource_exhausted": "rate_limited",
    "put_off": "rate_limited",
    "authentication_failed": "signed_out",
    "authentication_error": "signed_out",
    "authentication": "signed_out",
    "authorization": "signed_out",
    "oauth_org_not_allowed": "signed_out",
    "finished": "turn_completed",
    "idle": "ready",
    "busy": "working",
    "input_needed": "question",
    "sandbox_request": "permission_prompt",
    "worker_request": "permission_prompt",
    "goal_proposal": "plan_approval",
    "waiting": "action_required",
}
"""What agents call it, and what it is called here."""
_LIMITED = re.compile(
    r"\b429\b|rate.?limit|too many requests|usage limit|\bquota\b|resource.exhausted|credit balance", re.IGNORECASE
)
_SIGNED_OUT = re.compile(
    r"\b40[13]\b|unauthori[sz]ed|unauthenticated|/login|log ?in again|sign ?in again|invalid api key", re.IGNORECASE
)


def reason_of(state: str, name: str, detail: str = "") -> str:
    """Return the reason of a state in the one vocabulary, given the agent's or a rule's name for it.

    Of an error, the message (`detail`) may say more.
    """
    reason = _SAME.get(name, name)
    if reason.startswith("session_"):
        return "session_started"
    if state != "error" or reason in {"rate_limited", "signed_out"}:
        return reason
    if _LIMITED.search(detail):
        return "rate_limited"
    return "signed_out" if _SIGNED_OUT.search(detail) else "api_error"
