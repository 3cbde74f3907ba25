"""The attention queue: the items that follow from what is asked and settled in the journal.

An item, the consumer's cursor and the event that announces it are written in one transaction: whenever the daemon is
killed, the next one resumes exactly there.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from covey.attention.item import Change, Item, changed, closed
from covey.contract.attention_events import ATTENTION_ASKED, ATTENTION_SETTLED
from covey.kernel.events.consumer import Consumer
from covey.kernel.events.event import encode
from covey.kernel.store.migrations import Migration
from covey.kernel.tasks import Tasks

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from typing import Self

    from covey.kernel.clock import Clock
    from covey.kernel.events.consumer import Advance
    from covey.kernel.events.event import Event
    from covey.kernel.events.events import Events
    from covey.kernel.metrics import Metrics
    from covey.kernel.store.store import Store

_ITEMS = """
CREATE TABLE attention_item (
    id         TEXT PRIMARY KEY,
    key        TEXT NOT NULL,
    source     TEXT NOT NULL,
    title      TEXT NOT NULL,
    detail     TEXT NOT NULL,
    data       TEXT NOT NULL,
    opened_at  REAL NOT NULL,
    updated_at REAL NOT NULL,
    times      INTEGER NOT NULL,
    closed_at  REAL,
    closed_why TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX attention_open ON attention_item (key) WHERE closed_at IS NULL;
CREATE INDEX attention_closed ON attention_item (closed_at) WHERE closed_at IS NOT NULL;
"""
_CURSORS = "CREATE TABLE attention_cursor (reader TEXT PRIMARY KEY, cursor INTEGER NOT NULL) STRICT;"
_CURSORS_TO_KERNEL = """
INSERT INTO event_cursor (consumer, cursor) SELECT 'attention.' || reader, cursor FROM attention_cursor;
DROP TABLE attention_cursor;
"""
MIGRATIONS = (
    Migration("attention.cursors", _CURSORS, digest="68579b532dd5fb34"),
    Migration("attention.items", _ITEMS, digest="3e5030ea11500ac8"),
    Migration("attention.cursors_to_kernel", _CURSORS_TO_KERNEL),
)
CONSUMER = "attention.queue"
CLOSED_KEPT = 1000
CLOSE_S = 8.0
"""How long a daemon that stops waits for items that are being closed."""

_FIELDS = tuple(Item.__struct_fields__)
_PUT = (
    f"INSERT INTO attention_item ({', '.join(_FIELDS)}) VALUES ({', '.join('?' * len(_FIELDS))}) "  # noqa: S608 - our own names
    f"ON CONFLICT (id) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _FIELDS[1:])}"
)
_READ = f"SELECT {', '.join(_FIELDS)} FROM attention_item"  # noqa: S608
_FORGET = """
    DELETE FROM attention_item WHERE closed_at IS NOT NULL AND id NOT IN (
        SELECT id FROM attention_item WHERE closed_at IS NOT NULL ORDER BY closed_at DESC, id DESC LIMIT ?
    )
"""


class Queue:
    """The items of the queue, kept up to date while the daemon runs."""

    def __init__(self, store: Store, events: Events, clock: Clock, metrics: Metrics) -> None:
        self.open: dict[str, Item] = {}
        """Open items by key, as in the database. Both are changed only under the lock."""
        self._store = store
        self._events = events
        self._clock = clock
        self._lock = asyncio.Lock()
        self._tasks = Tasks(clock, metrics)

    async def __aenter__(self) -> Self:
        self.open = {item.key: item for item in await self._items("WHERE closed_at IS NULL")}
        self._tasks.keep("attention queue", self._consume)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._tasks.drain(CLOSE_S)
        await self._tasks.aclose()

    async def _consume(self) -> None:
        consumer = await Consumer.open(CONSUMER, [ATTENTION_ASKED, ATTENTION_SETTLED], self._store, self._events)
        await consumer.run(self._handle, self._clock)

    async def listed(self, *, everything: bool, limit: int) -> list[Item]:
        """Return the open items, the most urgent first; with `everything`, the closed ones after them, latest first."""
        found = sorted(self.open.values(), key=lambda item: item.urgency)[:limit]
        if everything and len(found) < limit:
            found += await self._items(
                "WHERE closed_at IS NOT NULL ORDER BY closed_at DESC, id DESC LIMIT ?", (limit - len(found),)
            )
        return found

    async def find(self, name: str) -> list[Item]:
        """Return the items with this id, end of an id, or key; only the open ones if there are any."""
        found = await self._items("WHERE key = ?1 ORDER BY closed_at IS NOT NULL, id DESC LIMIT 1", (name,))
        if not found:
            found = await self._items(
                "WHERE substr(id, -length(?1)) = ?1 ORDER BY closed_at IS NOT NULL, id DESC LIMIT 10", (name.upper(),)
            )
        return [item for item in found if item.closed_at is None] or found

    async def close(self, item: Item, why: str) -> Item:
        """Close an item, and return it.

        It is completed even if the caller is cancelled: the database and `open` must not differ.
        """
        return await self._tasks.shield("closing of an attention item", self._close(item, why))

    async def _close(self, item: Item, why: str) -> Item:
        async with self._lock:
            now = self.open.get(item.key)
            if now is None or now.id != item.id:  # it has been closed meanwhile
                return (await self._items("WHERE id = ?", (item.id,)) or [item])[0]
            change = closed(now, self._clock.time(), why)
            await self._commit(change, None)
            return change.item

    async def _handle(self, event: Event, advance: Advance) -> None:
        async with self._lock:
            change = changed(self.open.get(event.subject), event)
            if change is not None:
                await self._commit(change, advance)

    async def _commit(self, change: Change, advance: Advance | None) -> None:
        item, kind = change

        def also(connection: sqlite3.Connection) -> None:
            connection.execute(
                _PUT,
                [
                    encode(value) if isinstance(value, dict) else value
                    for value in (getattr(item, name) for name in _FIELDS)
                ],
            )
            if item.closed_at is not None:
                connection.execute(_FORGET, (CLOSED_KEPT,))
            if advance is not None:
                advance(connection)

        if kind is not None:
            await self._events.append(kind, subject=item.key, data=item.as_dict(), source="attention", also=also)
        else:
            await self._store.write(also)
        if item.closed_at is None:
            self.open[item.key] = item
        else:
            del self.open[item.key]

    async def _items(self, where: str, values: Sequence[Any] = ()) -> list[Item]:
        def read(connection: sqlite3.Connection) -> list[Item]:
            return [
                _item(dict(zip(_FIELDS, row, strict=True))) for row in connection.execute(f"{_READ} {where}", values)
            ]

        return await self._store.read(read)


def _item(row: dict[str, Any]) -> Item:
    return Item(**{**row, "data": json.loads(row["data"])})
