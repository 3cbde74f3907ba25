"""Receipts: how far a message has come, rung by rung, durably. A rung that is not proven is not claimed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from covey.contract.actions_events import RECEIPT_CHANGED
from covey.kernel.clock import timestamp
from covey.kernel.store.migrations import Migration
from murli import not_found

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Container

    from covey.kernel.events.events import Events
    from covey.kernel.store.store import Store

ACCEPTED, TYPED, SUBMITTED, SEEN, ANSWERED = "accepted", "typed", "submitted", "seen", "answered"
KEPT = 10_000
"""How many receipts are kept."""
NOT_KNOWN = "whether it was typed is not known"
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
ANSWERS_MIGRATION = Migration(
    "fleet.receipts_answered",
    """
ALTER TABLE receipt RENAME TO receipt_before;
CREATE TABLE receipt (
    id         TEXT PRIMARY KEY,
    runtime_id TEXT NOT NULL,
    ref        TEXT NOT NULL,
    agent      TEXT NOT NULL,
    lane       TEXT NOT NULL,
    text       TEXT NOT NULL,
    digest     TEXT NOT NULL,
    bytes      INTEGER NOT NULL,
    rung       TEXT NOT NULL CHECK (rung IN ('accepted', 'typed', 'submitted', 'seen', 'answered')),
    open       INTEGER NOT NULL,
    why        TEXT NOT NULL,
    evidence   TEXT NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO receipt SELECT id, runtime_id, ref, agent, lane, text, '', bytes, rung, open, why, evidence, created_at,
    updated_at FROM receipt_before;
DROP TABLE receipt_before;
""",
)
_FIELDS = (
    "id", "runtime_id", "ref", "agent", "lane", "text", "digest", "bytes", "rung", "open", "why", "evidence",
    "created_at", "updated_at",
)  # fmt: skip
_COLUMNS = ", ".join(_FIELDS)
_PUT = f"INSERT OR REPLACE INTO receipt ({_COLUMNS}) VALUES ({', '.join('?' * len(_FIELDS))})"  # noqa: S608 - fixed names
_PRUNE = "DELETE FROM receipt WHERE NOT open AND id <= (SELECT id FROM receipt ORDER BY id DESC LIMIT 1 OFFSET ?)"


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
    digest: str
    """Of the whole message, as a prompt that the agent reports is compared with it."""
    bytes: int
    rung: str = ACCEPTED
    open: bool = True
    """Whether it may still come further."""
    why: str = ""
    """Why it came no further, or why it waits."""
    evidence: str = ""
    """What shows the last rung."""
    created_at: float
    updated_at: float

    def as_dict(self) -> dict[str, Any]:
        fields = asdict(self)
        del fields["digest"]
        return {**fields, "created_at": timestamp(self.created_at), "updated_at": timestamp(self.updated_at)}


class Receipts:
    """The receipts in the database. Every change is an event, too."""

    def __init__(self, store: Store, events: Events) -> None:
        self._store = store
        self._events = events

    async def interrupt_open(self, now: float, waiting: Container[str] = ()) -> None:
        """Close what the last daemon left open: nobody knows how far it came. Those that still wait stay open."""
        for receipt in await self._store.read(lambda connection: read_receipts(connection, "WHERE open")):
            if receipt.id not in waiting:
                await self.close(receipt, INTERRUPTED, now)

    async def put(self, receipt: Receipt, with_it: Callable[[sqlite3.Connection], None] | None = None) -> Receipt:
        """Store a receipt, new or changed, and return it when that is durable. `with_it`: in the same transaction."""

        def also(connection: sqlite3.Connection) -> None:
            fields = asdict(receipt)
            connection.execute(_PUT, [fields[name] for name in _FIELDS])
            connection.execute(_PRUNE, (KEPT,))
            if with_it is not None:
                with_it(connection)

        await self._events.append(
            RECEIPT_CHANGED,
            subject=receipt.id,
            data=receipt.as_dict(),
            source="fleet",
            time=receipt.updated_at,
            also=also,
        )
        return receipt

    async def close(self, receipt: Receipt, why: str, now: float) -> Receipt:
        """Store that a message comes no further, and why; empty if it came as far as it can."""
        return await self.put(replace(receipt, open=False, why=why, updated_at=now))

    async def latest(self, limit: int) -> list[Receipt]:
        """Return the newest receipts, the newest first."""
        return await self._store.read(lambda connection: read_receipts(connection, "ORDER BY id DESC LIMIT ?", limit))

    async def left_typed(self, runtime_id: str, digest: str) -> Receipt | None:
        """Return the last receipt of the same message to the same agent, if it may stand in its composer; else None.

        It was typed, and Enter not pressed; or whether it was typed is not known: its daemon was killed, or tmux did
        not answer.
        """
        same = "WHERE runtime_id = ? AND digest = ? AND NOT open ORDER BY id DESC LIMIT 1"
        found = await self._store.read(lambda connection: read_receipts(connection, same, runtime_id, digest))
        if not found:
            return None
        (last,) = found
        not_known = last.rung == ACCEPTED and last.why.startswith((INTERRUPTED, NOT_KNOWN))
        return last if last.rung == TYPED or not_known else None

    async def find(self, name: str) -> Receipt:
        """Return the receipt with that id, or whose id ends so. Raises AgentError if there is not exactly one."""
        ending = "WHERE upper(substr(id, ?)) = upper(?) LIMIT 2"
        found = await self._store.read(lambda connection: read_receipts(connection, ending, -len(name) or 1, name))
        if len(found) != 1:
            raise not_found(
                f"{'several receipts have' if found else 'no receipt has'} an id that ends in {name[:40]!r}",
                "Give the whole id: covey receipts list --output json",
                field="id",
            )
        return found[0]


def read_receipts(connection: sqlite3.Connection, where: str, *values: object) -> list[Receipt]:
    """Return the receipts that a clause selects."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM receipt {where}", values)  # noqa: S608 - fixed texts
    return [_receipt(dict(zip(_FIELDS, row, strict=True))) for row in rows]


def _receipt(fields: dict[str, Any]) -> Receipt:
    return Receipt(**{**fields, "open": bool(fields["open"])})
