from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from covey.kernel.events.events import Events
from covey.kernel.operations import idempotency
from covey.kernel.store.errors import StoreMigrationError, StoreNewerError
from covey.kernel.store.migrations import Migration, digest_of
from covey.kernel.store.store import Store, StoreError
from covey.node.subsystems import SUBSYSTEMS

ONE = Migration(
    "one", "CREATE TABLE one (n INTEGER PRIMARY KEY) STRICT; INSERT INTO one VALUES (1); -- a remark; with a semicolon"
)
TWO = Migration(
    "two", "CREATE TABLE two (n INTEGER PRIMARY KEY REFERENCES one (n)) STRICT; INSERT INTO two SELECT n FROM one;"
)
THREE = Migration(
    "three",
    "CREATE TRIGGER grow AFTER INSERT ON one BEGIN INSERT INTO two VALUES (new.n); END; "
    "ALTER TABLE one ADD COLUMN word TEXT DEFAULT 'a;b'; DELETE FROM one WHERE n > 9 -- no end; at all",
)


def bring(path: Path, migrations: Sequence[Migration]) -> None:
    async def main() -> None:
        async with await Store.open(path, migrations) as store:
            assert store.recovered_from is None

    asyncio.run(main())


def look(path: Path) -> tuple[int, list[str]]:
    """The version and the tables of the file."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
        return connection.execute("PRAGMA user_version").fetchone()[0], [
            name for (name,) in tables if name != "schema_step"
        ]


def test_a_new_file_gets_every_step_and_an_older_one_the_missing_ones(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    for count, tables in ((1, ["one"]), (1, ["one"]), (3, ["one", "two"]), (3, ["one", "two"])):
        bring(path, (ONE, TWO, THREE)[:count])
        assert look(path) == (count, tables)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO one (n) VALUES (5)")
        assert connection.execute("SELECT n, word FROM two JOIN one USING (n)").fetchall() == [(1, "a;b"), (5, "a;b")]


async def test_openers_at_the_same_time_apply_each_step_once(tmp_path: Path) -> None:
    stores = await asyncio.gather(*(Store.open(tmp_path / "a.db", (ONE, TWO, THREE), fsync="off") for _ in range(8)))
    await asyncio.gather(*(store.aclose() for store in stores))
    assert look(tmp_path / "a.db") == (3, ["one", "two"])


def test_subsystems_add_steps_without_moving_each_others(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    events, fleet = [ONE], [Migration("fleet", "CREATE TABLE fleet (n INTEGER) STRICT")]
    bring(path, [*events, *fleet])
    events.append(TWO)
    bring(path, [*events, *fleet])
    assert look(path) == (3, ["fleet", "one", "two"])
    bring(path, [*fleet, *events])
    assert look(path) == (3, ["fleet", "one", "two"])


def test_the_text_of_a_migration_may_change(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    bring(path, [ONE])
    bring(path, [ONE._replace(script=f"\n  {ONE.script.replace('; ', ';  ')} and corrected")])
    assert look(path) == (1, ["one"])


def without_names(path: Path) -> None:
    """Make the ledger what it was before migrations had names."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("ALTER TABLE schema_step DROP COLUMN name")


