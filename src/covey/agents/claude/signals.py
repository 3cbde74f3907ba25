"""Claude Code: hooks in its settings, a session file with its present state, a transcript per conversation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from covey.agents.json_values import content_text, json_list, json_object, parse_object, string, timestamp
from covey.agents.signals.ids import event_key, pattern_below, safe_id
from covey.agents.signals.requests import OpenRequests, notice_of_call
from covey.agents.signals.signals import EventTable, Level, LineFollower, Notice, Owner, Signals, Source, StateReport
from covey.agents.summaries import call_summary, one_line, question_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from covey.agents.claim import State

QUESTION, PLAN = "AskUserQuestion", "ExitPlanMode"
CALLS = {"PreToolUse": "call", "PermissionRequest": "ask", "PostToolUse": "end", "PostToolUseFailure": "end"}
TURNS = frozenset({"UserPromptSubmit", "PostToolBatch", "Stop", "StopFailure"})
"""When these come, nobody is asked any more."""
INTERRUPTED = "[Request interrupted by user"
INPUTS = frozenset({"input needed", "dialog open"})
"""What it waits for when it does not wait for leave."""
LOCAL_COMMANDS = ("<local-command", "<command-name>", "<bash-")
"""Begin entries about commands that Claude Code performs itself, without the model."""
STATUSES: dict[str, State] = {"idle": "idle", "busy": "running", "waiting": "waiting_approval"}
FAILED = re.compile(r'API Error: (?:\d{3} \{"|Connection error)')


class ClaudeHooks:
    """A helper's tools say nothing about the main line.

    While a dialog is open, other calls of the same batch say nothing either.
    """

    def __init__(self) -> None:
        self._requests = OpenRequests()

    def normalise(self, payload: object, at: float) -> list[Notice]:
        payload = json_object(payload)
        event, session = safe_id(payload.get("hook_event_name")), safe_id(payload.get("session_id"))
        if not event or not session:
            return []
        own = string(payload.get("tool_use_id")) if event.startswith(("PreTool", "PostTool")) else ""
        notice = Notice(
            at=at,
            evidence=f"hook {event}",
            session_id=session,
            turn_id=safe_id(payload.get("prompt_id")),
            dedupe_key=event_key(payload, at, session=session, event=event, own=own),
        )
        return [self._notice_of(event, payload, notice)]

    def _notice_of(self, event: str, payload: dict[str, Any], notice: Notice) -> Notice:
        source = safe_id(payload.get("source"))
        if event == "SessionStart" and source != "compact":  # after a compaction, PostCompact says how it goes on
            self._requests.clear()
            return notice.session_started("idle", f"session_{source or 'started'}")
        if event == "SessionEnd":
            return notice.session_ended(one_line(payload.get("reason")))
        if event in CALLS:
            return notice_of_call(
                self._requests, CALLS[event], payload, notice.with_event(EVENTS, event, payload), notice
            )
        if payload.get("agent_id"):
            return notice
        if event in TURNS:
            self._requests.clear()
        return notice.with_event(EVENTS, event, payload)


def _asked(payload: dict[str, Any]) -> StateReport:
    tool = payload.get("tool_name")
    if tool == QUESTION:
        return "waiting_input", "question", question_text(payload.get("tool_input"))
    if tool == PLAN:
        return "waiting_approval", "plan_approval", "the plan"
    return "waiting_approval", "permission_prompt", call_summary(tool, payload.get("tool_input"), payload.get("cwd"))


def _calls(payload: dict[str, Any]) -> StateReport:
    asks = payload.get("tool_name") in (QUESTION, PLAN)
    return (
        _asked(payload)
        if asks
        else ("running", "tool", call_summary(payload.get("tool_name"), payload.get("tool_input"), payload.get("cwd")))
    )


def _stopped(payload: dict[str, Any]) -> StateReport:
    """A turn that leaves helpers at work goes on when they report.

    A shell command left in the background does not hold the turn.
    """
    left = [json_object(task) for task in json_list(payload.get("background_tasks"))]
    working = [task for task in left if task.get("type") != "shell" and task.get("status", "running") == "running"]
    if working:
        return "running", "background_tasks", string(working[0].get("description"))
    last = string(payload.get("last_assistant_message"))
    if FAILED.match(last):  # releases without StopFailure say Stop
        return "error", "api_error", last
    return "completed", "turn_completed", last


EVENTS: EventTable = {
    "UserPromptSubmit": lambda payload: ("running", "prompt_submitted", string(payload.get("prompt"))),
    "UserPromptExpansion": lambda _: ("running", "prompt_submitted", ""),
    "PreToolUse": _calls,
    "PermissionRequest": _asked,
    "PermissionDenied": lambda _: ("running", "permission_denied", ""),
    "PostToolUse": lambda _: ("running", "tool_finished", ""),
    "PostToolUseFailure": lambda payload: (
        ("idle", "interrupted", "") if payload.get("is_interrupt") is True else ("running", "tool_failed", "")
    ),
    "PostToolBatch": lambda _: ("running", "tool_finished", ""),
    "Elicitation": lambda payload: ("waiting_input", "elicitation", string(payload.get("message"))),
    "ElicitationResult": lambda _: ("running", "answered", ""),
    "Stop": _stopped,
    "StopFailure": lambda payload: (
        "error",
        safe_id(payload.get("error")) or "api_error",
        string(payload.get("last_assistant_message")),
    ),
    "PreCompact": lambda _: ("running", "compacting", ""),
    "PostCompact": lambda payload: ("idle" if payload.get("trigger") == "manual" else "running", "compacted", ""),
}
"""Not Notification: it repeats a request seconds later without its detail, and a minute after an error calls the agent
idle.
"""


class ClaudeTranscript(LineFollower):
    """Permission dialogs leave no line: between the call of a tool and its result it runs or waits."""

    def __init__(self) -> None:
        super().__init__()
        self._last = ""

    def notice_of(self, entry: dict[str, Any], at: float) -> Notice | None:
        if entry.get("isSidechain") is True or entry.get("isMeta") is True or entry.get("isCompactSummary") is True:
            return None
        session = safe_id(entry.get("sessionId"))
        notice = Notice(
            at=timestamp(entry.get("timestamp")) or at,
            evidence=f"transcript {one_line(entry.get('type'))}",
            session_id=session,
            turn_id=safe_id(entry.get("promptId")),
            dedupe_key=event_key(entry, at, session=session, event="line", own=entry.get("uuid")),
        )
        found: Notice | None = None
        match entry.get("type"):
            case "user":
                found = self._user(entry, notice)
            case "assistant":
                found = self._assistant(entry, notice)
            case "system":
                found = self._system(entry, notice)
        self._last = found.state or "" if found else self._last
        return found

    def _user(self, entry: dict[str, Any], notice: Notice) -> Notice | None:
        written = content_text(json_object(entry.get("message")).get("content"))
        if written.startswith(INTERRUPTED):
            return notice.with_state("idle", "interrupted")
        if written.startswith(LOCAL_COMMANDS):
            return None
        return notice.with_state("running", "prompt_submitted" if written else "tool_finished", written)

    def _assistant(self, entry: dict[str, Any], notice: Notice) -> Notice | None:
        message = json_object(entry.get("message"))
        blocks = [json_object(block) for block in json_list(message.get("content"))]
        if entry.get("isApiErrorMessage") is True:
            return notice.with_state(
                "error", safe_id(entry.get("error")) or "api_error", string(blocks[0].get("text")) if blocks else ""
            )
        for call in blocks:
            if call.get("type") == "tool_use":
                return notice.with_state(
                    *_calls({"tool_name": call.get("name"), "tool_input": call.get("input"), "cwd": entry.get("cwd")})
                )
        return notice.with_state("running", "generating") if message.get("stop_reason") != "end_turn" else None

    def _system(self, entry: dict[str, Any], notice: Notice) -> Notice | None:
        """The duration is written after every turn, however it ended: after an error or an interruption the line before
        said more.
        """
        match entry.get("subtype"):
            case "turn_duration" if self._last in {"error", "idle"}:
                return None
            case "turn_duration" if entry.get("pendingBackgroundAgentCount"):
                return notice.with_state("running", "background_tasks")
            case "turn_duration":
                return notice.with_state("completed", "turn_completed")
            case "compact_boundary" if json_object(entry.get("compactMetadata")).get("trigger") == "manual":
                return notice.with_state("idle", "compacted")
        return None


def session_file(owner: Owner) -> Callable[[str], Level | None]:
    """Reads sessions/<pid>.json.

    A process that was killed leaves its file behind, for another with the same pid to be taken for it.
    """

    def read(content: str) -> Level | None:
        payload = parse_object(content)
        status, waits = string(payload.get("status")), string(payload.get("waitingFor"))
        state = STATUSES.get(status)
        if (
            state is None
            or payload.get("pid") != owner.pid
            or string(payload.get("procStart")) not in {"", str(owner.ticks)}
        ):
            return None
        if status == "waiting" and waits in INPUTS:
            state = "waiting_input"
        return Level(
            state=state,
            at=timestamp(payload.get("statusUpdatedAt")) or owner.began,
            reason=one_line(waits).replace(" ", "_") or status,
            evidence=f"session file says {one_line(status)}{f', {one_line(waits)}' if waits else ''}",
            session_id=safe_id(payload.get("sessionId")),
            version=safe_id(payload.get("version")),
        )

    return read


def sources(owner: Owner, session_id: str = "") -> list[Source]:
    """The transcript's folder is named after the project, in a spelling that need not be guessed once the session is
    known.
    """
    config = owner.folder("CLAUDE_CONFIG_DIR", ".claude")
    found = [
        Source(
            name="session_file", pattern=pattern_below(config, f"sessions/{owner.pid}.json"), read=session_file(owner)
        )
    ]
    if safe_id(session_id):
        found.append(
            Source(
                name="transcript",
                pattern=pattern_below(config, f"projects/*/{session_id}.jsonl"),
                follower=ClaudeTranscript,
            )
        )
    return found


SIGNALS = Signals(hooks=ClaudeHooks, sources=sources, events=frozenset(EVENTS))
