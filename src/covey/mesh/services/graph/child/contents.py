"""What the file of the graph holds: how far the log was applied, what was not, and a hash of the graph."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

import msgspec

from covey.mesh.services.graph.engine import Facts, Position, PutAside

if TYPE_CHECKING:
    import apsw

OWN: Final = "covey_"
"""Tables that are not the engine's begin so."""
LOG_TABLES: Final = """
CREATE TABLE IF NOT EXISTS covey_log (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    digest BLOB NOT NULL,
    author TEXT NOT NULL,
    at REAL NOT NULL,
    epoch INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    reason TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS covey_log_id ON covey_log (id);
CREATE INDEX IF NOT EXISTS covey_log_outcome ON covey_log (outcome, author, at);
CREATE TABLE IF NOT EXISTS covey_crash (sequence INTEGER PRIMARY KEY, count INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS covey_engine (name TEXT NOT NULL) STRICT;
"""
_SHOWN = 20


def rows_of_table(connection: apsw.Connection, query: str, *given: Any) -> list[Any]:
    """Return all rows of a query."""
    found: list[Any] = connection.execute(query, given).fetchall()
    return found


def value_of(connection: apsw.Connection, query: str, *given: Any) -> Any:
    """Return the first value of the first row of a query; None if there is none."""
    rows = rows_of_table(connection, query, *given)
    return rows[0][0] if rows else None


def position_of(connection: apsw.Connection) -> Position:
    """Return how far the log was applied."""
    last = rows_of_table(connection, "SELECT sequence, digest FROM covey_log ORDER BY sequence DESC LIMIT 1")
    accepted = "SELECT author, max(at) FROM covey_log WHERE outcome IN ('applied', 'failed', 'crashed') GROUP BY author"
    return Position(
        sequence=last[0][0] if last else 0,
        digest=last[0][1] if last else b"",
        engine=value_of(connection, "SELECT name FROM covey_engine") or "",
        latest=dict(rows_of_table(connection, accepted)),
        unread=rows_of_table(connection, "SELECT DISTINCT author, epoch FROM covey_log WHERE outcome = 'unread'"),
    )


def facts_of(connection: apsw.Connection) -> Facts:
    """Return what the graph holds."""
    newest = rows_of_table(
        connection,
        "SELECT sequence, author, outcome, reason FROM covey_log WHERE outcome IN ('refused', 'unread', 'crashed') "
        "ORDER BY sequence DESC LIMIT ?",
        _SHOWN,
    )
    return Facts(
        nodes=value_of(connection, "SELECT count(*) FROM nodes"),
        relationships=value_of(connection, "SELECT count(*) FROM edges"),
        entries=value_of(connection, "SELECT count(*) FROM covey_log"),
        failed=value_of(connection, "SELECT count(*) FROM covey_log WHERE outcome = 'failed'"),
        not_applied=[PutAside(sequence=row[0], author=row[1], outcome=row[2], reason=row[3]) for row in newest],
        digest=_digest(connection),
    )


def _digest(connection: apsw.Connection) -> str:
    """Return a hash of all tables of the engine."""
    found = hashlib.blake2b(digest_size=16)
    for (table,) in rows_of_table(connection, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"):
        if not table.startswith(OWN):
            found.update(table.encode() + b"\0")
            order = "name" if table == "sqlite_sequence" else "rowid"
            for row in connection.execute(f'SELECT * FROM "{table}" ORDER BY {order}'):  # noqa: S608 - names of tables
                found.update(msgspec.json.encode(row))
    return found.hexdigest()
