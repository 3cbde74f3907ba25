"""The transactions that take messages in: each number once, direct ones in order, with the positions of the streams.

A direct message that comes before another that is still missing is held in its own table until that one has come, its
number was skipped, or it was waited for long enough. Everything is decided by what the database holds, since several
transactions may be under way before the first is answered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from covey.mesh.inbox.message import COLUMNS, Message, Row, message_of
from covey.mesh.inbox.tracker import Tracker

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

MOST_OUTBOXES = 64
"""Of one sender for one scope; beyond, the one that was used longest ago is forgotten. An honest sender has one or two,
since a new one is made only when the file is lost."""
REORDERED = 1024
"""How much smaller than the first number of a topic that is seen a later one may be: senders resend in any order."""

_HELD = f"SELECT {COLUMNS} FROM inbox_held WHERE sender = ? AND outbox = ? AND n BETWEEN ? AND ? ORDER BY n"  # noqa: S608 - our own names
_UNHOLD = "DELETE FROM inbox_held WHERE sender = ? AND outbox = ? AND n BETWEEN ? AND ?"
_PLACES = ", ".join("?" * len(Row._fields))
_HOLD = f"INSERT OR IGNORE INTO inbox_held ({COLUMNS}) VALUES ({_PLACES})"  # noqa: S608 - our own names
_INSERT = f"INSERT OR IGNORE INTO inbox_message (position, late, {COLUMNS}) VALUES (?, ?, {_PLACES})"  # noqa: S608 - our own names
_ALL = (0, 2**63 - 1)


class Series(NamedTuple):
    """What one outbox sends to this member (scope '') or to one topic."""

    sender: str
    scope: str
    outbox: str


class Arrival(NamedTuple):
    """One message, or the news that its number is skipped."""

    row: Row
    skip: bool


class HeldChange(NamedTuple):
    """How many messages were held, and how many of the held ones were released."""

    held: int = 0
    released: int = 0


class Taken(NamedTuple):
    """What a transaction has done."""

    at: float
    """When its messages came."""
    messages: list[Message]
    trackers: dict[Series, Tracker]
    """Of the series that were touched."""
    forgotten: list[Series]
    held_since: dict[Series, float | None]
    """Since when the messages behind the first hole wait, where that has changed; None if none do any more."""
    held_more: dict[Series, float]
    """Since when further messages wait; others may do so for longer."""
    held_changes: dict[Series, HeldChange]
    duplicates: int


class Intake:
    """One transaction. `finish` has to be the last call."""

    def __init__(self, db: sqlite3.Connection, now: float) -> None:
        self._db = db
        self._now = now
        self._trackers: dict[Series, Tracker] = {}
        self._made: list[Series] = []
        self._released: list[tuple[Row, bool]] = []
        self._held_since: dict[Series, float | None] = {}
        self._held_more: dict[Series, float] = {}
        self._held_changes: dict[Series, HeldChange] = {}
        self._forgotten: list[Series] = []
        self._duplicates = 0

    def take(self, arrivals: Sequence[Arrival]) -> None:
        """Take messages in, in this order."""
        for row, skip in arrivals:
            series = Series(row.sender, row.scope, row.outbox)
            tracker = self._tracker(series, row.n)
            late = row.n < tracker.settled
            if tracker.accept(row.n) == "duplicate":
                self._duplicates += 1
            elif not series.scope and not late:
                self._take_in_order(series, tracker, row, skip=skip)
            elif not skip:
                self._released.append((row, late and not series.scope))

    def give_up(self, series: Series, held_before: float) -> None:
        """Give up the holes before messages that have been held since before a time, and release those."""
        tracker = self._tracker(series, 1)
        while ready := tracker.give_up():
            self._release_held(series, ready)
            since = self._since(series)
            if since is None or since > held_before:
                break

    def advance(self, cursors: Mapping[str, int]) -> None:
        """Move the positions in streams forward, never back."""
        self._db.executemany(
            "INSERT INTO inbox_cursor (stream, incarnation, sequence) VALUES (?, '', ?)"
            " ON CONFLICT (stream) DO UPDATE SET sequence = max(sequence, excluded.sequence)",
            list(cursors.items()),
        )

    def finish(self) -> Taken:
        """Store what was released and which numbers have come."""
        self._db.executemany(
            "INSERT OR REPLACE INTO inbox_series (sender, scope, outbox, used_at, tracker) VALUES (?, ?, ?, ?, ?)",
            [(*series, self._now, tracker.encode()) for series, tracker in self._trackers.items()],
        )
        for sender, scope in {(one.sender, one.scope) for one in self._made}:
            self._forget_oldest(sender, scope)
        return Taken(
            self._now,
            self._insert(),
            self._trackers,
            self._forgotten,
            self._held_since,
            self._held_more,
            self._held_changes,
            self._duplicates,
        )

    def _tracker(self, series: Series, n: int) -> Tracker:
        tracker = self._trackers.get(series)
        if tracker is None:
            found = self._db.execute(
                "SELECT tracker FROM inbox_series WHERE sender = ? AND scope = ? AND outbox = ?", series
            ).fetchone()
            if found is not None:
                tracker = Tracker.decode(found[0])
            else:
                tracker = Tracker(max(1, n - REORDERED) if series.scope else 1)
                self._made.append(series)
            self._trackers[series] = tracker
        return tracker

    def _take_in_order(self, series: Series, tracker: Tracker, row: Row, *, skip: bool) -> None:
        ready = tracker.take_ready()
        if not skip:
            if ready == range(row.n, row.n + 1):  # nearly always: the next one, and nothing is held
                self._released.append((row, False))
                return
            self._count_held(series, held=self._db.execute(_HOLD, row).rowcount)
        if ready:
            self._release_held(series, ready)
        elif not skip:
            self._note_held(series)

    def _count_held(self, series: Series, *, held: int = 0, released: int = 0) -> None:
        before = self._held_changes.get(series, HeldChange())
        self._held_changes[series] = HeldChange(before.held + held, before.released + released)

    def _note_held(self, series: Series) -> None:
        if series not in self._held_since:
            self._held_more.setdefault(series, self._now)
        elif self._held_since[series] is None:
            self._held_since[series] = self._now

    def _release_held(self, series: Series, numbers: range) -> None:
        wanted = (series.sender, series.outbox, numbers.start, numbers.stop - 1)
        self._released += [(Row._make(values), False) for values in self._db.execute(_HELD, wanted)]
        self._count_held(series, released=self._db.execute(_UNHOLD, wanted).rowcount)
        self._held_since[series] = self._since(series)
        self._held_more.pop(series, None)

    def _since(self, series: Series) -> float | None:
        query = "SELECT min(received_at) FROM inbox_held WHERE sender = ? AND outbox = ?"
        since: float | None = self._db.execute(query, (series.sender, series.outbox)).fetchone()[0]
        return since

    def _forget_oldest(self, sender: str, scope: str) -> None:
        query = (
            "SELECT outbox FROM inbox_series WHERE sender = ? AND scope = ? ORDER BY used_at DESC, outbox"
            " LIMIT -1 OFFSET ?"
        )
        for (outbox,) in self._db.execute(query, (sender, scope, MOST_OUTBOXES)).fetchall():
            series = Series(sender, scope, outbox)
            if not scope:
                self._release_held(series, range(*_ALL))
            self._db.execute("DELETE FROM inbox_series WHERE sender = ? AND scope = ? AND outbox = ?", series)
            self._trackers.pop(series, None)
            self._held_since.pop(series, None)
            self._held_more.pop(series, None)
            self._forgotten.append(series)

    def _insert(self) -> list[Message]:
        """Store the released messages. One whose id its sender has used before was sent again under a new number."""
        if not self._released:
            return []
        reserve = "UPDATE inbox_state SET position = position + ? RETURNING position"
        last: int = self._db.execute(reserve, (len(self._released),)).fetchall()[0][0]
        messages = list[Message]()
        for position, (row, late) in enumerate(self._released, last - len(self._released) + 1):
            if self._db.execute(_INSERT, (position, late, *row)).rowcount:
                messages.append(message_of(position, late, None, row))
            else:
                self._duplicates += 1
        return messages
