"""What an agent reports by itself, as values: notices from its hooks, levels in its files, and where those files are.

Without IO. The form of what an agent writes is not trusted: whatever arrives, parsing gives notices or nothing, and
never raises.
"""

from __future__ import annotations

import os.path
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import UNSET, Struct
from msgspec.structs import replace

from covey.agents.claim import DERIVED, SURE, Claim, State
from covey.agents.json_values import json_object, parse_object, timestamp
from covey.agents.prompts import prompt_digest
from covey.agents.reasons import reason_of
from covey.agents.signals.ids import event_key, safe_id
from covey.agents.summaries import one_line

if TYPE_CHECKING:
    from collections.abc import Callable

STATE, SESSION_STARTED, SESSION_ENDED, IGNORED = "state", "session_started", "session_ended", "ignored"
PROMPT = "prompt_submitted"
"""The reason of a notice that reports a prompt; its detail is the text of the prompt."""
STARTUP = 60.0
"""Seconds within which an agent that was started opens its first conversation."""

StateReport = tuple[State, str, str]
"""A state, its reason and a detail."""
EventTable = dict[str, "Callable[[dict[str, Any]], StateReport | None]"]
"""What each event says about the state, by the name of the event. The function takes the event's payload."""


class Notice(Struct, frozen=True, kw_only=True):
    """One event that an agent reported.

    Only `state` and the two `session_` kinds matter to its state; the others are kept as an explanation.
    """

    at: float
    kind: str = IGNORED
    state: State | None = None
    """What the agent is doing now; None if the event does not say."""
    reason: str = ""
    detail: str = ""
    evidence: str = ""
    session_id: str = ""
    """The agent's own name for the conversation."""
    turn_id: str = ""
    dedupe_key: str = ""
    """The same for every delivery of one event, and different for every other event.

    It depends on `at` being the time at which the event was caught, which a spool and a second delivery keep: two equal
    requests in one turn differ in nothing else.
    """
    strength: int = SURE
    prompt_digest: str = ""
    """Of a prompt that was submitted: the digest of its whole text."""

    def with_state(self, state: State, reason: str, detail: str = "") -> Notice:
        """Return this notice with a state."""
        digest = prompt_digest(detail) if reason == PROMPT and detail else ""
        return replace(self, kind=STATE, state=state, reason=reason, detail=one_line(detail), prompt_digest=digest)

    def with_event(self, events: EventTable, event: str, payload: dict[str, Any]) -> Notice:
        """Return this notice with the state that its event says; unchanged if the event says none."""
        report = events[event](payload) if event in events else None
        return self.with_state(*report) if report else self

    def session_started(self, state: State | None = None, reason: str = "") -> Notice:
        """Return this notice as the beginning of a conversation."""
        return replace(self, kind=SESSION_STARTED, state=state, reason=reason)

    def session_ended(self, reason: str) -> Notice:
        """Return this notice as the end of a conversation."""
        return replace(self, kind=SESSION_ENDED, reason=reason)

    def claim(self, source: str) -> Claim | None:
        """Return the notice as a claim; None if it has no state."""
        if self.state is None:
            return None
        return Claim(
            source=source,
            state=self.state,
            at=self.at,
            level=False,
            strength=self.strength,
            reason=reason_of(self.state, self.reason, self.detail),
            detail=self.detail,
            evidence=self.evidence,
            prompt_digest=self.prompt_digest or UNSET,
        )


def read_stamped_hook(payload: object, at: float) -> tuple[str, dict[str, Any], Notice] | None:
    """Read a hook whose payload has the time of the event: the event's name, its payload and a notice of it.

    Returns None if it does not name an event and a conversation.
    """
    payload = json_object(payload)
    event = safe_id(payload.get("hook_event_name")) or safe_id(payload.get("hookName"))
    session = safe_id(payload.get("session_id")) or safe_id(payload.get("sessionId"))
    if not event or not session:
        return None
    key = event_key(payload, 0.0 if payload.get("timestamp") else at, session=session, event=event)
    return event, payload, Notice(at=at, evidence=f"hook {event}", session_id=session, dedupe_key=key)


