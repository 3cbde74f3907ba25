"""A message on its way into the inbox, and one in it; whatever a sender wrote can be stored."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Struct

from covey.mesh.storable_text import storable

LARGEST_NUMBER = 2**53 - 1
_LARGEST_COUNT = 2**31 - 1
_PRIORITIES = ("now", "next", "low")


class Incoming(Struct, frozen=True, kw_only=True):
    """An envelope that was verified and opened. `skip`: the number will never come, and there is no body."""

    stream: str
    sequence: int
    id: str
    sender: str
    sender_name: str = ""
    scope: str = ""
    """Empty for a direct message, else the token of the topic."""
    topic: str = ""
    """The name of the topic."""
    outbox: str
    n: int
    at: float
    """When it was sent, by the clock of the sender."""
    skip: bool = False
    text: str = ""
    meta: dict[str, Any] | None = None
    priority: str = "next"
    reply_to: str | None = None
    mentions: list[str] = []
    hops: int = 0
    agent: str | None = None
    from_agent: str | None = None
    epoch: int = 0


class Message(Struct, frozen=True, kw_only=True):
    """A message in the inbox. `position` is its place in the order of delivery; none is used twice."""

    position: int
    id: str
    kind: Literal["direct", "topic"]
    sender: str
    sender_name: str
    topic: str
    text: str
    meta: dict[str, Any] | None
    priority: Literal["now", "next", "low"]
    reply_to: str
    mentions: list[str]
    hops: int
    agent: str
    from_agent: str
    epoch: int
    sent_at: float
    received_at: float
    late: bool
    """It came after it had been given up, so later ones were delivered before it."""
    seen_at: float | None


class Row(NamedTuple):
    """The values of a message in the order of `COLUMNS`; those that decide about it by name."""

    id: str
    sender: str
    outbox: str
    scope: str
    n: int
    sent_at: float
    received_at: float
    epoch: int
    hops: int
    priority: str
    sender_name: str
    topic: str
    reply_to: str
    agent: str
    from_agent: str
    mentions: str
    meta: str | None
    text: str


COLUMNS = ", ".join(Row._fields)
SELECT_MESSAGES = f"SELECT position, late, seen_at, {COLUMNS} FROM inbox_message"  # noqa: S608 - our own names


def row_of(incoming: Incoming, received_at: float) -> Row | None:
    """Return what is stored of a message; None if its number cannot be one. What no column can hold is replaced."""
    if not 1 <= incoming.n <= LARGEST_NUMBER:
        return None
    return Row(
        id=storable(incoming.id),
        sender=storable(incoming.sender),
        outbox=storable(incoming.outbox),
        scope=storable(incoming.scope),
        n=incoming.n,
        sent_at=incoming.at if math.isfinite(incoming.at) else received_at,
        received_at=received_at,
        epoch=_count(incoming.epoch),
        hops=_count(incoming.hops),
        priority=incoming.priority if incoming.priority in _PRIORITIES else "next",
        sender_name=storable(incoming.sender_name),
        topic=storable(incoming.topic),
        reply_to=storable(incoming.reply_to or ""),
        agent=storable(incoming.agent or ""),
        from_agent=storable(incoming.from_agent or ""),
        mentions=_json([storable(str(name)) for name in incoming.mentions]) or "[]",
        meta=_json(incoming.meta) if incoming.meta else None,
        text=storable(incoming.text),
    )


def message_of(position: int, late: int, seen_at: float | None, row: Row) -> Message:
    """Return the message of a row."""
    return Message(
        position=position,
        id=row.id,
        kind="topic" if row.scope else "direct",
        sender=row.sender,
        sender_name=row.sender_name,
        topic=row.topic,
        text=row.text,
        meta=None if row.meta is None else msgspec.json.decode(row.meta),
        priority=row.priority,  # type: ignore[arg-type]  # `row_of` lets no other word through
        reply_to=row.reply_to,
        mentions=[] if row.mentions == "[]" else msgspec.json.decode(row.mentions, type=list[str]),
        hops=row.hops,
        agent=row.agent,
        from_agent=row.from_agent,
        epoch=row.epoch,
        sent_at=row.sent_at,
        received_at=row.received_at,
        late=bool(late),
        seen_at=seen_at,
    )


def selected(values: tuple[Any, ...]) -> Message:
    """Return the message of a row of `SELECT_MESSAGES`."""
    position, late, seen_at, *rest = values
    return message_of(position, late, seen_at, Row._make(rest))


def _count(number: int) -> int:
    return min(max(number, 0), _LARGEST_COUNT)


def _json(value: object) -> str | None:
    """Return a value as JSON that can be decoded again; None if it cannot be written."""
    try:
        try:
            text = msgspec.json.encode(value)
        except UnicodeEncodeError:
            text = msgspec.json.encode(_replaced(value))
        msgspec.json.decode(text)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError, OverflowError):
        return None
    return text.decode()


def _replaced(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {_replaced(key): _replaced(one) for key, one in value.items()}
    return [_replaced(one) for one in value] if isinstance(value, list | tuple) else value
