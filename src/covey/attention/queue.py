"""The queue: what is asked and settled in the journal, as items on the disk.

An item, the place in the journal and the news of it are one transaction: whenever the daemon is killed, the next one goes on exactly there.
"""

from __future__ import annotations

import asyncio
import json
import logging
from typing import TYPE_CHECKING, Any

from covey.attention import reader
from covey.attention.item import ASKED, SETTLED, Change, Item, closed, heard
from covey.kernel.event import encode
from covey.kernel.store_errors import StoreError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from typing import Self

    from covey.kernel.clock import Clock
    from covey.kernel.event import Event
    from covey.kernel.events import Events
    from covey.kernel.store import Store

MIGRATION = """
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
READER = "queue"
CLOSED_KEPT = 1000
RETRY_S = 2.0

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

log = logging.getLogger("covey.attention")


class Queue:
    """All that needs a person, while the daemon lives."""

    def __init__(self, store: Store, events: Events, clock: Clock) -> None:
        self.open: dict[str, Item] = {}
        """By key. As on the disk; only whoever holds the turn changes either."""
        self._store = store
        self._events = events
        self._clock = clock
        self._turn = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._closing: set[asyncio.Task[Item]] = set()

    async def __aenter__(self) -> Self:
        self.open = {item.key: item for item in await self._items("WHERE closed_at IS NULL")}
        journal = reader.Reader(
            self._events,
            [ASKED, SETTLED],
            await self._store.read(lambda connection: reader.written(connection, READER)),
        )
        self._task = asyncio.create_task(self._live(journal), name="attention")
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task
        self._task.cancel()
        await asyncio.gather(self._task, *self._closing, return_exceptions=True)

    async def listed(self, *, everything: bool, limit: int) -> list[Item]:
        """Those that are open, the latest first; with `everything` those that are closed after them."""
        return await self._items(
            "WHERE ?1 OR closed_at IS NULL ORDER BY closed_at IS NOT NULL, coalesce(closed_at, updated_at) DESC, id DESC LIMIT ?2",
            (everything, limit),
        )

    async def find(self, name: str) -> list[Item]:
        """Those that a person may mean by an id, the end of one, or a key; of several that are not all closed, those that are open."""
        found = await self._items("WHERE key = ?1 ORDER BY closed_at IS NOT NULL, id DESC LIMIT 1", (name,))
        if not found:
            found = await self._items(
                "WHERE substr(id, -length(?1)) = ?1 ORDER BY closed_at IS NOT NULL, id DESC LIMIT 10", (name.upper(),)
            )
        return [item for item in found if item.closed_at is None] or found

    async def close(self, item: Item, why: str) -> Item:
        """The item, closed. Done to the end even if nobody waits for it any more: what is on the disk and what we know must not part."""
        task = asyncio.create_task(self._close(item, why))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
        return await asyncio.shield(task)

    async def _close(self, item: Item, why: str) -> Item:
        async with self._turn:
            now = self.open.get(item.key)
            if now is None or now.id != item.id:  # it has been closed since it was looked at
                return (await self._items("WHERE id = ?", (item.id,)) or [item])[0]
            change = closed(now, self._clock.time(), why)
            await self._commit(change, None)
            return change.item

    async def _live(self, journal: reader.Reader) -> None:
        told = False
        while not journal.ended:
            try:
                for event in await journal.take():
                    await self._hear(event)
                    journal.cursor = event.cursor
                told = False
            except StoreError as error:
                if not told:
                    log.warning(
                        "the attention queue waits: nothing can be written down", extra={"reason": error.message}
                    )
                told = True
                journal.rewind()
                await self._clock.sleep(RETRY_S)

    async def _hear(self, event: Event) -> None:
        async with self._turn:
            try:
                change = heard(self.open.get(event.subject), event)
                if change is not None:
                    await self._commit(change, event.cursor)
            except StoreError:
                raise
            except Exception:
                log.exception(
                    "an event could not be taken into the attention queue",
                    extra={"cursor": event.cursor, "subject": event.subject[:200]},
                )

    async def _commit(self, change: Change, cursor: int | None) -> None:
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
            if cursor is not None:
                reader.write(connection, READER, cursor)

        if kind:
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
