"""Codex: hooks, a program that it notifies after each turn, and a transcript ("rollout") per thread."""

from __future__ import annotations

import json
import re
from typing import Any

from covey.agents.json_values import (
    MOST_VALUES,
    content_text,
    json_list,
    json_object,
    parse_object,
    string,
    timestamp,
)
from covey.agents.signals.ids import event_key, pattern_below, safe_id
from covey.agents.signals.requests import MainConversation, OpenRequests, notice_of_call
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
)
from covey.agents.summaries import call_summary, one_line, question_text
from covey.kernel.json_size import has_too_many_values

QUESTION = "request_user_input"
CALLED = re.compile(r"\btools\.(\w+)\(\s*")
COMMAND = re.compile(r"""\bcmd\W+["'`](.*?)["'`]\s*[,}\n]""")
SEARCHED = 1000
"""Characters in which a command is looked for: what is shown of it is shorter, and the search is not linear."""
SHELLS = frozenset({"exec_command", "shell", "local_shell", "Bash"})
CALLS = {"PreToolUse": "call", "PermissionRequest": "ask", "PostToolUse": "end"}
TURNS = frozenset({"SessionStart", "UserPromptSubmit", "Interrupt", "Stop"})
"""When these come, nobody is asked any more."""
TITLE = "Generate a concise, single-line task title"
"""Begins the prompt of the hidden thread that thinks up a title."""
FILES = ("*** Add File: ", "*** Update File: ", "*** Delete File: ")


class CodexHooks:
    """Takes what hooks and the notify program deliver.

    Helpers speak with the main session's id and one of their own; notified threads by theirs alone.
    """

    def __init__(self) -> None:
        self._conversation = MainConversation()
        self._requests = OpenRequests()

    def normalise(self, payload: object, at: float) -> list[Notice]:
        payload = json_object(payload)
        if payload.get("type") == "agent-turn-complete":
            return self._notified(payload, at)
        event, session = safe_id(payload.get("hook_event_name")), safe_id(payload.get("session_id"))
        if not event or not session:
            return []
        own = string(payload.get("tool_use_id")) if event.endswith("ToolUse") else ""
        bare = Notice(
            at=at,
            evidence=f"hook {event}",
            session_id=session,
            turn_id=safe_id(payload.get("turn_id")),
            dedupe_key=event_key(payload, at, session=session, event=event, own=own),
        )
        notice = self._notice_of(event, payload, bare)
        return [notice if self._conversation.includes(notice) else bare]

    def _notified(self, payload: dict[str, Any], at: float) -> list[Notice]:
        thread, turn = safe_id(payload.get("thread-id")), safe_id(payload.get("turn-id"))
        notice = Notice(
            at=at,
            evidence="notify agent-turn-complete",
            session_id=thread,
            turn_id=turn,
            dedupe_key=event_key(payload, at, session=thread, event="notify", own=turn),
        )
        titling = string(next(iter(json_list(payload.get("input-messages"))), "")).startswith(TITLE)
        if not thread or titling or not self._conversation.includes(notice):
            return [notice]
        return [notice.with_state("completed", "turn_completed", string(payload.get("last-assistant-message")))]

    def _notice_of(self, event: str, payload: dict[str, Any], notice: Notice) -> Notice:
        if event in CALLS:
            return notice_of_call(
                self._requests, CALLS[event], payload, notice.with_event(EVENTS, event, payload), notice
            )
        if payload.get("agent_id"):
            return notice
        if event in TURNS:
            self._requests.clear()
        if event == "SessionStart":  # comes with the first prompt, not with the screen
            return notice.session_started()
        if event == "SessionEnd":
            return notice.session_ended(one_line(payload.get("reason")))
        return notice.with_event(EVENTS, event, payload)


def _script(source: str) -> str:
    """A program that the model wrote, told by the first tool that it calls: `Shell: ls`; by its first line if it calls
    none.
    """
    found = CALLED.search(source)
    if found is None:
        return call_summary("Script", {"input": source.strip().partition("\n")[0]})
    try:
        whole = not has_too_many_values(source, MOST_VALUES)
        arguments = json.JSONDecoder().raw_decode(source, found.end())[0] if whole else {}
    except (ValueError, RecursionError):  # JavaScript that is no JSON
        command = COMMAND.search(source, found.end(), found.end() + SEARCHED)
        arguments = {"cmd": command[1]} if command else {}
    return _call(found[1], arguments)


