from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import stat
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from covey.kernel.store.errors import StoreClosedError, StoreDeniedError
from covey.kernel.store.migrations import Migration
from covey.kernel.store.store import Fsync, Store

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], Any]

SCHEMA = (
    Migration(
        "items",
        """
    CREATE TABLE item (n INTEGER PRIMARY KEY, word TEXT NOT NULL DEFAULT '') STRICT;
    CREATE TABLE child (n INTEGER PRIMARY KEY, item INTEGER REFERENCES item (n) DEFERRABLE INITIALLY DEFERRED) STRICT;
    """,
    ),
)
LIMIT_S = 120


@contextlib.asynccontextmanager
async def open_store(path: Path, *, fsync: Fsync = "off", capacity: int = 1024) -> AsyncIterator[Store]:
    """Open a store with one table of items, for at most `LIMIT_S`."""
    async with (
        asyncio.timeout(LIMIT_S),
        await Store.open(path / "a.db", SCHEMA, fsync=fsync, capacity=capacity) as store,
    ):
        yield store


def put(n: int) -> Work:
    return lambda connection: connection.execute("INSERT INTO item (n) VALUES (?)", (n,)) and n


def items(connection: sqlite3.Connection) -> list[int]:
    return [row[0] for row in connection.execute("SELECT n FROM item ORDER BY n")]


def stored(path: Path) -> list[int]:
    """What another program finds in the file."""
    with contextlib.closing(sqlite3.connect(path / "a.db")) as connection:
        return items(connection)


@contextlib.contextmanager
def held(store: Store) -> Iterator[asyncio.Task[None]]:
    """The writer is busy with one work until the block is left."""
    started, release = threading.Event(), threading.Event()

    def work(_: sqlite3.Connection) -> None:
        started.set()
        assert release.wait(LIMIT_S)

    task = asyncio.ensure_future(store.write(work))
    try:
        yield task
    finally:
        release.set()


async def settle() -> None:
    """Let everything that can run in the loop run."""
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.mark.parametrize("fsync", ["strict", "batched_50ms", "off"])
async def test_a_write_is_in_the_file_when_it_is_acknowledged(tmp_path: Path, fsync: Fsync) -> None:
    async with open_store(tmp_path, fsync=fsync) as store:
        assert await store.write(put(7)) == 7
        assert stored(tmp_path) == [7]
        assert await store.read(items) == [7]


@pytest.mark.parametrize(("fsync", "level"), [("strict", 2), ("batched_50ms", 2), ("off", 0)])
async def test_the_policy_decides_whether_a_commit_is_fsynced(tmp_path: Path, fsync: Fsync, level: int) -> None:
    def work(connection: sqlite3.Connection) -> tuple[int, str]:
        return connection.execute("PRAGMA synchronous").fetchone()[0], connection.execute(
            "PRAGMA journal_mode"
        ).fetchone()[0]

    async with open_store(tmp_path, fsync=fsync) as store:
        assert await store.write(work) == (level, "wal")


async def test_a_lazy_write_is_not_fsynced_and_no_other_write_is_lazy_with_it(tmp_path: Path) -> None:
    def level(connection: sqlite3.Connection) -> int:
        found: int = connection.execute("PRAGMA synchronous").fetchone()[0]
        return found

    async with open_store(tmp_path, fsync="strict") as store:
        assert [await store.write(level, lazy=lazy) for lazy in (True, False, True, True, False)] == [1, 2, 1, 1, 2]
        together = await asyncio.gather(store.write(level, lazy=True), store.write(level))
        assert list(together) == [2, 2]
        with pytest.raises(RuntimeError):
            await store.write(raising, lazy=True)
        assert await store.write(level) == 2
    async with open_store(tmp_path, fsync="off") as store:
        assert [await store.write(level, lazy=lazy) for lazy in (True, False)] == [0, 0]


def raising(_: sqlite3.Connection) -> None:
    raise RuntimeError("a work that fails")


