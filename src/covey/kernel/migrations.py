"""The schema goes forward: scripts that the file has not seen yet are applied, each in one transaction.

What was applied is recorded in the file script by script (white space aside), so the lists of several subsystems can be joined and each may grow at its end
without moving the others. `PRAGMA user_version` is the number of scripts applied.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING

from covey.kernel.store_errors import StoreError, StoreMigrationError, StoreNewerError, explain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_LEDGER = "CREATE TABLE IF NOT EXISTS schema_step (position INTEGER PRIMARY KEY, script TEXT NOT NULL) STRICT"


def refuse_newer(connection: sqlite3.Connection, migrations: Sequence[str], path: Path) -> None:
    """Raise `StoreNewerError` if the file has seen a script that this program does not have; nothing is written."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    unknown = _applied(connection) - {_plain(script) for script in migrations}
    if version > len(migrations) or unknown:
        raise StoreNewerError(
            f"{path} was written by a newer Covey (schema {version}; this one knows {len(migrations)}). It was not touched.",
            "Upgrade Covey, or use another home for this version: set COVEY_HOME.",
        )


def migrate(connection: sqlite3.Connection, migrations: Sequence[str], path: Path) -> None:
    """Apply what is missing. A script that fails, and a crash in its middle, leave the file as it was before that script."""
    applied = _applied(connection)
    for script in migrations:
        if _plain(script) in applied:
            continue
        try:
            connection.execute("BEGIN IMMEDIATE")
            applied = _applied(connection)  # again: until now another opener may have been at it
            if _plain(script) not in applied:
                _apply(connection, script, len(applied) + 1)
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            problem = explain(error, path)
            if isinstance(problem, StoreError):
                raise problem from error
            raise StoreMigrationError(
                f"{path} could not be brought to schema {len(applied) + 1}: {error}. It is as it was before.",
                "Go back to the version of Covey that wrote it, and report this.",
            ) from error
        applied.add(_plain(script))


def _apply(connection: sqlite3.Connection, script: str, version: int) -> None:
    # Foreign keys are off at this point, as rebuilding a table needs; what the script leaves behind is checked instead.
    connection.execute(_LEDGER)
    for statement in _statements(script):
        connection.execute(statement)
    dangling = connection.execute("PRAGMA foreign_key_check").fetchone()
    if dangling is not None:
        raise sqlite3.IntegrityError(f"it would leave a reference in {dangling[0]} without its row in {dangling[2]}")
    connection.execute("INSERT INTO schema_step (position, script) VALUES (?, ?)", (version, _plain(script)))
    connection.execute(f"PRAGMA user_version = {version:d}")


def _statements(script: str) -> Iterator[str]:
    """One by one, since `executescript` would commit first."""
    statement = ""
    for piece in script.split(";"):
        statement += f"{piece};"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if statement:
        yield f"{statement}\n;"  # what ended in a remark


def _applied(connection: sqlite3.Connection) -> set[str]:
    known = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_step'").fetchone()
    return {row[0] for row in connection.execute("SELECT script FROM schema_step")} if known else set()


def _plain(script: str) -> str:
    return " ".join(script.split())
