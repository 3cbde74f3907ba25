"""One SQLite file of one daemon: durable writes through one writer, reads that block nobody, backups and checks while it runs.

`write` is answered only after its COMMIT, under every fsync policy; what differs is what a commit means:

    strict         on the disk: every commit is fsynced
    batched_50ms   on the disk: writes wait up to 50 ms for others and share one fsynced commit
    off            with the operating system: survives a crash of the daemon, not one of the machine
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from covey.kernel.database import Fsync, create_private, sync_directory
from covey.kernel.readers import Readers
from covey.kernel.store_errors import StoreDeniedError, StoreError, explain, explain_os
from covey.kernel.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from covey.kernel.migrations import Migration

__all__ = ["Fsync", "Store", "StoreError"]

T = TypeVar("T")

_READERS = 4
_CAPACITY = 1024
_PAGES = 512  # copied between two looks at whether the backup is still wanted


class Store:
    """Open with `await Store.open(path, migrations)`; close with `aclose` or `async with`."""

    def __init__(self, path: Path, writer: Writer, readers: Readers, recovered_from: Path | None) -> None:
        self.path = path
        self.recovered_from = recovered_from
        """Where the file that was found damaged at the opening is now; None when all was well."""
        self._writer = writer
        self._readers = readers
        self._backups = asyncio.Lock()

    @classmethod
    async def open(
        cls, path: Path, migrations: Sequence[Migration], *, fsync: Fsync = "strict", capacity: int = _CAPACITY
    ) -> Store:
        """The store at `path`, created (0600) or brought to the schema of `migrations`. At most `capacity` writes wait at a time; further ones wait to wait."""
        resolved = Path(os.path.realpath(path))  # noqa: ASYNC240 - a few calls; SQLite names the log after the file a link points to
        writer = Writer(resolved, fsync, capacity)
        recovered_from = await writer.open(migrations)
        return cls(resolved, writer, Readers(resolved, _READERS, capacity), recovered_from)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    @property
    def commits(self) -> int:
        """How many commits were made since the opening; fewer than writes when many were waiting together."""
        return self._writer.commits

    async def write(self, work: Callable[[sqlite3.Connection], T], *, then: Callable[[T], None] | None = None) -> T:
        """What `work` returns, once it is committed. If it raises, its changes and only its changes are taken back.

        `work` runs in the writer's thread, in a transaction shared with others, which it cannot end. It may be run twice (when another work spoilt the
        shared transaction), so its effects belong into the database. `then` is called in the loop after the commit, in commit order over all writes,
        even when the caller was cancelled meanwhile: what was committed is told.
        """
        return cast("T", await self._writer.write(work, cast("Callable[[Any], None] | None", then)))

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What `work` returns, over a connection that cannot write, in one snapshot that holds every write acknowledged before. Cancelling stops it."""
        return cast("T", await self._readers.read(work))

    async def backup(self, target: Path) -> None:
        """A copy of this moment at `target`, whole or not at all, mode 0600; writes go on meanwhile."""
        partial = target.with_name(
            f".{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]}.partial"
        )  # the name itself may be as long as can be
        gone = False

        def work(connection: sqlite3.Connection) -> None:
            try:
                _refuse_unsafe(self.path, target)
                partial.unlink(missing_ok=True)
                create_private(partial)
                _copy(connection, partial, lambda: gone)
                partial.replace(target)
                sync_directory(target.parent)
            except OSError as error:
                raise explain_os(error, target) from error
            except sqlite3.Error as error:
                raise explain(error, target) from error
            finally:
                with suppress(OSError):
                    partial.unlink(missing_ok=True)

        async with self._backups:
            try:
                await self.read(work)
            except asyncio.CancelledError:
                gone = True
                raise

    async def check(self) -> list[str]:
        """What is wrong with the file, in SQLite's words; empty if nothing is. Reads all of it."""
        try:
            return await self.read(_complaints)
        except StoreError as error:
            return [error.message]

    async def aclose(self) -> None:
        """Finish what was accepted, then close. What still waits to be accepted gets `StoreClosedError`. Calling it again is harmless."""
        self._writer.refuse()
        await self._readers.aclose()
        await (
            self._writer.aclose()
        )  # last: the last connection to close folds the log into the file, and only this one can


def _refuse_unsafe(live: Path, target: Path) -> None:
    if target.exists() and target.samefile(live):
        raise StoreDeniedError(f"{target} is the database itself.", "Name another file for the backup.")
    log = Path(f"{target}-wal")
    if log.exists() and log.stat().st_size:
        raise StoreDeniedError(
            f"{target} is open in another program, or was left with its log.",
            f"Name another file, or move {target} and {log.name} away.",
        )


def _copy(source: sqlite3.Connection, target: Path, unwanted: Callable[[], bool]) -> None:
    # The reader's open snapshot keeps the copy of one moment, however many steps it takes.
    source.execute("SELECT 1 FROM sqlite_master").fetchone()

    def look(*_: int) -> None:
        if unwanted():
            raise InterruptedError

    copy = sqlite3.connect(target, isolation_level=None)
    try:
        copy.execute("PRAGMA journal_mode = OFF")  # half a copy is thrown away, not rolled back
        source.backup(copy, pages=_PAGES, progress=look)
    finally:
        copy.close()


def _complaints(connection: sqlite3.Connection) -> list[str]:
    found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
    dangling = connection.execute("PRAGMA foreign_key_check").fetchall()
    return found + [
        f"row {rowid} of {table} refers to a missing row of {parent}" for table, rowid, parent, _ in dangling
    ]
