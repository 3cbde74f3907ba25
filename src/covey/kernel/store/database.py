"""Opening of a SQLite file so that it is safe to write to: whole, private, in WAL mode, at this program's schema."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from covey.kernel.store.errors import (
    StoreCorruptError,
    StoreDeniedError,
    StoreError,
    StoreNewerError,
    explain,
    explain_os,
)
from covey.kernel.store.migrations import Migration, migrate, refuse_newer

if TYPE_CHECKING:
    from collections.abc import Sequence

Fsync = Literal["strict", "batched_50ms", "off"]
"""When a commit reaches the disk: each by itself; gathered for up to 50 ms; when the operating system writes it."""

_BUSY_S = 5.0
_QUICK_CHECK_BYTES = 16 << 20  # about 1 ms per MB; a larger file is sampled
_PARTS = ("", "-wal", "-shm", "-journal")
_one_at_a_time = threading.Lock()  # a cancelled opening may still run when the next begins


def open_database(path: Path, migrations: Sequence[Migration], fsync: Fsync) -> tuple[sqlite3.Connection, Path | None]:
    """Return the connection to write with, and where a damaged file was moved to, if there was one.

    A file is damaged if SQLite itself calls it malformed or not a database, or if only its log is left. A file that is
    locked, unreadable, on a failing disk or of a newer schema is not damaged: then `StoreError` is raised and the file
    stays where it is. Raises `ValueError` if two migrations are the same.
    """
    if len({migration.name for migration in migrations}) != len(migrations):
        raise ValueError("two migrations have the same name; each needs its own")
    with _one_at_a_time:
        try:
            return _open(path, migrations, fsync), None
        except StoreCorruptError as damage:
            moved = damage.moved_to
        return _open(path, migrations, fsync), moved


def open_reader(path: Path) -> sqlite3.Connection:
    """Return a connection that cannot write, for the calling thread."""
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=_BUSY_S, isolation_level=None)
    connection.execute("PRAGMA query_only = ON")
    return connection


def sync_directory(directory: Path) -> None:
    """Make names that were created or replaced in `directory` durable."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def create_private(path: Path) -> None:
    """Create an empty file of mode 0600, whatever the umask; SQLite gives the same mode to the files beside it."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))


def _open(path: Path, migrations: Sequence[Migration], fsync: Fsync) -> sqlite3.Connection:
    connection = None
    try:
        _prepare(path)
        connection = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, cached_statements=256)
        try:
            refuse_newer(connection, migrations, path)
        except StoreNewerError:
            _probe(connection, path)  # a damaged list of migrations reads like that of a newer Covey
            raise
        _probe(connection, path)
        _configure(connection, fsync, path)
        migrate(connection, migrations, path)
        connection.execute("PRAGMA foreign_keys = ON")
    except (sqlite3.Error, OSError, StoreError) as error:
        problem = explain_os(error, path) if isinstance(error, OSError) else explain(error, path)
        if isinstance(problem, StoreCorruptError):
            # Before the connection is closed: closing folds the log into the file and deletes it by name.
            problem.moved_to = _move_aside(path)
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()
        raise problem from error
    return connection


def _prepare(path: Path) -> None:
    """Create the file, or check that an existing one can be a database, and make it private.

    The file is never opened here: closing any descriptor of it would drop the locks that SQLite holds in this process.
    """
    try:
        found = path.lstat()
    except FileNotFoundError:
        found = None
    if found is not None and not stat.S_ISREG(found.st_mode):
        raise StoreDeniedError(f"{path} is not a regular file.", "Move it away; Covey begins a new file there.")
    if (found is None or found.st_size == 0) and _size(path, "-wal"):
        # SQLite would treat the log as stale and delete it; it may hold everything that was ever committed.
        raise StoreCorruptError(
            f"{path} is missing or empty, but its log {path.name}-wal is not.", "Restore a backup of the file."
        )
    if found is None:
        create_private(path)
        sync_directory(path.parent)
    for part in _PARTS:
        with suppress(FileNotFoundError):
            Path(f"{path}{part}").chmod(0o600)


def _size(path: Path, part: str) -> int:
    try:
        return Path(f"{path}{part}").stat().st_size
    except FileNotFoundError:
        return 0


def _probe(connection: sqlite3.Connection, path: Path) -> None:
    """Raise `StoreCorruptError` or SQLite's error if the file is damaged.

    A small file is checked completely; of a large one the header, the schema and both ends of every table.
    """
    if _size(path, "") + _size(path, "-wal") <= _QUICK_CHECK_BYTES:
        report = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
        # `covey doctor` reports broken constraints and leaked pages; only a broken tree makes the file unusable.
        if report.startswith("***") and not report.endswith("never used"):
            raise StoreCorruptError(f"{path} is damaged: {report.splitlines()[-1]}.", "Restore a backup of the file.")
        return
    for schema, name, type_, _, without_rowid, _ in connection.execute("PRAGMA table_list").fetchall():
        if schema == "main" and type_ == "table":
            quoted = name.replace('"', '""')
            rows = f'SELECT * FROM "{quoted}"'  # noqa: S608 - a name from the schema, quoted
            connection.execute(f"{rows} LIMIT 1").fetchone()
            if not without_rowid:
                connection.execute(f"{rows} ORDER BY rowid DESC LIMIT 1").fetchone()


def _configure(connection: sqlite3.Connection, fsync: Fsync, path: Path) -> None:
    mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    if mode != "wal":
        raise StoreDeniedError(
            f"The file system of {path} cannot keep a write-ahead log.", "Put the home on a local disk: set COVEY_HOME."
        )
    connection.execute("PRAGMA synchronous = OFF" if fsync == "off" else "PRAGMA synchronous = FULL")
    if fsync != "off":
        connection.execute("PRAGMA fullfsync = ON")  # macOS: a plain fsync leaves data in the drive's cache
    connection.execute("PRAGMA journal_size_limit = 16777216")


def _move_aside(path: Path) -> Path:
    """Rename the file and those that belong to it to `<name>.corrupt-<time>`, and return the new path.

    Nothing is deleted. Raises `StoreError` if the files cannot be renamed.
    """
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    target, count = Path(f"{path}.corrupt-{stamp}"), 1
    while any(Path(f"{target}{part}").exists() for part in _PARTS):
        count += 1
        target = Path(f"{path}.corrupt-{stamp}-{count}")
    try:
        _rename_parts(path, target)
        sync_directory(path.parent)
    except OSError as error:
        raise explain_os(error, path) from error
    return target if target.exists() else Path(f"{target}-wal")


def _rename_parts(source: Path, target: Path) -> None:
    for part in _PARTS:
        with suppress(FileNotFoundError):
            Path(f"{source}{part}").rename(f"{target}{part}")
