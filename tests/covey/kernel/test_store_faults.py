"""A full disk: a limit on file sizes in a child process everywhere, and a small file system where it can be mounted."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from covey.kernel.events.events import Events
from covey.kernel.store.errors import StoreDiskError, StoreFullError
from covey.kernel.store.migrations import Migration
from covey.kernel.store.store import Store, StoreError
from tests.covey.kinds import kind

SCHEMA = (
    Migration("item", "CREATE TABLE item (n INTEGER PRIMARY KEY, word TEXT) STRICT"),
    Migration("pair", "CREATE TABLE pair (n INTEGER PRIMARY KEY) STRICT"),
    *Events.MIGRATIONS,
)
ALL = "SELECT n FROM item ORDER BY n"
LIMIT_S = 120


def put(n: int) -> Callable[[sqlite3.Connection], int]:
    def work(connection: sqlite3.Connection) -> int:
        connection.execute("INSERT INTO item VALUES (?, ?)", (n, "x" * 6000))
        connection.execute("INSERT INTO pair VALUES (?)", (n,))
        return n

    return work


def column(connection: sqlite3.Connection, query: str = ALL) -> list[int]:
    return [row[0] for row in connection.execute(query)]


async def fill_up(store: Store) -> tuple[list[int], list[StoreError], bool]:
    """Write in batches of ten until three in a row were refused.

    Returns the acknowledged writes, the refusals, and whether a write was accepted after a refusal.
    """
    done: list[int] = []
    refusals: list[StoreError] = []
    barren, taken_again = 0, False
    for base in range(0, 20_000, 10):
        results = await asyncio.gather(*(store.write(put(base + n)) for n in range(10)), return_exceptions=True)
        kept = [result for result in results if isinstance(result, int)]
        assert len(kept) in {0, 10}, "a batch is kept whole or not at all"
        done += kept
        refusals += [result for result in results if isinstance(result, StoreError)]
        assert len(kept) + len([result for result in results if isinstance(result, StoreError)]) == 10
        assert await store.read(column) == done
        taken_again = taken_again or bool(kept and refusals)
        barren = 0 if kept else barren + 1
        if barren == 3:
            return done, refusals, taken_again
    raise AssertionError("the disk never filled up")


async def fill_and_recover(path: Path, make_room: Callable[[], Any]) -> bool:
    async with asyncio.timeout(LIMIT_S), await Store.open(path, SCHEMA) as store:
        events = await Events.open(store, clock=lambda: 1.0)
        done, refusals, taken_again = await fill_up(store)
        assert all(isinstance(refusal, StoreFullError | StoreDiskError) for refusal in refusals)
        assert all("nothing of this write was kept" in refusal.message and refusal.suggestion for refusal in refusals)
        async with events.subscribe() as listener:
            with pytest.raises(StoreError):
                await events.append(kind("too.much"), data={"filler": "x" * 200_000})
            make_room()
            assert await store.write(put(1_000_000)) == 1_000_000
            event = await events.append(kind("room.again"))
            assert await listener.take() == [event]
        assert await store.read(column) == [*done, 1_000_000]
        assert await store.read(lambda connection: column(connection, "SELECT n FROM pair ORDER BY n")) == [
            *done,
            1_000_000,
        ]
        assert await store.check() == []
        return taken_again


def main(path: Path) -> None:
    """Run as the child: its files may not grow beyond 300 kB, then they may.

    When the log cannot grow, its content is folded in, which makes room for more.
    """
    import resource  # noqa: PLC0415 - only here

    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
    assert asyncio.run(
        fill_and_recover(
            path, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        )
    )


def test_a_store_that_cannot_grow_refuses_and_goes_on_when_it_can(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    child = subprocess.run(
        [sys.executable, __file__, str(tmp_path / "a.db")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert (child.returncode, child.stderr) == (0, "")
    with contextlib.closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        assert column(connection)[-1] == 1_000_000


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    if sys.platform != "linux" or os.getuid() != 0:
        pytest.skip(
            "only root mounts file systems, and this one is Linux's; the limit on file sizes is tested everywhere"
        )
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)], check=True, timeout=LIMIT_S)
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True, timeout=LIMIT_S)


async def test_a_full_disk_refuses_writes_and_takes_them_again_when_there_is_room(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 300_000)
    await fill_and_recover(small_disk / "a.db", ballast.unlink)


async def test_a_store_cannot_be_begun_on_a_full_disk_and_says_why(small_disk: Path) -> None:
    with contextlib.suppress(OSError), (small_disk / "ballast").open("wb", buffering=0) as ballast:
        while ballast.write(b"x" * 4096):
            pass
    with pytest.raises(StoreError) as caught:
        await Store.open(small_disk / "a.db", SCHEMA)
    assert isinstance(caught.value, StoreFullError | StoreDiskError)
    (small_disk / "ballast").unlink()
    async with await Store.open(small_disk / "a.db", SCHEMA) as store:
        assert store.recovered_from is None
        assert (await (await Events.open(store, clock=lambda: 1.0)).append(kind("at.last"))).cursor == 1


async def test_a_backup_to_a_full_disk_leaves_nothing_of_itself(tmp_path: Path, small_disk: Path) -> None:
    async with await Store.open(tmp_path / "a.db", SCHEMA, fsync="off") as store:
        await asyncio.gather(*(store.write(put(n)) for n in range(400)))
        with pytest.raises(StoreFullError):
            await store.backup(small_disk / "copy.db")
    assert list(small_disk.iterdir()) == []


if __name__ == "__main__":
    main(Path(sys.argv[1]))
