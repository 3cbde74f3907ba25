"""opencode: its plugin is told all events of its server.

It writes no file to follow: conversations go into a database, permissions nowhere. Without the plugin only its screen tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.agents.signals.parsing import (
    action,
    dedupe,
    entries,
    fields,
    moment,
    plain,
    question,
    readable_error,
    text,
)
from covey.agents.signals.requests import Conversation
from covey.agents.signals.signals import Notice, Owner, Signals, Source, Word, Words

if TYPE_CHECKING:
    from collections.abc import Callable

LONG = 60.0
"""Its own repeats come within this many seconds; one that is due later was put off by a rate limit, and is an error to the person."""
ABORTED = "MessageAbortedError"


class OpencodeHooks:
    """Takes events as `{"hook_event_name": "event", "id", "type", "properties"}`, and hooks by their name with `input` and `output`.

    After an error come the same events as after an answer, so the error is remembered. Helpers are sessions with a parent.
    """

    def __init__(self) -> None:
        self._conversation = Conversation()
        self._ended: Word | None = None
        """How the turn ended, if not well."""
        self._open: dict[str, Word] = {}
        """Requests that wait for the person; other calls go on meanwhile."""

    def normalise(self, payload: object, at: float) -> list[Notice]:
        said = fields(payload)
        hook = plain(said.get("hook_event_name"))
        event = plain(said.get("type")) if hook == "event" else hook
        about = fields(said.get("properties")) or fields(said.get("input"))
        session = plain(about.get("sessionID"))
        if not event or not session:
            return []
        own = text(said.get("id")) or text(about.get("callID"))
        notice = Notice(
            at=at,
            evidence=f"{'event' if hook == 'event' else 'hook'} {event}",
            session_id=session,
            turn_id=plain(about.get("messageID")),
            dedupe_key=dedupe(payload, at, session=session, event=event, own=own),
        )
        if fields(about.get("info")).get("parentID") and event.startswith("session."):
            self._conversation.helper(session)
            return [notice]
        if event in ASKED or event in ANSWERED:  # the dialog is the person's, whoever asks
            return [self._asking(event, about, notice)]
        heard = self._heard(event, said, notice)
        return [heard if self._conversation.holds(heard) else notice]

    def _asking(self, event: str, about: dict[str, Any], notice: Notice) -> Notice:
        word = ASKED[event](about) if event in ASKED else None
        if word:
            self._open[text(about.get("id"))] = word
        else:
            self._open.pop(text(about.get("requestID")), None)
        return notice.says(*next(iter(self._open.values()), ("running", "answered", "")))

    def _heard(self, event: str, said: dict[str, Any], notice: Notice) -> Notice:
        """Only what is about the person's conversation may change what is remembered."""
        if event == "session.created":
            return notice.starts()
        if event == "chat.message":
            return notice.starts("running", "prompt_submitted")
        word = WORDS[event](said, notice.at) if event in WORDS else None
        if word is None or not self._conversation.holds(notice):
            return notice
        if word[0] == "running":
            self._ended = None
            return notice if self._open else notice.says(*word)
        self._open.clear()
        if event == "session.error":
            self._ended = word
        return notice.says(*(self._ended or word))


def _failed(said: dict[str, Any], _: float) -> Word:
    error = fields(fields(said.get("properties")).get("error"))
    if error.get("name") == ABORTED:
        return "idle", "interrupted", ""
    return "error", "api_error", readable_error(fields(error.get("data")).get("message"))


def _status(said: dict[str, Any], at: float) -> Word | None:
    status = fields(fields(said.get("properties")).get("status"))
    match status.get("type"):
        case "busy":
            return "running", "busy", ""
        case "retry":
            due = moment(status.get("next"))
            late = due is not None and due - at > LONG
            return (
                ("error", "rate_limited", text(status.get("message")))
                if late
                else ("running", "retrying", text(status.get("message")))
            )
    return None


def _called(said: dict[str, Any], _: float) -> Word:
    return "running", "tool", action(fields(said.get("input")).get("tool"), fields(said.get("output")).get("args"))


WORDS: dict[str, Callable[[dict[str, Any], float], Word | None]] = {
    "session.status": _status,
    "session.error": _failed,
    "session.idle": lambda _, __: ("completed", "turn_completed", ""),
    "session.compacted": lambda _, __: ("running", "compacted", ""),
    "tool.execute.before": _called,
    "tool.execute.after": lambda _, __: ("running", "tool_finished", ""),
}


def _leave(about: dict[str, Any]) -> Word:
    detail = action(about.get("permission"), about.get("metadata"))
    pattern = text(next(iter(entries(about.get("patterns"))), ""))
    return "waiting_approval", "permission_prompt", detail if ":" in detail or not pattern else f"{detail}: {pattern}"


ASKED: Words = {
    "permission.asked": _leave,
    "question.asked": lambda about: ("waiting_input", "question", question(about)),
}
ANSWERED = frozenset({"permission.replied", "question.replied", "question.rejected"})
"""A refusal ends the turn, and is followed by its end."""


def sources(owner: Owner, session_id: str = "") -> list[Source]:
    """None: what it writes tells neither approvals nor, at once, anything else."""
    del owner, session_id
    return []


SIGNALS = Signals(hooks=OpencodeHooks, sources=sources)
