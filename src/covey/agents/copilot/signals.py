"""GitHub Copilot CLI: hooks in the spelling that names its events, and a transcript that holds what happens, not only what is said.

`open-sessions-state.json` is not read: it calls an approval working, a compaction and a trust dialog idle, and names no process.
"""

from __future__ import annotations

from typing import Any

from covey.agents.signals.parsing import (
    action,
    brief,
    dedupe,
    fields,
    moment,
    parse,
    plain,
    question,
    readable_error,
    spot,
    text,
)
from covey.agents.signals.signals import (
    Candidate,
    Lines,
    Notice,
    Owner,
    Signals,
    Source,
    Word,
    Words,
    opened,
    stamped,
)

QUESTIONS = ("AskUserQuestion", "ask_user")
TURNS = frozenset({"UserPromptSubmit", "Stop", "ErrorOccurred"})
"""When these come, nobody is asked any more."""
NAMELESS = "Information requested"
"""What the notification of every question says."""


class CopilotHooks:
    """`permissionRequest` is run for what is allowed as well: only the notification says that somebody is asked. Which call it is about, the request
    before it tells; calls beside it go on meanwhile, and are not the answer."""

    def __init__(self) -> None:
        self._requested: dict[str, Any] = {}
        """The arguments of the last request."""
        self._open: list[dict[str, Any]] = []

    def normalise(self, payload: object, at: float) -> list[Notice]:
        found = stamped(payload, at)
        return [self._heard(*found)] if found else []

    def _heard(self, event: str, said: dict[str, Any], notice: Notice) -> Notice:
        if event == "permissionRequest":
            self._requested = fields(said.get("toolInput"))
        elif said.get("notification_type") == "permission_prompt":
            self._open.append(self._requested)
        elif event.startswith(("PreToolUse", "PostToolUse")) and self._open:
            return self._beside(event, said, notice)
        elif said.get("agent_id") and event != "Notification":  # a helper's
            return notice
        elif event in TURNS:
            self._open.clear()
        return _heard(event, said, notice)

    def _beside(self, event: str, said: dict[str, Any], notice: Notice) -> Notice:
        done = fields(said.get("tool_input")).items()
        answered = [asked for asked in self._open if all(item in done for item in asked.items())]
        if event == "PreToolUse" or not answered:
            return notice
        self._open.remove(answered[0])
        return notice if self._open else _heard(event, said, notice)


def _heard(event: str, said: dict[str, Any], notice: Notice) -> Notice:
    if event == "SessionStart":  # comes with the first prompt
        return notice.starts()
    if event == "SessionEnd":
        return notice.ends(brief(said.get("reason")))
    return notice.hears(WORDS, event, said)


def _tool(said: dict[str, Any]) -> Word:
    tool, arguments = said.get("tool_name"), said.get("tool_input")
    return (
        ("waiting_input", "question", question(arguments))
        if tool in QUESTIONS
        else ("running", "tool", action(tool, arguments, said.get("cwd")))
    )


def _notified(said: dict[str, Any]) -> Word | None:
    message = text(said.get("message"))
    match said.get("notification_type"):
        case "permission_prompt":
            return "waiting_approval", "permission_prompt", message
        case "elicitation_dialog":
            return "waiting_input", "question", "" if message == NAMELESS else message
    return None


def _failed(said: dict[str, Any]) -> Word:
    """One attempt; the last is like the others."""
    message = text(fields(said.get("error")).get("message"))
    detail = readable_error(message)
    return ("error", "api_error", detail) if said.get("recoverable") is False else ("running", "retrying", detail)


WORDS: Words = {
    "UserPromptSubmit": lambda said: ("running", "prompt_submitted", text(said.get("prompt"))),
    "PreToolUse": _tool,
    "PostToolUse": lambda _: ("running", "tool_finished", ""),
    "PostToolUseFailure": lambda _: ("running", "tool_failed", ""),
    "Notification": _notified,
    "ErrorOccurred": _failed,
    "PreCompact": lambda _: ("running", "compacting", ""),
    "Stop": lambda _: ("completed", "turn_completed", ""),
}


