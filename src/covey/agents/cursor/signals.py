"""Cursor's CLI: hooks, of which none says that it waits, and a transcript that does not say when.

Known from what is public only.
"""

from __future__ import annotations

from typing import Any

from covey.agents.json_values import json_list, json_object, string
from covey.agents.signals.ids import event_key, pattern_below, safe_id
from covey.agents.signals.signals import (
    Candidate,
    EventTable,
    LineFollower,
    Notice,
    Owner,
    Signals,
    Source,
    StateReport,
)
from covey.agents.summaries import call_summary, one_line

STOPS: dict[str, StateReport] = {"error": ("error", "api_error", ""), "aborted": ("idle", "interrupted", "")}
EVENTS: EventTable = {
    "beforeSubmitPrompt": lambda payload: ("running", "prompt_submitted", string(payload.get("prompt"))),
    "preToolUse": lambda payload: (
        "running",
        "tool",
        call_summary(payload.get("tool_name"), payload.get("tool_input"), payload.get("cwd")),
    ),
    "beforeShellExecution": lambda payload: ("running", "tool", call_summary("Shell", payload)),
    "afterShellExecution": lambda _: ("running", "tool_finished", ""),
    "afterFileEdit": lambda _: ("running", "tool_finished", ""),
    "postToolUse": lambda _: ("running", "tool_finished", ""),
    "postToolUseFailure": lambda _: ("running", "tool_failed", ""),
    "afterAgentThought": lambda _: ("running", "generating", ""),
    "afterAgentResponse": lambda _: ("running", "generating", ""),
    "preCompact": lambda _: ("running", "compacting", ""),
    "stop": lambda payload: STOPS.get(string(payload.get("status")), ("completed", "turn_completed", "")),
}


class CursorHooks:
    def normalise(self, payload: object, at: float) -> list[Notice]:
        payload = json_object(payload)
        event = safe_id(payload.get("hook_event_name"))
        session = safe_id(payload.get("conversation_id")) or safe_id(payload.get("session_id"))
        if not event or not session:
            return []
        own = string(payload.get("tool_use_id"))
        notice = Notice(
            at=at,
            evidence=f"hook {event}",
            session_id=session,
            turn_id=safe_id(payload.get("generation_id")),
            dedupe_key=event_key(payload, at, session=session, event=event, own=own),
        )
        return [_notice_of(event, payload, notice)]


def _notice_of(event: str, payload: dict[str, Any], notice: Notice) -> Notice:
    if event == "sessionStart":
        return notice.session_started("idle", "session_started")
    if event == "sessionEnd":
        return notice.session_ended(one_line(payload.get("reason")))
    return notice.with_event(EVENTS, event, payload)


class CursorTranscript(LineFollower):
    """An answer may be followed by another, an error or an interruption by nothing: only what begins is believed."""

    def notice_of(self, entry: dict[str, Any], at: float) -> Notice | None:
        blocks = [json_object(block) for block in json_list(json_object(entry.get("message")).get("content"))]
        notice = Notice(
            at=at,
            evidence=f"transcript {one_line(entry.get('role'))}",
            dedupe_key=event_key(entry, at, session="", event="line"),
        )
        if entry.get("role") == "user":
            return notice.with_state("running", "prompt_submitted", string(blocks[0].get("text")) if blocks else "")
        for block in blocks:
            if block.get("type") == "tool_use":
                return notice.with_state("running", "tool", call_summary(block.get("name"), block.get("input")))
        return None


def sources(owner: Owner, session_id: str = "") -> list[Source]:
    def owns(file: Candidate) -> bool:
        return file.path in owner.files

    known = safe_id(session_id)
    pattern = pattern_below(owner.home, f".cursor/projects/*/agent-transcripts/{known or '*'}/{known or '*'}.jsonl")
    return [Source(name="transcript", pattern=pattern, follower=CursorTranscript, owns=None if known else owns)]


SIGNALS = Signals(hooks=CursorHooks, sources=sources, events=frozenset(EVENTS))
