"""Removal of what nobody needs: files that have expired, and the chunks of contents to which no file refers.

Only the peer of the mesh's authority does it: members have no right to purge. While that peer is away nothing is
removed from the broker, but what has expired is not given to anybody any more.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final

from covey.kernel.clock import sleep_until
from covey.mesh.link.errors import LinkError, NotConnected, Overtaken
from covey.mesh.services.files.blobs import ABANDONED_S, GRACE_S, blob_key, is_complete
from covey.mesh.services.files.chunks import STREAM
from covey.mesh.services.files.shares import BLOB, FILE

if TYPE_CHECKING:
    from covey.kernel.clock import Clock
    from covey.mesh.link.session import Session
    from covey.mesh.services.document import Document
    from covey.mesh.services.documents import Documents
    from covey.mesh.services.files.shares import Shares

EVERY_S: Final = 60.0
LIST_EVERY_S: Final = 3600.0
"""How often the subjects of all chunks are compared with the documents."""
PURGE_S: Final = 30.0

log = logging.getLogger("covey.mesh.services")


class Collector:
    """Run with `run` as long as there is a connection. `wake` says that there may be something to remove."""

    def __init__(self, documents: Documents, shares: Shares, clock: Clock) -> None:
        self._documents = documents
        self._shares = shares
        self._clock = clock
        self._woken = asyncio.Event()
        self._unknown: dict[str, float] = {}
        """Contents with chunks and without a document, and when they were seen first."""
        self._listed_at: float | None = None

    def wake(self) -> None:
        """Look again soon."""
        self._woken.set()

    async def run(self, session: Session) -> None:
        """Remove what nobody needs, until the session breaks."""
        self._listed_at = None
        while True:
            self._woken.clear()
            try:
                await self.sweep(session)
            except NotConnected:
                raise
            except LinkError as error:
                log.warning("files not cleared away", extra={"reason": error.message})
            await sleep_until(self._woken, self._clock, EVERY_S)

    async def sweep(self, session: Session) -> None:
        """Remove what nobody needs now."""
        for document in await self._shares.expired():
            await self._remove(document)
        for document in await self._shares.unreferenced():
            if self._is_due(document) and await self._remove(document):
                await self._purge(session, document.key.removeprefix(BLOB))
        now = self._clock.monotonic()
        if self._listed_at is None or now - self._listed_at >= LIST_EVERY_S:
            await self._compare(session, now)
            self._listed_at = now

    def _is_due(self, document: Document) -> bool:
        """Return whether a content is to be closed to which no file refers."""
        if document.value is None:
            return not self._is_closed(document)
        kept = GRACE_S if is_complete(document) else ABANDONED_S
        return self._documents.now() - document.at >= kept

    def _is_closed(self, document: Document) -> bool:
        return document.value is None and document.author == self._documents.member

    async def _remove(self, document: Document) -> bool:
        """Write that a document is deleted. Returns False if somebody has changed it meanwhile."""
        after = 0 if document.value is None else document.revision
        try:
            await self._documents.put(FILE, document.key, None, after=after)
        except Overtaken:
            self.wake()
            return False
        return True

    async def _purge(self, session: Session, blob: str) -> None:
        answer = await session.api(f"STREAM.PURGE.{STREAM}", {"filter": f"f.{blob}.*"}, deadline_s=PURGE_S)
        if "error" in answer:
            log.warning("chunks not purged", extra={"reason": answer["error"].get("description", "")})
        elif answer.get("purged"):
            log.info("chunks purged", extra={"chunks": answer["purged"]})

    async def _compare(self, session: Session, now: float) -> None:
        """Purge the chunks of contents that are closed, and of those that have had no document for a while."""
        present = await self._present(session)
        self._unknown = {blob: since for blob, since in self._unknown.items() if blob in present}
        for blob in present:
            document = self._documents.replica.get(FILE, blob_key(blob))
            if document is None:
                since = self._unknown.setdefault(blob, now)
                if now - since >= LIST_EVERY_S:
                    await self._purge(session, blob)
            elif self._is_closed(document) and not await self._shares.references(blob):
                await self._purge(session, blob)

    async def _present(self, session: Session) -> set[str]:
        """Return the contents that have chunks at the broker."""
        found: set[str] = set()
        offset = 0
        while True:
            asked = {"subjects_filter": "f.>", "offset": offset}
            told: dict[str, Any] = await session.api(f"STREAM.INFO.{STREAM}", asked, deadline_s=PURGE_S)
            subjects = told.get("state", {}).get("subjects") or {}
            found |= {subject.split(".", 1)[1].rpartition(".")[0] for subject in subjects}
            offset += len(subjects)
            if not subjects or offset >= int(told.get("total", 0)):
                return found
