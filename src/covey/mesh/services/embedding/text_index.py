"""The index of texts in the replica: a full-text table, labels to filter by, and the vectors, filled by `project`.

Each service has tables of its own, whose names begin with that of the service. An entry belongs to an area, such as a
collection. What has changed has a greater number than before, so that a matrix in memory reads only that.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from covey.kernel.store.migrations import Migration
from covey.mesh.inbox.full_text import parse_query, quoted
from covey.mesh.services.embedding.matrix import Row

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

_TABLES = """
CREATE TABLE {name}_entry (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    area TEXT NOT NULL,
    present INTEGER NOT NULL,
    model TEXT,
    vector BLOB
) STRICT;
CREATE INDEX {name}_entry_area ON {name}_entry (area, number);
CREATE INDEX {name}_entry_model ON {name}_entry (present, area, model);
CREATE TABLE {name}_label (
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (name, value, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX {name}_label_number ON {name}_label (number);
CREATE VIRTUAL TABLE {name}_words USING fts5 (text, content = '', tokenize = 'porter unicode61 remove_diacritics 2');
"""


class Entry(NamedTuple):
    """What is indexed of one version of a document."""

    key: str
    area: str
    text: str
    labels: Sequence[tuple[str, str]]
    """Names and values that it can be filtered by."""
    model: str | None
    vector: bytes | None


class Choice(NamedTuple):
    """A condition: the label of that name has one of these values."""

    name: str
    values: Sequence[str]


class TextIndex:
    """The tables of one service. All methods but `migrations` run in the thread of a connection."""

    def __init__(self, name: str) -> None:
        self._name = name

    def migrations(self) -> list[Migration]:
        """Return what creates the tables."""
        return [Migration(f"{self._name}.text_index", _TABLES.format(name=self._name))]

    def replace(self, database: sqlite3.Connection, before: Entry | None, entry: Entry | None) -> None:
        """Index a version in the place of the one before it; None: it was deleted, or there was none."""
        if before is not None:
            self._remove(database, before)
        if entry is not None:
            self._put(database, entry)
        elif before is not None:  # a trace of it stays, so that matrices in memory leave it out
            insert = f"INSERT INTO {self._name}_entry (key, area, present) VALUES (?, ?, 0)"  # noqa: S608 - our names
            database.execute(insert, (before.key, before.area))

    def _remove(self, database: sqlite3.Connection, entry: Entry) -> None:
        name = self._name
        row = database.execute(f"SELECT number FROM {name}_entry WHERE key = ?", (entry.key,)).fetchone()  # noqa: S608
        insert = f"INSERT INTO {name}_words ({name}_words, rowid, text) VALUES ('delete', ?, ?)"  # noqa: S608
        database.execute(insert, (*row, entry.text))
        database.execute(f"DELETE FROM {name}_label WHERE number = ?", row)  # noqa: S608
        database.execute(f"DELETE FROM {name}_entry WHERE number = ?", row)  # noqa: S608

    def _put(self, database: sqlite3.Connection, entry: Entry) -> None:
        name = self._name
        database.execute(f"DELETE FROM {name}_entry WHERE key = ? AND NOT present", (entry.key,))  # noqa: S608
        number = database.execute(
            f"INSERT INTO {name}_entry (key, area, present, model, vector) VALUES (?, ?, 1, ?, ?)",  # noqa: S608
            (entry.key, entry.area, entry.model, entry.vector),
        ).lastrowid
        database.execute(f"INSERT INTO {name}_words (rowid, text) VALUES (?, ?)", (number, entry.text))  # noqa: S608
        database.executemany(
            f"INSERT OR IGNORE INTO {name}_label VALUES (?, ?, ?)",  # noqa: S608
            [(*label, number) for label in entry.labels],
        )

    def by_words(
        self, database: sqlite3.Connection, area: str, query: str, chosen: Sequence[Choice], limit: int
    ) -> list[str]:
        """Return the keys of those that have some of the words, the best first: those with more and with rarer words.

        Words in double quotes have to stand together; a word that ends in `*` is the beginning of one. Nothing else
        has a meaning.
        """
        terms = parse_query(query)
        if not terms:
            return []
        condition, values = self._condition(chosen)
        found = database.execute(
            f"SELECT key FROM {self._name}_words JOIN {self._name}_entry ON number = {self._name}_words.rowid "  # noqa: S608
            f"WHERE {self._name}_words MATCH ? AND area = ? {condition} ORDER BY rank LIMIT ?",
            (" OR ".join(map(quoted, terms)), area, *values, limit),
        )
        return [key for (key,) in found]

    def chosen(self, database: sqlite3.Connection, area: str, chosen: Sequence[Choice]) -> list[int]:
        """Return the numbers of the entries that fulfil all choices."""
        condition, values = self._condition(chosen)
        rows = database.execute(
            f"SELECT number FROM {self._name}_entry WHERE area = ? AND present {condition}",  # noqa: S608
            (area, *values),
        )
        return [number for (number,) in rows]

    def newest(
        self, database: sqlite3.Connection, area: str, chosen: Sequence[Choice], before: str, limit: int
    ) -> list[str]:
        """Return the greatest keys of an area that fulfil all choices, those less than `before` if that is not empty.

        Keys that were made by `new_key` sort by their time.
        """
        condition, values = self._condition(chosen)
        rows = database.execute(
            f"SELECT key FROM {self._name}_entry WHERE area = ? AND present AND (? = '' OR key < ?) {condition} "  # noqa: S608
            "ORDER BY key DESC LIMIT ?",
            (area, before, before, *values, limit),
        )
        return [key for (key,) in rows]

    def rows_after(self, database: sqlite3.Connection, area: str, number: int, model: str) -> list[Row]:
        """Return what has changed in an area after a number, in the order of the numbers."""
        rows = database.execute(
            f"SELECT number, key, present, CASE WHEN model = ? THEN vector END FROM {self._name}_entry "  # noqa: S608
            "WHERE area = ? AND number > ? ORDER BY number",
            (model, area, number),
        )
        return [Row(number, key, bool(present), vector) for number, key, present, vector in rows]

    def of_other_models(self, database: sqlite3.Connection, area: str | None, model: str) -> list[str]:
        """Return the keys of those without a vector of a model, in one area or in all."""
        rows = database.execute(
            f"SELECT key FROM {self._name}_entry WHERE present AND (?1 IS NULL OR area = ?1) AND model IS NOT ?2",  # noqa: S608
            (area, model),
        )
        return [key for (key,) in rows]

    def areas(self, database: sqlite3.Connection) -> list[tuple[str, int, list[str], int]]:
        """Return every area with entries: how many there are, the models of their vectors, and how many have none."""
        rows = database.execute(
            f"SELECT area, count(*), json_group_array(DISTINCT model), sum(model IS NULL) FROM {self._name}_entry "  # noqa: S608
            "WHERE present GROUP BY area ORDER BY area"
        )
        return [(area, count, sorted(filter(None, json.loads(models))), bare) for area, count, models, bare in rows]

    def _condition(self, chosen: Sequence[Choice]) -> tuple[str, list[str]]:
        """Return SQL that is true for the numbers that fulfil all choices, and its values."""
        parts, values = "", list[str]()
        for name, alternatives in chosen:
            places = ", ".join("?" * len(alternatives))
            parts += f" AND number IN (SELECT number FROM {self._name}_label WHERE name = ? AND value IN ({places}))"  # noqa: S608
            values += [name, *alternatives]
        return parts, values