class Level(Struct, frozen=True, kw_only=True):
    """The content of a file that holds an agent's present state."""

    state: State
    at: float
    """When it became so."""
    reason: str = ""
    detail: str = ""
    evidence: str = ""
    session_id: str = ""
    strength: int = SURE
    version: str = ""
    """The version of the agent, where the file names it."""

    def claim(self, source: str) -> Claim:
        """Return the level as a claim."""
        return Claim(
            source=source,
            state=self.state,
            at=self.at,
            level=True,
            strength=self.strength,
            reason=reason_of(self.state, self.reason, self.detail),
            detail=self.detail,
            evidence=self.evidence,
        )


class Owner(Struct, frozen=True, kw_only=True):
    """The agent's process, as far as it shows which files are its own."""

    pid: int
    ticks: int
    """When it was started, in the kernel's ticks since the boot."""
    began: float
    """The same in seconds since 1970."""
    cwd: str = ""
    environ: dict[str, str] = {}
    files: tuple[str, ...] = ()
    """The files that it holds open."""

    @property
    def home(self) -> str:
        return self.environ.get("HOME", "") or os.path.expanduser("~")  # noqa: PTH111 - a string is wanted

    def folder(self, variable: str, *default: str) -> str:
        """Return the folder that an environment variable names, or else one in the home of the process."""
        return self.environ.get(variable, "") or os.path.join(self.home, *default)  # noqa: PTH118 - as above


class Candidate(Struct, frozen=True, kw_only=True):
    """A file that may be the one that is searched for."""

    path: str
    head: str
    """Its first line."""
    modified: float


class Follower(Protocol):
    """Turns the lines of a growing file into notices, one by one."""

    def feed(self, line: str, at: float) -> Notice | None:
        """Return the notice of a whole line; None if it says nothing new.

        `at` is when it was read, for lines that do not say when they were written.
        """


class Source(Struct, frozen=True, kw_only=True):
    """A file that an agent keeps: either a level, read as a whole with `read`, or lines, fed to a `follower`."""

    name: str
    pattern: str
    """Where it is: a path with wildcards. The file need not exist yet."""
    read: Callable[[str], Level | None] | None = None
    follower: Callable[[], Follower] | None = None
    owns: Callable[[Candidate], bool] | None = None
    """Whether a file that matches the pattern is the process's own; without it, every one is."""


class HookReader(Protocol):
    """Turns the payloads of one runtime's hooks into notices. It gets all of them, in the order of delivery."""

    def normalise(self, payload: object, at: float) -> list[Notice]:
        """Return the notices of a payload; empty if it is not one of this agent's."""


class Signals(Struct, frozen=True, kw_only=True):
    """What the `signals.py` of an agent defines as SIGNALS: everything that the agent reports by itself."""

    hooks: Callable[[], HookReader]
    sources: Callable[[Owner, str], list[Source]]
    """Where it writes.

    The second argument is the id of its session, if it is known; to be called again for another session.
    """
    events: frozenset[str] = frozenset()
    """The names of hook events that say something about a state; empty if events have no names."""


class LineFollower:
    """A follower of JSON lines. Their times need not be in order: the order in the file counts."""

    def __init__(self) -> None:
        self._latest = 0.0

    def feed(self, line: str, at: float) -> Notice | None:
        entry = parse_object(line)
        notice = self.notice_of(entry, at) if entry else None
        if notice is None or notice.state is None:
            return None
        self._latest = max(self._latest, notice.at)
        return replace(notice, at=self._latest, strength=min(notice.strength, DERIVED))

    def notice_of(self, entry: dict[str, Any], at: float) -> Notice | None:
        """Return the notice of an entry; `at` is when it was read."""
        raise NotImplementedError


def is_own_conversation(owner: Owner, path: str, when: object, folder: object) -> bool:
    """Return whether a conversation is the owner's: it holds the file open, or it began in the same folder with the
    owner.

    In doubt it is not: no conversation is better than another agent's.
    """
    if path in owner.files:
        return True
    began = timestamp(when)
    if began is None or not -1.0 <= began - owner.began <= STARTUP:
        return False
    return folder is None or folder == owner.cwd
