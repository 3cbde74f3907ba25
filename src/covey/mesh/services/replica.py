"""The replica: every document of the mesh in a SQLite file of this peer, with what the services make of them.

It can be rebuilt from the broker at any time, and the broker's stream from it: each version is kept as it was sealed.
A version is stored with the position in the stream and with what its service derives from it in one transaction.
"""

from __future__ import annotations

import asyncio
import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from covey.kernel.store.database import open_reader
from covey.kernel.store.migrations import Migration
from covey.kernel.store.store import Store
from covey.mesh.services.document import Document

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Self, TypeVar

    T = TypeVar("T")
    Project = Callable[[sqlite3.Connection, Document, Document | None], None]
    """Derives what a service needs from the new version of a document, in the same transaction."""

MIGRATIONS = (
    Migration(
        "replica.documents",
        """
CREATE TABLE document (
    service TEXT NOT NULL,
    private INTEGER NOT NULL,
    key TEXT NOT NULL,
    subject TEXT NOT NULL UNIQUE,
    value TEXT,
    revision INTEGER NOT NULL,
    author TEXT NOT NULL,
    at REAL NOT NULL,
    written INTEGER NOT NULL,
    wire BLOB NOT NULL,
    PRIMARY KEY (service, private, key)
) STRICT;
CREATE INDEX document_revision ON document (revision);
CREATE TABLE refused (
    subject TEXT PRIMARY KEY,
    revision INTEGER NOT NULL,
    certain INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE fact (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
""",
    ),
)
"""`refused`: subjects whose newest message is no document of a member, and its sequence. Unless that is `certain`,
it may be one when more keys are known."""
_COLUMNS = "service, key, value, revision, author, at, private, written"
_GET = "SELECT value, revision, author, at, written FROM document WHERE service = ? AND private = ? AND key = ?"
_KNOWN = (
    "SELECT value, document.revision, author, at, written, refused.revision, certain FROM (SELECT 1) "
    "LEFT JOIN document ON service = ?1 AND private = ?2 AND key = ?3 LEFT JOIN refused ON refused.subject = ?4"
)
_decode = msgspec.json.Decoder(dict[str, Any]).decode
_CURSOR, _INCARNATION = "cursor", "incarnation"


class Version(NamedTuple):
    """A version of a document as it came from the stream."""

    document: Document
    subject: str
    wire: bytes


class Refused(NamedTuple):
    """A message of the stream that is no document; unless that is `certain`, keys to open it are missing."""

    subject: str
    revision: int
    certain: bool


class Change(NamedTuple):
    """A document that is newer now than it was."""

    document: Document
    before: Document | None


class Known(NamedTuple):
    """A document, and the sequence of the newest message under its subject."""

    document: Document | None
    sequence: int
    readable: bool
    """False if that message may be a newer version, and keys to open it are missing."""


class Usage(NamedTuple):
    """How much one service keeps."""

    documents: int
    bytes: int


