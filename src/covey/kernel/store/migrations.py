"""The schema goes forward: migrations that the file has not seen yet are applied, each in one transaction.

The file records each migration under its name, so that the lists of several subsystems can be joined, and each may grow
at its end without moving the others. `PRAGMA user_version` is the number of migrations applied.
"""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from covey.kernel.store.errors import StoreError, StoreMigrationError, StoreNewerError, explain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_LEDGER = (
    "CREATE TABLE IF NOT EXISTS schema_step (position INTEGER PRIMARY KEY, script TEXT NOT NULL, name TEXT) STRICT"
)
"""`script` is the SQL that was run. Databases from before migrations had names are without `name`."""


class Migration(NamedTuple):
    """One change of the schema.

    Its name identifies it in every database and must never change. Its SQL may be reworded, if it still does the same.
    `digest` is that of the SQL under which older databases, whose ledger has no names, recorded it.
    """

    name: str
    script: str
    digest: str = ""


def digest_of(script: str) -> str:
    """Return the digest of a migration's SQL, whatever its white space."""
    return hashlib.sha256(_squeezed(script).encode()).hexdigest()[:16]


def refuse_newer(connection: sqlite3.Connection, migrations: Sequence[Migration], path: Path) -> None:
    """Raise StoreNewerError if the file has seen a migration that this program does not have; nothing is written."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    unknown = _applied(connection, migrations) - {migration.name for migration in migrations}
    if version > len(migrations) or unknown:
        raise StoreNewerError(
            f"{path} was written by a newer Covey (schema {version}; this one knows {len(migrations)}). "
            "It was not touched.",
            "Upgrade Covey, or use another home for this version: set COVEY_HOME.",
        )


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration], path: Path) -> None:
    """Apply the migrations that are missing.

    If one fails, or a crash interrupts it, the file stays as it was before that migration. Raises StoreError.
    """
    applied = _applied(connection, migrations)
    for migration in migrations:
        if migration.name in applied:
            continue
        try:
            connection.execute("BEGIN IMMEDIATE")
            applied = _applied(connection, migrations)  # again: another process may have migrated meanwhile
            if migration.name not in applied:
                _prepare_ledger(connection, migrations)
                _apply(connection, migration, len(applied) + 1)
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            problem = explain(error, path)
            if isinstance(problem, StoreError):
                raise problem from error
            raise StoreMigrationError(
                f"{path} could not be brought to schema {len(applied) + 1} ({migration.name}): {error}. "
                "It is as it was before.",
                "Go back to the version of Covey that wrote it, and report this.",
            ) from error
        applied.add(migration.name)


def _prepare_ledger(connection: sqlite3.Connection, migrations: Sequence[Migration]) -> None:
    """Create the ledger, or give names to the steps of one that has none."""
    connection.execute(_LEDGER)
    if "name" not in _columns(connection):
        connection.execute("ALTER TABLE schema_step ADD COLUMN name TEXT")
    names = _names_by_digest(migrations)
    for position, script in connection.execute(
        "SELECT position, script FROM schema_step WHERE name IS NULL"
    ).fetchall():
        connection.execute("UPDATE schema_step SET name = ? WHERE position = ?", (names[digest_of(script)], position))


def _apply(connection: sqlite3.Connection, migration: Migration, version: int) -> None:
    # Foreign keys are off here, as rebuilding a table requires; references are checked afterwards instead.
    for statement in _statements(migration.script):
        connection.execute(statement)
    dangling = connection.execute("PRAGMA foreign_key_check").fetchone()
    if dangling is not None:
        raise sqlite3.IntegrityError(f"it would leave a reference in {dangling[0]} without its row in {dangling[2]}")
    step = (version, _squeezed(migration.script), migration.name)
    connection.execute("INSERT INTO schema_step (position, script, name) VALUES (?, ?, ?)", step)
    connection.execute(f"PRAGMA user_version = {version:d}")


def _statements(script: str) -> Iterator[str]:
    """Yield the statements one by one, since `executescript` would commit first."""
    statement = ""
    for piece in script.split(";"):
        statement += f"{piece};"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if statement:
        yield f"{statement}\n;"  # it ended in a comment


def _applied(connection: sqlite3.Connection, migrations: Sequence[Migration]) -> set[str]:
    """Return the names of the migrations in the ledger; for a step that is not known, its SQL."""
    columns = _columns(connection)
    if not columns:
        return set()
    names = _names_by_digest(migrations)
    recorded = "name" if "name" in columns else "NULL"
    rows = connection.execute(f"SELECT {recorded}, script FROM schema_step")  # noqa: S608 - one of two words
    return {name or names.get(digest_of(script), script) for name, script in rows}


def _names_by_digest(migrations: Sequence[Migration]) -> dict[str, str]:
    return {migration.digest or digest_of(migration.script): migration.name for migration in migrations}


def _columns(connection: sqlite3.Connection) -> set[str]:
    """Return the columns of the ledger; none if there is no ledger yet."""
    return {row[1] for row in connection.execute("PRAGMA table_info(schema_step)")}


def _squeezed(script: str) -> str:
    return " ".join(script.split())
