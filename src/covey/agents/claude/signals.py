"""Claude Code: hooks in its settings, a session file with its present state, a transcript per conversation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from covey.agents.signals.parsing import (
    action,
    brief,
    dedupe,
    entries,
    fields,
    moment,
    parse,
    plain,
    question,
    spot,
    text,
)
from covey.agents.signals.requests import Requests, called
from covey.agents.signals.signals import Level, Lines, Notice, Owner, Signals, Source, Word, Words

if TYPE_CHECKING:
    from collections.abc import Callable

QUESTION, PLAN = "AskUserQuestion", "ExitPlanMode"
CALLS = {"PreToolUse": "call", "PermissionRequest": "ask", "PostToolUse": "end", "PostToolUseFailure": "end"}
TURNS = frozenset({"UserPromptSubmit", "PostToolBatch", "Stop", "StopFailure"})
"""When these come, nobody is asked any more."""
INTERRUPTED = "[Request interrupted by user"
INPUTS = frozenset({"input needed", "dialog open"})
"""What it waits for when it does not wait for leave."""
STATUSES = {"idle": "idle", "busy": "running", "waiting": "waiting_approval"}
FAILED = re.compile(r'API Error: (?:\d{3} \{"|Connection error)')


class ClaudeHooks:
    """A helper's tools say nothing about the main line. While a dialog is open, other calls of the same batch say nothing either."""

    def __init__(self) -> None:
        self._requests = Requests()

    def normalise(self, payload: object, at: float) -> list[Notice]:
        said = fields(payload)
        event, session = plain(said.get("hook_event_name")), plain(said.get("session_id"))
        if not event or not session:
            return []
        own = text(said.get("tool_use_id")) if event.startswith(("PreTool", "PostTool")) else ""
        notice = Notice(
            at=at,
            evidence=f"hook {event}",
            session_id=session,
            turn_id=plain(said.get("prompt_id")),
            dedupe_key=dedupe(payload, at, session=session, event=event, own=own),
        )
        return [self._heard(event, said, notice)]

    def _heard(self, event: str, said: dict[str, Any], notice: Notice) -> Notice:
        source = plain(said.get("source"))
        if event == "SessionStart" and source != "compact":  # after a compaction, PostCompact says how it goes on
            self._requests.clear()
            return notice.starts("idle", f"session_{source or 'started'}")
        if event == "SessionEnd":
            return notice.ends(brief(said.get("reason")))
        if event in CALLS:
            return called(self._requests, CALLS[event], said, notice.hears(WORDS, event, said), notice)
        if said.get("agent_id"):
            return notice
        if event in TURNS:
            self._requests.clear()
        return notice.hears(WORDS, event, said)


def _asked(said: dict[str, Any]) -> Word:
    tool = said.get("tool_name")
    if tool == QUESTION:
        return "waiting_input", "question", question(said.get("tool_input"))
    if tool == PLAN:
        return "waiting_approval", "plan_approval", "the plan"
    return "waiting_approval", "permission_prompt", action(tool, said.get("tool_input"), said.get("cwd"))


def _calls(said: dict[str, Any]) -> Word:
    asks = said.get("tool_name") in (QUESTION, PLAN)
    return (
        _asked(said)
        if asks
        else ("running", "tool", action(said.get("tool_name"), said.get("tool_input"), said.get("cwd")))
    )


def _stopped(said: dict[str, Any]) -> Word:
    """A turn that leaves helpers at work goes on when they report. A shell command left in the background does not hold the turn."""
    left = [fields(task) for task in entries(said.get("background_tasks"))]
    working = [task for task in left if task.get("type") != "shell" and task.get("status", "running") == "running"]
    if working:
        return "running", "background_tasks", text(working[0].get("description"))
    last = text(said.get("last_assistant_message"))
    if FAILED.match(last):  # releases without StopFailure say Stop
        return "error", "api_error", last
    return "completed", "turn_completed", last


WORDS: Words = {
    "UserPromptSubmit": lambda said: ("running", "prompt_submitted", text(said.get("prompt"))),
    "UserPromptExpansion": lambda _: ("running", "prompt_submitted", ""),
    "PreToolUse": _calls,
    "PermissionRequest": _asked,
    "PermissionDenied": lambda _: ("running", "permission_denied", ""),
    "PostToolUse": lambda _: ("running", "tool_finished", ""),
    "PostToolUseFailure": lambda said: (
        ("idle", "interrupted", "") if said.get("is_interrupt") is True else ("running", "tool_failed", "")
    ),
    "PostToolBatch": lambda _: ("running", "tool_finished", ""),
    "Elicitation": lambda said: ("waiting_input", "elicitation", text(said.get("message"))),
    "ElicitationResult": lambda _: ("running", "answered", ""),
    "Stop": _stopped,
    "StopFailure": lambda said: (
        "error",
        plain(said.get("error")) or "api_error",
        text(said.get("last_assistant_message")),
    ),
    "PreCompact": lambda _: ("running", "compacting", ""),
    "PostCompact": lambda said: ("idle" if said.get("trigger") == "manual" else "running", "compacted", ""),
}
"""Not Notification: it repeats a request seconds later without its detail, and a minute after an error calls the agent idle."""