class Replica:
    """Open with `await Replica.open(path, …)`; close with `aclose`. All raise `StoreError`."""

    def __init__(self, store: Store, projects: Mapping[str, Project]) -> None:
        self._store = store
        self._projects = projects
        self._reader = open_reader(store.path)
        self.recovered_from = store.recovered_from
        self.changed = asyncio.Event()
        """Set at every change; whoever waits clears it."""

    @classmethod
    async def open(cls, path: Path, migrations: Sequence[Migration], projects: Mapping[str, Project]) -> Self:
        """Return the replica at `path`, made if there is none. A damaged file is moved aside, and filled anew.

        A commit survives a crash of the peer; one of the machine may undo the last ones, which are read again.
        """
        store = await Store.open(path, (*MIGRATIONS, *migrations), fsync="off")
        try:
            return cls(store, projects)
        except BaseException:
            await store.aclose()
            raise

    async def aclose(self) -> None:
        """Finish what was begun, then close."""
        self._reader.close()
        await self._store.aclose()

    def get(self, service: str, key: str, *, private: bool = False) -> Document | None:
        """Return a document, also one that was deleted; None if there was none.

        It is read within this thread: a look into an index takes less time than a change of threads.
        """
        row = self._reader.execute(_GET, (service, private, key)).fetchone()
        if row is None:
            return None
        value, revision, author, at, written = row
        return Document(service, key, None if value is None else _decode(value), revision, author, at, private, written)

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a query over a connection that cannot write, beside the event loop."""
        return await self._store.read(work)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Change what a service keeps for itself, in a transaction."""
        return await self._store.write(work)

    def known(self, service: str, key: str, subject: str, *, private: bool) -> Known:
        """Return what a writer has to know. It is read in one statement, so that all of it is of one moment."""
        value, revision, author, at, written, refused, certain = self._reader.execute(
            _KNOWN, (service, private, key, subject)
        ).fetchone()
        document = None
        if revision is not None:
            decoded = None if value is None else _decode(value)
            document = Document(service, key, decoded, revision, author, at, private, written)
        newest = max(revision or 0, refused or 0)
        return Known(document, newest, readable=newest == (revision or 0) or bool(certain))

    async def apply(
        self, versions: Sequence[Version | Refused], *, cursor: int | None = None, incarnation: str = ""
    ) -> list[Change]:
        """Take versions in their order, and return what has changed. Older ones than the known change nothing.

        `cursor` is the position in the stream of that incarnation that is stored with them.
        """

        def work(database: sqlite3.Connection) -> list[Change]:
            found = [change for version in versions if (change := self._apply(database, version)) is not None]
            if cursor is not None:
                database.execute("INSERT OR REPLACE INTO fact VALUES (?, ?)", (_CURSOR, str(cursor)))
                database.execute("INSERT OR REPLACE INTO fact VALUES (?, ?)", (_INCARNATION, incarnation))
            return found

        changes = await self._store.write(work)
        if changes:
            self.changed.set()
        return changes

    def _apply(self, database: sqlite3.Connection, version: Version | Refused) -> Change | None:
        if isinstance(version, Refused):
            database.execute("INSERT OR REPLACE INTO refused VALUES (?, ?, ?)", version)
            return None
        document = version.document
        identity = (document.service, document.private, document.key)
        row = database.execute(
            f"SELECT {_COLUMNS} FROM document WHERE service = ? AND private = ? AND key = ?",  # noqa: S608 - constants
            identity,
        ).fetchone()
        before = None if row is None else document_of(row)
        if before is not None and before.revision < document.revision and before.written >= document.written:
            known = database.execute("SELECT wire FROM document WHERE subject = ?", (version.subject,)).fetchone()
            if known[0] != version.wire:  # an old version, published again
                database.execute(
                    "INSERT OR REPLACE INTO refused VALUES (?, ?, 1)", (version.subject, document.revision)
                )
                return None
        if before is not None and before.revision >= document.revision:
            if before.revision == document.revision:  # our own, which the broker now has told the time of
                database.execute("UPDATE document SET at = ? WHERE subject = ?", (document.at, version.subject))
            return None
        value = None if document.value is None else msgspec.json.encode(document.value).decode()
        database.execute(
            "INSERT INTO document VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (service, private, key) DO UPDATE SET value = excluded.value, "
            "revision = excluded.revision, author = excluded.author, at = excluded.at, "
            "written = excluded.written, wire = excluded.wire",
            (
                *identity,
                version.subject,
                value,
                document.revision,
                document.author,
                document.at,
                document.written,
                version.wire,
            ),
        )
        database.execute("DELETE FROM refused WHERE subject = ?", (version.subject,))
        project = self._projects.get(document.service)
        if project is not None:
            project(database, document, before)
        again = before is not None and before.written == document.written  # published again by whoever had it
        return None if again else Change(document, before)

    async def position(self, incarnation: str) -> int:
        """Return up to where the streams of this incarnation were read; 0 if they were made anew since.

        Then every document counts as not yet at the broker: its revision becomes 0.
        """

        def work(database: sqlite3.Connection) -> int:
            facts = dict(database.execute("SELECT name, value FROM fact").fetchall())
            if facts.get(_INCARNATION) == incarnation:
                return int(facts.get(_CURSOR, 0))
            database.execute("UPDATE document SET revision = 0")
            database.execute("DELETE FROM refused")
            return 0

        return await self._store.write(work)

    async def lost(self) -> list[tuple[str, bytes, int]]:
        """Return what the broker does not have: subject, sealed version, and the sequence it would replace."""

        def work(database: sqlite3.Connection) -> list[tuple[str, bytes, int]]:
            return database.execute(
                "SELECT document.subject, wire, coalesce(refused.revision, 0) FROM document "
                "LEFT JOIN refused USING (subject) WHERE coalesce(refused.certain, 1) AND "
                "(document.revision = 0 OR refused.revision > document.revision)"
            ).fetchall()

        return await self._store.read(work)

    async def unread(self) -> list[str]:
        """Return the subjects whose newest message could not be opened for want of keys."""
        found = await self._store.read(
            lambda database: database.execute("SELECT subject FROM refused WHERE NOT certain").fetchall()
        )
        return [subject for (subject,) in found]

    async def usage(self) -> dict[str, Usage]:
        """Return how much each service keeps."""
        rows = await self._store.read(
            lambda database: database.execute(
                "SELECT service, count(*), coalesce(sum(length(wire)), 0) FROM document WHERE value IS NOT NULL "
                "GROUP BY service"
            ).fetchall()
        )
        return {service: Usage(count, size) for service, count, size in rows}

    async def digest(self) -> str:
        """Return a hash of all shared documents. Replicas that have read as far as each other have the same."""

        def work(database: sqlite3.Connection) -> str:
            found = hashlib.blake2b(digest_size=16)
            for row in database.execute(
                "SELECT service, key, value, revision, author FROM document WHERE NOT private ORDER BY service, key"
            ):
                found.update(msgspec.json.encode(row))
            return found.hexdigest()

        return await self._store.read(work)


def document_of(row: Sequence[Any]) -> Document:
    """Return the document of a row with the columns service, key, value, revision, author, at, private, written.

    The last one may be missing.
    """
    service, key, value, revision, author, at, private, *written = row
    decoded = None if value is None else _decode(value)
    return Document(service, key, decoded, revision, author, at, bool(private), *written)
