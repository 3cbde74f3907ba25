"""The messages that wait for their agents, in the database: whole, in the order in which they were accepted."""

from __future__ import annotations

from json import dumps, loads
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from covey.fleet.actions.receipt import Receipt, read_receipts
from covey.kernel.store.migrations import Migration

if TYPE_CHECKING:
    import asyncio
    import sqlite3

    from covey.fleet.actions.receipt import Receipts
    from covey.kernel.store.store import Store

MIGRATION = Migration(
    "fleet.queue",
    """
CREATE TABLE queued_message (
    receipt_id TEXT PRIMARY KEY,
    text       TEXT NOT NULL,
    conditions TEXT NOT NULL,
    expires_at REAL NOT NULL,
    begun      INTEGER NOT NULL DEFAULT 0
) STRICT;
""",
)
"""`conditions`: those parameters of the call that must hold when it is sent. `begun`: something may have been typed."""
CONDITIONS = ("if_state", "if_updated_within", "force_stale")


class Queued(Struct, kw_only=True, eq=False):
    """One message that waits. Its text is in the database only."""

    receipt: Receipt
    conditions: dict[str, Any]
    expires_at: float
    stored: bool = True
    """Whether it is in the database, so that it can be tried."""
    begun: bool = False
    """Whether it may have been typed, so that it cannot be taken out any more."""
    tried: asyncio.Future[None] | None = None
    """For the call that has accepted it: done when it was sent, or has to wait."""


class QueuedMessages:
    """The table."""

    def __init__(self, store: Store, receipts: Receipts) -> None:
        self._store = store
        self._receipts = receipts

    async def add(self, queued: Queued, text: str) -> None:
        """Store a message with its receipt."""
        values = (queued.receipt.id, text, dumps(queued.conditions), queued.expires_at)
        statement = "INSERT INTO queued_message (receipt_id, text, conditions, expires_at) VALUES (?, ?, ?, ?)"
        await self._receipts.put(queued.receipt, lambda connection: _run(connection, statement, *values))

    async def begin(self, receipt_id: str) -> str:
        """Note that it may be typed from now on, durably, and return its text."""

        def work(connection: sqlite3.Connection) -> str:
            _run(connection, "UPDATE queued_message SET begun = 1 WHERE receipt_id = ?", receipt_id)
            found = connection.execute("SELECT text FROM queued_message WHERE receipt_id = ?", (receipt_id,))
            text: str = found.fetchone()[0]
            return text

        return await self._store.write(work)

    async def wait_again(self, receipt: Receipt) -> None:
        """Note that nothing was typed, and why it waits."""
        statement = "UPDATE queued_message SET begun = 0 WHERE receipt_id = ?"
        await self._receipts.put(receipt, lambda connection: _run(connection, statement, receipt.id))

    async def close(self, receipt: Receipt) -> Receipt:
        """Store a receipt that is closed, and forget its message."""
        return await self._receipts.put(receipt, lambda connection: _forget(connection, receipt.id))

    async def forget(self, receipt_id: str) -> None:
        """Forget a message whose receipt is closed."""
        await self._store.write(lambda connection: _forget(connection, receipt_id))

    async def resume(self) -> list[Queued]:
        """Return the messages that the last daemon left, in their order, without those that may have been typed."""

        def work(connection: sqlite3.Connection) -> list[Queued]:
            kept = "SELECT id FROM receipt WHERE open"
            _run(connection, f"DELETE FROM queued_message WHERE begun OR receipt_id NOT IN ({kept})")  # noqa: S608 - a constant
            rows = connection.execute("SELECT receipt_id, conditions, expires_at FROM queued_message").fetchall()
            receipts = {receipt.id: receipt for receipt in read_receipts(connection, "WHERE open")}
            return [
                Queued(receipt=receipts[receipt_id], conditions=loads(conditions), expires_at=expires_at)
                for receipt_id, conditions, expires_at in sorted(rows)
            ]

        return await self._store.write(work)


def _forget(connection: sqlite3.Connection, receipt_id: str) -> None:
    _run(connection, "DELETE FROM queued_message WHERE receipt_id = ?", receipt_id)


def _run(connection: sqlite3.Connection, statement: str, *values: object) -> None:
    connection.execute(statement, values)