class ClaudeTranscript(Lines):
    """Permission dialogs leave no line: between the call of a tool and its result it runs or waits."""

    def __init__(self) -> None:
        super().__init__()
        self._last = ""

    def say(self, entry: dict[str, Any], at: float) -> Notice | None:
        if entry.get("isSidechain") is True or entry.get("isMeta") is True or entry.get("isCompactSummary") is True:
            return None
        session = plain(entry.get("sessionId"))
        notice = Notice(
            at=moment(entry.get("timestamp")) or at,
            evidence=f"transcript {brief(entry.get('type'))}",
            session_id=session,
            turn_id=plain(entry.get("promptId")),
            dedupe_key=dedupe(entry, at, session=session, event="line", own=entry.get("uuid")),
        )
        said: Notice | None = None
        match entry.get("type"):
            case "user":
                said = self._user(entry, notice)
            case "assistant":
                said = self._assistant(entry, notice)
            case "system":
                said = self._system(entry, notice)
        self._last = said.state or "" if said else self._last
        return said

    def _user(self, entry: dict[str, Any], notice: Notice) -> Notice | None:
        content = fields(entry.get("message")).get("content")
        said = content if isinstance(content, str) else text(fields(next(iter(entries(content)), {})).get("text"))
        if said.startswith(INTERRUPTED):
            return notice.says("idle", "interrupted")
        if said.startswith(("<local-command", "<command-name>", "<bash-")):  # done by Claude itself, without the model
            return None
        return notice.says("running", "prompt_submitted" if said else "tool_finished", said)

    def _assistant(self, entry: dict[str, Any], notice: Notice) -> Notice | None:
        message = fields(entry.get("message"))
        blocks = [fields(block) for block in entries(message.get("content"))]
        if entry.get("isApiErrorMessage") is True:
            return notice.says(
                "error", plain(entry.get("error")) or "api_error", text(blocks[0].get("text")) if blocks else ""
            )
        for call in blocks:
            if call.get("type") == "tool_use":
                return notice.says(
                    *_calls({"tool_name": call.get("name"), "tool_input": call.get("input"), "cwd": entry.get("cwd")})
                )
        return notice.says("running", "generating") if message.get("stop_reason") != "end_turn" else None

    def _system(self, entry: dict[str, Any], notice: Notice) -> Notice | None:
        """The duration is written after every turn, however it ended: after an error or an interruption the line before said more."""
        match entry.get("subtype"):
            case "turn_duration" if self._last in {"error", "idle"}:
                return None
            case "turn_duration" if entry.get("pendingBackgroundAgentCount"):
                return notice.says("running", "background_tasks")
            case "turn_duration":
                return notice.says("completed", "turn_completed")
            case "compact_boundary" if fields(entry.get("compactMetadata")).get("trigger") == "manual":
                return notice.says("idle", "compacted")
        return None


def session_file(owner: Owner) -> Callable[[str], Level | None]:
    """Reads sessions/<pid>.json. A process that was killed leaves its file behind, for another with the same pid to be taken for it."""

    def read(content: str) -> Level | None:
        said = parse(content)
        status, waits = text(said.get("status")), text(said.get("waitingFor"))
        state = STATUSES.get(status)
        if state is None or said.get("pid") != owner.pid or text(said.get("procStart")) not in {"", str(owner.ticks)}:
            return None
        if status == "waiting" and waits in INPUTS:
            state = "waiting_input"
        return Level(
            state=state,
            at=moment(said.get("statusUpdatedAt")) or owner.began,
            reason=brief(waits).replace(" ", "_") or status,
            evidence=f"session file says {brief(status)}{f', {brief(waits)}' if waits else ''}",
            session_id=plain(said.get("sessionId")),
            version=plain(said.get("version")),
        )

    return read


def sources(owner: Owner, session_id: str = "") -> list[Source]:
    """The transcript's folder is named after the project, in a spelling that need not be guessed once the session is known."""
    config = owner.folder("CLAUDE_CONFIG_DIR", ".claude")
    found = [Source(name="session_file", pattern=spot(config, f"sessions/{owner.pid}.json"), read=session_file(owner))]
    if plain(session_id):
        found.append(
            Source(name="transcript", pattern=spot(config, f"projects/*/{session_id}.jsonl"), follower=ClaudeTranscript)
        )
    return found


SIGNALS = Signals(hooks=ClaudeHooks, sources=sources, events=frozenset(WORDS))
