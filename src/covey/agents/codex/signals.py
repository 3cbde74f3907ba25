"""Codex: hooks, a program that it notifies after each turn, and a transcript ("rollout") per thread."""

from __future__ import annotations

import json
import re
from typing import Any

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
from covey.agents.signals.requests import Conversation, Requests, called
from covey.agents.signals.signals import Candidate, Lines, Notice, Owner, Signals, Source, Word, Words, opened

QUESTION = "request_user_input"
CALLED = re.compile(r"\btools\.(\w+)\(\s*")
COMMAND = re.compile(r"""\bcmd\W+["'`](.*?)["'`]\s*[,}\n]""")
SHELLS = frozenset({"exec_command", "shell", "local_shell", "Bash"})
CALLS = {"PreToolUse": "call", "PermissionRequest": "ask", "PostToolUse": "end"}
TURNS = frozenset({"SessionStart", "UserPromptSubmit", "Interrupt", "Stop"})
"""When these come, nobody is asked any more."""
TITLE = "Generate a concise, single-line task title"
"""Begins the prompt of the hidden thread that thinks up a title."""
FILES = ("*** Add File: ", "*** Update File: ", "*** Delete File: ")


class CodexHooks:
    """Takes what hooks and the notify program deliver. Helpers speak with the main session's id and one of their own; notified threads by theirs alone."""

    def __init__(self) -> None:
        self._conversation = Conversation()
        self._requests = Requests()

    def normalise(self, payload: object, at: float) -> list[Notice]:
        said = fields(payload)
        if said.get("type") == "agent-turn-complete":
            return self._notified(said, at)
        event, session = plain(said.get("hook_event_name")), plain(said.get("session_id"))
        if not event or not session:
            return []
        own = text(said.get("tool_use_id")) if event.endswith("ToolUse") else ""
        plain_notice = Notice(
            at=at,
            evidence=f"hook {event}",
            session_id=session,
            turn_id=plain(said.get("turn_id")),
            dedupe_key=dedupe(payload, at, session=session, event=event, own=own),
        )
        notice = self._heard(event, said, plain_notice)
        return [notice if self._conversation.holds(notice) else plain_notice]

    def _notified(self, said: dict[str, Any], at: float) -> list[Notice]:
        thread, turn = plain(said.get("thread-id")), plain(said.get("turn-id"))
        notice = Notice(
            at=at,
            evidence="notify agent-turn-complete",
            session_id=thread,
            turn_id=turn,
            dedupe_key=dedupe(said, at, session=thread, event="notify", own=turn),
        )
        titling = text(next(iter(entries(said.get("input-messages"))), "")).startswith(TITLE)
        if not thread or titling or not self._conversation.holds(notice):
            return [notice]
        return [notice.says("completed", "turn_completed", text(said.get("last-assistant-message")))]

    def _heard(self, event: str, said: dict[str, Any], notice: Notice) -> Notice:
        if event in CALLS:
            return called(self._requests, CALLS[event], said, notice.hears(WORDS, event, said), notice)
        if said.get("agent_id"):
            return notice
        if event in TURNS:
            self._requests.clear()
        if event == "SessionStart":  # comes with the first prompt, not with the screen
            return notice.starts()
        if event == "SessionEnd":
            return notice.ends(brief(said.get("reason")))
        return notice.hears(WORDS, event, said)


def _script(source: str) -> str:
    """A program that the model wrote, told by the first tool that it calls: `Shell: ls`; by its first line if it calls none."""
    found = CALLED.search(source)
    if found is None:
        return action("Script", {"input": source.strip().partition("\n")[0]})
    try:
        arguments = json.JSONDecoder().raw_decode(source, found.end())[0]
    except (ValueError, RecursionError):  # JavaScript that is no JSON
        command = COMMAND.search(source, found.end())
        arguments = {"cmd": command[1]} if command else {}
    return _call(found[1], arguments)


