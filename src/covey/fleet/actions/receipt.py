"""Receipts: how far a message has come, rung by rung, durably. A rung that is not proven is not claimed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from covey.contract.actions_events import RECEIPT_CHANGED
from covey.kernel.clock import timestamp
from covey.kernel.store.migrations import Migration

if TYPE_CHECKING:
    import sqlite3

    from covey.kernel.events.events import Events
    from covey.kernel.store.store import Store

ACCEPTED, TYPED, SUBMITTED, SEEN = "accepted", "typed", "submitted", "seen"
KEPT = 10_000
"""How many receipts are kept."""
INTERRUPTED = "the daemon ended in the middle; look at the agent before sending it again"
MIGRATION = Migration(
    "fleet.receipts",
    """
CREATE TABLE receipt (
    id         TEXT PRIMARY KEY,
    runtime_id TEXT NOT NULL,
    ref        TEXT NOT NULL,
    agent      TEXT NOT NULL,
    lane       TEXT NOT NULL,
    text       TEXT NOT NULL,
    bytes      INTEGER NOT NULL,
    rung       TEXT NOT NULL CHECK (rung IN ('accepted', 'typed', 'submitted', 'seen')),
    open       INTEGER NOT NULL,
    why        TEXT NOT NULL,
    evidence   TEXT NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL
) STRICT, WITHOUT ROWID;
""",
)
_COLUMNS = "id, runtime_id, ref, agent, lane, text, bytes, rung, open, why, evidence, created_at, updated_at"
_PUT = f"INSERT OR REPLACE INTO receipt ({_COLUMNS}) VALUES ({', '.join('?' * 13)})"  # noqa: S608 - fixed names
_PRUNE = "DELETE FROM receipt WHERE id <= (SELECT id FROM receipt ORDER BY id DESC LIMIT 1 OFFSET ?)"


class Receipt(Struct, frozen=True, kw_only=True):
    """One message to one agent, and how far it is known to have come."""

    id: str
    runtime_id: str
    ref: str
    agent: str
    lane: str
    """How it was delivered: `paste`."""
    text: str
    """The beginning of the message, on one line."""
    bytes: int
    rung: str = ACCEPTED
    open: bool = True
    """Whether it may still come further."""
    why: str = ""
    """Why it came no further."""
    evidence: str = ""
    """What shows the last rung."""
    created_at: float
    updated_at: float

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "created_at": timestamp(self.created_at), "updated_at": timestamp(self.updated_at)}


class Receipts:
    """The receipts in the database. Every change is an event, too."""

    def __init__(self, store: Store, events: Events) -> None:
        self._store = store
        self._events = events

    async def interrupt_open(self, now: float) -> None:
        """Close what the last daemon left open: nobody knows how far it came."""
        for receipt in await self._store.read(lambda connection: _read(connection, "WHERE open")):
            await self.put(replace(receipt, open=False, why=INTERRUPTED, updated_at=now))

    async def put(self, receipt: Receipt) -> Receipt:
        """Store a receipt, new or changed, and return it when that is durable."""

        def also(connection: sqlite3.Connection) -> None:
            fields = asdict(receipt)
            connection.execute(_PUT, [fields[name] for name in _COLUMNS.split(", ")])
            connection.execute(_PRUNE, (KEPT,))

        await self._events.append(
            RECEIPT_CHANGED,
            subject=receipt.id,
            data=receipt.as_dict(),
            source="fleet",
            time=receipt.updated_at,
            also=also,
        )
        return receipt

    async def latest(self, limit: int) -> list[Receipt]:
        """Return the newest receipts, the newest first."""
        return await self._store.read(lambda connection: _read(connection, "ORDER BY id DESC LIMIT ?", limit))


def _read(connection: sqlite3.Connection, where: str, *values: object) -> list[Receipt]:
    rows = connection.execute(f"SELECT {_COLUMNS} FROM receipt {where}", values)  # noqa: S608 - fixed texts
    names = _COLUMNS.split(", ")
    return [Receipt(**{**dict(zip(names, row, strict=True)), "open": bool(row[8])}) for row in rows]
