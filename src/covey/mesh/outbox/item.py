"""What the outbox holds and answers with."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import astuple

from covey.contract.mesh_messages import MOST_BYTES

Kind = Literal["direct", "topic"]
Status = Literal["pending", "done", "dead"]
"""`pending`: not yet at the broker. `done`: the broker has it on its disk. `dead`: given up, for a person to decide."""


class Draft(Struct, frozen=True, kw_only=True):
    """A message that is to be accepted. `request` identifies the call that made it, if one call made several."""

    kind: Kind
    target: str
    """The id of the member, or the name of the topic."""
    body: bytes
    request: str = ""


class Item(Struct, frozen=True, kw_only=True):
    """A message in the outbox.

    `n` is its number among those for the same target. An item with `skip` has no body: it tells the recipient that the
    number will never come.
    """

    position: int
    """Its place in the order of acceptance; a position is never used again."""
    id: str
    kind: Kind
    target: str
    n: int
    request: str = ""
    enqueued_at: float
    attempts: int = 0
    status: Status = "pending"
    next_attempt_at: float
    last_error: str = ""
    delivered_at: float | None = None
    inbox_at: float | None = None
    seen_at: float | None = None
    skip: bool = False
    refused: str = ""
    """What the recipient said when its agent did not get the message, or nobody can know that; no more will come."""
    body: bytes


class Limits(Struct, frozen=True, kw_only=True):
    """How much the outbox takes: pending rows in all, and bytes of one body."""

    max_queue_size: int = 10_000
    max_body_bytes: int = MOST_BYTES


class Accepted(Struct, frozen=True, kw_only=True):
    """The outcome of `accept`. If the key was known, `answer` is the stored one and there are no items."""

    items: tuple[Item, ...]
    replayed: bool
    answer: bytes


class Requeued(NamedTuple):
    """A dead message that is pending again, under a new number: the recipient no longer waits for the former."""

    item: Item
    former_n: int


class Receipt(NamedTuple):
    """The ids of messages that a receipt newly says to be in the recipient's inbox, and to have been seen."""

    inbox: list[str]
    seen: list[str]


class OutboxCounts(NamedTuple):
    """How many items there are, by status, and the bytes of the file."""

    pending: int
    done: int
    dead: int
    bytes: int


COLUMNS = Item.__struct_fields__
_PLACES = ", ".join("?" * len(COLUMNS))
SELECT_ITEMS = f"SELECT {', '.join(COLUMNS)} FROM outbox_item"  # noqa: S608 - our own names
INSERT_ITEM = f"INSERT INTO outbox_item ({', '.join(COLUMNS)}) VALUES ({_PLACES})"  # noqa: S608 - our own names


def item_of(row: tuple[Any, ...]) -> Item:
    """Return the item of a row of `SELECT_ITEMS`."""
    values = dict(zip(COLUMNS, row, strict=True))
    values["skip"] = bool(values["skip"])
    return Item(**values)


def row_of(item: Item) -> tuple[Any, ...]:
    """Return the values for `INSERT_ITEM`."""
    return astuple(item)
