"""The durable history of what came to this member, in a SQLite file of its own.

A batch is stored together with the position in its stream, so that nothing is lost or doubled by a crash. A file that
was damaged is moved aside by the store; the new one has no positions, so that everything still at the broker is read
again.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from covey.kernel.store.errors import StoreCorruptError
from covey.kernel.store.store import Store
from covey.mesh.inbox.full_text import (
    create_index,
    find_indexed,
    find_scanned,
    index_next,
    parse_query,
    recreate_index,
    remove_from_index,
)
from covey.mesh.inbox.intake import Arrival, HeldChange, Intake, Series, Taken
from covey.mesh.inbox.message import Incoming, Message, row_of
from covey.mesh.inbox.queries import InboxCounts, InboxQueries
from covey.mesh.inbox.schema import MIGRATIONS
from covey.mesh.inbox.tracker import Tracker
from covey.mesh.storable_text import storable

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Self

    from covey.kernel.clock import Clock
    from covey.kernel.store.database import Fsync

__all__ = ["HeldBack", "Inbox", "InboxCounts", "Incoming", "Message", "Received", "Seen"]

HOLD_S = 300.0
MOST_SEEN = 1000
"""Numbers per outbox that receipts say to be seen: the ones that were seen last."""
_AT_ONCE = 500
_LARGEST = 2**63 - 1

log = logging.getLogger("covey.mesh.inbox")


class Received(NamedTuple):
    """The numbers that have come: all to `upto`, and runs beyond it as a flat list `first, last, first, last, …`."""

    upto: int
    extra: list[int]


class Seen(NamedTuple):
    """The number of a direct message that was seen."""

    sender: str
    outbox: str
    n: int


class HeldBack(NamedTuple):
    """Direct messages of a sender that wait for earlier ones."""

    sender: str
    messages: int
    until: float
    """When the last of them is delivered at the latest."""


class Inbox(InboxQueries):
    """Open with `await Inbox.open(path, clock=…)`; close with `aclose` or `async with`. All raise `StoreError`."""

    def __init__(self, store: Store, clock: Clock, hold_s: float, *, indexed: bool) -> None:
        super().__init__(store)
        self.duplicates = 0
        """How many messages were left out since the opening because they had come before."""
        self._clock = clock
        self._hold_s = hold_s
        self._indexed = indexed
        self._numbers: dict[str, dict[str, Tracker]] = {}
        self._seen: dict[str, dict[str, dict[int, None]]] = {}
        self._held_since: dict[Series, float] = {}
        self._held: dict[Series, tuple[int, float]] = {}
        """How many messages are held, and when the last of them came. It changes with each commit, as `_held_since`."""

    @classmethod
    async def open(
        cls, path: Path, *, clock: Clock, fsync: Fsync = "strict", hold_s: float = HOLD_S, fts: bool = True
    ) -> Inbox:
        """Return the inbox at `path`, made if there is none. Raises `StoreError` if it cannot be opened.

        Without `fts`, or where SQLite has no FTS5, `search` looks through the newest messages.
        """
        store = await Store.open(path, MIGRATIONS, fsync=fsync)
        try:
            inbox = cls(store, clock, hold_s, indexed=fts and await store.write(create_index))
            await store.read(inbox._load)
        except BaseException:
            await store.aclose()
            raise
        return inbox

    async def aclose(self) -> None:
        """Finish what was begun, then close. Calling it again is harmless."""
        await self.database.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    @property
    def recovered_from(self) -> Path | None:
        """Where a file that was damaged at the opening was moved to; None if it was not damaged."""
        return self.database.recovered_from

    async def store(self, batch: Sequence[Incoming], cursors: Mapping[str, int]) -> list[Message]:
        """Store messages and how far their streams were read, in one transaction.

        Returns the messages that are new and in order, by position: those of the batch, and held ones that waited for
        them. The same batch again returns nothing.
        """
        now = self._clock.time()
        arrivals = list[Arrival]()
        for incoming in batch:
            row = row_of(incoming, now)
            if row is None:
                where = {"stream": incoming.stream, "sequence": incoming.sequence}
                log.warning("message without a valid number left out", extra=where)
            else:
                arrivals.append(Arrival(row, incoming.skip))
        clipped = {storable(stream): min(max(sequence, 0), _LARGEST) for stream, sequence in cursors.items()}
        if not arrivals and not clipped:
            return []

        def work(db: sqlite3.Connection) -> Taken:
            intake = Intake(db, now)
            intake.take(arrivals)
            intake.advance(clipped)
            return intake.finish()

        return (await self.database.write(work, then=self._note)).messages

    async def release_overdue(self, now: float) -> list[Message]:
        """Deliver what has been held for too long: the messages before it are given up. Returns it by position."""
        for series, since in self._held_since.items():
            self._held_since[series] = min(since, now)  # the clock was set back
        limit = now - self._hold_s
        due = [series for series, since in self._held_since.items() if since <= limit]
        if not due:
            return []

        def work(db: sqlite3.Connection) -> Taken:
            intake = Intake(db, now)
            for series in due:
                intake.give_up(series, limit)
            return intake.finish()

        return (await self.database.write(work, then=self._note)).messages

    async def cursor(self, stream: str, incarnation: str = "") -> int:
        """Return how far a stream was read; 0 if never, or if it is a different one of the same name by now.

        Nobody may be storing messages of the former meanwhile: it would move the position of the new one.
        """
        name = storable(stream)
        query = "SELECT sequence, incarnation FROM inbox_cursor WHERE stream = ?"
        sequence, known = await self.database.read(lambda db: db.execute(query, (name,)).fetchone() or (0, ""))
        if known != incarnation and incarnation:
            sequence = 0 if known else sequence
            values = (name, storable(incarnation), sequence)
            replace = "INSERT OR REPLACE INTO inbox_cursor (stream, incarnation, sequence) VALUES (?, ?, ?)"
            await self.database.write(lambda db: db.execute(replace, values).rowcount)
        return int(sequence)

    def senders(self) -> list[str]:
        """Return everybody from whom direct messages have come."""
        return list(self._numbers)

    def numbers(self, sender: str) -> dict[str, Received]:
        """Return which numbers of direct messages have come from a sender, by outbox."""
        return {
            outbox: Received(tracker.next - 1, [number for run in tracker.runs for number in run])
            for outbox, tracker in self._numbers.get(sender, {}).items()
        }

    def held_back(self) -> list[HeldBack]:
        """Return by sender how many messages are held back now, the soonest delivered first; empty if none are."""
        now = self._clock.time()
        found = dict[str, HeldBack]()
        for series, (count, last_at) in self._held.items():
            until = min(last_at, now) + self._hold_s  # the clock may have been set back
            before = found.get(series.sender, HeldBack(series.sender, 0, until))
            found[series.sender] = HeldBack(series.sender, before.messages + count, max(before.until, until))
        return sorted(found.values(), key=lambda one: (one.until, one.sender))

    async def record_seen(self, id_: str) -> Seen | None:
        """Record that an agent has seen a message.

        Returns its number for the receipt; None if it is unknown, was seen before, or belongs to a topic.
        """
        now = self._clock.time()
        update = (
            "UPDATE inbox_message SET seen_at = ? WHERE seen_at IS NULL AND position ="
            " (SELECT position FROM inbox_message WHERE id = ? ORDER BY position LIMIT 1)"
            " RETURNING sender, outbox, n, scope"
        )

        def work(db: sqlite3.Connection) -> Seen | None:
            rows = db.execute(update, (now, storable(id_))).fetchall()
            return Seen(*rows[0][:3]) if rows and not rows[0][3] else None

        def note(seen: Seen | None) -> None:
            if seen is not None:
                self._note_seen(seen)

        return await self.database.write(work, then=note)

    def seen(self, sender: str) -> dict[str, list[int]]:
        """Return the numbers of direct messages of a sender that were seen, by outbox: the last 1,000 of each."""
        return {outbox: list(numbers) for outbox, numbers in self._seen.get(sender, {}).items()}

    async def index_some(self, limit: int = 200) -> int:
        """Put the next messages into the full-text index, and return how many they were; 0 when none are left."""
        if not self._indexed:
            return 0
        try:
            return await self.database.write(partial(index_next, limit=limit))
        except StoreCorruptError as error:
            await self._remake_index(error)
            return await self.database.write(partial(index_next, limit=limit)) if self._indexed else 0

    async def search(self, query: str, limit: int = 50) -> list[Message]:
        """Return the newest messages with all words and quoted phrases of a query, newest first.

        Where the index knows none (parts of words, signs, scripts without spaces), the newest messages are looked
        through for the text itself.
        """
        terms = parse_query(query)
        if not terms:
            return []
        found = list[Message]()
        if self._indexed:
            try:
                while await self.index_some():
                    pass
                found = await self.database.read(lambda db: find_indexed(db, terms, limit))
            except StoreCorruptError as error:
                await self._remake_index(error)
        return found or await self.database.read(lambda db: find_scanned(db, terms, limit))

    async def prune(self, older_than: float) -> int:
        """Delete messages that came before a time, also from the index, and return how many they were."""
        query = f"SELECT position FROM inbox_message WHERE received_at < ? LIMIT {_AT_ONCE}"  # noqa: S608 - a number
        deleted = 0
        while rows := await self.database.read(lambda db: db.execute(query, (older_than,)).fetchall()):
            work = partial(_delete, positions=[row[0] for row in rows])
            try:
                await self.database.write(work)
            except StoreCorruptError as error:
                await self._remake_index(error)
                await self.database.write(work)
            deleted += len(rows)
        return deleted

    async def _remake_index(self, error: StoreCorruptError) -> None:
        """Begin the index again. Raises `StoreError` if it is not the index that is damaged."""
        log.warning("full-text index is damaged and made again", extra={"reason": error.message})
        self._indexed = await self.database.write(recreate_index)

    def _load(self, db: sqlite3.Connection) -> None:
        for sender, outbox, tracker in db.execute(
            "SELECT sender, outbox, tracker FROM inbox_series WHERE scope = '' ORDER BY used_at, outbox"
        ):
            self._numbers.setdefault(sender, {})[outbox] = Tracker.decode(tracker)
        for sender, outbox, since, count, last_at in db.execute(
            "SELECT sender, outbox, min(received_at), count(*), max(received_at) FROM inbox_held"
            " GROUP BY sender, outbox"
        ):
            self._held_since[Series(sender, "", outbox)] = since
            self._held[Series(sender, "", outbox)] = (count, last_at)
        query = "SELECT sender, outbox, n FROM inbox_message WHERE seen_at IS NOT NULL AND scope = '' ORDER BY seen_at"
        for row in db.execute(query):
            self._note_seen(Seen(*row))

    def _note(self, taken: Taken) -> None:
        """Keep in memory what was committed."""
        self.duplicates += taken.duplicates
        for series, tracker in taken.trackers.items():
            if not series.scope:
                self._numbers.setdefault(series.sender, {})[series.outbox] = tracker
        for series, since in taken.held_since.items():
            if since is None:
                self._held_since.pop(series, None)
            else:
                self._held_since[series] = since
        for series, since in taken.held_more.items():
            self._held_since.setdefault(series, since)
        for series, change in taken.held_changes.items():
            self._note_held(series, change, taken.at)
        for series in taken.forgotten:
            self._held_since.pop(series, None)
            if not series.scope:
                self._numbers.get(series.sender, {}).pop(series.outbox, None)

    def _note_held(self, series: Series, change: HeldChange, at: float) -> None:
        before, last_at = self._held.pop(series, (0, 0.0))
        count = before + change.held - change.released
        if count > 0:
            self._held[series] = (count, at if change.held else last_at)

    def _note_seen(self, seen: Seen) -> None:
        numbers = self._seen.setdefault(seen.sender, {}).setdefault(seen.outbox, {})
        numbers[seen.n] = None
        if len(numbers) > MOST_SEEN:
            del numbers[next(iter(numbers))]


def _delete(db: sqlite3.Connection, *, positions: Sequence[int]) -> None:
    if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'inbox_text'").fetchone():
        remove_from_index(db, positions)
    db.executemany("DELETE FROM inbox_message WHERE position = ?", [(position,) for position in positions])
