"""The table in which events are kept: appended at one end, pruned at the other, without holes between.

Functions over a connection, for `Store.write` and `Store.read`.
"""

from __future__ import annotations

from dataclasses import dataclass
from json import loads
from typing import TYPE_CHECKING

from covey.kernel.event import Event

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from covey.kernel.event import Kinds

MIGRATIONS = (
    # AUTOINCREMENT: a cursor is never given twice, also when the newest events are pruned. `total` is the sum of all sizes up to here: what any stretch
    # of the journal weighs is one subtraction, and retention by size needs no scan.
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
    # Nothing else finds a moment without reading the journal: a clock may have been set back, so times do not always follow cursors.
    "CREATE INDEX event_time ON event (time);",
)

_OVERHEAD = 64  # what a row weighs beside its texts, about
_PAGE_BYTES = 4 << 20

_INSERT = """
    INSERT INTO event (id, time, kind, subject, source, data, size, total)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7 + coalesce((SELECT total FROM event ORDER BY cursor DESC LIMIT 1), 0))
"""


@dataclass(frozen=True, slots=True)
class Page:
    """A stretch of the journal: all wanted events after the asked cursor up to and including `reached`."""

    events: list[Event]
    reached: int
    oldest: int
    newest: int


def insert(connection: sqlite3.Connection, draft: Event) -> int:
    """Append, and return the cursor it was given."""
    size = _OVERHEAD + len(draft.id) + len(draft.kind) + len(draft.subject) + len(draft.source) + len(draft.text)
    row = (draft.id, draft.time, draft.kind, draft.subject, draft.source, draft.text, size)
    cursor = connection.execute(_INSERT, row).lastrowid
    assert cursor is not None
    return cursor


def newest(connection: sqlite3.Connection) -> int:
    """The newest cursor ever given; 0 if none was."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'event'").fetchone()
    return 0 if row is None else int(row[0])


def page(connection: sqlite3.Connection, after: int, kinds: Kinds, limit: int, most_bytes: int = _PAGE_BYTES) -> Page:
    """The next `limit` events after the cursor `after`, fewer when they are large."""
    last = newest(connection)
    first = connection.execute("SELECT cursor FROM event ORDER BY cursor LIMIT 1").fetchone()
    where, values = _condition(kinds)
    rows = connection.execute(
        f"SELECT cursor, id, time, kind, subject, source, data FROM event WHERE cursor > ?{where} ORDER BY cursor LIMIT ?",  # noqa: S608 - only places
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
    """The journal as it is in one snapshot. What is read is not kept: a stretch may be of any length."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def upto(self, time: float) -> int:
        """The newest cursor of that time or before; 0 if there is none. Of a time that the clock showed twice: the second."""
        found = self._connection.execute("SELECT max(cursor) FROM event WHERE time <= ?", (time,)).fetchone()[0]
        return 0 if found is None else int(found)

    def last(self, kinds: Kinds, upto: int) -> int | None:
        """The cursor of the newest wanted event up to and including `upto`."""
        where, values = _condition(kinds)
        query = f"SELECT cursor FROM event WHERE cursor <= ?{where} ORDER BY cursor DESC LIMIT 1"  # noqa: S608 - only places
        found = self._connection.execute(query, (upto, *values)).fetchone()
        return None if found is None else int(found[0])

    def before_last(self, kinds: Kinds, after: int, count: int) -> int:
        """The cursor after which the last `count` wanted events stand, of those after the cursor `after`."""
        if count <= 0:
            return max(after, newest(self._connection))
        where, values = _condition(kinds)
        query = f"SELECT cursor FROM event WHERE cursor > ?{where} ORDER BY cursor DESC LIMIT 1 OFFSET ?"  # noqa: S608 - only places
        found = self._connection.execute(query, (after, *values, count - 1)).fetchone()
        return after if found is None else int(found[0]) - 1

    def stretch(self, kinds: Kinds, after: int = 0, upto: int | None = None) -> Iterator[Event]:
        """The wanted events after a cursor, up to and including another."""
        where, values = _condition(kinds)
        rows = self._connection.execute(
            f"SELECT cursor, id, time, kind, subject, source, data FROM event WHERE cursor > ? AND cursor <= ?{where} ORDER BY cursor",  # noqa: S608 - only places
            (after, newest(self._connection) if upto is None else upto, *values),
        )
        for cursor, id_, time, kind, subject, source, text in rows:
            yield Event(cursor, id_, time, kind, subject, loads(text), source, text)


def prune(connection: sqlite3.Connection, before: float, keep_bytes: int, limit: int) -> int:
    """Delete from the oldest end what is older than `before` or beyond `keep_bytes`, at most `limit` events; how many it were."""
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