def _custom(said: dict[str, Any]) -> Word:
    name, source = said.get("name"), text(said.get("input"))
    return "running", "tool", _script(source) if name == "exec" else _call(name, {"command": source})


def _call(tool: object, arguments: object) -> str:
    """A command is one of a shell, whatever the tool is called. A patch is told by the first file it changes."""
    if text(tool) in SHELLS:
        return action("Shell", arguments)
    for line in text(fields(arguments).get("command")).splitlines() if tool == "apply_patch" else []:
        for mark in FILES:
            if line.startswith(mark):
                return brief(f"{tool}: {line.removeprefix(mark)}")
    return action(tool, arguments)


def _tool(said: dict[str, Any]) -> Word:
    tool, arguments = said.get("tool_name"), said.get("tool_input")
    return (
        ("waiting_input", "question", question(arguments))
        if tool == QUESTION
        else ("running", "tool", _call(tool, arguments))
    )


def _ended(said: dict[str, Any]) -> Word:
    error = said.get("error")
    if error:
        message = text(fields(error).get("message")) or text(error)
        return "error", "api_error", message
    return "completed", "turn_completed", text(said.get("last_agent_message"))


WORDS: Words = {
    "UserPromptSubmit": lambda said: ("running", "prompt_submitted", text(said.get("prompt"))),
    "PreModelRequest": lambda _: ("running", "generating", ""),
    # Whether it tries again, only the transcript tells.
    "PostModelRequest": lambda said: (
        ("running", "retrying", text(said.get("error"))) if said.get("status") == "failed" else None
    ),
    "PreToolUse": _tool,
    "PostToolUse": lambda _: ("running", "tool_finished", ""),
    "PermissionRequest": lambda said: (
        "waiting_approval",
        "permission_prompt",
        _call(said.get("tool_name"), said.get("tool_input")),
    ),
    "Interrupt": lambda _: ("idle", "interrupted", ""),
    "Stop": lambda said: ("completed", "turn_completed", text(said.get("last_assistant_message"))),
    "PreCompact": lambda _: ("running", "compacting", ""),
    "PostCompact": lambda said: ("idle" if said.get("trigger") == "manual" else "running", "compacted", ""),
}
LINES: Words = {
    "task_started": lambda _: ("running", "turn_started", ""),
    "task_complete": _ended,
    "turn_aborted": lambda _: ("idle", "interrupted", ""),
    "function_call": lambda said: _tool(
        {"tool_name": said.get("name"), "tool_input": parse(text(said.get("arguments")))}
    ),
    "function_call_output": lambda _: ("running", "tool_finished", ""),
    "custom_tool_call": _custom,
}


class CodexTranscript(Lines):
    """Approvals leave no line. A turn is a task; so is a compaction."""

    def say(self, entry: dict[str, Any], at: float) -> Notice | None:
        said = fields(entry.get("payload"))
        kind = text(said.get("type"))
        turn = plain(said.get("turn_id"))
        notice = Notice(
            at=moment(entry.get("timestamp")) or at,
            evidence=f"transcript {brief(kind)}",
            turn_id=turn,
            dedupe_key=dedupe(entry, 0.0, session=turn, event=kind, own=said.get("call_id")),
        )
        return notice.hears(LINES, kind, said)


def sources(owner: Owner, session_id: str = "") -> list[Source]:
    def owns(file: Candidate) -> bool:
        """Not a helper's thread: those are opened by the same process, and name their parent."""
        about = fields(parse(file.head).get("payload"))
        return about.get("thread_source") != "subagent" and opened(
            owner, file.path, about.get("timestamp"), about.get("cwd")
        )

    pattern = spot(owner.folder("CODEX_HOME", ".codex"), f"sessions/*/*/*/rollout-*{plain(session_id)}.jsonl")
    return [
        Source(name="transcript", pattern=pattern, follower=CodexTranscript, owns=None if plain(session_id) else owns)
    ]


SIGNALS = Signals(hooks=CodexHooks, sources=sources, events=frozenset(WORDS))