def test_a_database_from_before_names_is_opened_and_its_steps_get_their_names(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    bring(path, (ONE, TWO))
    without_names(path)
    bring(path, (ONE, TWO))
    assert look(path) == (2, ["one", "two"])
    bring(path, (ONE, TWO, THREE))
    assert look(path) == (3, ["one", "two"])
    with contextlib.closing(sqlite3.connect(path)) as connection:
        named = connection.execute("SELECT name FROM schema_step ORDER BY position").fetchall()
    assert named == [("one",), ("two",), ("three",)]


def test_a_database_from_before_names_is_opened_although_the_text_was_corrected(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    bring(path, (ONE,))
    without_names(path)
    corrected = Migration("one", f"{ONE.script} that is better", digest_of(ONE.script))
    bring(path, (corrected, TWO))
    assert look(path) == (2, ["one", "two"])
    without_names(path)
    with pytest.raises(StoreNewerError):
        bring(path, (Migration("one", corrected.script), TWO))


def test_the_migrations_of_today_are_those_of_the_databases_that_exist() -> None:
    """A digest is that of the text which a database from before names holds; the names are for ever."""
    assert {
        migration.name: migration.digest or digest_of(migration.script)
        for migration in (
            *Events.MIGRATIONS,
            *idempotency.MIGRATIONS,
            *(migration for subsystem in SUBSYSTEMS for migration in subsystem.migrations),
        )
        if migration.digest
    } == {
        "events.journal": "eb23cd22fd03dfc9",
        "events.time_index": "2b49bee2cb2cb732",
        "calls.replies": "15102e3ddb344842",
        "calls.idempotent": "d2cff05dd2c52521",
        "fleet.targets": "7331fe9e22c16b2b",
        "fleet.agents": "ad4408aa477ecad2",
        "beats.tables": "8d96766fdfa331e6",
        "beats.estimates": "b992277589f7fbef",
        "attention.cursors": "68579b532dd5fb34",
        "attention.items": "3e5030ea11500ac8",
    }


@pytest.mark.parametrize(
    "broken",
    [
        "CREATE TABLE three (n INTEGER); INSERT INTO nowhere VALUES (1);",
        "CREATE TABLE three (n INTEGER); SELEKT 1;",
        "CREATE TABLE three (n INTEGER); CREATE TABLE one (n INTEGER);",
        "INSERT INTO two VALUES (4711)",  # refers to nothing
        "DELETE FROM one",  # leaves references to nothing
    ],
)
def test_a_step_that_fails_leaves_the_version_before_it(tmp_path: Path, broken: str) -> None:
    path = tmp_path / "a.db"
    with pytest.raises(StoreMigrationError, match="schema 3") as caught:
        bring(path, (ONE, TWO, Migration("broken", broken)))
    assert caught.value.suggestion
    assert look(path) == (2, ["one", "two"])
    bring(path, (ONE, TWO, THREE))
    assert look(path) == (3, ["one", "two"])


@pytest.mark.parametrize("kind", ["steps", "version"])
def test_a_newer_file_is_refused_and_not_touched(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.db"
    bring(path, (ONE, TWO) if kind == "steps" else (ONE,))
    if kind == "version":
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    with pytest.raises(StoreNewerError, match="newer Covey") as caught:
        bring(path, (ONE,))
    assert "Upgrade" in caught.value.suggestion
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.db"]


def test_a_file_with_a_step_unknown_to_this_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    bring(path, (ONE,))
    with pytest.raises(StoreNewerError):
        bring(path, (Migration("other", "CREATE TABLE other (n INTEGER)"), TWO))
    assert look(path) == (1, ["one"])


def test_migrations_of_the_same_name_are_refused_before_anything_happens(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="same name"):
        bring(tmp_path / "a.db", (ONE, TWO, ONE))
    assert list(tmp_path.iterdir()) == []


ENDLESS = Migration(
    "endless",
    "CREATE TABLE big (n INTEGER, word TEXT); INSERT INTO big "
    "WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT i, hex(zeroblob(400)) FROM c;",
)


def test_a_crash_in_the_middle_of_a_step_leaves_the_version_before_it(tmp_path: Path) -> None:
    path, log = tmp_path / "a.db", tmp_path / "a.db-wal"
    bring(path, (ONE,))
    program = (
        "import asyncio, pathlib; from covey.kernel.store.migrations import Migration; "
        "from covey.kernel.store.store import Store; "
        f"asyncio.run(Store.open(pathlib.Path({str(path)!r}), ({ONE!r}, {ENDLESS!r})))"
    )
    environment = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PATH": os.environ["PATH"]}
    with subprocess.Popen([sys.executable, "-c", program], env=environment) as child:
        while child.poll() is None and not (log.exists() and log.stat().st_size > 1 << 20):
            time.sleep(0.002)  # until the step has begun to write
        child.send_signal(signal.SIGKILL)
    assert child.returncode == -signal.SIGKILL
    bring(path, (ONE,))
    assert look(path) == (1, ["one"])
    bring(path, (ONE, TWO))
    assert look(path) == (2, ["one", "two"])


def test_the_errors_are_told_apart_by_name(tmp_path: Path) -> None:
    bring(tmp_path / "a.db", (ONE, TWO))
    with pytest.raises(StoreError) as newer:
        bring(tmp_path / "a.db", ())
    with pytest.raises(StoreError) as failed:
        bring(tmp_path / "b.db", (Migration("broken", "SELEKT"),))
    assert (newer.value.error, failed.value.error) == ("store_newer", "store_migration")
