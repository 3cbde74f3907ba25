from __future__ import annotations

import asyncio
import contextlib
import os
import random
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from covey.kernel.store import database
from covey.kernel.store.errors import StoreDeniedError, StoreLockedError
from covey.kernel.store.migrations import Migration
from covey.kernel.store.store import Store, StoreError

SCHEMA = (
    Migration(
        "items", "CREATE TABLE item (n INTEGER PRIMARY KEY, word TEXT) STRICT; CREATE INDEX item_word ON item (word);"
    ),
)
PAGE = 4096


def fill(path: Path, rows: int = 500) -> bytes:
    """A sound database of many pages; what the file holds."""

    async def main() -> None:
        async with await Store.open(path, SCHEMA, fsync="off") as store:
            await store.write(
                lambda c: c.executemany("INSERT INTO item VALUES (?, ?)", ((n, f"{n:08}" * 20) for n in range(rows)))
            )

    asyncio.run(main())
    return path.read_bytes()


def reopen(path: Path) -> tuple[Path | None, int]:
    """Where a damaged file went, and how many rows the store has now; it must be usable."""

    async def main() -> tuple[Path | None, int]:
        async with await Store.open(path, SCHEMA) as store:
            count: int = await store.read(lambda c: c.execute("SELECT count(*) FROM item").fetchone()[0])
            await store.write(lambda c: c.execute("INSERT OR IGNORE INTO item VALUES (-1, 'new')"))
            assert await store.check() == []
            return store.recovered_from, count

    return asyncio.run(main())


def names(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.iterdir())


def modes(path: Path) -> set[int]:
    return {stat.S_IMODE(entry.stat().st_mode) for entry in path.iterdir()}


def over(data: bytes, start: int, patch: bytes) -> bytes:
    return data[:start] + patch + data[start + len(patch) :]


