"""The documents of the mesh as the services use them: read from the replica, written to the broker.

A write is stored if the document is still the version that the writer has seen (`after`), so of several who change one
at the same moment one wins, and the others learn it at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from datetime import datetime
from typing import TYPE_CHECKING, Any

from covey.mesh.authority.register import READER
from covey.mesh.crypto.envelope import read_header
from covey.mesh.crypto.errors import MeshCryptoError, UnknownKeyError
from covey.mesh.link.errors import LinkError, NotAcknowledged, NotAnsweredError, NotConnected, Overtaken
from covey.mesh.link.pull import Pull
from covey.mesh.link.session import Stored
from covey.mesh.services.document import (
    Document,
    NotReady,
    document_subject,
    granted_epoch,
    open_document,
    seal_document,
    subject_token,
)
from covey.mesh.services.replica import Change, Refused, Replica, Version
from murli import conflict, permission_denied, user_error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from covey.kernel.clock import Clock
    from covey.mesh.crypto.identity import KeyPair
    from covey.mesh.directory.directory import Directory
    from covey.mesh.link.link import Link
    from covey.mesh.link.session import Session
    from covey.mesh.services.document import Opened

    OnChange = Callable[[Change], Awaitable[None]]
    NewValue = Callable[[Document | None], dict[str, Any] | None]

SHARED = "SHARED"
PUBLISH_S = 5.0
TRIES = 50
"""How often a change is tried that others overtake."""
PAUSE_S = 0.02
MEND_S = 2.0
"""Within which one of the peers that have a document publishes it again."""
NEWS_TRIES, NEWS_S, WAIT_EVERY_S = 10, 0.1, 60.0
PUBLISH_TRIES = 3
LARGEST_LEAD_S = 3600.0
"""By how much the time that an author signs may be ahead of the broker's."""

log = logging.getLogger("covey.mesh.services")


