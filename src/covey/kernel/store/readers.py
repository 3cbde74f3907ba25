"""A few threads that read, each over its own connection that cannot write, started when they are first needed."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from covey.kernel.store.database import open_reader
from covey.kernel.store.errors import closed, explain, primary_code

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_STEPS_PER_CHECK = 20_000  # virtual machine steps between two checks for a cancelled caller; below a millisecond


class ReadJob:
    """One call of `read`: its work, and the future that the caller awaits."""

    __slots__ = ("future", "work")

    def __init__(self, work: Callable[[sqlite3.Connection], Any], future: asyncio.Future[Any]) -> None:
        self.work = work
        self.future = future


class Readers:
    """Runs reads in the order of their calls, `size` at a time. Belongs to the event loop it was made in."""

    def __init__(self, path: Path, size: int, capacity: int) -> None:
        self._path = path
        self._size = size
        self._loop = asyncio.get_running_loop()
        self._room = asyncio.Semaphore(capacity)
        self._inbox: SimpleQueue[ReadJob | None] = SimpleQueue()
        self._asked = 0
        self._ends: list[asyncio.Future[None]] = []
        self._closing = False

    async def read(self, work: Callable[[sqlite3.Connection], Any]) -> Any:
        """Run `work` in one snapshot and return its result. Cancelling the caller interrupts the query."""
        await self._room.acquire()
        if self._closing:
            self._room.release()
            raise closed(self._path)
        self._asked += 1
        if len(self._ends) < min(self._asked, self._size):
            self._start()
        job = ReadJob(work, self._loop.create_future())
        self._inbox.put(job)
        return await job.future

    async def aclose(self) -> None:
        if not self._closing:
            self._closing = True
            for _ in self._ends:
                self._inbox.put(None)
        for end in self._ends:
            await asyncio.shield(end)

    def _start(self) -> None:
        end: asyncio.Future[None] = self._loop.create_future()
        self._ends.append(end)
        threading.Thread(
            target=self._main, args=(end,), name=f"{self._path.name} reader {len(self._ends)}", daemon=True
        ).start()

    def _deliver(self, job: ReadJob, result: Any, error: BaseException | None) -> None:
        self._asked -= 1
        self._room.release()
        if job.future.done():
            return
        if error is None:
            job.future.set_result(result)
        else:
            job.future.set_exception(error)

    # From here on: in a reader's thread.

    def _main(self, end: asyncio.Future[None]) -> None:
        connection: sqlite3.Connection | None = None
        while (job := self._inbox.get()) is not None:
            result, error = None, None
            if not job.future.cancelled():
                try:
                    connection = connection or open_reader(self._path)
                    result = _read(connection, job)
                except Exception as problem:  # noqa: BLE001 - it belongs to the caller
                    error = self._presentable(problem)
                except BaseException as problem:  # noqa: BLE001 - SystemExit in a work must not end the reader
                    error = RuntimeError(f"a work raised {type(problem).__name__}")
            self._call_in_loop(self._deliver, job, result, error)
            del job, result, error  # no object of a caller is held while waiting for the next
        if connection is not None:
            connection.close()
        self._call_in_loop(_resolve, end)

    def _presentable(self, error: Exception) -> Exception:
        if isinstance(error, StopIteration):  # a future cannot hold it
            return RuntimeError("a work raised StopIteration")
        # Writing through a reader is a fault of the program, not of the file's permissions.
        return error if primary_code(error) == sqlite3.SQLITE_READONLY else explain(error, self._path)

    def _call_in_loop(self, callback: Callable[..., None], *values: Any) -> None:
        with suppress(RuntimeError):  # the loop is closed: no caller is left
            self._loop.call_soon_threadsafe(callback, *values)


def _read(connection: sqlite3.Connection, job: ReadJob) -> Any:
    connection.set_progress_handler(job.future.cancelled, _STEPS_PER_CHECK)
    connection.execute("BEGIN")
    try:
        return job.work(connection)
    finally:
        connection.set_progress_handler(None, 0)
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
