"""The full-text index of the inbox: an FTS5 table beside the messages, filled after they were delivered."""

from __future__ import annotations

import re
import sqlite3
from typing import TYPE_CHECKING

from covey.mesh.inbox.message import SELECT_MESSAGES, Message, selected
from covey.mesh.storable_text import storable

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST_QUERY, MOST_TERMS = 500, 32
SCANNED = 5_000
"""Messages that are looked through, newest first, where the index finds nothing or there is none."""
_COLUMNS = "text, topic, sender_name, meta"
_SOME_BYTES = 256 * 1024
_TERM = re.compile(r'"([^"]*)"?|([^\s"]+)')


def create_index(db: sqlite3.Connection) -> bool:
    """Create the index if it is missing. Returns False if this SQLite cannot."""
    try:
        db.execute(
            f"CREATE VIRTUAL TABLE IF NOT EXISTS inbox_text USING fts5 ({_COLUMNS}, content = 'inbox_message',"
            " content_rowid = 'position', tokenize = 'unicode61 remove_diacritics 2')"
        )
        db.execute("SELECT rowid FROM inbox_text WHERE inbox_text MATCH '\"\"'").fetchone()
    except sqlite3.OperationalError as error:
        if "no such module" in str(error):
            return False
        raise
    return True


def recreate_index(db: sqlite3.Connection) -> bool:
    """Make an empty index in the place of one that is damaged."""
    db.execute("DROP TABLE IF EXISTS inbox_text")
    db.execute("UPDATE inbox_state SET indexed = 0")
    return create_index(db)


def index_next(db: sqlite3.Connection, limit: int) -> int:
    """Index the next messages, at most `limit` and about 256 KB, and return how many they were."""
    indexed: int = db.execute("SELECT indexed FROM inbox_state").fetchone()[0]
    size, last, amount = 0, indexed, 0
    query = (
        "SELECT position, length(CAST(text AS BLOB)) FROM inbox_message WHERE position > ? ORDER BY position LIMIT ?"
    )
    for position, length in db.execute(query, (indexed, limit)):
        last = position
        amount += 1
        size += length
        if size > _SOME_BYTES:
            break
    if amount:
        db.execute(
            f"INSERT INTO inbox_text (rowid, {_COLUMNS})"  # noqa: S608 - our own names
            f" SELECT position, {_COLUMNS} FROM inbox_message WHERE position > ? AND position <= ?",
            (indexed, last),
        )
        db.execute("UPDATE inbox_state SET indexed = ?", (last,))
    return amount


def remove_from_index(db: sqlite3.Connection, positions: Sequence[int]) -> None:
    """Remove messages from the index, before they are deleted: their text is needed for it."""
    db.executemany(
        f"INSERT INTO inbox_text (inbox_text, rowid, {_COLUMNS})"  # noqa: S608 - our own names
        f" SELECT 'delete', position, {_COLUMNS} FROM inbox_message"
        " WHERE position = ? AND position <= (SELECT indexed FROM inbox_state)",
        [(position,) for position in positions],
    )


def parse_query(query: str) -> list[str]:
    """Return the words and quoted phrases of what somebody typed, without characters that SQLite cannot take."""
    text = storable(query[:LONGEST_QUERY]).replace("\0", " ")
    return [term for quoted, word in _TERM.findall(text) if (term := (quoted or word).strip())][:MOST_TERMS]


def find_indexed(db: sqlite3.Connection, terms: Sequence[str], limit: int) -> list[Message]:
    """Return the newest messages that have all terms, newest first. A word that ends in `*` is the start of words."""
    words = " AND ".join(quoted(term) for term in terms)
    query = (
        f"{SELECT_MESSAGES} WHERE position IN"  # noqa: S608 - our own names
        " (SELECT rowid FROM inbox_text WHERE inbox_text MATCH ? ORDER BY rowid DESC LIMIT ?) ORDER BY position DESC"
    )
    return [selected(values) for values in db.execute(query, (words, limit))]


def find_scanned(db: sqlite3.Connection, terms: Sequence[str], limit: int) -> list[Message]:
    """Return the newest of the last messages whose text, topic or sender contains all terms, newest first."""
    places = "instr(lower(text), ?{0}) OR instr(lower(topic), ?{0}) OR instr(lower(sender_name), ?{0})"
    contains = " AND ".join(f"({places.format(count)})" for count in range(2, len(terms) + 2))
    oldest = f"SELECT position FROM inbox_message ORDER BY position DESC LIMIT 1 OFFSET {SCANNED}"  # noqa: S608 - a number
    query = f"{SELECT_MESSAGES} WHERE position > coalesce(({oldest}), 0) AND {contains} ORDER BY position DESC LIMIT ?1"
    lower = [term.rstrip("*").lower() or term for term in terms]
    return [selected(values) for values in db.execute(query, (limit, *lower))]


def quoted(term: str) -> str:
    """Return a term as an FTS5 string, in which nothing has a meaning."""
    prefix = "*" if term.endswith("*") and term.rstrip("*") else ""
    word = term.rstrip("*") if prefix else term
    return '"' + word.replace('"', '""') + '"' + prefix
