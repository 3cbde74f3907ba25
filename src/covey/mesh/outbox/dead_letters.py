"""The transactions of messages that are given up: dead, requeued, dropped.

A direct message that will not be sent leaves a hole in the numbers of its recipient, who would wait for it: a `skip`
item takes its place. From then on the number is used up, so a requeued message gets a new one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec.structs import replace

from covey.mesh.outbox.acceptance import give_numbers, reserve
from covey.mesh.outbox.item import INSERT_ITEM, SELECT_ITEMS, Item, Requeued, item_of, row_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence

AT_ONCE = 500  # rows of one transaction: the callers of others wait for it
_AMONG = "id IN (SELECT value FROM json_each(?))"


class GivenUp(NamedTuple):
    """Messages that were given up, and the items that release the recipients from waiting for them."""

    items: list[Item]
    skips: list[Item]


def find(db: sqlite3.Connection, condition: str, values: Sequence[object] = ()) -> list[Item]:
    """Return the items that meet a condition, in order of acceptance, no more than one transaction should take."""
    rows = db.execute(f"{SELECT_ITEMS} WHERE {condition} ORDER BY position LIMIT {AT_ONCE}", tuple(values))
    return [item_of(row) for row in rows]


def find_among(db: sqlite3.Connection, condition: str, ids: Sequence[str]) -> list[Item]:
    """Return the items with these ids that meet a condition, in order of acceptance."""
    rows = db.execute(f"{SELECT_ITEMS} WHERE {_AMONG} AND {condition} ORDER BY position", (json_array(ids),))
    return [item_of(row) for row in rows]


def json_array(ids: Sequence[str]) -> str:
    """Return ids as the parameter of `json_each`; ids that no message can have are left out."""
    return msgspec.json.encode([one for one in ids if one.isascii()]).decode()


def bury(
    db: sqlite3.Connection, ids: Sequence[str], *, error: str | None, now: float, new_id: Callable[[], str]
) -> GivenUp:
    """Make pending messages dead. `error` says why; None leaves their last error. A `skip` is removed instead."""
    found = find_among(db, "status = 'pending'", ids)
    _delete(db, [item for item in found if item.skip])
    items = [item for item in found if not item.skip]
    reason = "coalesce(?, nullif(last_error, ''), 'it could not be sent in time')"
    db.executemany(
        f"UPDATE outbox_item SET status = 'dead', last_error = {reason} WHERE position = ?",  # noqa: S608 - constants
        [(error, item.position) for item in items],
    )
    skips = _skip(db, items, pending=-len(found), now=now, new_id=new_id)
    return GivenUp(find_among(db, "status = 'dead'", [item.id for item in items]), skips)


def drop(db: sqlite3.Connection, ids: Sequence[str], *, now: float, new_id: Callable[[], str]) -> GivenUp:
    """Delete messages that are pending or dead."""
    items = find_among(db, "status IN ('pending', 'dead') AND skip = 0", ids)
    _delete(db, items)
    pending = [item for item in items if item.status == "pending"]
    skips = _skip(db, pending, pending=-len(pending), now=now, new_id=new_id)
    return GivenUp(items, skips)


def requeue(db: sqlite3.Connection, ids: Sequence[str], *, now: float) -> list[Requeued]:
    """Make dead messages pending again, behind all others and under new numbers."""
    dead = find_among(db, "status = 'dead'", ids)
    _delete(db, dead)
    position = reserve(db, pending=len(dead), positions=len(dead))
    numbers = give_numbers(db, [(item.kind, item.target) for item in dead])
    fresh = {"status": "pending", "attempts": 0, "enqueued_at": now, "next_attempt_at": now}
    requeued = [
        Requeued(replace(item, position=position + count, n=n, **fresh), item.n)
        for count, (item, n) in enumerate(zip(dead, numbers, strict=True), 1)
    ]
    _insert(db, [one.item for one in requeued])
    return requeued


def _skip(
    db: sqlite3.Connection, items: Sequence[Item], *, pending: int, now: float, new_id: Callable[[], str]
) -> list[Item]:
    direct = [item for item in items if item.kind == "direct"]
    position = reserve(db, pending=pending + len(direct), positions=len(direct))
    skips = [
        replace(
            item,
            position=position + count,
            id=new_id(),
            body=b"",
            request="",
            skip=True,
            attempts=0,
            status="pending",
            last_error="",
            enqueued_at=now,
            next_attempt_at=now,
        )
        for count, item in enumerate(direct, 1)
    ]
    _insert(db, skips)
    return skips


def _insert(db: sqlite3.Connection, items: Sequence[Item]) -> None:
    db.executemany(INSERT_ITEM, [row_of(item) for item in items])


def _delete(db: sqlite3.Connection, items: Sequence[Item]) -> None:
    rows: list[tuple[Any, ...]] = [(item.position,) for item in items]
    db.executemany("DELETE FROM outbox_item WHERE position = ?", rows)
