"""The one thread that writes: it takes all queued work, commits it together and only then answers the callers.

write() -> pending -> (one flush per turn of the loop) -> inbox -> thread: BEGIN, work, work, …, COMMIT
        -> one call back into the loop
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from contextlib import suppress
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any

from covey.kernel.store.database import open_database
from covey.kernel.store.errors import closed, explain, primary_code

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from covey.kernel.store.database import Fsync
    from covey.kernel.store.migrations import Migration

_GATHER_S = {"strict": 0.0, "batched_50ms": 0.05, "off": 0.0}
_ENOUGH = 128  # writes that make it pointless to gather more: the fsync is already shared by many

# With a comment, so that no work shares these cached statements: the authorizer only sees a statement when it is first
# prepared.
_BEGIN, _COMMIT, _ROLLBACK = "BEGIN IMMEDIATE -- store", "COMMIT -- store", "ROLLBACK -- store"
_LAZY, _DURABLE = "PRAGMA synchronous = NORMAL -- store", "PRAGMA synchronous = FULL -- store"
_MARK, _UNMARK, _BACK = (
    "SAVEPOINT store_work -- store",
    "RELEASE store_work -- store",
    "ROLLBACK TO store_work -- store",
)


class WriteJob:
    """One call of `write` on its way through the writer."""

    __slots__ = ("done", "error", "future", "lazy", "result", "then", "work")

    def __init__(
        self,
        work: Callable[[sqlite3.Connection], Any],
        then: Callable[[Any], None] | None,
        future: asyncio.Future[Any],
        *,
        lazy: bool,
    ) -> None:
        self.work = work
        self.then = then
        self.future = future
        self.lazy = lazy
        self.done = False
        self.result: Any = None
        self.error: BaseException | None = None


class Writer:
    """Commits the work of many callers together over one connection. Belongs to the event loop it was made in."""

    def __init__(self, path: Path, fsync: Fsync, capacity: int) -> None:
        self.commits = 0
        self._path = path
        self._fsync: Fsync = fsync
        self._loop = asyncio.get_running_loop()
        self._room = asyncio.Semaphore(capacity)
        self._pending: list[WriteJob] = []
        self._inbox: SimpleQueue[list[WriteJob] | None] = SimpleQueue()
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._closing = False  # no more work is accepted
        self._ending = False  # the thread has taken the last of it
        self._working = False  # a caller's work holds the connection
        self._lazy = False  # commits are not synced

    async def open(self, migrations: Sequence[Migration]) -> Path | None:
        """Open the file in the writer's thread and return where a damaged file was moved to, if there was one."""
        opened: asyncio.Future[Path | None] = self._loop.create_future()
        threading.Thread(
            target=self._main, args=(tuple(migrations), opened), name=f"{self._path.name} writer", daemon=True
        ).start()
        try:
            return await opened
        except asyncio.CancelledError:
            self._inbox.put(None)
            raise

    async def write(
        self, work: Callable[[sqlite3.Connection], Any], then: Callable[[Any], None] | None, *, lazy: bool = False
    ) -> Any:
        await self._room.acquire()
        if self._closing:
            self._room.release()
            raise closed(self._path)
        job = WriteJob(work, then, self._loop.create_future(), lazy=lazy)
        self._pending.append(job)
        if len(self._pending) == 1:
            # Callers that were woken together are queued together: one batch, not one and then the rest.
            self._loop.call_soon(self._flush)
        return await job.future

    def refuse(self) -> None:
        """Accept no more work; accepted work is still done."""
        self._closing = True

    async def aclose(self) -> None:
        self.refuse()
        self._flush()
        self._inbox.put(None)  # a second one is never read
        await asyncio.shield(self._ended)

    def _flush(self) -> None:
        if self._pending:
            self._inbox.put(self._pending)
            self._pending = []

    def _deliver(self, jobs: list[WriteJob]) -> None:
        """Answer the callers in the event loop, in commit order. `then` is called for cancelled callers too."""
        for job in jobs:
            self._room.release()
            if job.done and job.error is None and job.then is not None:
                try:
                    job.then(job.result)
                except Exception as error:  # noqa: BLE001 - the other callers of the batch must be answered
                    self._loop.call_exception_handler({"message": "callback after a commit failed", "exception": error})
            if job.future.done():
                continue
            if job.error is None:
                job.future.set_result(job.result)
            else:
                job.future.set_exception(job.error)

    # From here on: in the writer's thread.

    def _main(self, migrations: Sequence[Migration], opened: asyncio.Future[Path | None]) -> None:
        try:
            connection, moved = open_database(self._path, migrations, self._fsync)
        except Exception as error:  # noqa: BLE001 - whatever it is, `open` must raise it
            self._call_in_loop(_fail, opened, error)
            self._call_in_loop(_resolve, self._ended, None)
            return
        connection.set_authorizer(self._authorize)
        self._call_in_loop(_resolve, opened, moved)
        try:
            while not self._ending:
                jobs = self._gather()
                if jobs:
                    self._process(connection, jobs)
                    self._call_in_loop(self._deliver, jobs)
                del jobs  # the callers' objects must not live until the next write
        finally:
            with suppress(sqlite3.Error):
                connection.close()
            self._call_in_loop(_resolve, self._ended, None)

    def _call_in_loop(self, callback: Callable[..., None], *values: Any) -> None:
        with suppress(RuntimeError):  # the loop is closed: no caller is left
            self._loop.call_soon_threadsafe(callback, *values)

    def _gather(self) -> list[WriteJob]:
        """Wait for work, then return all that is queued; with a gathering time, also what comes until it is over."""
        batch = self._inbox.get()
        if batch is None:
            self._ending = True
            return []
        until = monotonic() + _GATHER_S[self._fsync]
        while True:
            left = until - monotonic() if len(batch) < _ENOUGH else 0.0
            try:
                more = self._inbox.get(timeout=left) if left > 0 else self._inbox.get_nowait()
            except Empty:
                return batch
            if more is None:
                self._ending = True
                return batch
            batch += more

    def _process(self, connection: sqlite3.Connection, jobs: list[WriteJob]) -> None:
        try:
            if not self._transact(connection, jobs):
                for job in jobs:
                    self._transact(connection, [job])
        except Exception as error:  # noqa: BLE001 - the thread goes on; the callers get the error
            _fail_all(jobs, error, self._path)

    def _transact(self, connection: sqlite3.Connection, jobs: list[WriteJob]) -> bool:
        """Run `jobs` in one transaction and commit it.

        Returns False if one of several jobs rolled back the transaction; they are then to be run one by one.
        """
        try:
            self._choose_durability(connection, lazy=all(job.lazy for job in jobs))
            connection.execute(_BEGIN)
            for job in jobs:
                self._run(connection, job)
                if not connection.in_transaction:  # RAISE(ROLLBACK), OR ROLLBACK, or SQLite gave up on a full disk
                    return _blame_single_job(jobs, job.error)
            connection.execute(_COMMIT)
            self.commits += 1
        except sqlite3.Error as error:
            if connection.in_transaction:
                with suppress(sqlite3.Error):
                    connection.execute(_ROLLBACK)
            if primary_code(error) == sqlite3.SQLITE_CONSTRAINT:  # a deferred constraint, seen at the commit
                return _blame_single_job(jobs, error)
            _fail_all(jobs, error, self._path)
            _truncate_log(connection)
        return True

    def _choose_durability(self, connection: sqlite3.Connection, *, lazy: bool) -> None:
        """Let the next commit be synced, or be written only: the next one that is synced then syncs it too."""
        if lazy != self._lazy and self._fsync != "off":
            connection.execute(_LAZY if lazy else _DURABLE)
            self._lazy = lazy

    def _run(self, connection: sqlite3.Connection, job: WriteJob) -> None:
        """Run one work under its own savepoint; if it raises, only its own changes are rolled back."""
        job.done = False
        job.error = None
        if job.future.cancelled():
            return
        connection.execute(_MARK)
        self._working = True
        try:
            job.result = job.work(connection)
            job.done = True
        except Exception as error:  # noqa: BLE001 - it belongs to the caller
            job.error = _presentable(error, self._path)
        except BaseException as error:  # noqa: BLE001 - SystemExit in a work must not end the writer
            job.error = RuntimeError(f"a work raised {type(error).__name__}")
        finally:
            self._working = False
        if connection.in_transaction:
            if job.error is not None:
                connection.execute(_BACK)
            connection.execute(_UNMARK)

    def _authorize(self, action: int, _: str | None, name: str | None, *_more: str | None) -> int:
        """Deny a work to end the transaction that it shares with others (`commit()`, `executescript()` would)."""
        ends = action == sqlite3.SQLITE_TRANSACTION or (action == sqlite3.SQLITE_SAVEPOINT and name == "store_work")
        return sqlite3.SQLITE_DENY if ends and self._working else sqlite3.SQLITE_OK


