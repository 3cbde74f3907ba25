"""GitHub Copilot CLI: hooks in the spelling that names its events, and a transcript that holds what happens, not only
what is said.

`open-sessions-state.json` is not read: it calls an approval working, a compaction and a trust dialog idle, and names no
process.
"""

from __future__ import annotations

from typing import Any

from covey.agents.json_values import json_object, parse_object, string, timestamp
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

QUESTIONS = ("AskUserQuestion", "ask_user")
TURNS = frozenset({"UserPromptSubmit", "Stop", "ErrorOccurred"})
"""When these come, nobody is asked any more."""
NAMELESS = "Information requested"
"""What the notification of every question says."""


class CopilotHooks:
    """`permissionRequest` is run for what is allowed as well: only the notification says that somebody is asked.

    Which call it is about, the request before it tells; calls beside it go on meanwhile, and are not the answer.
    """

    def __init__(self) -> None:
        self._requested: dict[str, Any] = {}
        """The arguments of the last request."""
        self._open: list[dict[str, Any]] = []

    def normalise(self, payload: object, at: float) -> list[Notice]:
        found = read_stamped_hook(payload, at)
        return [self._notice_of(*found)] if found else []

    def _notice_of(self, event: str, payload: dict[str, Any], notice: Notice) -> Notice:
        if event == "permissionRequest":
            self._requested = json_object(payload.get("toolInput"))
        elif payload.get("notification_type") == "permission_prompt":
            self._open.append(self._requested)
        elif event.startswith(("PreToolUse", "PostToolUse")) and self._open:
            return self._beside(event, payload, notice)
        elif payload.get("agent_id") and event != "Notification":  # a helper's
            return notice
        elif event in TURNS:
            self._open.clear()
        return _notice_of(event, payload, notice)

    def _beside(self, event: str, payload: dict[str, Any], notice: Notice) -> Notice:
        done = json_object(payload.get("tool_input")).items()
        answered = [asked for asked in self._open if all(item in done for item in asked.items())]
        if event == "PreToolUse" or not answered:
            return notice
        self._open.remove(answered[0])
        return notice if self._open else _notice_of(event, payload, notice)


def _notice_of(event: str, payload: dict[str, Any], notice: Notice) -> Notice:
    if event == "SessionStart":  # comes with the first prompt
        return notice.session_started()
    if event == "SessionEnd":
        return notice.session_ended(one_line(payload.get("reason")))
    return notice.with_event(EVENTS, event, payload)


def _tool(payload: dict[str, Any]) -> StateReport:
    tool, arguments = payload.get("tool_name"), payload.get("tool_input")
    return (
        ("waiting_input", "question", question_text(arguments))
        if tool in QUESTIONS
        else ("running", "tool", call_summary(tool, arguments, payload.get("cwd")))
    )


def _notified(payload: dict[str, Any]) -> StateReport | None:
    message = string(payload.get("message"))
    match payload.get("notification_type"):
        case "permission_prompt":
            return "waiting_approval", "permission_prompt", message
        case "elicitation_dialog":
            return "waiting_input", "question", "" if message == NAMELESS else message
    return None


def _failed(payload: dict[str, Any]) -> StateReport:
    """One attempt; the last is like the others."""
    message = string(json_object(payload.get("error")).get("message"))
    detail = readable_error(message)
    return ("error", "api_error", detail) if payload.get("recoverable") is False else ("running", "retrying", detail)


EVENTS: EventTable = {
    "UserPromptSubmit": lambda payload: ("running", "prompt_submitted", string(payload.get("prompt"))),
    "PreToolUse": _tool,
    "PostToolUse": lambda _: ("running", "tool_finished", ""),
    "PostToolUseFailure": lambda _: ("running", "tool_failed", ""),
    "Notification": _notified,
    "ErrorOccurred": _failed,
    "PreCompact": lambda _: ("running", "compacting", ""),
    "Stop": lambda _: ("completed", "turn_completed", ""),
}


