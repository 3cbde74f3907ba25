"""The newest signed record of each subject, in the database of the peer, with the position in each stream.

Records are kept as they came, and are verified again whenever they are loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from covey.kernel.store.migrations import Migration

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from covey.kernel.store.store import Store

MIGRATIONS = (
    Migration(
        "mesh.records",
        """
CREATE TABLE mesh_record (
    subject TEXT PRIMARY KEY,
    wire BLOB NOT NULL
) STRICT;
CREATE TABLE mesh_cursor (
    stream TEXT PRIMARY KEY,
    sequence INTEGER NOT NULL
) STRICT;
CREATE TABLE mesh_fact (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;
""",
    ),
)


class StoredRecord(NamedTuple):
    """One record as it was signed, and its subject."""

    subject: str
    wire: bytes


class RecordStore:
    """Records, positions and single facts, durable."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def load(self) -> list[StoredRecord]:
        """Return every record."""
        return await self._store.read(
            lambda database: [
                StoredRecord(subject, wire)
                for subject, wire in database.execute("SELECT subject, wire FROM mesh_record ORDER BY rowid")
            ]
        )

    async def save(self, records: Sequence[StoredRecord], stream: str, sequence: int) -> None:
        """Store records and the position up to which the stream was read, in one transaction."""

        def work(database: sqlite3.Connection) -> None:
            database.executemany("INSERT OR REPLACE INTO mesh_record VALUES (?, ?)", records)
            database.execute("INSERT OR REPLACE INTO mesh_cursor VALUES (?, ?)", (stream, sequence))

        await self._store.write(work)

    async def keep(self, record: StoredRecord) -> None:
        """Store a record that was read by itself, without a position."""
        await self._store.write(
            lambda database: database.execute("INSERT OR REPLACE INTO mesh_record VALUES (?, ?)", record) and None
        )

    async def keep_former(self, subject: str, name: str) -> None:
        """Keep the record of a subject, which is about to be replaced, under another name."""
        await self._store.write(
            lambda database: (
                database.execute(
                    "INSERT OR REPLACE INTO mesh_record SELECT ?, wire FROM mesh_record WHERE subject = ?",
                    (name, subject),
                )
                and None
            )
        )

    async def cursor(self, stream: str) -> int:
        """Return the position up to which a stream was read; 0 at first."""
        row = await self._store.read(
            lambda database: database.execute("SELECT sequence FROM mesh_cursor WHERE stream = ?", (stream,)).fetchone()
        )
        return 0 if row is None else int(row[0])

    async def reset_cursors(self) -> None:
        """Read every stream from its beginning: the streams are not those that were read before."""
        await self._store.write(lambda database: database.execute("DELETE FROM mesh_cursor") and None)

    async def fact(self, name: str) -> str:
        """Return a fact; empty if it is not known."""
        row = await self._store.read(
            lambda database: database.execute("SELECT value FROM mesh_fact WHERE name = ?", (name,)).fetchone()
        )
        return "" if row is None else str(row[0])

    async def save_fact(self, name: str, value: str) -> None:
        """Store a fact."""
        await self._store.write(
            lambda database: database.execute("INSERT OR REPLACE INTO mesh_fact VALUES (?, ?)", (name, value)) and None
        )
