"""Sharing a file: it is hashed, its chunks and then its document are stored, and those it is for are told."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from typing import TYPE_CHECKING, Final

from covey.kernel.byte_sizes import compared_sizes, size_text
from covey.mesh.broker.streams import CHUNK_BYTES
from covey.mesh.crypto.errors import MeshCryptoError
from covey.mesh.link.acknowledgement import acknowledgement, not_in_time
from covey.mesh.link.errors import Full, NotAcknowledged, Occupied
from covey.mesh.peer.sending import Content as MessageContent
from covey.mesh.services.files.blobs import Blobs, GoneError
from covey.mesh.services.files.chunks import KEY_BYTES, STREAM, chunk_subject, count_of, open_chunk
from covey.mesh.services.files.settings import EXPIRE_DAYS
from covey.mesh.services.files.share import Content, share_for, share_for_all
from covey.mesh.services.files.shares import FILE, Shares
from covey.mesh.services.files.source import Source, changed
from murli import AgentError, conflict, not_found, tool_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nats.aio.msg import Msg

    from covey.mesh.crypto.identity import PublicKeys
    from covey.mesh.link.session import Session
    from covey.mesh.services.documents import Documents
    from covey.mesh.services.files.share import Share
    from covey.mesh.services.files.transfer import Transfer, Transfers
    from covey.mesh.services.service import Surroundings

WINDOW: Final = 8
"""Chunks under way at a time: what an upload needs of memory is this many times 512 KB."""
MARK_EVERY: Final = 16
"""Chunks after which is stored how far it has come."""
ACKNOWLEDGED_S: Final = 30.0
CONTENTS: Final = 5
"""How many contents are tried, if others write into them."""
DAY_S: Final = 86_400.0


class Uploads:
    """Performs what is shared from here."""

    def __init__(self, documents: Documents, surroundings: Surroundings, shares: Shares, transfers: Transfers) -> None:
        self.blobs = Blobs(documents)
        self._documents = documents
        self._surroundings = surroundings
        self._shares = shares
        self._transfers = transfers
        self._uploading: dict[str, asyncio.Lock] = {}
        """By the hash of the content: what is shared twice at once is uploaded once."""

    async def perform(self, session: Session, transfer: Transfer) -> None:
        """Share a file, from where it was interrupted. Raises AgentError; LinkError if it is to be tried again."""
        if self._documents.get(FILE, transfer.document) is None:
            await self._share(session, transfer)
        transfer.reason = await self._tell(transfer)

    async def drop(self, transfer: Transfer) -> None:
        """Give up what was uploaded for a transfer that does not go on."""
        if transfer.blob and not await self._shares.references(transfer.blob):
            await self.blobs.drop(transfer.blob)

    async def _share(self, session: Session, transfer: Transfer) -> None:
        source = await Source.open(transfer.path)
        try:
            if (source.size, source.modified_ns) != (transfer.size, transfer.modified_ns):
                raise changed(transfer.path)
            transfer.state = "hashing"
            begin = transfer.done
            sha256 = await source.hash(begin)
            if transfer.sha256 not in ("", sha256):
                raise changed(transfer.path)
            transfer.sha256 = sha256
            async with self._alone_with(sha256):
                if not await self._reused(session, transfer):
                    await self._uploaded(session, transfer, source)
                await self._publish(transfer)
        finally:
            source.close()

    def _alone_with(self, sha256: str) -> asyncio.Lock:
        for old in [one for one, lock in self._uploading.items() if not lock.locked()]:
            del self._uploading[old]
        return self._uploading.setdefault(sha256, asyncio.Lock())

    async def _reused(self, session: Session, transfer: Transfer) -> bool:
        """Return whether the content is at the broker already; then it is kept there for this share."""
        for blob, key in await self._present(transfer):
            try:
                await self.blobs.reuse(session, blob, count_of(transfer.size))
            except GoneError:
                continue
            if blob != transfer.blob:
                await self.drop(transfer)
            transfer.blob, transfer.key, transfer.done = blob, key, count_of(transfer.size)
            await self._transfers.save(transfer)
            return True
        return False

    async def _present(self, transfer: Transfer) -> list[tuple[str, bytes]]:
        """Return where this content may be, with its keys: files shared with all, and those shared from here."""
        shared = await self._shares.with_content(transfer.sha256)
        found = {one.share.blob: one.content.key for one in shared}
        for other in self._transfers.by_id.values():
            if other.direction == "up" and other.state == "done" and other.sha256 == transfer.sha256:
                found[other.blob] = other.key
        return list(found.items())

    async def _uploaded(self, session: Session, transfer: Transfer, source: Source) -> None:
        """Store the content at the broker. One into which somebody else has written is left for a new one."""
        await self._check_room(session, source.chunks - transfer.done)
        transfer.state = "uploading"
        for _ in range(CONTENTS):
            blob = await self.blobs.begin(transfer.blob, source.chunks)
            if blob != transfer.blob:
                if transfer.done:
                    transfer.done = 0
                    await source.hash()
                transfer.blob, transfer.key = blob, os.urandom(KEY_BYTES)
                await self._transfers.save(transfer)
            try:
                await self._send(session, transfer, source)
                source.check_sent(transfer.sha256)
                await self.blobs.complete(blob, source.chunks)
            except GoneError:
                await self.drop(transfer)
                transfer.blob = ""
                continue
            return
        raise conflict("what is uploaded is overwritten by another member", "See the guide of the mesh's security.")

    async def _check_room(self, session: Session, chunks: int) -> None:
        """Raise AgentError if the quota of the mesh has no room for so many chunks."""
        told = await session.api(f"STREAM.INFO.{STREAM}")
        try:
            most, present = int(told["config"]["max_msgs"]), int(told["state"]["messages"])
        except (KeyError, TypeError, ValueError):
            raise NotAcknowledged("the broker does not tell how much room there is for files") from None
        if 0 < most < present + chunks:
            raise no_room(most, present, chunks)

    async def _send(self, session: Session, transfer: Transfer, source: Source) -> None:
        """Store the chunks from the first that is missing. Raises `GoneError` if one is not ours."""
        under_way: deque[tuple[int, asyncio.Future[Msg]]] = deque()
        numbers: Iterator[int] = iter(range(transfer.done, source.chunks))
        try:
            while True:
                number = next(numbers, None)
                if number is not None:
                    wire = await source.sealed(transfer.key, transfer.blob, number)
                    subject = chunk_subject(transfer.blob, number)
                    under_way.append((number, await session.start_publish(subject, wire, message_id="")))
                if not under_way:
                    return
                if number is None or len(under_way) >= WINDOW:
                    await self._settled(session, transfer, source, *under_way.popleft())
        finally:
            for _, future in under_way:
                future.cancel()
            await self._transfers.save(transfer)

    async def _settled(
        self, session: Session, transfer: Transfer, source: Source, number: int, future: asyncio.Future[Msg]
    ) -> None:
        """Wait until a chunk is stored, and count it."""
        try:
            async with asyncio.timeout(ACKNOWLEDGED_S):
                reply = await future
        except TimeoutError:
            raise not_in_time(ACKNOWLEDGED_S) from None
        try:
            acknowledgement(reply)
        except Occupied:
            await self._check_own(session, transfer, source, number)
        except Full as error:
            raise tool_error(
                f"the broker has no room for this file: {error.message}",
                "Delete files that are not needed: covey mesh file list",
                error="mesh_full",
            ) from None
        transfer.done = number + 1
        if transfer.done % MARK_EVERY == 0:
            await self._transfers.save(transfer)

    async def _check_own(self, session: Session, transfer: Transfer, source: Source, number: int) -> None:
        """Raise `GoneError` unless what is stored as this chunk is what an attempt before has stored there."""
        stored = await session.newest_stored(STREAM, chunk_subject(transfer.blob, number))
        if stored is None:
            raise GoneError
        data = await source.piece(number)
        try:
            if open_chunk(transfer.key, transfer.blob, number, stored.data) != data:
                raise changed(transfer.path)
        except MeshCryptoError:
            raise GoneError from None

    async def _publish(self, transfer: Transfer) -> None:
        """Write the document of the file: from now on others see it."""
        days = float(self._surroundings.context.config.current.get(EXPIRE_DAYS))
        expires_at = None if transfer.persistent else self._documents.now() + days * DAY_S
        content = Content(
            name=transfer.name,
            size=transfer.size,
            sha256=transfer.sha256,
            key=transfer.key,
            message=transfer.message,
        )
        share: Share = share_for_all(transfer.blob, content, expires_at)
        if transfer.to:
            share = share_for(transfer.blob, content, expires_at, self._surroundings.keys(), self.readers(transfer.to))
        await self._documents.put(FILE, transfer.document, share.as_value(), after=0)

    def readers(self, to: list[str]) -> list[PublicKeys]:
        """Return the keys of those whom references name. Raises AgentError if there is none, or it has no key yet."""
        members = {one.target for reference in to for one in self._surroundings.sending.to(reference)}
        found = []
        for member in sorted(members):
            keys = self._surroundings.directory.public_keys(member)
            if keys is None:
                name = self._surroundings.directory.name_of(member)
                raise not_found(
                    f"the encryption key of @{name} is not known yet: it has not been online",
                    "Wait until it was online once, or share with everybody: leave `to` out.",
                    field="to",
                )
            found.append(keys)
        return found

    async def _tell(self, transfer: Transfer) -> str:
        """Send a message to those for whom the file is. Returns what went wrong; empty if nothing did."""
        kind = f"{transfer.name}, {transfer.size} bytes"
        text = f"Shared a file with you: {kind}. Get it: covey mesh file get {transfer.file}"
        if transfer.message:
            text = f"{transfer.message}\n\n{text}"
        about = {"id": transfer.file, "name": transfer.name, "size": transfer.size, "sha256": transfer.sha256}
        sending, problems = self._surroundings.sending, []
        for number, reference in enumerate(transfer.to):
            try:
                await sending.send(
                    reference,
                    sending.to(reference),
                    MessageContent(text=text, meta={"file": about}),
                    key=f"file:{transfer.file}:{number}",
                )
            except AgentError as error:
                problems.append(f"it is shared, but {reference} was not told: {error.message}")
        return "; ".join(problems)


def no_room(most: int, present: int, chunks: int) -> AgentError:
    """Return the error for a file that would go over the quota of the mesh."""
    needed, free = compared_sizes(chunks * CHUNK_BYTES, max(most - present, 0) * CHUNK_BYTES)
    quota = size_text(most * CHUNK_BYTES)
    return tool_error(
        f"the files of this mesh may take {quota} at the broker: {free} are free, and {needed} are needed",
        "Delete files that are not needed (covey mesh file list), or set files.quota_mb at the mesh's authority.",
        error="mesh_full",
    )
