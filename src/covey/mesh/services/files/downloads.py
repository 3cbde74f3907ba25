"""Getting a file: its chunks are read from the broker, several at a time, and written in order into a partial file."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Final

from covey.mesh.link.errors import LinkError
from covey.mesh.services.files.chunks import STREAM, chunk_subject, open_chunk
from covey.mesh.services.files.target import Target, was_finished
from covey.mesh.services.files.threads import in_thread
from murli import EXIT_NOT_FOUND, AgentError, tool_error

if TYPE_CHECKING:
    from covey.mesh.link.session import Session
    from covey.mesh.services.files.shares import SharedFile, Shares
    from covey.mesh.services.files.transfer import Transfer, Transfers

WINDOW: Final = 8
MARK_EVERY: Final = 16
ANSWER_S: Final = 30.0
TRIES, PAUSE_S = 10, 0.2
"""How often a chunk is asked for that is not there: a server of a cluster may not have it yet."""


class Downloads:
    """Performs what is fetched to here."""

    def __init__(self, shares: Shares, transfers: Transfers) -> None:
        self._shares = shares
        self._transfers = transfers

    async def perform(self, session: Session, transfer: Transfer) -> None:
        """Get a file, from where it was interrupted. Raises AgentError; LinkError if it is to be tried again."""
        path, part, written = transfer.path, transfer.part, transfer.written
        if written is not None and await in_thread(lambda: was_finished(path, part, written)):
            return
        shared = await self._shares.find(transfer.file)
        target = await Target.open(transfer.path, transfer.part)
        try:
            transfer.state, transfer.written = "downloading", target.identity
            transfer.done = await target.resume(transfer.done)
            await self._receive(session, transfer, target, shared)
            if not target.is_whole(shared.content.sha256) and transfer.done:
                transfer.done = await target.resume(0)  # the partial file was damaged: once more from the beginning
                await self._receive(session, transfer, target, shared)
            if not target.is_whole(shared.content.sha256):
                raise tool_error(
                    f"{shared.content.name} is not what its author has hashed", "Ask its author to share it again."
                )
            await target.finish(shared.content.size, force=transfer.force)
        except LinkError:
            raise
        except AgentError:
            await target.discard()
            raise
        finally:
            target.close()

    async def discard(self, transfer: Transfer) -> None:
        """Remove the partial file of a transfer that does not go on."""
        target = await Target.open(transfer.path, transfer.part)
        try:
            await target.discard()
        finally:
            target.close()

    async def _receive(self, session: Session, transfer: Transfer, target: Target, shared: SharedFile) -> None:
        """Write the chunks from the first that is missing."""
        share, key = shared.share, shared.content.key
        under_way: deque[asyncio.Task[bytes]] = deque()
        following = transfer.done
        try:
            while transfer.done < share.chunks:
                while following < share.chunks and len(under_way) < WINDOW:
                    under_way.append(asyncio.create_task(self._chunk(session, shared, following)))
                    following += 1
                wire = await under_way.popleft()
                number = transfer.done

                def write(wire: bytes = wire, number: int = number) -> None:
                    target.write(number, open_chunk(key, share.blob, number, wire))

                await in_thread(write)
                transfer.done += 1
                if transfer.done % MARK_EVERY == 0:
                    await self._transfers.save(transfer)
        finally:
            for task in under_way:
                task.cancel()
            if under_way:
                await asyncio.wait(under_way)
            await self._transfers.save(transfer)

    async def _chunk(self, session: Session, shared: SharedFile, number: int) -> bytes:
        """Return a chunk as it is stored. Raises AgentError if the file was deleted meanwhile."""
        for _ in range(TRIES):
            found = await session.newest_stored(STREAM, chunk_subject(shared.share.blob, number), deadline_s=ANSWER_S)
            if found is not None:
                return found.data
            await self._shares.find(shared.id)
            await asyncio.sleep(PAUSE_S)
        raise AgentError(
            f"the content of {shared.content.name} is not at the broker any more",
            code=EXIT_NOT_FOUND,
            error="file_gone",
            suggestion="Ask its author to share it again.",
        )
