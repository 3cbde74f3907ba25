"""What can be asked about the messages in the inbox; nothing here changes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from covey.mesh.inbox.message import SELECT_MESSAGES, Message, selected
from covey.mesh.storable_text import storable

if TYPE_CHECKING:
    import sqlite3

    from covey.kernel.store.store import Store


class InboxCounts(NamedTuple):
    """How many messages there are, and the bytes of the file."""

    messages: int
    bytes: int


class InboxQueries:
    """Reads the messages of an inbox. All raise `StoreError`."""

    def __init__(self, store: Store) -> None:
        self.database = store

    async def get(self, id_: str) -> Message | None:
        """Return a message by its id; None if there is none. If several senders used the id, the first that came."""
        found = await self._select(f"{SELECT_MESSAGES} WHERE id = ? ORDER BY position LIMIT 1", storable(id_))
        return found[0] if found else None

    async def after(self, position: int, limit: int = 1000) -> list[Message]:
        """Return the messages after a position, in order."""
        return await self._select(f"{SELECT_MESSAGES} WHERE position > ? ORDER BY position LIMIT ?", position, limit)

    async def counts(self) -> InboxCounts:
        """Return how much there is."""
        return await self.database.read(_count)

    async def _select(self, query: str, *values: object) -> list[Message]:
        return await self.database.read(lambda db: [selected(row) for row in db.execute(query, values)])

    async def list(
        self,
        *,
        since: float | None = None,
        after: int | None = None,
        topic: str | None = None,
        sender: str | None = None,
        limit: int = 100,
        before: int | None = None,
    ) -> list[Message]:
        """Return messages in order of position.

        With `since` (received at that time or later) or `after` (a position) the first `limit` from there on; without
        both the last `limit`, below the position `before` if given. An empty `topic` means direct messages.
        """
        conditions, values = ["1"], list[object]()
        forward = since is not None or after is not None
        if since is not None:
            # The plus keeps SQLite from sorting all later messages by position: it walks along the positions instead.
            first = "SELECT min(position) FROM inbox_message WHERE received_at >= ?"
            conditions.append(f"position >= ({first}) AND +received_at >= ?")
            values += [since, since]
        for condition, value in (
            ("position > ?", after),
            ("position < ?", before),
            ("sender = ?", None if sender is None else storable(sender)),
            ("topic = ? AND topic != ''", None if not topic else storable(topic)),
        ):
            if value is not None:
                conditions.append(condition)
                values.append(value)
        if topic is not None and not topic:
            conditions.append("scope = ''")
        order = "" if forward else " DESC"
        query = f"{SELECT_MESSAGES} WHERE {' AND '.join(conditions)} ORDER BY position{order} LIMIT ?"
        found = await self._select(query, *values, limit)
        return found if forward else found[::-1]


def _count(db: sqlite3.Connection) -> InboxCounts:
    messages = db.execute("SELECT count(*) FROM inbox_message").fetchone()[0]
    pages = db.execute("PRAGMA page_count").fetchone()[0] * db.execute("PRAGMA page_size").fetchone()[0]
    return InboxCounts(messages, pages)
