"""Reads the log of the graph and applies it, entry by entry, in the order of the stream."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from typing import TYPE_CHECKING

import msgspec

from covey.kernel.backoff import BackOff
from covey.mesh.authority.register import READER
from covey.mesh.crypto.envelope import read_header
from covey.mesh.crypto.errors import MeshCryptoError, UnknownKeyError
from covey.mesh.link.pull import Pull, last_sequence
from covey.mesh.services.graph.engine import (
    ENGINE,
    EngineCrashedError,
    EngineFaultError,
    Queued,
)
from covey.mesh.services.graph.entry import open_entry

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from covey.kernel.clock import Clock
    from covey.mesh.directory.directory import Directory
    from covey.mesh.link.pull import StreamMessage
    from covey.mesh.link.session import Session
    from covey.mesh.services.graph.engine import Applied, GraphEngine, Position

GRAPH, SUBJECTS = "GRAPH", "g.*"
ANSWER_ROWS = 1000
CHUNK = 64
"""Entries that are applied in one transaction."""
CRASHES = 2
"""After so many crashes by itself an entry is put aside, by every peer alike."""
NEWS_TRIES, NEWS_S, ASK_AGAIN_S = 5, 0.1, 60.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 30.0
CHECK_S = 20.0
"""How often it is checked whether an entry would be judged differently by now."""

log = logging.getLogger("covey.mesh.graph")


class StartAnewError(Exception):
    """The graph has to be made anew from the log."""

    def __init__(self, reason: str, *, keep: bool) -> None:
        super().__init__(reason)
        self.keep = keep
        """Whether the present graph holds what the log does not have any more."""


class LogReader:
    """Reads the log over one session after another. `run` has to run as long as the graph is used."""

    def __init__(
        self,
        engine: GraphEngine,
        directory: Directory,
        clock: Clock,
        *,
        fetch: Callable[[Session, str], Awaitable[object]],
        answer_for: Callable[[], list[str]],
        on_applied: Callable[[Sequence[Applied], bool], Awaitable[None]],
    ) -> None:
        """`fetch` reads a record of the directory now. `on_applied` is also given whether the entries were new."""
        self.caught_up = asyncio.Event()
        """Set when the graph has what the broker had when reading began."""
        self.sequence = 0
        """How far the log was applied."""
        self.problem = ""
        """Why the log is not applied now, if it is not."""
        self._engine = engine
        self._directory = directory
        self._clock = clock
        self._fetch = fetch
        self._answer_for = answer_for
        self._on_applied = on_applied
        self._position: Position
        self._pinned = ""
        self._asked: dict[str, float] = {}
        """When records of an author were asked for the last time."""

    async def run(self, session: Session) -> None:
        """Apply the log until the session breaks. Raises StartAnewError, EngineError or LinkError."""
        self.caught_up.clear()
        self.problem = ""
        try:
            self._position = position = await self._engine.position()
            self.sequence, self._pinned = position.sequence, position.engine
            self._check_verdicts()
            await self._check_stream(session, position)
            async with asyncio.TaskGroup() as group:
                group.create_task(self._check_at_times())
                group.create_task(self._read(session))
        except ExceptionGroup as group:
            raise group.exceptions[0] from None
        finally:
            self.caught_up.clear()

    async def _read(self, session: Session) -> None:
        async with Pull(session, GRAPH, [SUBJECTS], self.sequence) as pull:
            await pull.begin()
            if not pull.pending:
                self.caught_up.set()
            while True:
                batch = await pull.take()
                queued = [await self._queued(session, message) for message in batch]
                await self._apply(queued)
                if not batch[-1].pending:
                    self.caught_up.set()

    async def _check_stream(self, session: Session, position: Position) -> None:
        """Raise StartAnewError if the stream does not hold what was applied last: it was lost, or made anew."""
        if not position.sequence:
            return
        request = msgspec.json.encode({"seq": position.sequence})
        found = await session.request(f"$JS.API.DIRECT.GET.{GRAPH}", request)
        if not found:  # a replica of the broker may be behind
            last = await last_sequence(session, GRAPH)
            if last is None or last >= position.sequence:
                return
        if digest_of(found) != position.digest:
            raise StartAnewError("the broker has lost the log of the graph", keep=True)

    async def _pin(self, entries: Sequence[Queued]) -> None:
        """Pin the log to the engine of its first entry, and wait for ever if this peer has another one."""
        if not self._pinned:
            self._pinned = next((entry.engine for entry in entries if entry.outcome == "applied"), "")
        if self._pinned in {"", ENGINE}:
            return
        self.problem = (
            f"the graph of this mesh is written for {self._pinned[:100]!r} and this peer has {ENGINE!r}: it applies "
            "nothing until it runs the same version of Covey as the others"
        )
        log.error("graph not applied", extra={"reason": self.problem})
        await asyncio.Event().wait()

    async def _check_at_times(self) -> None:
        while True:
            await self._clock.sleep(CHECK_S)
            self._position = await self._engine.position()
            self._check_verdicts()

    def _check_verdicts(self) -> None:
        """Raise StartAnewError if an entry would be judged differently with what is known of the members by now.

        Peers that have learnt of a removal before or after an entry came must come to the same graph.
        """
        for author, latest in self._position.latest.items():
            if not self._may_write(author, latest):
                raise StartAnewError("an author had been removed before its entry came", keep=False)
        for author, epoch in self._position.unread:
            if author in self._directory.members and self._directory.shared_key(epoch) is not None:
                raise StartAnewError("an entry can be opened by now", keep=False)

    def _may_write(self, author: str, at: float) -> bool:
        record = self._directory.members.get(author)
        return (
            record is not None
            and record.role != READER
            and not (record.revoked_at is not None and at > record.revoked_at)
        )

    async def _queued(self, session: Session, message: StreamMessage) -> Queued:
        """Return what is to be done with a message of the stream."""
        digest = digest_of(message.data)
        try:
            try:
                opened = open_entry(message.subject, message.data, self._directory)
            except UnknownKeyError:
                await self._ask_for_news(session, message)
                opened = open_entry(message.subject, message.data, self._directory)
        except UnknownKeyError as error:
            header = read_header(message.data)
            return Queued(
                sequence=message.sequence,
                digest=digest,
                id=header.id,
                author=header.from_,
                at=message.time,
                outcome="unread",
                reason=str(error),
                epoch=getattr(header, "epoch", 0),
            )
        except (MeshCryptoError, ValueError) as error:
            author = message.subject.partition(".")[2]
            log.warning("entry of the graph refused", extra={"sequence": message.sequence, "reason": str(error)})
            return Queued(
                sequence=message.sequence,
                digest=digest,
                id="",
                author=author,
                at=message.time,
                outcome="refused",
                reason=str(error),
            )
        entry, allowed = opened.entry, self._may_write(opened.author, message.time)
        return Queued(
            sequence=message.sequence,
            digest=digest,
            id=opened.id,
            author=opened.author,
            at=message.time,
            outcome="applied" if allowed else "refused",
            reason="" if allowed else "its author may not write",
            engine=entry.engine,
            statement=entry.statement,
            params=entry.params,
            now_ms=entry.now_ms,
        )

    async def _ask_for_news(self, session: Session, message: StreamMessage) -> None:
        """Read the newest records of an author and of its epoch: they may be on their way. Seldom for each author."""
        header = read_header(message.data)
        now = self._clock.monotonic()
        if now - self._asked.get(header.from_, -ASK_AGAIN_S) < ASK_AGAIN_S:
            return
        self._asked[header.from_] = now
        epoch = getattr(header, "epoch", 0)
        for _ in range(NEWS_TRIES):
            for subject in (f"a.member.{header.from_}", f"a.grant.{session.member}.{epoch}", f"a.shared.{epoch}"):
                await self._fetch(session, subject)
            if header.from_ in self._directory.members and self._directory.shared_key(epoch) is not None:
                return
            await self._clock.sleep(NEWS_S)

    async def _apply(self, entries: Sequence[Queued]) -> None:
        """Apply entries. One that crashes the engine is applied by itself the next time, and put aside at last."""
        await self._pin(entries)
        left, alone = list(entries), 0
        pauses = BackOff(FIRST_PAUSE_S, LONGEST_PAUSE_S)
        while left:
            chunk = left[: 1 if alone else CHUNK]
            try:
                done = await self._engine.apply(chunk, answer_for=self._answer_for(), limit=ANSWER_ROWS)
            except EngineCrashedError as error:
                if len(chunk) > 1:
                    alone = len(chunk)
                elif error.by_statement and await self._count_crash(chunk[0].sequence) >= CRASHES:
                    left[0] = msgspec.structs.replace(chunk[0], outcome="crashed", reason=str(error))
                    log.warning(
                        "entry of the graph put aside", extra={"sequence": chunk[0].sequence, "reason": str(error)}
                    )
                continue
            except EngineFaultError as error:
                self.problem = f"the graph cannot be stored: {error}"
                await self._clock.sleep(pauses.fail())
                continue
            self.problem = ""
            pauses.succeed()
            alone = max(0, alone - len(chunk))
            left = left[len(chunk) :]
            self.sequence = chunk[-1].sequence
            await self._on_applied(done, self.caught_up.is_set())

    async def _count_crash(self, sequence: int) -> int:
        try:
            return await self._engine.count_crash(sequence)
        except (EngineCrashedError, EngineFaultError):
            return 0  # the next crash counts


def digest_of(wire: bytes) -> bytes:
    """Return what tells one sealed entry from another."""
    return hashlib.blake2b(wire, digest_size=16).digest()
