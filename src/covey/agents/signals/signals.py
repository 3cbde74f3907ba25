"""What an agent says and writes by itself, as values: notices from its hooks, levels in its files, and where those files are. No IO.

What comes from an agent is not to be trusted in its form: whatever arrives, parsing gives notices or nothing, and never raises.
"""

from __future__ import annotations

import os.path
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from covey.agents.claim import DERIVED, SURE, Claim
from covey.agents.reasons import reason_of
from covey.agents.signals.parsing import brief, dedupe, fields, moment, parse, plain

if TYPE_CHECKING:
    from collections.abc import Callable

STATE, SESSION_STARTED, SESSION_ENDED, IGNORED = "state", "session_started", "session_ended", "ignored"
STARTUP = 60.0
"""Seconds within which an agent that was started opens its first conversation."""


class Notice(Struct, frozen=True, kw_only=True):
    """Something an agent said once. Only `state` and the two `session_` kinds matter to a state; the rest is kept for those who ask why."""

    at: float
    kind: str = IGNORED
    state: str | None = None
    """What the agent is doing now; nothing if the notice does not tell."""
    reason: str = ""
    detail: str = ""
    evidence: str = ""
    session_id: str = ""
    """The agent's own name for the conversation."""
    turn_id: str = ""
    dedupe_key: str = ""
    """The same for every delivery of the same event, another for every other event. It counts on `at` being when the event was caught, which a
    spool or a second delivery must keep: two equal requests in one turn have nothing else to tell them apart."""
    strength: int = SURE

    def says(self, state: str, reason: str, detail: str = "") -> Notice:
        return replace(self, kind=STATE, state=state, reason=reason, detail=brief(detail))

    def hears(self, words: Words, event: str, said: dict[str, Any]) -> Notice:
        """The notice with what its event says; as it is, if that is nothing."""
        word = words[event](said) if event in words else None
        return self.says(*word) if word else self

    def starts(self, state: str | None = None, reason: str = "") -> Notice:
        return replace(self, kind=SESSION_STARTED, state=state, reason=reason)

    def ends(self, reason: str) -> Notice:
        return replace(self, kind=SESSION_ENDED, reason=reason)

    def claim(self, source: str) -> Claim | None:
        """The notice as a claim; nothing if it does not tell a state."""
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
        )


def stamped(payload: object, at: float) -> tuple[str, dict[str, Any], Notice] | None:
    """The event of a hook that says itself when it happened, all that it says, and a notice of it; nothing if it names no event or no conversation."""
    said = fields(payload)
    event = plain(said.get("hook_event_name")) or plain(said.get("hookName"))
    session = plain(said.get("session_id")) or plain(said.get("sessionId"))
    if not event or not session:
        return None
    key = dedupe(payload, 0.0 if said.get("timestamp") else at, session=session, event=event)
    return event, said, Notice(at=at, evidence=f"hook {event}", session_id=session, dedupe_key=key)


class Level(Struct, frozen=True, kw_only=True):
    """What a file says that holds an agent's present state."""

    state: str
    at: float
    """When it became so."""
    reason: str = ""
    detail: str = ""
    evidence: str = ""
    session_id: str = ""
    strength: int = SURE
    version: str = ""
    """Of the agent, where the file names it."""

    def claim(self, source: str) -> Claim:
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
    """The agent's process, as far as it tells which files are its own."""

    pid: int
    ticks: int
    """When it was started, in the kernel's ticks since the boot."""
    began: float
    """The same in seconds since 1970."""
    cwd: str = ""
    environ: dict[str, str] = {}
    files: tuple[str, ...] = ()
    """What it holds open."""

    @property
    def home(self) -> str:
        return self.environ.get("HOME", "") or os.path.expanduser("~")  # noqa: PTH111 - a string is wanted

    def folder(self, variable: str, *default: str) -> str:
        """A folder that the environment may name; otherwise one in the home of the process."""
        return self.environ.get(variable, "") or os.path.join(self.home, *default)  # noqa: PTH118 - strings: nothing is looked up


class Candidate(Struct, frozen=True, kw_only=True):
    """A file that may be the one looked for."""

    path: str
    head: str
    """Its first line."""
    modified: float


Word = tuple[str, str, str]
"""What a notice says: state, reason, detail."""
Words = dict[str, "Callable[[dict[str, Any]], Word | None]"]
"""What events say, by their names, given what else they tell."""


class Follower(Protocol):
    """Turns the lines of a growing file into notices, one by one."""

    def feed(self, line: str, at: float) -> Notice | None:
        """What a whole line says; nothing if it says nothing new. `at` is when it was read, for lines that do not tell when they were written."""


class Source(Struct, frozen=True, kw_only=True):
    """A file that an agent keeps: either a level, read as a whole with `read`, or lines, fed to a `follower`."""

    name: str
    pattern: str
    """Where: a path with wildcards. The file need not exist yet."""
    read: Callable[[str], Level | None] | None = None
    follower: Callable[[], Follower] | None = None
    owns: Callable[[Candidate], bool] | None = None
    """Whether a file that fits the pattern is the process's own; without it, any is."""


class Hooks(Protocol):
    """Turns what one runtime's hooks deliver into notices. It is told everything in the order of delivery, and knows what came before."""

    def normalise(self, payload: object, at: float) -> list[Notice]:
        """What the payload says; nothing at all if it is none of the agent's."""


class Signals(Struct, frozen=True, kw_only=True):
    """All that an agent says by itself."""

    hooks: Callable[[], Hooks]
    sources: Callable[[Owner, str], list[Source]]
    """Where it writes; the second argument is its session's id, as far as known. Ask again when another session begins."""
    events: frozenset[str] = frozenset()
    """The names of hook events that say something about a state; empty if events have no names."""


class Lines:
    """Lines of a file are not always written in the order of their times: the order of the file counts."""

    def __init__(self) -> None:
        self._latest = 0.0

    def feed(self, line: str, at: float) -> Notice | None:
        entry = parse(line)
        notice = self.say(entry, at) if entry else None
        if notice is None or notice.state is None:
            return None
        self._latest = max(self._latest, notice.at)
        return replace(notice, at=self._latest, strength=min(notice.strength, DERIVED))

    def say(self, entry: dict[str, Any], at: float) -> Notice | None:
        """What an entry says; `at` is when it was read."""
        raise NotImplementedError


def opened(owner: Owner, path: str, when: object, folder: object) -> bool:
    """Whether a conversation is the owner's: it holds the file open, or it began in the same folder with the owner. Better none than another's."""
    moved = moment(when)
    return path in owner.files or (
        moved is not None and -1.0 <= moved - owner.began <= STARTUP and (folder is None or folder == owner.cwd)
    )
