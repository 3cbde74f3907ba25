"""Gemini CLI: hooks in its settings, and a transcript per session that is replayed rather than read: entries are
repeated and corrected.
"""

from __future__ import annotations

import hashlib
from typing import Any

from msgspec.structs import replace

from covey.agents.claim import TENTATIVE
from covey.agents.json_values import content_text, json_object, parse_object, string, timestamp
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
    is_own_conversation,
    read_stamped_hook,
)
from covey.agents.summaries import call_summary, one_line, question_text, readable_error

QUESTION = "ask_user"
SILENT = "[no response text]"
"""Its answer after an API error, and after an interruption that came before any text: at rest, one way or the other."""
CONTEXT = "<session_context>"
"""Begins an entry that Gemini writes in the person's name."""


class GeminiHooks:
    """The notification of a question does not say what is asked: that was in the call of the tool before."""

    def __init__(self) -> None:
        self._question = ""

    def normalise(self, payload: object, at: float) -> list[Notice]:
        found = read_stamped_hook(payload, at)
        return [self._notice_of(*found)] if found else []

    def _notice_of(self, event: str, payload: dict[str, Any], notice: Notice) -> Notice:
        if event == "SessionStart":
            return notice.session_started("idle", f"session_{safe_id(payload.get('source')) or 'started'}")
        if event == "SessionEnd":
            return notice.session_ended(one_line(payload.get("reason")))
        if event == "BeforeTool" and payload.get("tool_name") == QUESTION:
            self._question = question_text(payload.get("tool_input"))
        if (event == "BeforeTool" and payload.get("tool_name") == QUESTION) or json_object(payload.get("details")).get(
            "type"
        ) == QUESTION:
            return notice.with_state("waiting_input", "question", self._question)
        return notice.with_event(EVENTS, event, payload)


def _asked(payload: dict[str, Any]) -> StateReport | None:
    if payload.get("notification_type") != "ToolPermission":
        return None
    about = json_object(payload.get("details"))
    asked = (
        string(about.get("command"))
        or string(about.get("fileName"))
        or string(about.get("toolDisplayName"))
        or string(about.get("prompt"))
    )
    title = string(about.get("title")) or string(payload.get("message"))
    return "waiting_approval", "permission_prompt", f"{title}: {asked}" if asked and asked not in title else title


def _answered(payload: dict[str, Any]) -> StateReport:
    silent = string(payload.get("prompt_response")).strip() == SILENT
    return ("idle", "no_response", "") if silent else ("completed", "turn_completed", "")


EVENTS: EventTable = {
    "BeforeAgent": lambda payload: ("running", "prompt_submitted", string(payload.get("prompt"))),
    "BeforeModel": lambda _: ("running", "generating", ""),
    "BeforeToolSelection": lambda _: ("running", "generating", ""),
    "BeforeTool": lambda payload: (
        "running",
        "tool",
        call_summary(payload.get("tool_name"), payload.get("tool_input"), payload.get("cwd")),
    ),
    "AfterTool": lambda _: ("running", "tool_finished", ""),
    "Notification": _asked,
    # The automatic one is only a look, in every turn.
    "PreCompress": lambda payload: ("running", "compacting", "") if payload.get("trigger") == "manual" else None,
    "AfterAgent": _answered,
}


class GeminiTranscript(LineFollower):
    """Prompts, cancellations and errors tell the state.

    What the model says does so only tentatively: it is written before the tools that it calls are named, so it may or
    may not be the end of the turn.
    """

    def notice_of(self, entry: dict[str, Any], at: float) -> Notice | None:
        kind, own = string(entry.get("type")), string(entry.get("id"))
        notice = Notice(
            at=timestamp(entry.get("timestamp")) or at,
            evidence=f"transcript {one_line(kind)}",
            dedupe_key=event_key(entry, 0.0, session="", event=kind, own=own),
        )
        match kind, entry.get("content"):
            case "user", content:
                written = content_text(content)
                is_prompt = bool(written) and not written.startswith(CONTEXT)
                return notice.with_state("running", "prompt_submitted", written) if is_prompt else None
            case "gemini", str(answer) if answer.strip() and not entry.get("toolCalls"):
                return replace(notice.with_state("completed", "turn_completed", answer), strength=TENTATIVE)
            case "error", content:
                return notice.with_state("error", "api_error", readable_error(content))
            case "info", "Request cancelled.":
                return notice.with_state("idle", "interrupted")
            case "info", "":  # all that is left of the message about a compression
                return notice.with_state("idle", "compacted")
        return None


def sources(owner: Owner, session_id: str = "") -> list[Source]:
    """Files bear the first letters of their session's id.

    Two agents in one project are told apart by when they were started.
    """
    project = hashlib.sha256(owner.cwd.encode(errors="replace")).hexdigest()

    def owns(file: Candidate) -> bool:
        head = parse_object(file.head)
        here = head.get("kind") == "main" and head.get("projectHash") == project
        return here and is_own_conversation(owner, file.path, head.get("startTime"), None)

    folder = owner.folder("GEMINI_CLI_HOME")
    known = safe_id(session_id)
    pattern = pattern_below(folder, f".gemini/tmp/*/chats/session-*{f'-{known[:8]}' if known else ''}.jsonl")
    return [Source(name="transcript", pattern=pattern, follower=GeminiTranscript, owns=None if known else owns)]


SIGNALS = Signals(hooks=GeminiHooks, sources=sources, events=frozenset(EVENTS))
