"""The SQLite file of a daemon: durable writes through one writer, concurrent reads, backups and checks while it runs.

`write` returns only after its COMMIT, under every fsync policy; the policies differ in what a commit means:

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

from covey.kernel.store.database import Fsync, create_private, sync_directory
from covey.kernel.store.errors import StoreDeniedError, StoreError, explain, explain_os
from covey.kernel.store.readers import Readers
from covey.kernel.store.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from covey.kernel.store.migrations import Migration

__all__ = ["Fsync", "Store", "StoreError"]

T = TypeVar("T")

_READERS = 4
_CAPACITY = 1024
_PAGES = 512  # copied between two checks whether the backup was cancelled


class Store:
    """Open with `await Store.open(path, migrations)`; close with `aclose` or `async with`."""

    def __init__(self, path: Path, writer: Writer, readers: Readers, recovered_from: Path | None) -> None:
        self.path = path
        self.recovered_from = recovered_from
        """Where a file that was damaged at the opening was moved to; None if it was not damaged."""
        self._writer = writer
        self._readers = readers
        self._backups = asyncio.Lock()

    @classmethod
    async def open(
        cls, path: Path, migrations: Sequence[Migration], *, fsync: Fsync = "strict", capacity: int = _CAPACITY
    ) -> Store:
        """Return the store at `path`, created (0600) or brought to the schema of `migrations`.

        At most `capacity` writes are queued at a time; a further call of `write` waits until there is room. Raises
        `StoreError` if the file cannot be opened.
        """
        # SQLite names the log after the file that a link points to.
        resolved = Path(os.path.realpath(path))  # noqa: ASYNC240 - a few system calls
        writer = Writer(resolved, fsync, capacity)
        recovered_from = await writer.open(migrations)
        return cls(resolved, writer, Readers(resolved, _READERS, capacity), recovered_from)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    @property
    def commits(self) -> int:
        """The number of commits since the opening; fewer than writes when several writes shared a commit."""
        return self._writer.commits

    async def write(
        self,
        work: Callable[[sqlite3.Connection], T],
        *,
        then: Callable[[T], None] | None = None,
        lazy: bool = False,
    ) -> T:
        """Run `work` in a transaction and return its result after the commit.

        If `work` raises, its changes and only its changes are rolled back. `work` runs in the writer's thread, in a
        transaction shared with other calls, which it cannot end. It may be run twice (when another work rolled back
        the shared transaction), so it must have no effects outside the database. `then` is called in the event loop
        after the commit, in commit order over all writes, even when the caller was cancelled meanwhile. A `lazy` write
        survives a crash of the daemon; one of the machine may undo it if no other write has followed it. Raises
        `StoreError` if nothing was committed.
        """
        return cast("T", await self._writer.write(work, cast("Callable[[Any], None] | None", then), lazy=lazy))

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` over a connection that cannot write and return its result.

        `work` sees one snapshot that holds every write that returned before. Cancelling the call interrupts the query.
        """
        return cast("T", await self._readers.read(work))

    async def backup(self, target: Path) -> None:
        """Write a copy of the present state to `target`, whole or not at all, mode 0600; writes go on meanwhile.

        Raises `StoreError` if the copy cannot be made.
        """
        # A digest, because the name itself may already have the greatest length.
        partial = target.with_name(f".{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]}.partial")
        cancelled = False

        def work(connection: sqlite3.Connection) -> None:
            try:
                _refuse_unsafe(self.path, target)
                partial.unlink(missing_ok=True)
                create_private(partial)
                _copy(connection, partial, lambda: cancelled)
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
                cancelled = True
                raise

    async def check(self) -> list[str]:
        """Read the whole file and return its problems in SQLite's words; an empty list if it has none."""
        try:
            return await self.read(_problems)
        except StoreError as error:
            return [error.message]

    async def aclose(self) -> None:
        """Finish the work that was accepted, then close. Calling it again is harmless.

        A call that still waits to be accepted raises `StoreClosedError`.
        """
        self._writer.refuse()
        await self._readers.aclose()
        # The writer comes last: the last connection to close folds the log into the file, and only this one can.
        await self._writer.aclose()


def _refuse_unsafe(live: Path, target: Path) -> None:
    if target.exists() and target.samefile(live):
        raise StoreDeniedError(f"{target} is the database itself.", "Name another file for the backup.")
    log = Path(f"{target}-wal")
    if log.exists() and log.stat().st_size:
        raise StoreDeniedError(
            f"{target} is open in another program, or was left with its log.",
            f"Name another file, or move {target} and {log.name} away.",
        )


def _copy(source: sqlite3.Connection, target: Path, cancelled: Callable[[], bool]) -> None:
    # The reader's open snapshot keeps the copy of one moment, however many steps it takes.
    source.execute("SELECT 1 FROM sqlite_master").fetchone()

    def stop_if_cancelled(*_: int) -> None:
        if cancelled():
            raise InterruptedError

    copy = sqlite3.connect(target, isolation_level=None)
    try:
        copy.execute("PRAGMA journal_mode = OFF")  # half a copy is thrown away, not rolled back
        source.backup(copy, pages=_PAGES, progress=stop_if_cancelled)
    finally:
        copy.close()


def _problems(connection: sqlite3.Connection) -> list[str]:
    found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
    dangling = connection.execute("PRAGMA foreign_key_check").fetchall()
    return found + [
        f"row {rowid} of {table} refers to a missing row of {parent}" for table, rowid, parent, _ in dangling
    ]
