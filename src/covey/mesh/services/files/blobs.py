"""Contents at the broker: each has a document, so that nobody shares one at the moment when it is removed.

    member     uploading -> complete -> (touched before each share) -> deleted
    authority  nothing refers to it, and it was not touched of late -> closed -> chunks purged

The authority closes a content by a compare-and-set. Whoever shares one that is there touches it first, by another: so
either it is not closed, or the one who shares learns that it is gone, and uploads it anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from covey.mesh.link.errors import Overtaken
from covey.mesh.services.files.chunks import STREAM, chunk_subject, new_id
from covey.mesh.services.files.shares import BLOB, FILE
from murli import conflict

if TYPE_CHECKING:
    from covey.mesh.link.session import Session
    from covey.mesh.services.document import Document
    from covey.mesh.services.documents import Documents

GRACE_S: Final = 600.0
"""How long after it was touched a content is kept that nothing refers to: a file may be about to."""
ABANDONED_S: Final = 2 * 86_400.0
"""How long one that is not complete is kept: its upload may go on."""


TRIES: Final = 50


class GoneError(Exception):
    """The content is not at the broker any more, or is about to be removed."""


def blob_key(blob: str) -> str:
    """Return the key of the document of a content."""
    return f"{BLOB}{blob}"


def is_complete(document: Document) -> bool:
    """Return whether all chunks of a content were stored."""
    return document.value is not None and document.value.get("complete") is True


class Blobs:
    """Makes, touches and deletes contents."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def begin(self, blob: str, chunks: int) -> str:
        """Return the content to upload to: `blob` if it is still there and not closed, else a new one."""
        if blob:
            found = self._documents.get(FILE, blob_key(blob))
            if found is not None:
                try:
                    await self._touch(blob, {"chunks": chunks, "complete": False})
                except GoneError:
                    pass
                else:
                    return blob
        made = f"{self._documents.member}.{new_id()}"
        await self._documents.put(FILE, blob_key(made), {"chunks": chunks, "complete": False}, after=0)
        return made

    async def complete(self, blob: str, chunks: int) -> None:
        """Say that all chunks are stored. Raises `GoneError` if the content was closed meanwhile."""
        await self._touch(blob, {"chunks": chunks, "complete": True})

    async def reuse(self, session: Session, blob: str, chunks: int) -> None:
        """Keep a content that is there, so that it can be shared again now. Raises `GoneError` if it is not there."""
        found = self._documents.get(FILE, blob_key(blob))
        if found is None or not is_complete(found):
            raise GoneError
        if chunks and await session.newest_stored(STREAM, chunk_subject(blob, chunks - 1)) is None:
            raise GoneError
        await self._touch(blob, {"chunks": chunks, "complete": True})

    async def drop(self, blob: str) -> None:
        """Say that a content is not needed any more, if nobody but this member has touched it last."""
        found = self._documents.get(FILE, blob_key(blob))
        if found is None or found.author != self._documents.member:
            return
        try:
            await self._documents.put(FILE, blob_key(blob), None, after=found.revision)
        except Overtaken:
            return  # somebody shares it at this moment

    async def _touch(self, blob: str, value: dict[str, Any]) -> None:
        for _ in range(TRIES):
            found = self._documents.get(FILE, blob_key(blob))
            if found is None:
                raise GoneError
            try:
                await self._documents.put(FILE, blob_key(blob), value, after=found.revision)
            except Overtaken:
                continue  # the newer version is known now
            return
        raise conflict("others change this too often", "Try again in a moment.")