def _custom(payload: dict[str, Any]) -> StateReport:
    name, source = payload.get("name"), string(payload.get("input"))
    return "running", "tool", _script(source) if name == "exec" else _call(name, {"command": source})


def _call(tool: object, arguments: object) -> str:
    """A command is one of a shell, whatever the tool is called. A patch is told by the first file it changes."""
    if string(tool) in SHELLS:
        return call_summary("Shell", arguments)
    for line in string(json_object(arguments).get("command")).splitlines() if tool == "apply_patch" else []:
        for mark in FILES:
            if line.startswith(mark):
                return one_line(f"{tool}: {line.removeprefix(mark)}")
    return call_summary(tool, arguments)


def _tool(payload: dict[str, Any]) -> StateReport:
    tool, arguments = payload.get("tool_name"), payload.get("tool_input")
    return (
        ("waiting_input", "question", question_text(arguments))
        if tool == QUESTION
        else ("running", "tool", _call(tool, arguments))
    )


def _ended(payload: dict[str, Any]) -> StateReport:
    error = payload.get("error")
    if error:
        message = string(json_object(error).get("message")) or string(error)
        return "error", "api_error", message
    return "completed", "turn_completed", string(payload.get("last_agent_message"))


EVENTS: EventTable = {
    "UserPromptSubmit": lambda payload: ("running", "prompt_submitted", string(payload.get("prompt"))),
    "PreModelRequest": lambda _: ("running", "generating", ""),
    # Whether it tries again, only the transcript tells.
    "PostModelRequest": lambda payload: (
        ("running", "retrying", string(payload.get("error"))) if payload.get("status") == "failed" else None
    ),
    "PreToolUse": _tool,
    "PostToolUse": lambda _: ("running", "tool_finished", ""),
    "PermissionRequest": lambda payload: (
        "waiting_approval",
        "permission_prompt",
        _call(payload.get("tool_name"), payload.get("tool_input")),
    ),
    "Interrupt": lambda _: ("idle", "interrupted", ""),
    "Stop": lambda payload: ("completed", "turn_completed", string(payload.get("last_assistant_message"))),
    "PreCompact": lambda _: ("running", "compacting", ""),
    "PostCompact": lambda payload: ("idle" if payload.get("trigger") == "manual" else "running", "compacted", ""),
}


def _item(payload: dict[str, Any]) -> StateReport | None:
    item = json_object(payload.get("item"))
    said = content_text(item.get("content"))
    return ("running", "prompt_submitted", said) if item.get("type") == "UserMessage" and said else None


ENTRIES: EventTable = {
    "task_started": lambda _: ("running", "turn_started", ""),
    "user_message": lambda payload: ("running", "prompt_submitted", string(payload.get("message"))),
    "item_completed": _item,
    "task_complete": _ended,
    "turn_aborted": lambda _: ("idle", "interrupted", ""),
    "function_call": lambda payload: _tool(
        {"tool_name": payload.get("name"), "tool_input": parse_object(string(payload.get("arguments")))}
    ),
    "function_call_output": lambda _: ("running", "tool_finished", ""),
    "custom_tool_call": _custom,
}


class CodexTranscript(LineFollower):
    """Approvals leave no line. A turn is a task; so is a compaction."""

    def notice_of(self, entry: dict[str, Any], at: float) -> Notice | None:
        payload = json_object(entry.get("payload"))
        kind = string(payload.get("type"))
        turn = safe_id(payload.get("turn_id"))
        notice = Notice(
            at=timestamp(entry.get("timestamp")) or at,
            evidence=f"transcript {one_line(kind)}",
            turn_id=turn,
            dedupe_key=event_key(entry, 0.0, session=turn, event=kind, own=payload.get("call_id")),
        )
        return notice.with_event(ENTRIES, kind, payload)


def sources(owner: Owner, session_id: str = "") -> list[Source]:
    def owns(file: Candidate) -> bool:
        """Not a helper's thread: those are opened by the same process, and name their parent."""
        about = json_object(parse_object(file.head).get("payload"))
        return about.get("thread_source") != "subagent" and is_own_conversation(
            owner, file.path, about.get("timestamp"), about.get("cwd")
        )

    pattern = pattern_below(
        owner.folder("CODEX_HOME", ".codex"), f"sessions/*/*/*/rollout-*{safe_id(session_id)}.jsonl"
    )
    return [
        Source(name="transcript", pattern=pattern, follower=CodexTranscript, owns=None if safe_id(session_id) else owns)
    ]


SIGNALS = Signals(hooks=CodexHooks, sources=sources, events=frozenset(EVENTS))