def _resolve(future: asyncio.Future[Any], value: Any) -> None:
    if not future.done():
        future.set_result(value)


def _fail(future: asyncio.Future[Any], error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)


def _blame_single_job(jobs: list[WriteJob], error: BaseException | None) -> bool:
    """Return False if it is unknown which of several jobs failed; else give the one job its error and return True."""
    if len(jobs) > 1:
        return False
    jobs[0].error = error or RuntimeError("a work ended the transaction of the store")
    return True


def _presentable(error: Exception, path: Path) -> Exception:
    # A future cannot hold StopIteration.
    return RuntimeError("a work raised StopIteration") if isinstance(error, StopIteration) else explain(error, path)


def _fail_all(jobs: list[WriteJob], error: Exception, path: Path) -> None:
    for job in jobs:
        if job.error is None:
            job.error = explain(error, path)  # one each: a shared exception would gather every caller's traceback


def _truncate_log(connection: sqlite3.Connection) -> None:
    """Truncate the log after a failed commit.

    That frees its space and removes any frame that was written but not acknowledged: after a crash SQLite would
    replay it.
    """
    with suppress(sqlite3.Error):
        connection.execute("PRAGMA busy_timeout = 0")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with suppress(sqlite3.Error):
        connection.execute("PRAGMA busy_timeout = 5000")