NOISE = random.Random(3).randbytes(PAGE)
DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "a text file": lambda _: b"hello, this is no database\n" * 300,
    "two bytes": lambda _: b"hi",
    "zeros": lambda data: bytes(len(data)),
    "noise": lambda data: random.Random(1).randbytes(len(data)),
    "cut in the middle": lambda data: data[: len(data) // 2],
    "cut in a page": lambda data: data[: PAGE * 3 + 17],
    "a broken header": lambda data: over(data, 0, b"SQLite format 9\0"),
    "a broken schema page": lambda data: over(data, 100, NOISE[100:]),
    "a page of zeros": lambda data: over(data, PAGE * 2, bytes(PAGE)),
    "a page of noise": lambda data: over(data, PAGE * 9, NOISE),
    "a last page of noise": lambda data: over(data, len(data) - PAGE, NOISE),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_moved_aside_whole_and_a_new_one_begun(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "node.db"
    broken = DAMAGES[damage](fill(path))
    path.write_bytes(broken)
    moved, count = reopen(path)
    assert count == 0
    assert moved is not None
    assert moved.name.startswith("node.db.corrupt-")
    assert moved.read_bytes() == broken
    assert reopen(path) == (None, 1)


@pytest.mark.parametrize("damage", ["a text file", "cut in the middle", "a broken schema page", "a last page of noise"])
def test_a_large_damaged_file_is_found_out_without_reading_all_of_it(
    tmp_path: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_QUICK_CHECK_BYTES", 0)
    path = tmp_path / "node.db"
    fill(path, rows=3000)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP INDEX item_word")  # so that the last page is one of the table's
        connection.execute("VACUUM")
    broken = DAMAGES[damage](path.read_bytes())
    path.write_bytes(broken)
    moved, _ = reopen(path)
    assert moved is not None
    assert moved.read_bytes() == broken


def test_a_large_sound_file_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_QUICK_CHECK_BYTES", 0)
    path = tmp_path / "node.db"
    fill(path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute('CREATE TABLE "odd "" name" (k TEXT PRIMARY KEY) WITHOUT ROWID')
        connection.execute("CREATE VIRTUAL TABLE words USING fts5 (word)")
    assert reopen(path) == (None, 500)


def test_the_log_of_a_damaged_file_is_kept_with_it(tmp_path: Path) -> None:
    path = tmp_path / "node.db"
    sound = fill(path)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("INSERT INTO item VALUES (9999, 'only in the log')")
        log = Path(f"{path}-wal").read_bytes()
    broken = over(sound, PAGE * 9, NOISE)
    path.write_bytes(broken)
    Path(f"{path}-wal").write_bytes(log)
    moved, _ = reopen(path)
    assert moved is not None
    assert Path(f"{moved}-wal").read_bytes() == log


@pytest.mark.parametrize("main", ["empty", "missing"])
def test_a_log_without_its_file_is_kept(tmp_path: Path, main: str) -> None:
    path, log = tmp_path / "node.db", tmp_path / "node.db-wal"
    log.write_bytes(b"all that was committed since the last checkpoint")
    if main == "empty":
        path.touch()
    moved, count = reopen(path)
    assert count == 0
    assert moved is not None
    kept = next(entry for entry in tmp_path.iterdir() if entry.name.endswith("-wal"))
    assert kept.read_bytes() == b"all that was committed since the last checkpoint"


def test_files_damaged_at_the_same_moment_do_not_replace_each_other(tmp_path: Path) -> None:
    path = tmp_path / "node.db"
    moved = set()
    for n in range(4):
        for leftover in tmp_path.glob("node.db-*"):
            leftover.unlink()
        path.write_text(f"damaged {n}" * 100)
        moved.add(reopen(path)[0])
    assert sorted(place.read_text()[:9] for place in moved if place) == [f"damaged {n}" for n in range(4)]


def test_an_empty_file_is_a_new_store(tmp_path: Path) -> None:
    path = tmp_path / "node.db"
    path.touch()
    assert reopen(path) == (None, 0)


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_a_file_locked_by_another_program_is_left_alone(
    tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_BUSY_S", 0.01)
    path = tmp_path / "node.db"
    fill(path)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute(f"PRAGMA journal_mode = {mode}")
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        other.execute("INSERT INTO item VALUES (-5, 'theirs')")
        with pytest.raises(StoreLockedError, match="another program"):
            reopen(path)
        other.execute("COMMIT")
    assert reopen(path) == (None, 501)
    assert names(tmp_path) == ["node.db"]


def test_a_path_that_is_not_a_regular_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "node.db"
    path.mkdir()
    with pytest.raises(StoreDeniedError, match="not a regular file"):
        reopen(path)
    assert names(tmp_path) == ["node.db"]


def test_a_directory_that_does_not_exist_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(StoreDeniedError, match="No such file or directory") as caught:
        reopen(tmp_path / "nowhere" / "node.db")
    assert "nowhere" in caught.value.suggestion


AS_ANOTHER = """
import asyncio, os, sys
from pathlib import Path
from covey.kernel.store.store import Store, StoreError
if os.getuid() == 0:  # what is imported later may lie where only root can read
    os.setgid(65534)
    os.setuid(65534)
try:
    asyncio.run(Store.open(Path(sys.argv[1]), []))
except StoreError as error:
    print(type(error).__name__)
"""


@pytest.mark.parametrize(("file_mode", "directory_mode"), [(0o000, 0o755), (0o600, 0o555), (0o444, 0o555)])
def test_a_file_that_may_not_be_used_is_left_alone(file_mode: int, directory_mode: int) -> None:
    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are closed to others
        folder = Path(name)
        path = folder / "node.db"
        before = fill(path)
        path.chmod(file_mode)
        folder.chmod(directory_mode)
        try:
            environment = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PATH": os.environ["PATH"]}
            told = subprocess.run(
                [sys.executable, "-c", AS_ANOTHER, str(path)],
                env=environment,
                capture_output=True,
                text=True,
                timeout=60,
                check=True,
            )
        finally:
            folder.chmod(0o755)
            path.chmod(0o600)
        if os.getuid() == 0 or directory_mode == 0o555:  # an owner may give himself back what he took from a file
            assert told.stdout.strip() == "StoreDeniedError", told.stderr
        assert path.read_bytes() == before
        assert names(folder) == ["node.db"]


def test_all_files_are_private_whatever_the_umask(tmp_path: Path) -> None:
    path = tmp_path / "node.db"
    fill(path)
    path.chmod(0o666)

    async def main() -> None:
        async with await Store.open(path, SCHEMA) as store:
            await store.write(lambda c: c.execute("INSERT INTO item VALUES (-1, '')"))
            await store.read(lambda c: c.execute("SELECT 1").fetchone())
            assert names(tmp_path) == ["node.db", "node.db-shm", "node.db-wal"]
            assert modes(tmp_path) == {0o600}

    old = os.umask(0)
    try:
        asyncio.run(main())
    finally:
        os.umask(old)


def test_a_store_behind_a_link_keeps_its_log_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "node.db"
    link.symlink_to(tmp_path / "real" / "node.db")
    assert reopen(link) == (None, 0)
    assert names(tmp_path / "real") == ["node.db"]


def test_odd_characters_in_the_path_do_no_harm(tmp_path: Path) -> None:
    folder = tmp_path / "a?b#c %20 d é"
    folder.mkdir()
    assert reopen(folder / "node?mode=memory.db") == (None, 0)
    assert names(folder) == ["node?mode=memory.db"]


def test_every_error_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "folder", tmp_path / "nowhere" / "node.db"):
        with pytest.raises(StoreError) as caught:
            reopen(path)
        envelope = caught.value.envelope()
        assert envelope["error"] == "store_denied"
        assert str(path) in envelope["message"]
        assert envelope["suggestion"].endswith(".")


async def test_a_damaged_list_of_migrations_is_damage_and_not_a_newer_version(tmp_path: Path) -> None:
    path = tmp_path / "node.db"
    migrations = [Migration(f"one.{number}", f"CREATE TABLE t{number} (x TEXT) STRICT") for number in range(3)]
    async with await Store.open(path, migrations):
        pass
    with contextlib.closing(sqlite3.connect(path)) as connection:
        root, size = (
            connection.execute(query).fetchone()[0]
            for query in ("SELECT rootpage FROM sqlite_master WHERE name = 'schema_step'", "PRAGMA page_size")
        )
    data = bytearray(path.read_bytes())
    data[(root - 1) * size : root * size] = random.Random(7).randbytes(size)
    path.write_bytes(data)
    async with await Store.open(path, migrations) as store:
        assert store.recovered_from is not None
