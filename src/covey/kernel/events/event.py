"""The envelope of an event, patterns for kinds of events, and the errors of the journal.

AgentError
└── EventsError            kind, message, suggestion
    ├── EventKindError     a kind that is not declared, or a malformed pattern for kinds
    ├── EventSizeError     more data than one event may carry
    ├── FutureCursorError  a cursor that the journal has not reached
    └── SlowReader         a subscription was ended because its reader did not keep up; it resumes by `cursor`
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from json import JSONEncoder
from typing import TYPE_CHECKING, Any

from covey.kernel.clock import timestamp
from murli import AgentError

if TYPE_CHECKING:
    from collections.abc import Sequence

DATA_BYTES = 1 << 20
"""The most data one event may carry, as JSON."""

_LAST_MOMENT = 253402300799.0
"""The end of the year 9999: an event may carry a time that came from elsewhere."""
_KIND = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")

# ASCII: text from terminals may hold lone surrogates, which no UTF-8 file takes.
encode = JSONEncoder(separators=(",", ":"), allow_nan=False).encode


class EventsError(AgentError):
    """An error of the journal that users can meet."""

    kind = "events_error"
    exit_code = 1
    about = ""

    def __init__(self, message: str, suggestion: str) -> None:
        super().__init__(
            message, code=self.exit_code, error=self.kind, suggestion=suggestion, recoverable=True, field=self.about
        )


class EventKindError(EventsError):
    kind = "event_kind"
    about = "kind"


class EventSizeError(EventsError):
    kind = "event_size"


class FutureCursorError(EventsError):
    kind = "future_cursor"
    about = "since"


class SlowReader(EventsError):  # noqa: N818 - how a stream ends, not a fault
    kind = "slow_reader"
    exit_code = 8

    def __init__(self, message: str, suggestion: str, cursor: int) -> None:
        super().__init__(message, suggestion)
        self.cursor = cursor


@dataclass(frozen=True, slots=True)
class Event:
    """An event as the journal has it. It is encoded at most once, however many readers it has."""

    cursor: int
    id: str
    time: float
    kind: str
    subject: str
    data: dict[str, Any] = field(hash=False)
    source: str
    text: str = field(default="", repr=False, compare=False)
    """`data` as JSON, as the journal has it."""
    _json: bytes = field(default=b"", init=False, repr=False, compare=False)
    _sse: bytes = field(default=b"", init=False, repr=False, compare=False)

    def at(self, cursor: int) -> Event:
        """Return the same event with the cursor that the journal gave it."""
        return Event(cursor, self.id, self.time, self.kind, self.subject, self.data, self.source, self.text)

    @property
    def json(self) -> bytes:
        """Return the envelope as one line of JSON."""
        if not self._json:
            head = encode(
                {
                    "cursor": self.cursor,
                    "id": self.id,
                    "time": self.time,
                    "at": timestamp(min(max(self.time, 0.0), _LAST_MOMENT)),
                    "kind": self.kind,
                    "subject": self.subject,
                }
            )
            text = f'{head[:-1]},"data":{self.text or encode(self.data)},"source":{encode(self.source)}}}'
            object.__setattr__(self, "_json", text.encode("ascii"))
        return self._json

    @property
    def sse(self) -> bytes:
        """Return the envelope as a server-sent event: the cursor as its id, the kind as its name."""
        if not self._sse:
            object.__setattr__(
                self, "_sse", b"id: %d\nevent: %s\ndata: %s\n\n" % (self.cursor, self.kind.encode("ascii"), self.json)
            )
        return self._sse


def _checked(kind: str) -> str:
    if not _KIND.fullmatch(kind):
        raise EventKindError(
            f"{kind[:80]!r} is not a kind of event.",
            "Use words of letters, digits, _ and -, joined by dots: agent.state.",
        )
    return str(kind)  # not an EventKind: SQLite would look for an adapter


class Kinds:
    """A filter for kinds: exact ones, and families given as `fleet.` or `fleet.*`. None, and `*`, stand for all.

    Raises EventKindError for a pattern that is malformed.
    """

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        exact, families = set(), set()
        for pattern in patterns:
            if pattern.endswith((".", ".*")):
                families.add(_checked(pattern.removesuffix("*").removesuffix(".")) + ".")
            elif pattern != "*":
                exact.add(_checked(pattern))
        self.all = not patterns or "*" in patterns
        self.exact = frozenset(exact)
        self.families = tuple(families)

    def match(self, kind: str) -> bool:
        """Return whether a kind is among those."""
        return self.all or kind in self.exact or kind.startswith(self.families)