class CopilotTranscript(Lines):
    """Several may wait at once; the agent runs again when the last is answered."""

    def __init__(self) -> None:
        super().__init__()
        self._waits: dict[str, tuple[str, str, str]] = {}
        """By id, what is waited for: state, reason, detail."""
        self._calls = False
        """Whether the model's last message calls tools: then the end of its turn is not the end of the work."""
        self._words = ""
        """The model's last message."""

    def say(self, entry: dict[str, Any], at: float) -> Notice | None:
        kind, data = text(entry.get("type")), fields(entry.get("data"))
        own = text(entry.get("id"))
        notice = Notice(
            at=moment(entry.get("timestamp")) or at,
            evidence=f"transcript {brief(kind)}",
            turn_id=plain(data.get("turnId")),
            dedupe_key=dedupe(entry, 0.0, session="", event=kind, own=own),
        )
        said = self._asking(kind, data, notice) or (
            None if entry.get("agentId") else self._main_line(kind, data, notice)
        )
        waits = next(iter(self._waits.values()), None)
        return notice.says(*waits) if waits and said and said.state == "running" else said

    def _asking(self, kind: str, data: dict[str, Any], notice: Notice) -> Notice | None:
        """A dialog is the person's, whoever asks: a helper or the main line."""
        own = text(data.get("requestId")) or text(data.get("toolCallId"))
        match kind:
            case "permission.requested":
                request = fields(data.get("permissionRequest"))
                about = (
                    text(request.get("fullCommandText"))
                    or text(request.get("fileName"))
                    or text(request.get("path"))
                    or text(request.get("url"))
                )
                self._waits[own] = (
                    "waiting_approval",
                    "permission_prompt",
                    f"{text(request.get('kind'))}: {about}" if about else text(request.get("kind")),
                )
            case "tool.execution_start" if data.get("toolName") in QUESTIONS:
                self._waits[own] = ("waiting_input", "question", question(data.get("arguments")))
            case "permission.completed" | "tool.execution_complete" if own in self._waits:
                del self._waits[own]
                if not self._waits:
                    return notice.says("running", "answered")
            case _:
                return None
        first = next(iter(self._waits.values()), None)
        return notice.says(*first) if first else None

    def _main_line(self, kind: str, data: dict[str, Any], notice: Notice) -> Notice | None:
        if kind in {"assistant.turn_start", "assistant.message"}:
            self._calls = bool(data.get("toolRequests"))
            self._words = text(data.get("content"))
        if kind == "assistant.turn_end" and self._calls:
            return None
        if kind in {"abort", "session.error", "assistant.turn_end"}:
            self._waits.clear()
        if kind == "assistant.turn_end":
            return notice.says("completed", "turn_completed", self._words)
        return notice.hears(LINES, kind, data)


LINES: Words = {
    "user.message": lambda data: ("running", "prompt_submitted", text(data.get("content"))),
    "assistant.turn_start": lambda _: ("running", "generating", ""),
    "tool.execution_start": lambda data: ("running", "tool", action(data.get("toolName"), data.get("arguments"))),
    "session.compaction_start": lambda _: ("running", "compacting", ""),
    "session.compaction_complete": lambda _: ("idle", "compacted", ""),
    "session.error": lambda data: (
        "error",
        plain(data.get("errorType")) or "api_error",
        readable_error(data.get("message")),
    ),
    "abort": lambda _: ("idle", "interrupted", ""),
}


def sources(owner: Owner, session_id: str = "") -> list[Source]:
    """The folder of a session appears with its first prompt."""

    def owns(file: Candidate) -> bool:
        data = fields(parse(file.head).get("data"))
        return opened(owner, file.path, data.get("startTime"), fields(data.get("context")).get("cwd"))

    known = plain(session_id)
    pattern = spot(owner.folder("COPILOT_HOME", ".copilot"), f"session-state/{known or '*'}/events.jsonl")
    return [Source(name="transcript", pattern=pattern, follower=CopilotTranscript, owns=None if known else owns)]


SIGNALS = Signals(hooks=CopilotHooks, sources=sources, events=frozenset(WORDS))