class Documents:
    """Reads and writes documents. `run` keeps the replica up to date over a session."""

    def __init__(
        self,
        replica: Replica,
        *,
        link: Link,
        keys: Callable[[], KeyPair],
        directory: Directory,
        clock: Clock,
        fetch: Callable[[Session, str], Awaitable[object]],
        allows: Callable[[str, str, str], bool],
        is_valid: Callable[[str, str, dict[str, Any]], bool],
        on_change: OnChange,
    ) -> None:
        """`fetch` reads a record of the directory now. `allows` says whether a service accepts a key from an author,
        and `is_valid` whether it accepts a value under a key.
        """
        self.replica = replica
        self.caught_up = asyncio.Event()
        """Set when the replica has what the broker had at the beginning of the session."""
        self.refused = 0
        """Messages that were no documents of members, since the start."""
        self._link = link
        self._keys = keys
        self._directory = directory
        self._clock = clock
        self.fetch = fetch
        """Reads a record of the directory now."""
        self._allows = allows
        self._is_valid = is_valid
        self._on_change = on_change
        self._offset = 0.0
        """By how much the broker's clock is ahead of ours."""
        self._to_mend = asyncio.Event()
        self._waited: dict[str, float] = {}
        """When keys of an author were waited for the last time."""

    def now(self) -> float:
        """Return what the broker's clock shows, as far as it is known: all peers compare times by it."""
        return self._clock.time() + self._offset

    @property
    def member(self) -> str:
        """This member."""
        return self._keys().member

    def get(self, service: str, key: str, *, private: bool = False) -> Document | None:
        """Return a document from the replica; None if there is none."""
        found = self.replica.get(service, key, private=private)
        return None if found is None or found.value is None else found

    async def wait_until_caught_up(self, limit_s: float) -> None:
        """Wait until the replica has what the broker had, but not longer, and not at all without a connection."""
        if self._link.session is not None and not self.caught_up.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(limit_s):
                    await self.caught_up.wait()

    async def put(
        self,
        service: str,
        key: str,
        value: dict[str, Any] | None,
        *,
        private: bool = False,
        after: int | None = None,
    ) -> Document:
        """Write a document, None to delete it, and return it when the broker has stored it and the replica has it.

        With `after` it must still have that revision (0: it must not be there, or be deleted). Raises AgentError if it
        has another one by now, if this member may not write, or if there is no connection.
        """
        session, epoch = self._link.require(), await granted_epoch(self._directory)
        self.check_may_write()
        if value is not None and not self._is_valid(service, key, value):
            raise user_error(f"{key!r} would not be accepted: its value is not one of the service {service}")
        keys = self._keys()
        token = subject_token(keys, epoch, service, key, private=private)
        subject = document_subject(service, token, private=private)
        for attempt in range(TRIES):
            known, sequence, readable = self.replica.known(service, key, subject, private=private)
            if not readable:
                raise NotReady("there is a newer version, and the keys to read it are not known yet")
            if after is not None and after != _revision(known):
                raise Overtaken("the document has changed meanwhile", "Read it again, then try again.")
            written = max(int(self.now() * 1000), known.written + 1 if known is not None else 0)
            id_, wire = seal_document(
                keys, epoch, self._directory.mesh, token, service, key, value, written=written, private=private
            )
            try:
                revision = await self._publish(session, subject, id_, wire, sequence)
            except Overtaken:
                if after is not None and after != _revision(self.replica.get(service, key, private=private)):
                    raise
                await _pause(attempt)
                continue
            document = Document(service, key, value, revision, keys.member, self.now(), private, written)
            await self._take([Version(document, subject, wire)])
            return document
        raise conflict("others change this too often", "Try again in a moment.")

    async def _publish(self, session: Session, subject: str, id_: str, wire: bytes, after: int) -> int:
        """Return the sequence of a version when it is stored. Tried again where it is not known whether it was."""
        for attempt in range(1, PUBLISH_TRIES + 1):
            try:
                return (await session.publish(subject, wire, message_id=id_, after=after, deadline_s=PUBLISH_S)).seq
            except Overtaken:
                newest = await session.newest_stored(SHARED, subject)
                if newest is not None and newest.data == wire:  # by the attempt before
                    return newest.sequence
                if newest is not None:
                    await self._take_stored(session, newest)
                raise
            except NotAcknowledged:
                if attempt == PUBLISH_TRIES:
                    raise
        raise AssertionError("unreachable")

    async def change(self, service: str, key: str, change: NewValue, *, private: bool = False) -> Document:
        """Write what `change` makes of the present version, which is None if there is none, and return it.

        It is asked again with the newer version when somebody else was quicker. It may raise AgentError.
        """
        for attempt in range(TRIES):
            found = self.get(service, key, private=private)
            value = change(found)
            try:
                return await self.put(service, key, value, private=private, after=found.revision if found else 0)
            except Overtaken:
                await _pause(attempt)
        raise conflict("others change this too often", "Try again in a moment.")

    def check_may_write(self) -> None:
        """Raise AgentError if this member may not write."""
        record = self._directory.members.get(self.member)
        if record is not None and record.role == READER:
            raise permission_denied("this member may only read", "Ask an admin of the mesh for an invite as a member.")

    async def run(self, session: Session, incarnation: str) -> None:
        """Read the documents until the session breaks; publish what the broker has lost."""
        self.caught_up.clear()
        self._to_mend.clear()
        await self._read_clock(session)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._read(session, incarnation))
            group.create_task(self._mend_when_needed(session))

    async def _read_clock(self, session: Session) -> None:
        try:
            told = await session.api(f"STREAM.INFO.{SHARED}")
            self._offset = datetime.fromisoformat(told["ts"]).timestamp() - self._clock.time()
        except (NotAnsweredError, KeyError, TypeError, ValueError):
            log.info("the broker does not tell its time")

    async def _read(self, session: Session, incarnation: str) -> None:
        after = await self.replica.position(incarnation)
        for subject in await self.replica.unread():
            newest = await session.newest_stored(SHARED, subject)
            if newest is not None:
                await self._take_stored(session, newest)
        async with Pull(session, SHARED, ["s.>"], after) as pull:
            await pull.begin()
            if not pull.pending:
                await self._mend(session)
                self.caught_up.set()
            while True:
                batch = await pull.take()
                versions = [
                    one
                    for message in batch
                    if (one := await self._opened(session, Stored(*message[:3]), message.time)) is not None
                ]
                await self._take(versions, cursor=batch[-1].sequence, incarnation=incarnation)
                if self.caught_up.is_set():
                    self._offset = batch[-1].time - self._clock.time()
                    if any(isinstance(one, Refused) and one.certain for one in versions):
                        self._to_mend.set()
                elif not batch[-1].pending:
                    await self._mend(session)
                    self.caught_up.set()

    async def _mend_when_needed(self, session: Session) -> None:
        """Mend what somebody has overwritten, after a pause of chance: one of all peers is enough."""
        while True:
            await self._to_mend.wait()
            self._to_mend.clear()
            await asyncio.sleep(random.uniform(0, MEND_S))  # noqa: S311 - not a secret
            await self._mend(session)

    async def _mend(self, session: Session) -> None:
        """Publish again what the broker does not have any more, or what was overwritten with something else."""
        for subject, wire, after in await self.replica.lost():
            try:
                await session.publish(subject, wire, after=after, deadline_s=PUBLISH_S)
            except Overtaken:
                continue  # another peer was quicker
            except NotConnected:
                raise
            except LinkError as error:
                log.warning("document not published again", extra={"subject": subject, "reason": error.message})

    async def _take(
        self, versions: list[Version | Refused], *, cursor: int | None = None, incarnation: str = ""
    ) -> None:
        for change in await self.replica.apply(versions, cursor=cursor, incarnation=incarnation):
            try:
                await self._on_change(change)
            except Exception:
                log.exception("change of a document not told", extra={"service": change.document.service})

    async def _take_stored(self, session: Session, stored: Stored) -> None:
        """Take a version that was read by itself, without waiting for it to come."""
        version = await self._opened(session, stored, self.now())
        await self._take([version] if version is not None else [])

    async def _opened(self, session: Session, stored: Stored, at: float) -> Version | Refused | None:
        """Return a version of a document; None if it does not concern us."""
        try:
            opened = await self._open_with_news(session, stored)
        except UnknownKeyError as error:
            return self._refuse(stored, str(error), certain=False)
        except (MeshCryptoError, ValueError) as error:
            return self._refuse(stored, str(error), certain=True)
        if opened is None:
            return None
        objection = self._objection(opened, at)
        if objection:
            return self._refuse(stored, objection, certain=True)
        document = Document(
            opened.service,
            opened.key,
            opened.value,
            stored.sequence,
            opened.author,
            at,
            opened.private,
            opened.written,
        )
        return Version(document, stored.subject, stored.data)

    def _objection(self, opened: Opened, at: float) -> str:
        """Return why a version that a member has signed is not accepted; empty if it is."""
        if not self._may_have_written(opened.author) or not self._allows(opened.service, opened.key, opened.author):
            return "its author may not write this"
        if opened.value is not None and not self._is_valid(opened.service, opened.key, opened.value):
            return "its value is not one of its service"
        if opened.written > (at + LARGEST_LEAD_S) * 1000:
            return "it says that it was written in the future"
        return ""

    async def _open_with_news(self, session: Session, stored: Stored) -> Opened | None:
        """Open a version; if keys are missing, after reading the newest records of its author and its epoch.

        That is done seldom for each author, so that nobody can hold up the others with keys that do not exist.
        """
        try:
            return open_document(stored.subject, stored.data, self._keys(), self._directory)
        except UnknownKeyError:
            header = read_header(stored.data)
            now = self._clock.monotonic()
            if now - self._waited.get(header.from_, -WAIT_EVERY_S) < WAIT_EVERY_S:
                raise
            self._waited[header.from_] = now
        epoch = getattr(header, "epoch", 0)
        subjects = (f"a.member.{header.from_}", f"a.grant.{session.member}.{epoch}", f"a.shared.{epoch}")
        for _ in range(NEWS_TRIES):
            for subject in subjects:
                await self.fetch(session, subject)
            try:
                return open_document(stored.subject, stored.data, self._keys(), self._directory)
            except UnknownKeyError:
                await asyncio.sleep(NEWS_S)
        return open_document(stored.subject, stored.data, self._keys(), self._directory)

    def _may_have_written(self, author: str) -> bool:
        record = self._directory.members.get(author)
        return record is not None and record.role != READER

    def _refuse(self, stored: Stored, reason: str, *, certain: bool) -> Refused:
        self.refused += 1
        log.warning(
            "document refused",
            extra={"subject": stored.subject[:200], "sequence": stored.sequence, "reason": reason},
        )
        return Refused(stored.subject, stored.sequence, certain)


def _revision(document: Document | None) -> int:
    """Return the revision that a writer must have seen; 0 if there is no document, or it was deleted."""
    return 0 if document is None or document.value is None else document.revision


async def _pause(attempt: int) -> None:
    """Wait for a moment of chance, longer after each attempt, so that those who write at once do not meet again."""
    await asyncio.sleep(random.uniform(0, PAUSE_S * min(attempt + 1, 10)))  # noqa: S311 - not a secret
