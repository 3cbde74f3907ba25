"""A reminder, and when it is due. Pure."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec import Struct

from covey.kernel.clock import timestamp
from covey.kernel.cron import NEVER, cron_problem, latest_time, next_time, timezone_problem
from covey.mesh.services.addressee import Addressee
from covey.mesh.services.holder import Moment  # noqa: TC001 - msgspec reads the types of fields

if TYPE_CHECKING:
    from covey.mesh.services.document import Document

LATE_S = 60.0
"""From when on a message says that it is late."""


class Reminder(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The value of a reminder's document. It has either `at` or `cron`."""

    message: str
    to: Addressee = Addressee()
    everybody: bool = False
    at: Moment = 0.0
    cron: str = ""
    tz: str = "UTC"
    created_at: Moment
    agent: str = ""
    """Of its author, who has made it."""

    def next_after(self, moment: float) -> float:
        """Return when it is due next after a moment; infinity if it is not."""
        if not self.cron:
            return self.at if self.at > moment else NEVER
        return next_time(self.cron, self.tz, moment)

    def due(self, after: float, now: float) -> Due | None:
        """Return the last time it was due after a moment and up to now; None if it was not."""
        if not self.cron:
            return Due(self.at, 0) if after < self.at <= now else None
        found = latest_time(self.cron, self.tz, after, now)
        return None if found is None else Due(*found)


class Due(NamedTuple):
    """A time at which a reminder comes, and how many earlier ones are made up for by it."""

    at: float
    missed: int


def read_reminder(document: Document) -> Reminder | None:
    """Return the reminder of a document; None if it holds none that can come, whoever has written it."""
    return parse_reminder(document.value)


def parse_reminder(value: object) -> Reminder | None:
    """Return the reminder that a value is; None if it is none that can come."""
    try:
        found = msgspec.convert(value, Reminder)
    except msgspec.ValidationError:
        return None
    return None if found.cron and (cron_problem(found.cron) or timezone_problem(found.tz)) else found


def message_id(key: str, at: float) -> str:
    """Return the id of the message of one time of a reminder: the same at every attempt."""
    digest = hashlib.blake2b(f"{key}\0{at:.3f}".encode(), digest_size=16, person=b"covey-reminder").digest()
    return base64.b32encode(digest).decode().rstrip("=")


def text_of(reminder: Reminder, due: Due, now: float) -> str:
    """Return what comes into the inbox: the message, and below it how late it is, if it is."""
    if now - due.at < LATE_S and not due.missed:
        return reminder.message
    missed = f"; {due.missed} earlier ones were missed" if due.missed else ""
    return f"{reminder.message}\n\n(due at {timestamp(due.at)}, {_length(now - due.at)} ago{missed})"


def _length(seconds: float) -> str:
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def written(reminder: Reminder) -> dict[str, Any]:
    """Return the value of a document for a reminder."""
    value: dict[str, Any] = msgspec.to_builtins(reminder)
    return value
