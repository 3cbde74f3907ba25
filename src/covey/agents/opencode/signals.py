"""opencode: its plugin is told all events of its server.

It writes no file to follow: conversations go into a database, permissions nowhere. Without the plugin only its screen
tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.agents.json_values import content_text, json_list, json_object, string, timestamp
from covey.agents.signals.ids import event_key, safe_id
from covey.agents.signals.requests import MainConversation
from covey.agents.signals.signals import EventTable, Notice, Owner, Signals, Source, StateReport
from covey.agents.summaries import call_summary, question_text, readable_error

if TYPE_CHECKING:
    from collections.abc import Callable

LONG = 60.0
"""Its own repeats come within this many seconds; one that is due later was put off by a rate limit, and is an error to
the person.
"""
ABORTED = "MessageAbortedError"


class OpencodeHooks:
    """Takes events as `{"hook_event_name": "event", "id", "type", "properties"}`, and hooks by their name with `input`
    and `output`.

    After an error come the same events as after an answer, so the error is remembered. Helpers are sessions with a
    parent.
    """

    def __init__(self) -> None:
        self._conversation = MainConversation()
        self._ended: StateReport | None = None
        """How the turn ended, if not well."""
        self._open: dict[str, StateReport] = {}
        """Requests that wait for the person, by id. Other calls go on meanwhile."""

    def normalise(self, payload: object, at: float) -> list[Notice]:
        payload = json_object(payload)
        hook = safe_id(payload.get("hook_event_name"))
        event = safe_id(payload.get("type")) if hook == "event" else hook
        about = json_object(payload.get("properties")) or json_object(payload.get("input"))
        session = safe_id(about.get("sessionID"))
        if not event or not session or hook == "PermissionRequest":  # told as an event as well
            return []
        own = string(payload.get("id")) or string(about.get("callID"))
        notice = Notice(
            at=at,
            evidence=f"{'event' if hook == 'event' else 'hook'} {event}",
            session_id=session,
            turn_id=safe_id(about.get("messageID")),
            dedupe_key=event_key(payload, at, session=session, event=event, own=own),
        )
        if json_object(about.get("info")).get("parentID") and event.startswith("session."):
            self._conversation.exclude(session)
            return [notice]
        if event in ASKED or event in ANSWERED:  # the dialog is the person's, whoever asks
            return [self._asking(event, about, notice)]
        heard = self._notice_of(event, payload, notice)
        return [heard if self._conversation.includes(heard) else notice]

    def _asking(self, event: str, about: dict[str, Any], notice: Notice) -> Notice:
        report = ASKED[event](about) if event in ASKED else None
        if report:
            self._open[string(about.get("id"))] = report
        else:
            self._open.pop(string(about.get("requestID")), None)
        return notice.with_state(*next(iter(self._open.values()), ("running", "answered", "")))

    def _notice_of(self, event: str, payload: dict[str, Any], notice: Notice) -> Notice:
        """Only what is about the person's conversation may change what is remembered."""
        if event == "session.created":
            return notice.session_started()
        if event == "chat.message":
            prompt = content_text(json_object(payload.get("output")).get("parts"))
            said = notice.with_state("running", "prompt_submitted", prompt)
            return said.session_started("running", "prompt_submitted")
        report = EVENTS[event](payload, notice.at) if event in EVENTS else None
        if report is None or not self._conversation.includes(notice):
            return notice
        if report[0] == "running":
            self._ended = None
            return notice if self._open else notice.with_state(*report)
        self._open.clear()
        if event == "session.error":
            self._ended = report
        return notice.with_state(*(self._ended or report))


def _failed(payload: dict[str, Any], _: float) -> StateReport:
    error = json_object(json_object(payload.get("properties")).get("error"))
    if error.get("name") == ABORTED:
        return "idle", "interrupted", ""
    return "error", "api_error", readable_error(json_object(error.get("data")).get("message"))


def _status(payload: dict[str, Any], at: float) -> StateReport | None:
    status = json_object(json_object(payload.get("properties")).get("status"))
    match status.get("type"):
        case "busy":
            return "running", "busy", ""
        case "retry":
            due = timestamp(status.get("next"))
            late = due is not None and due - at > LONG
            return (
                ("error", "rate_limited", string(status.get("message")))
                if late
                else ("running", "retrying", string(status.get("message")))
            )
    return None


def _called(payload: dict[str, Any], _: float) -> StateReport:
    return (
        "running",
        "tool",
        call_summary(json_object(payload.get("input")).get("tool"), json_object(payload.get("output")).get("args")),
    )


EVENTS: dict[str, Callable[[dict[str, Any], float], StateReport | None]] = {
    "session.status": _status,
    "session.error": _failed,
    "session.idle": lambda _, __: ("completed", "turn_completed", ""),
    "session.compacted": lambda _, __: ("running", "compacted", ""),
    "tool.execute.before": _called,
    "tool.execute.after": lambda _, __: ("running", "tool_finished", ""),
}


def _leave(about: dict[str, Any]) -> StateReport:
    detail = call_summary(about.get("permission"), about.get("metadata"))
    pattern = string(next(iter(json_list(about.get("patterns"))), ""))
    return "waiting_approval", "permission_prompt", detail if ":" in detail or not pattern else f"{detail}: {pattern}"


ASKED: EventTable = {
    "permission.asked": _leave,
    "question.asked": lambda about: ("waiting_input", "question", question_text(about)),
}
ANSWERED = frozenset({"permission.replied", "question.replied", "question.rejected"})
"""A refusal ends the turn, and is followed by its end."""


def sources(owner: Owner, session_id: str = "") -> list[Source]:
    """None: what it writes tells neither approvals nor, at once, anything else."""
    del owner, session_id
    return []


SIGNALS = Signals(hooks=OpencodeHooks, sources=sources)
