"""The files of the mesh as this peer's replica has them: found by id, by content, and by what nothing refers to."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, NamedTuple

from covey.kernel.clock import timestamp
from covey.kernel.store.migrations import Migration
from covey.mesh.crypto.errors import MeshCryptoError
from covey.mesh.services.files.share import Share, file_id, read_content
from covey.mesh.services.replica import document_of
from murli import not_found

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from covey.mesh.crypto.identity import KeyPair
    from covey.mesh.directory.directory import Directory
    from covey.mesh.services.document import Document
    from covey.mesh.services.documents import Documents
    from covey.mesh.services.files.share import Content

FILE = "file"
BLOB = "blob/"
"""The beginning of the keys of documents about contents; the other documents are shared files."""

MIGRATION = Migration(
    "file.share",
    """
CREATE TABLE file_share (
    id TEXT PRIMARY KEY,
    key TEXT NOT NULL,
    blob TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    expires_at REAL,
    at REAL NOT NULL
) STRICT;
CREATE INDEX file_share_blob ON file_share (blob);
CREATE INDEX file_share_sha256 ON file_share (sha256) WHERE sha256 != '';
CREATE INDEX file_share_expires ON file_share (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX file_share_at ON file_share (at);
""",
)
_DOCUMENT = "document.service, document.key, value, revision, author, document.at, private"
_JOINED = "file_share JOIN document ON document.service = 'file' AND private = 0 AND document.key = file_share.key"

log = logging.getLogger("covey.mesh.services")


class SharedFile(NamedTuple):
    """A file that is shared, and that this member may read."""

    id: str
    document: Document
    share: Share
    content: Content


def owner_of(key: str) -> str:
    """Return the member whose document this is, from its key."""
    return key.partition("/")[0]


def project_share(database: sqlite3.Connection, document: Document) -> None:
    """Keep the table of shared files, by what their documents say. Documents of contents are not in it."""
    if document.key.startswith(BLOB):
        return
    share = Share.from_value(document.value)
    if share is None or document.author != owner_of(document.key):
        database.execute("DELETE FROM file_share WHERE id = ?", (file_id(document.key),))
        return
    sha256 = share.content.sha256 if share.content is not None else ""
    database.execute(
        "REPLACE INTO file_share VALUES (?, ?, ?, ?, ?, ?)",
        (file_id(document.key), document.key, share.blob, sha256, share.expires_at, document.at),
    )


class Shares:
    """Reads the shared files of the mesh."""

    def __init__(self, documents: Documents, keys: Callable[[], KeyPair], directory: Directory) -> None:
        self._documents = documents
        self._keys = keys
        self._directory = directory

    def opened(self, document: Document) -> SharedFile | None:
        """Return the shared file of a document; None if it is sealed for others, was deleted, or is damaged."""
        share = Share.from_value(document.value)
        if share is None or document.author != owner_of(document.key):
            return None
        try:
            content = read_content(share, document.author, self._keys(), self._directory)
        except MeshCryptoError as error:
            log.warning("shared file cannot be read", extra={"file": file_id(document.key), "reason": error.message})
            return None
        return None if content is None else SharedFile(file_id(document.key), document, share, content)

    def is_live(self, share: Share) -> bool:
        """Return whether a shared file has not expired."""
        return share.expires_at is None or share.expires_at > self._documents.now()

    async def document(self, id_: str) -> Document | None:
        """Return the document of the shared file with this id; None if there is none, or it has expired."""

        def work(database: sqlite3.Connection) -> Any:
            return database.execute(f"SELECT {_DOCUMENT} FROM {_JOINED} WHERE id = ?", (id_,)).fetchone()  # noqa: S608 - constants

        row = await self._documents.replica.read(work)
        if row is None:
            return None
        found = document_of(row)
        share = Share.from_value(found.value)
        return found if share is not None and self.is_live(share) else None

    async def find(self, id_: str) -> SharedFile:
        """Return the shared file with this id. Raises AgentError if there is none that this member may read."""
        found = await self.document(id_)
        shared = self.opened(found) if found is not None else None
        if shared is None:
            raise not_found(f"there is no file {id_!r} for you", "See `covey mesh file list`.", field="id")
        return shared

    async def newest(self, limit: int, before: float | None) -> tuple[list[SharedFile], float | None]:
        """Return shared files that this member may read, the newest first, and where the next page begins."""
        found: list[SharedFile] = []
        now = self._documents.now()
        while True:
            size = max(limit, 100)

            def work(database: sqlite3.Connection, upto: float | None = before, size: int = size) -> list[Any]:
                return database.execute(
                    f"SELECT {_DOCUMENT}, file_share.at FROM {_JOINED} WHERE file_share.at < ? "  # noqa: S608 - constants
                    "AND (expires_at IS NULL OR expires_at > ?) ORDER BY file_share.at DESC LIMIT ?",
                    (upto if upto is not None else 1e18, now, size),
                ).fetchall()

            rows = await self._documents.replica.read(work)
            for row in rows:
                shared = self.opened(document_of(row[:-1]))
                before = row[-1]
                if shared is not None:
                    found.append(shared)
                if len(found) == limit:
                    return found, before
            if len(rows) < size:
                return found, None

    async def with_content(self, sha256: str) -> list[SharedFile]:
        """Return the files with this content that are shared with everybody, the newest first."""
        now = self._documents.now()

        def work(database: sqlite3.Connection) -> list[Any]:
            return database.execute(
                f"SELECT {_DOCUMENT} FROM {_JOINED} WHERE sha256 = ? "  # noqa: S608 - constants
                "AND (expires_at IS NULL OR expires_at > ?) ORDER BY file_share.at DESC LIMIT 10",
                (sha256, now),
            ).fetchall()

        rows = await self._documents.replica.read(work)
        return [shared for row in rows if (shared := self.opened(document_of(row))) is not None]

    async def references(self, blob: str) -> int:
        """Return how many shared files have this content, also ones that this member may not read."""
        rows = await self._documents.replica.read(
            lambda database: database.execute("SELECT count(*) FROM file_share WHERE blob = ?", (blob,)).fetchone()
        )
        return int(rows[0])

    async def expired(self) -> list[Document]:
        """Return the documents of files that have expired."""
        now = self._documents.now()

        def work(database: sqlite3.Connection) -> list[Any]:
            return database.execute(
                f"SELECT {_DOCUMENT} FROM {_JOINED} WHERE expires_at <= ? LIMIT 1000",  # noqa: S608 - constants
                (now,),
            ).fetchall()

        return [document_of(row) for row in await self._documents.replica.read(work)]

    async def unreferenced(self) -> list[Document]:
        """Return the documents of contents that no file has, also deleted ones."""

        def work(database: sqlite3.Connection) -> list[Any]:
            return database.execute(
                f"SELECT {_DOCUMENT} FROM document WHERE service = 'file' AND private = 0 AND key >= 'blob/' "  # noqa: S608
                "AND key < 'blob0' AND NOT EXISTS (SELECT 1 FROM file_share WHERE blob = substr(document.key, 6))"
            ).fetchall()

        return [document_of(row) for row in await self._documents.replica.read(work)]

    def view(self, shared: SharedFile) -> dict[str, Any]:
        """Return what is told of a shared file."""
        document, content = shared.document, shared.content
        expires_at = shared.share.expires_at
        return {
            "id": shared.id,
            "name": content.name,
            "size": content.size,
            "sha256": content.sha256,
            "message": content.message,
            "author": document.author,
            "author_name": self._directory.name_of(document.author),
            "to": list(shared.share.to),
            "to_names": [self._directory.name_of(one) for one in shared.share.to],
            "at": timestamp(document.at),
            "expires_at": None if expires_at is None else timestamp(expires_at),
        }
