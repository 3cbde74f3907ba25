"""Keeps the directory up to date: reads the signed records of the mesh, and stores them with its position."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from covey.mesh.crypto.errors import MeshCryptoError, UnknownKeyError
from covey.mesh.directory.directory import FORMER
from covey.mesh.directory.record_store import StoredRecord
from covey.mesh.link.pull import Pull

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from covey.mesh.directory.directory import Change, Directory
    from covey.mesh.directory.record_store import RecordStore
    from covey.mesh.link.session import Session

    OnChange = Callable[[Change], Awaitable[None]]

AUTHORITY, MEMBERS = "AUTHORITY", "MEMBERS"

log = logging.getLogger("covey.mesh.directory")


class DirectoryReader:
    """Reads records over one session after another."""

    def __init__(
        self,
        directory: Directory,
        records: RecordStore,
        on_change: OnChange,
        on_refused: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Call `on_refused` with the subject of each record that is not what it must be."""
        self.caught_up = asyncio.Event()
        """Set when everything that the authority had signed at the beginning of the session is known."""
        self._directory = directory
        self._records = records
        self._on_change = on_change
        self._on_refused = on_refused

    async def follow_authority(self, session: Session) -> None:
        """Read what the authority signs, until the session breaks."""
        subjects = ["a.mesh", "a.member.*", f"a.grant.{session.member}.*", "a.shared.*"]
        await self._follow(session, AUTHORITY, subjects, self.caught_up)

    async def follow_members(self, session: Session) -> None:
        """Read what members say of themselves, until the session breaks."""
        await self._follow(session, MEMBERS, ["m.*"], asyncio.Event())

    async def fetch(self, session: Session, subject: str) -> bool:
        """Read the newest record of a subject now, and return whether there is one. Raises LinkError."""
        stream = MEMBERS if subject.startswith("m.") else AUTHORITY
        wire = await session.newest(stream, subject)
        if wire is not None and await self._apply(subject, wire):
            await self._records.keep(StoredRecord(subject, wire))
        return wire is not None

    async def _follow(self, session: Session, stream: str, subjects: Sequence[str], caught_up: asyncio.Event) -> None:
        async with Pull(session, stream, subjects, await self._records.cursor(stream)) as pull:
            await pull.begin()
            if not pull.pending:
                caught_up.set()
            while True:
                batch = await pull.take()
                good = [
                    StoredRecord(message.subject, message.data)
                    for message in batch
                    if await self._apply(message.subject, message.data)
                ]
                await self._records.save(good, stream, batch[-1].sequence)
                if not batch[-1].pending:
                    caught_up.set()

    async def _apply(self, subject: str, wire: bytes) -> bool:
        """Give a record to the directory, and tell what has changed. Returns whether it is to be stored."""
        member = subject.rpartition(".")[2]
        former = self._directory.public_keys(member)
        try:
            change = self._directory.apply(subject, wire)
        except UnknownKeyError:
            return True  # it may be understood later, when another record has come
        except (MeshCryptoError, ValueError) as error:
            log.warning("record refused", extra={"subject": subject[:200], "reason": str(error)})
            self._on_refused(subject)
            return False
        if former is not None and self._directory.public_keys(member) != former:
            await self._records.keep_former(subject, f"{FORMER}.{member}.{former.key_id}")
        if change is not None:
            await self._on_change(change)
        return True  # also what was known before: it may have come by another way, and not be stored yet
