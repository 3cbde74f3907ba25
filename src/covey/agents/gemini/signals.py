"""Gemini CLI: hooks in its settings, and a transcript per session that is replayed rather than read: entries are repeated and corrected."""

from __future__ import annotations

import hashlib
from typing import Any

from msgspec.structs import replace

from covey.agents.claim import TENTATIVE
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
        found = stamped(payload, at)
        return [self._heard(*found)] if found else []

    def _heard(self, event: str, said: dict[str, Any], notice: Notice) -> Notice:
        if event == "SessionStart":
            return notice.starts("idle", f"session_{plain(said.get('source')) or 'started'}")
        if event == "SessionEnd":
            return notice.ends(brief(said.get("reason")))
        if event == "BeforeTool" and said.get("tool_name") == QUESTION:
            self._question = question(said.get("tool_input"))
        if (event == "BeforeTool" and said.get("tool_name") == QUESTION) or fields(said.get("details")).get(
            "type"
        ) == QUESTION:
            return notice.says("waiting_input", "question", self._question)
        return notice.hears(WORDS, event, said)


def _asked(said: dict[str, Any]) -> Word | None:
    if said.get("notification_type") != "ToolPermission":
        return None
    about = fields(said.get("details"))
    asked = (
        text(about.get("command"))
        or text(about.get("fileName"))
        or text(about.get("toolDisplayName"))
        or text(about.get("prompt"))
    )
    title = text(about.get("title")) or text(said.get("message"))
    return "waiting_approval", "permission_prompt", f"{title}: {asked}" if asked and asked not in title else title


def _answered(said: dict[str, Any]) -> Word:
    silent = text(said.get("prompt_response")).strip() == SILENT
    return ("idle", "no_response", "") if silent else ("completed", "turn_completed", "")


WORDS: Words = {
    "BeforeAgent": lambda said: ("running", "prompt_submitted", text(said.get("prompt"))),
    "BeforeModel": lambda _: ("running", "generating", ""),
    "BeforeToolSelection": lambda _: ("running", "generating", ""),
    "BeforeTool": lambda said: (
        "running",
        "tool",
        action(said.get("tool_name"), said.get("tool_input"), said.get("cwd")),
    ),
    "AfterTool": lambda _: ("running", "tool_finished", ""),
    "Notification": _asked,
    # The automatic one is only a look, in every turn.
    "PreCompress": lambda said: ("running", "compacting", "") if said.get("trigger") == "manual" else None,
    "AfterAgent": _answered,
}


class GeminiTranscript(Lines):
    """Prompts, cancellations and errors tell the state. What the model says does so only tentatively: it is written before the tools that it calls
    are named, so it may or may not be the end of the turn."""

    def say(self, entry: dict[str, Any], at: float) -> Notice | None:
        kind, own = text(entry.get("type")), text(entry.get("id"))
        notice = Notice(
            at=moment(entry.get("timestamp")) or at,
            evidence=f"transcript {brief(kind)}",
            dedupe_key=dedupe(entry, 0.0, session="", event=kind, own=own),
        )
        match kind, entry.get("content"):
            case "user", content:
                said = (
                    content if isinstance(content, str) else text(fields(next(iter(entries(content)), {})).get("text"))
                )
                return (
                    notice.says("running", "prompt_submitted", said) if said and not said.startswith(CONTEXT) else None
                )
            case "gemini", str(answer) if answer.strip() and not entry.get("toolCalls"):
                return replace(notice.says("completed", "turn_completed", answer), strength=TENTATIVE)
            case "error", content:
                return notice.says("error", "api_error", readable_error(content))
            case "info", "Request cancelled.":
                return notice.says("idle", "interrupted")
            case "info", "":  # all that is left of the message about a compression
                return notice.says("idle", "compacted")
        return None


def sources(owner: Owner, session_id: str = "") -> list[Source]:
    """Files bear the first letters of their session's id. Two agents in one project are told apart by when they were started."""
    project = hashlib.sha256(owner.cwd.encode(errors="replace")).hexdigest()

    def owns(file: Candidate) -> bool:
        head = parse(file.head)
        here = head.get("kind") == "main" and head.get("projectHash") == project
        return here and opened(owner, file.path, head.get("startTime"), None)

    folder = owner.folder("GEMINI_CLI_HOME")
    known = plain(session_id)
    pattern = spot(folder, f".gemini/tmp/*/chats/session-*{f'-{known[:8]}' if known else ''}.jsonl")
    return [Source(name="transcript", pattern=pattern, follower=GeminiTranscript, owns=None if known else owns)]


SIGNALS = Signals(hooks=GeminiHooks, sources=sources, events=frozenset(WORDS))