class CopilotTranscript(LineFollower):
    """Several may wait at once; the agent runs again when the last is answered."""

    def __init__(self) -> None:
        super().__init__()
        self._waits: dict[str, StateReport] = {}
        """By id, what is waited for: state, reason, detail."""
        self._calls = False
        """Whether the model's last message calls tools: then the end of its turn is not the end of the work."""
        self._words = ""
        """The model's last message."""

    def notice_of(self, entry: dict[str, Any], at: float) -> Notice | None:
        kind, data = string(entry.get("type")), json_object(entry.get("data"))
        own = string(entry.get("id"))
        notice = Notice(
            at=timestamp(entry.get("timestamp")) or at,
            evidence=f"transcript {one_line(kind)}",
            turn_id=safe_id(data.get("turnId")),
            dedupe_key=event_key(entry, 0.0, session="", event=kind, own=own),
        )
        found = self._asking(kind, data, notice) or (
            None if entry.get("agentId") else self._main_line(kind, data, notice)
        )
        waits = next(iter(self._waits.values()), None)
        return notice.with_state(*waits) if waits and found and found.state == "running" else found

    def _asking(self, kind: str, data: dict[str, Any], notice: Notice) -> Notice | None:
        """A dialog is the person's, whoever asks: a helper or the main line."""
        own = string(data.get("requestId")) or string(data.get("toolCallId"))
        match kind:
            case "permission.requested":
                request = json_object(data.get("permissionRequest"))
                about = (
                    string(request.get("fullCommandText"))
                    or string(request.get("fileName"))
                    or string(request.get("path"))
                    or string(request.get("url"))
                )
                self._waits[own] = (
                    "waiting_approval",
                    "permission_prompt",
                    f"{string(request.get('kind'))}: {about}" if about else string(request.get("kind")),
                )
            case "tool.execution_start" if data.get("toolName") in QUESTIONS:
                self._waits[own] = ("waiting_input", "question", question_text(data.get("arguments")))
            case "permission.completed" | "tool.execution_complete" if own in self._waits:
                del self._waits[own]
                if not self._waits:
                    return notice.with_state("running", "answered")
            case _:
                return None
        first = next(iter(self._waits.values()), None)
        return notice.with_state(*first) if first else None

    def _main_line(self, kind: str, data: dict[str, Any], notice: Notice) -> Notice | None:
        if kind in {"assistant.turn_start", "assistant.message"}:
            self._calls = bool(data.get("toolRequests"))
            self._words = string(data.get("content"))
        if kind == "assistant.turn_end" and self._calls:
            return None
        if kind in {"abort", "session.error", "assistant.turn_end"}:
            self._waits.clear()
        if kind == "assistant.turn_end":
            return notice.with_state("completed", "turn_completed", self._words)
        return notice.with_event(ENTRIES, kind, data)


ENTRIES: EventTable = {
    "user.message": lambda data: ("running", "prompt_submitted", string(data.get("content"))),
    "assistant.turn_start": lambda _: ("running", "generating", ""),
    "tool.execution_start": lambda data: ("running", "tool", call_summary(data.get("toolName"), data.get("arguments"))),
    "session.compaction_start": lambda _: ("running", "compacting", ""),
    "session.compaction_complete": lambda _: ("idle", "compacted", ""),
    "session.error": lambda data: (
        "error",
        safe_id(data.get("errorType")) or "api_error",
        readable_error(data.get("message")),
    ),
    "abort": lambda _: ("idle", "interrupted", ""),
}


def sources(owner: Owner, session_id: str = "") -> list[Source]:
    """The folder of a session appears with its first prompt."""

    def owns(file: Candidate) -> bool:
        data = json_object(parse_object(file.head).get("data"))
        return is_own_conversation(owner, file.path, data.get("startTime"), json_object(data.get("context")).get("cwd"))

    known = safe_id(session_id)
    pattern = pattern_below(owner.folder("COPILOT_HOME", ".copilot"), f"session-state/{known or '*'}/events.jsonl")
    return [Source(name="transcript", pattern=pattern, follower=CopilotTranscript, owns=None if known else owns)]


SIGNALS = Signals(hooks=CopilotHooks, sources=sources, events=frozenset(EVENTS))
