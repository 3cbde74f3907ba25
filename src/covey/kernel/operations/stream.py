"""What an operation that streams yields, and its form over HTTP: server-sent events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from covey.kernel.events.event import Event, encode

if TYPE_CHECKING:
    from covey.kernel.events.event import SlowReader

START, HEARTBEAT = b": covey\n\n", b": still here\n\n"


class Message(NamedTuple):
    """One message that is not an event of the journal. A reader can resume after its cursor, if it has one."""

    name: str
    data: object
    cursor: int | None = None


Batch = Sequence[Event | Message]
"""What a stream has to say at once. An empty batch is a heartbeat: nothing happened for a while."""


def gap(since: int, until: int) -> Message:
    """Say that the events between two cursors are no longer in the journal."""
    return Message("covey.gap", {"since": since, "until": until})


def slow(error: SlowReader) -> Message:
    """Say that the stream ends because its reader does not keep up."""
    return Message("covey.slow", {"reason": "you read too slowly", "resume_after": error.cursor})


def frames(batch: Batch) -> bytes:
    """Return a batch as server-sent events."""
    return b"".join(one.sse if isinstance(one, Event) else _frame(one) for one in batch) or HEARTBEAT


def _frame(message: Message) -> bytes:
    head = b"" if message.cursor is None else b"id: %d\n" % message.cursor
    name = b"event: %s\n" % message.name.encode("ascii") if message.name else b""
    return b"%s%sdata: %s\n\n" % (head, name, encode(message.data).encode("ascii"))
