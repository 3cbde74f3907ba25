"""Approvals in the database: those that wait for a decision, and what came of the others. Each change is an event."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from covey.contract.approvals_events import APPROVAL_CLOSED, APPROVAL_OPENED
from covey.fleet.approvals.approval import OPEN, WITHDRAWN, Approval
from covey.kernel.store.migrations import Migration

if TYPE_CHECKING:
    import sqlite3

    from covey.contract.event_kind import EventKind
    from covey.kernel.events.events import Events
    from covey.kernel.store.store import Store

KEPT = 2000
"""How many approvals are kept."""
SHORTEST_END = 4
"""Characters that are taken for the end of an id."""
INTERRUPTED = "the daemon ended, and the request was left to the terminal"
MIGRATION = Migration(
    "fleet.approvals",
    """
CREATE TABLE approval (
    id         TEXT PRIMARY KEY,
    runtime_id TEXT NOT NULL,
    open       INTEGER NOT NULL,
    approval   BLOB NOT NULL
) STRICT, WITHOUT ROWID;
""",
)
_PUT = "INSERT OR REPLACE INTO approval (id, runtime_id, open, approval) VALUES (?, ?, ?, ?)"
_PRUNE = "DELETE FROM approval WHERE NOT open AND id <= (SELECT id FROM approval ORDER BY id DESC LIMIT 1 OFFSET ?)"
_DECODER = msgspec.json.Decoder(Approval)


class PendingApprovals:
    """The approvals that are open, in memory and in the database, and the closed ones in the database."""

    def __init__(self, store: Store, events: Events) -> None:
        self.open: dict[str, Approval] = {}
        """By id, the oldest first."""
        self._store = store
        self._events = events

    async def interrupt_open(self, now: float) -> list[Approval]:
        """Close what the last daemon left open, and return it: its connections to the hooks have ended with it."""
        left = await self._store.read(lambda connection: _read(connection, "WHERE open"))
        for approval in left:
            await self._put(APPROVAL_CLOSED, approval.closed(WITHDRAWN, now, why=INTERRUPTED))
        return left

    async def add(self, approval: Approval) -> None:
        """Store a new approval; returns when that is durable."""
        await self._put(APPROVAL_OPENED, approval)
        self.open[approval.id] = approval

    async def close(self, approval: Approval) -> Approval:
        """Store the end of an approval, and return it when that is durable."""
        self.open.pop(approval.id, None)
        await self._put(APPROVAL_CLOSED, approval)
        return approval

    async def get(self, id_: str) -> Approval | None:
        """Return an approval as it was last stored; None if there is none."""
        found = await self._store.read(lambda connection: _read(connection, "WHERE id = ?", id_))
        return found[0] if found else None

    async def find(self, name: str) -> list[Approval]:
        """Return the approvals whose id is, or ends with, a name; only the open ones if there are any."""
        if len(name) < SHORTEST_END:
            return []
        found = await self._store.read(
            lambda connection: _read(
                connection, "WHERE substr(id, -length(?1)) = ?1 ORDER BY id DESC LIMIT 10", name.upper()
            )
        )
        return [one for one in found if one.status == OPEN] or found

    async def latest(self, limit: int) -> list[Approval]:
        """Return the newest approvals, the newest first."""
        return await self._store.read(lambda connection: _read(connection, "ORDER BY id DESC LIMIT ?", limit))

    async def _put(self, kind: EventKind, approval: Approval) -> None:
        def also(connection: sqlite3.Connection) -> None:
            is_open = approval.status == OPEN
            stored = msgspec.json.encode(approval if is_open else approval.shortened())
            connection.execute(_PUT, (approval.id, approval.runtime_id, is_open, stored))
            connection.execute(_PRUNE, (KEPT,))

        at = approval.opened_at if approval.closed_at is None else approval.closed_at
        await self._events.append(kind, approval.id, approval.as_event(), source="fleet", time=at, also=also)


def _read(connection: sqlite3.Connection, where: str, *values: object) -> list[Approval]:
    rows = connection.execute(f"SELECT approval FROM approval {where}", values)  # noqa: S608 - fixed texts
    return [_DECODER.decode(row[0]) for row in rows]
