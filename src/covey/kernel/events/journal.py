"""The table of events: appended at one end, pruned at the other, without gaps in between.

Functions over a connection, for `Store.write` and `Store.read`.
"""

from __future__ import annotations

from dataclasses import dataclass
from json import loads
from typing import TYPE_CHECKING

from covey.kernel.events.event import Event
from covey.kernel.store.migrations import Migration

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from covey.kernel.events.event import Kinds

MIGRATIONS = (
    # AUTOINCREMENT: a cursor is never given twice, also when the newest events are pruned. `total` is the sum of all
    # sizes up to here: the size of any part of the journal is one subtraction, and retention by size needs no scan.
    Migration(
        "events.journal",
        """
    CREATE TABLE event (
        cursor INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL,
        time REAL NOT NULL,
        kind TEXT NOT NULL,
        subject TEXT NOT NULL,
        source TEXT NOT NULL,
        data TEXT NOT NULL,
        size INTEGER NOT NULL,
        total INTEGER NOT NULL
    ) STRICT;
    """,
        digest="eb23cd22fd03dfc9",
    ),
    # A time cannot be found by bisection of cursors: a clock may have been set back.
    Migration("events.time_index", "CREATE INDEX event_time ON event (time);", digest="2b49bee2cb2cb732"),
)

_OVERHEAD = 64  # size of a row without its texts, about
_PAGE_BYTES = 4 << 20

_SELECT = "SELECT cursor, id, time, kind, subject, source, data FROM event"
_INSERT = """
    INSERT INTO event (id, time, kind, subject, source, data, size, total)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7 + coalesce((SELECT total FROM event ORDER BY cursor DESC LIMIT 1), 0))
"""


@dataclass(frozen=True, slots=True)
class Page:
    """Part of the journal: all wanted events after a cursor, up to and including `reached`."""

    events: list[Event]
    reached: int
    oldest: int
    newest: int


def insert(connection: sqlite3.Connection, draft: Event) -> int:
    """Append an event, and return its cursor."""
    size = _OVERHEAD + len(draft.id) + len(draft.kind) + len(draft.subject) + len(draft.source) + len(draft.text)
    row = (draft.id, draft.time, draft.kind, draft.subject, draft.source, draft.text, size)
    cursor = connection.execute(_INSERT, row).lastrowid
    assert cursor is not None
    return cursor


def newest(connection: sqlite3.Connection) -> int:
    """Return the newest cursor ever given; 0 if there was none."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'event'").fetchone()
    return 0 if row is None else int(row[0])


def page(connection: sqlite3.Connection, after: int, kinds: Kinds, limit: int, most_bytes: int = _PAGE_BYTES) -> Page:
    """Return the next `limit` events after the cursor `after`, fewer when they are large."""
    last = newest(connection)
    first = connection.execute("SELECT cursor FROM event ORDER BY cursor LIMIT 1").fetchone()
    where, values = _condition(kinds)
    rows = connection.execute(
        f"{_SELECT} WHERE cursor > ?{where} ORDER BY cursor LIMIT ?",
        (after, *values, limit),
    )
    events: list[Event] = []
    room = most_bytes
    for cursor, id_, time, kind, subject, source, text in rows:
        events.append(Event(cursor, id_, time, kind, subject, loads(text), source, text))
        room -= len(text)
        if room < 0:
            break
    complete = len(events) < limit and room >= 0
    return Page(
        events, max(after, last) if complete else events[-1].cursor, last + 1 if first is None else int(first[0]), last
    )


class Reader:
    """The journal in one snapshot of the database. Events are read one by one, so that any number can be read."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def upto(self, time: float) -> int:
        """Return the newest cursor of that time or before; 0 if there is none.

        If the clock was set back and showed the time twice, it is that of the second time.
        """
        found = self._connection.execute("SELECT max(cursor) FROM event WHERE time <= ?", (time,)).fetchone()[0]
        return 0 if found is None else int(found)

    def last(self, kinds: Kinds, upto: int) -> int | None:
        """Return the cursor of the newest wanted event up to and including `upto`; None if there is none."""
        where, values = _condition(kinds)
        query = f"SELECT cursor FROM event WHERE cursor <= ?{where} ORDER BY cursor DESC LIMIT 1"  # noqa: S608 - only places
        found = self._connection.execute(query, (upto, *values)).fetchone()
        return None if found is None else int(found[0])

    def before_last(self, kinds: Kinds, after: int, count: int) -> int:
        """Return the cursor that the last `count` wanted events after the cursor `after` follow."""
        if count <= 0:
            return max(after, newest(self._connection))
        where, values = _condition(kinds)
        query = f"SELECT cursor FROM event WHERE cursor > ?{where} ORDER BY cursor DESC LIMIT 1 OFFSET ?"  # noqa: S608 - only places
        found = self._connection.execute(query, (after, *values, count - 1)).fetchone()
        return after if found is None else int(found[0]) - 1

    def stretch(self, kinds: Kinds, after: int = 0, upto: int | None = None) -> Iterator[Event]:
        """Yield the wanted events after a cursor, up to and including another."""
        where, values = _condition(kinds)
        rows = self._connection.execute(
            f"{_SELECT} WHERE cursor > ? AND cursor <= ?{where} ORDER BY cursor",
            (after, newest(self._connection) if upto is None else upto, *values),
        )
        for cursor, id_, time, kind, subject, source, text in rows:
            yield Event(cursor, id_, time, kind, subject, loads(text), source, text)

    def backwards(self, kinds: Kinds, after: int = 0) -> Iterator[Event]:
        """Yield the wanted events after a cursor, the newest first."""
        where, values = _condition(kinds)
        rows = self._connection.execute(f"{_SELECT} WHERE cursor > ?{where} ORDER BY cursor DESC", (after, *values))
        for cursor, id_, time, kind, subject, source, text in rows:
            yield Event(cursor, id_, time, kind, subject, loads(text), source, text)


def prune(connection: sqlite3.Connection, before: float, keep_bytes: int, limit: int) -> int:
    """Delete the oldest events, older than `before` or beyond `keep_bytes`, at most `limit`; return how many."""
    last = connection.execute("SELECT total FROM event ORDER BY cursor DESC LIMIT 1").fetchone()
    if last is None:
        return 0
    floor = int(last[0]) - keep_bytes
    upto = 0
    for cursor, time, start in connection.execute(
        "SELECT cursor, time, total - size FROM event ORDER BY cursor LIMIT ?", (limit,)
    ):
        if time >= before and start >= floor:
            break
        upto = cursor
    return connection.execute("DELETE FROM event WHERE cursor <= ?", (upto,)).rowcount if upto else 0


def _condition(kinds: Kinds) -> tuple[str, list[str]]:
    if kinds.all:
        return "", []
    parts = ["kind = ?"] * len(kinds.exact) + ["(kind >= ? AND kind < ?)"] * len(kinds.families)
    values = [*kinds.exact]
    for family in kinds.families:
        values += [family, family[:-1] + "/"]  # "/" follows "." in ASCII
    return f" AND ({' OR '.join(parts)})", values
