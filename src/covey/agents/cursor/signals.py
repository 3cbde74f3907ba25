"""Cursor's CLI: hooks, of which none says that it waits, and a transcript that does not say when. Known from what is public only."""

from __future__ import annotations

from typing import Any

from covey.agents.signals.parsing import action, brief, dedupe, entries, fields, plain, spot, text
from covey.agents.signals.signals import Candidate, Lines, Notice, Owner, Signals, Source, Words

STOPS = {"error": ("error", "api_error", ""), "aborted": ("idle", "interrupted", "")}
WORDS: Words = {
    "beforeSubmitPrompt": lambda said: ("running", "prompt_submitted", text(said.get("prompt"))),
    "preToolUse": lambda said: (
        "running",
        "tool",
        action(said.get("tool_name"), said.get("tool_input"), said.get("cwd")),
    ),
    "beforeShellExecution": lambda said: ("running", "tool", action("Shell", said)),
    "afterShellExecution": lambda _: ("running", "tool_finished", ""),
    "afterFileEdit": lambda _: ("running", "tool_finished", ""),
    "postToolUse": lambda _: ("running", "tool_finished", ""),
    "postToolUseFailure": lambda _: ("running", "tool_failed", ""),
    "afterAgentThought": lambda _: ("running", "generating", ""),
    "afterAgentResponse": lambda _: ("running", "generating", ""),
    "preCompact": lambda _: ("running", "compacting", ""),
    "stop": lambda said: STOPS.get(text(said.get("status")), ("completed", "turn_completed", "")),
}


class CursorHooks:
    def normalise(self, payload: object, at: float) -> list[Notice]:
        said = fields(payload)
        event = plain(said.get("hook_event_name"))
        session = plain(said.get("conversation_id")) or plain(said.get("session_id"))
        if not event or not session:
            return []
        own = text(said.get("tool_use_id"))
        notice = Notice(
            at=at,
            evidence=f"hook {event}",
            session_id=session,
            turn_id=plain(said.get("generation_id")),
            dedupe_key=dedupe(payload, at, session=session, event=event, own=own),
        )
        return [_heard(event, said, notice)]


def _heard(event: str, said: dict[str, Any], notice: Notice) -> Notice:
    if event == "sessionStart":
        return notice.starts("idle", "session_started")
    if event == "sessionEnd":
        return notice.ends(brief(said.get("reason")))
    return notice.hears(WORDS, event, said)


class CursorTranscript(Lines):
    """An answer may be followed by another, an error or an interruption by nothing: only what begins is believed."""

    def say(self, entry: dict[str, Any], at: float) -> Notice | None:
        blocks = [fields(block) for block in entries(fields(entry.get("message")).get("content"))]
        notice = Notice(
            at=at,
            evidence=f"transcript {brief(entry.get('role'))}",
            dedupe_key=dedupe(entry, at, session="", event="line"),
        )
        if entry.get("role") == "user":
            return notice.says("running", "prompt_submitted", text(blocks[0].get("text")) if blocks else "")
        for block in blocks:
            if block.get("type") == "tool_use":
                return notice.says("running", "tool", action(block.get("name"), block.get("input")))
        return None


def sources(owner: Owner, session_id: str = "") -> list[Source]:
    def owns(file: Candidate) -> bool:
        return file.path in owner.files

    known = plain(session_id)
    pattern = spot(owner.home, f".cursor/projects/*/agent-transcripts/{known or '*'}/{known or '*'}.jsonl")
    return [Source(name="transcript", pattern=pattern, follower=CursorTranscript, owns=None if known else owns)]


SIGNALS = Signals(hooks=CursorHooks, sources=sources, events=frozenset(WORDS))
