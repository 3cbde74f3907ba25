"""What can be asked about the outbox; nothing here changes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from covey.mesh.outbox.item import SELECT_ITEMS, Item, OutboxCounts, Status, item_of
from covey.mesh.storable_text import storable

if TYPE_CHECKING:
    import sqlite3

    from covey.kernel.store.store import Store


class OutboxQueries:
    """Reads the items of an outbox. All raise `StoreError`."""

    def __init__(self, store: Store) -> None:
        self.database = store

    async def pending(self, limit: int | None = None, after: int = 0) -> list[Item]:
        """Return items that are not yet at the broker, in order of acceptance, from a position on."""
        query = f"{SELECT_ITEMS} WHERE status = 'pending' AND position > ? ORDER BY position LIMIT ?"
        return await self._select(query, after, -1 if limit is None else limit)

    async def open_recipients(self) -> list[str]:
        """Return the members for whom there are numbers that they have not said to have."""
        query = "SELECT target FROM outbox_target WHERE kind = 'direct' AND inbox_upto < last ORDER BY target"
        return await self.database.read(lambda db: [row[0] for row in db.execute(query)])

    async def recipients(self) -> list[str]:
        """Return the members to whom something was sent."""
        query = "SELECT target FROM outbox_target WHERE kind = 'direct' ORDER BY target"
        return await self.database.read(lambda db: [row[0] for row in db.execute(query)])

    async def last_number(self, member: str) -> int:
        """Return the last number that was given to a message to a member; 0 if there was none."""
        query = "SELECT last FROM outbox_target WHERE kind = 'direct' AND target = ?"
        row = await self.database.read(lambda db: db.execute(query, (member,)).fetchone())
        return 0 if row is None else int(row[0])

    async def get(self, id_: str) -> Item | None:
        """Return one item; None if there is none with this id."""
        items = await self._select(f"{SELECT_ITEMS} WHERE id = ?", id_) if id_.isascii() else []
        return items[0] if items else None

    async def counts(self) -> OutboxCounts:
        """Return how many items there are, and the bytes of the file."""
        return await self.database.read(_count)

    async def _select(self, query: str, *values: object) -> list[Item]:
        return await self.database.read(lambda db: [item_of(row) for row in db.execute(query, values)])

    async def dead(self, limit: int = 100) -> list[Item]:
        """Return the newest messages that were given up, newest first."""
        return await self.list(status="dead", limit=limit)

    async def list(
        self, *, status: Status | None = None, target: str | None = None, limit: int = 100, before: int | None = None
    ) -> list[Item]:
        """Return messages, newest first: of a status, for a target, below a position. Skips are not messages."""
        return await self._select(
            f"{SELECT_ITEMS} WHERE skip = 0 AND (?1 IS NULL OR status = ?1) AND (?2 IS NULL OR target = ?2)"
            " AND (?3 IS NULL OR position < ?3) ORDER BY position DESC LIMIT ?4",
            status,
            None if target is None else storable(target),
            before,
            limit,
        )


def _count(db: sqlite3.Connection) -> OutboxCounts:
    pending = db.execute("SELECT pending FROM outbox_state").fetchone()[0]
    dead = db.execute("SELECT count(*) FROM outbox_item WHERE status = 'dead'").fetchone()[0]
    everything = db.execute("SELECT count(*) FROM outbox_item").fetchone()[0]
    pages = db.execute("PRAGMA page_count").fetchone()[0] * db.execute("PRAGMA page_size").fetchone()[0]
    return OutboxCounts(pending, everything - pending - dead, dead, pages)