async def test_writes_that_wait_together_share_one_commit(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        assert await asyncio.gather(*(store.write(put(n)) for n in range(200))) == list(range(200))
        assert store.commits == 1

    assert stored(tmp_path) == list(range(200))


async def test_batched_writes_of_different_moments_share_one_commit(tmp_path: Path) -> None:
    async with open_store(tmp_path, fsync="batched_50ms") as store:
        tasks = []
        for n in range(20):
            tasks.append(asyncio.ensure_future(store.write(put(n))))
            await settle()
        await asyncio.gather(*tasks)
        assert store.commits < 20


async def test_a_batched_write_that_is_alone_is_acknowledged_too(tmp_path: Path) -> None:
    async with open_store(tmp_path, fsync="batched_50ms") as store:
        for n in range(3):
            await store.write(put(n))
        assert store.commits == 3


async def test_a_work_that_raises_takes_back_only_its_own_changes(tmp_path: Path) -> None:
    def failing(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO item (n) VALUES (1000)")
        raise LookupError("no such thing")

    async with open_store(tmp_path) as store:
        works: list[Work] = [failing if n % 10 == 3 else put(n) for n in range(50)]
        results = await asyncio.gather(*(store.write(work) for work in works), return_exceptions=True)
        assert store.commits == 1
        for n, result in enumerate(results):
            assert isinstance(result, LookupError) if n % 10 == 3 else result == n

    assert stored(tmp_path) == [n for n in range(50) if n % 10 != 3]


@pytest.mark.parametrize("raised", [StopIteration("x"), SystemExit(3), KeyboardInterrupt(), GeneratorExit()])
async def test_nothing_that_a_work_raises_ends_the_writer_or_a_reader(tmp_path: Path, raised: BaseException) -> None:
    def work(_: sqlite3.Connection) -> None:
        raise raised

    async with open_store(tmp_path) as store:
        with pytest.raises(RuntimeError, match=type(raised).__name__):
            await store.write(work)
        with pytest.raises(RuntimeError, match=type(raised).__name__):
            await store.read(work)
        await store.write(put(1))
        assert await store.read(items) == [1]


@pytest.mark.parametrize(
    "end",
    [
        lambda connection: connection.commit(),
        lambda connection: connection.rollback(),
        lambda connection: connection.execute("COMMIT"),
        lambda connection: connection.execute("END TRANSACTION"),
        lambda connection: connection.execute("ROLLBACK"),
        lambda connection: connection.execute("RELEASE store_work"),
        lambda connection: connection.execute("ROLLBACK TO store_work"),
        lambda connection: connection.executescript("INSERT INTO item (n) VALUES (5);"),
    ],
)
async def test_a_work_cannot_end_the_transaction_it_shares(tmp_path: Path, end: Work) -> None:
    def work(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO item (n) VALUES (99)")
        end(connection)

    async with open_store(tmp_path) as store:
        results = await asyncio.gather(
            store.write(put(1)), store.write(work), store.write(put(2)), return_exceptions=True
        )
        assert (results[0], results[2]) == (1, 2)
        assert isinstance(results[1], sqlite3.DatabaseError)

    assert stored(tmp_path) == [1, 2]


async def test_a_work_may_use_savepoints_of_its_own(tmp_path: Path) -> None:
    def work(connection: sqlite3.Connection) -> None:
        connection.execute("SAVEPOINT mine")
        connection.execute("INSERT INTO item (n) VALUES (1)")
        connection.execute("ROLLBACK TO mine")
        connection.execute("RELEASE mine")
        connection.execute("INSERT INTO item (n) VALUES (2)")

    async with open_store(tmp_path) as store:
        await store.write(work)
    assert stored(tmp_path) == [2]


def roll_all_back(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT OR ROLLBACK INTO item (n) VALUES (1)")


def dangle(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO child (n, item) VALUES (1, 12345)")  # noticed at the commit


@pytest.mark.parametrize("spoiler", [roll_all_back, dangle])
async def test_a_work_that_spoils_the_shared_transaction_fails_alone(tmp_path: Path, spoiler: Work) -> None:
    async with open_store(tmp_path) as store:
        results = await asyncio.gather(
            store.write(put(1)), store.write(put(2)), store.write(spoiler), store.write(put(3)), return_exceptions=True
        )
        assert isinstance(results[2], sqlite3.IntegrityError)
        assert (results[0], results[1], results[3]) == (1, 2, 3)
        with pytest.raises(sqlite3.IntegrityError):
            await store.write(spoiler)
        await store.write(put(4))

    assert stored(tmp_path) == [1, 2, 3, 4]


async def test_a_caller_cancelled_while_it_waits_is_not_served_and_harms_nobody(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        with held(store) as busy:
            tasks = [asyncio.ensure_future(store.write(put(n))) for n in range(10)]
            await settle()
            for task in tasks[::2]:
                task.cancel()
            await settle()
        await busy
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(result, asyncio.CancelledError) for result in results[::2])
        assert results[1::2] == [1, 3, 5, 7, 9]

    assert stored(tmp_path) == [1, 3, 5, 7, 9]


async def test_a_caller_cancelled_in_the_middle_of_its_work_harms_nobody(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        with held(store) as busy:
            await settle()
            busy.cancel()
            other = asyncio.ensure_future(store.write(put(1)))
            await settle()
        assert await other == 1
        with pytest.raises(asyncio.CancelledError):
            await busy


async def test_a_full_queue_makes_writers_wait_and_a_closing_store_refuses_those(tmp_path: Path) -> None:
    async with open_store(tmp_path, capacity=4) as store:
        with held(store):
            await settle()
            tasks = [asyncio.ensure_future(store.write(put(n))) for n in range(10)]
            await settle()
            closing = asyncio.ensure_future(store.aclose())
            await settle()
            assert not any(task.done() for task in tasks)
        await closing
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert results[:3] == [0, 1, 2]  # with the one in progress, four were accepted
        assert all(isinstance(result, StoreClosedError) for result in results[3:])

    assert stored(tmp_path) == [0, 1, 2]


async def test_more_writers_than_the_queue_holds_are_all_served(tmp_path: Path) -> None:
    async with open_store(tmp_path, capacity=3) as store:
        tasks = [asyncio.ensure_future(store.write(put(n))) for n in range(500)]
        for task in tasks[100:200]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    assert stored(tmp_path) == [*range(100), *range(200, 500)]


async def test_closing_finishes_what_was_accepted_and_can_be_repeated(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        with held(store):
            writes = [asyncio.ensure_future(store.write(put(n))) for n in range(20)]
            reading = asyncio.ensure_future(store.read(items))
            await settle()
            closings = [asyncio.ensure_future(store.aclose()) for _ in range(3)]
            await settle()
            closings[0].cancel()
        assert await asyncio.gather(*writes) == list(range(20))
        assert set(await reading) <= set(range(20))
        await asyncio.gather(*closings[1:])
        await store.aclose()
        for late in (store.write, store.read):
            with pytest.raises(StoreClosedError) as caught:
                await late(items)
            assert caught.value.suggestion

    assert stored(tmp_path) == list(range(20))
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.db"]  # the log was folded in


async def test_the_callback_after_a_commit_runs_in_commit_order_even_when_the_caller_was_cancelled(
    tmp_path: Path,
) -> None:
    told: list[int] = []

    async with open_store(tmp_path) as store:
        started, release = threading.Event(), threading.Event()

        def slow(connection: sqlite3.Connection) -> int:
            started.set()
            release.wait(LIMIT_S)
            return int(put(0)(connection))

        gone = asyncio.ensure_future(store.write(slow, then=told.append))
        await settle()
        assert await asyncio.to_thread(started.wait, LIMIT_S)
        gone.cancel()
        others = [asyncio.ensure_future(store.write(put(n), then=told.append)) for n in range(1, 30)]
        failing = asyncio.ensure_future(store.write(put(1), then=told.append))
        await settle()
        release.set()
        await asyncio.gather(*others, return_exceptions=True)
        with pytest.raises(sqlite3.IntegrityError):
            await failing

    assert told == list(range(30))


async def test_a_failure_in_the_callback_after_a_commit_is_reported_and_breaks_no_batch(tmp_path: Path) -> None:
    def fail(_: int) -> None:
        raise LookupError("listener")

    async with open_store(tmp_path) as store:
        reports: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: reports.append(context))
        assert list(await asyncio.gather(store.write(put(1), then=fail), store.write(put(2)))) == [1, 2]
        assert [type(report["exception"]) for report in reports] == [LookupError]


async def test_reads_do_not_wait_for_a_busy_writer(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        await store.write(put(1))
        with held(store) as busy:
            await settle()
            assert await store.read(items) == [1]
            assert not busy.done()


async def test_a_read_sees_one_moment_however_long_it_takes(tmp_path: Path) -> None:
    started, release = threading.Event(), threading.Event()

    def twice(connection: sqlite3.Connection) -> tuple[list[int], list[int]]:
        before = items(connection)
        started.set()
        assert release.wait(LIMIT_S)
        return before, items(connection)

    async with open_store(tmp_path) as store:
        await store.write(put(1))
        reading = asyncio.ensure_future(store.read(twice))
        assert await asyncio.to_thread(started.wait, LIMIT_S)
        await store.write(put(2))
        release.set()
        assert await reading == ([1], [1])
        assert await store.read(items) == [1, 2]


async def test_a_read_cannot_write(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            await store.read(put(1))
        assert await store.read(items) == []


async def test_reads_run_side_by_side_in_threads_that_start_when_needed(tmp_path: Path) -> None:
    before = set(threading.enumerate())  # a store of another test may be on its way out

    def readers() -> int:
        return sum(thread.name.startswith("a.db reader") for thread in set(threading.enumerate()) - before)

    async with open_store(tmp_path) as store:
        assert readers() == 0
        for _ in range(5):
            await store.read(items)
        assert readers() == 1
        meeting = threading.Barrier(4, timeout=LIMIT_S)  # passes only if four are inside at once
        await asyncio.gather(*(store.read(lambda _: meeting.wait()) for _ in range(4)))
        await asyncio.gather(*(store.read(items) for _ in range(50)))
        assert readers() == 4


async def test_a_cancelled_read_gives_its_thread_back(tmp_path: Path) -> None:
    def forever(connection: sqlite3.Connection) -> None:
        connection.execute(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        ).fetchone()

    async with open_store(tmp_path) as store:
        reads = [asyncio.ensure_future(store.read(forever)) for _ in range(4)]
        await settle()
        for read in reads:
            read.cancel()
        assert await asyncio.gather(*(store.read(items) for _ in range(8))) == [[]] * 8


async def test_opening_that_is_cancelled_lets_go_of_the_file(tmp_path: Path) -> None:
    opening = asyncio.ensure_future(Store.open(tmp_path / "a.db", SCHEMA))
    await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    async with asyncio.timeout(LIMIT_S), await Store.open(tmp_path / "a.db", SCHEMA) as store:
        await store.write(put(1))


async def test_a_backup_is_one_moment_of_a_store_that_goes_on_writing(tmp_path: Path) -> None:
    target = tmp_path / "copy.db"

    def pair(n: int) -> Work:
        def work(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT INTO item (n, word) VALUES (?, ?)", (n, "x" * 2000))
            connection.execute("INSERT INTO child (n, item) VALUES (?, ?)", (n, n))

        return work

    async with open_store(tmp_path) as store:
        await asyncio.gather(*(store.write(pair(n)) for n in range(1500)))
        writing = asyncio.gather(*(store.write(pair(n)) for n in range(1500, 2500)))
        for _ in range(3):
            await store.backup(target)
        await writing

    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.db", "copy.db"]

    async with await Store.open(target, SCHEMA) as copy:
        assert copy.recovered_from is None
        assert await copy.check() == []
        count, pairs = await copy.read(
            lambda c: c.execute("SELECT count(*), (SELECT count(*) FROM child) FROM item").fetchone()
        )
        assert count == pairs >= 1500


async def test_a_backup_that_fails_leaves_the_older_one(tmp_path: Path) -> None:
    older = tmp_path / "copy.db"
    older.write_text("older")
    (tmp_path / "copy.db-wal").write_text("somebody's log")

    async with open_store(tmp_path) as store:
        with pytest.raises(StoreDeniedError, match="open in another program"):
            await store.backup(older)
        with pytest.raises(StoreDeniedError, match="the database itself"):
            await store.backup(store.path)
        with pytest.raises(StoreDeniedError, match="No such file"):
            await store.backup(tmp_path / "nowhere" / "copy.db")
        await store.write(put(1))

    assert older.read_text() == "older"
    assert stored(tmp_path) == [1]


async def test_a_cancelled_backup_leaves_no_half_of_one(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        await store.write(
            lambda c: c.executemany("INSERT INTO item (n, word) VALUES (?, ?)", ((n, "x" * 3000) for n in range(3000)))
        )
        backup = asyncio.ensure_future(store.backup(tmp_path / "copy.db"))
        await settle()
        backup.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await backup

    # The copy is there, and whole, if it was quicker than the cancellation.
    assert {entry.name for entry in tmp_path.iterdir()} <= {"a.db", "copy.db"}


async def test_a_check_of_a_sound_store_finds_nothing_and_of_a_broken_one_says_what(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        assert await store.check() == []
    with contextlib.closing(sqlite3.connect(tmp_path / "a.db")) as stranger:
        stranger.execute("INSERT INTO child (n, item) VALUES (1, 77)")
        stranger.commit()
    async with open_store(tmp_path) as store:
        assert await store.check() == ["row 1 of child refers to a missing row of item"]
