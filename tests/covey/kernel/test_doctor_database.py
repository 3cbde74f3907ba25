"""The doctor and the database: whole, damaged, in use, or too large to check in time."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from covey.kernel.clock import ManualClock
from covey.kernel.doctor.finding import FAIL, OK, WARN
from covey.kernel.doctor.seat import SeatDoctor
from covey.kernel.home import Home
from covey.kernel.store.store import Store
from covey.node.settings import SETTINGS
from tests.covey.kernel.patient import Patient, database


@pytest.mark.parametrize("name", ["home", "it's 50% #1? home"])
def test_a_whole_database_is_told_so_wherever_it_is(patient: Patient, name: str) -> None:
    patient.home = Home(str(patient.path / name))
    patient.home.node.prepare()
    database(patient.home.node.database)
    assert patient.finding("database").detail.startswith("whole, ")


@pytest.mark.parametrize("damage", ["text", "page", "cut"])
def test_a_damaged_database_is_reported_and_its_command_moves_it_aside(patient: Patient, damage: str) -> None:
    patient.home.node.prepare()
    path = Path(patient.home.node.database)
    database(str(path), 2000)
    whole = bytearray(path.read_bytes())
    if damage == "text":
        path.write_text("this is not a database " * 100)
    elif damage == "page":
        whole[4096 * 5 : 4096 * 9] = os.urandom(4096 * 4)
        path.write_bytes(whole)
    else:
        path.write_bytes(whole[: len(whole) // 2])
    finding = patient.finding("database")
    assert finding.status == FAIL
    assert "is damaged" in finding.detail
    subprocess.run(["sh", "-c", f"covey() {{ :; }}; {finding.fix}"], check=True)
    assert path.with_name("node.db.damaged").exists()
    assert patient.finding("database").detail == "none yet"


async def test_a_database_that_was_moved_aside_is_reported_until_it_is_removed(patient: Patient) -> None:
    patient.home.node.prepare()
    path = Path(patient.home.node.database)
    path.write_text("garbage")
    async with await Store.open(path, ()) as store:
        moved = store.recovered_from
    assert moved is not None
    finding = patient.finding("database")
    assert finding.status == WARN
    assert str(moved) in finding.detail
    assert finding.fix == f"sqlite3 {moved} .recover"
    moved.unlink()
    assert patient.finding("database").status == OK


def test_a_directory_in_place_of_the_database_is_reported(patient: Patient) -> None:
    patient.home.node.prepare()
    Path(patient.home.node.database).mkdir()
    assert patient.finding("database").status == FAIL


def test_a_database_in_use_is_looked_at_without_disturbing_it(patient: Patient) -> None:
    patient.home.node.prepare()
    database(patient.home.node.database)
    writer = sqlite3.connect(patient.home.node.database, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("INSERT INTO t VALUES ('y')")
    assert patient.finding("database").status == OK
    writer.execute("COMMIT")
    assert writer.execute("SELECT count(*) FROM t").fetchone() == (11,)
    writer.close()


def test_a_database_whose_daemon_was_killed_is_looked_at_with_its_log(patient: Patient) -> None:
    patient.home.node.prepare()
    script = """
import os, sqlite3, sys
made = sqlite3.connect(sys.argv[1], isolation_level=None)
made.execute("PRAGMA journal_mode = wal")
made.execute("CREATE TABLE t (x TEXT)")
made.execute("INSERT INTO t VALUES ('kept')")
os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", script, patient.home.node.database], check=False)
    assert Path(f"{patient.home.node.database}-wal").stat().st_size
    assert patient.finding("database").status == OK
    with sqlite3.connect(patient.home.node.database) as again:
        assert again.execute("SELECT x FROM t").fetchone() == ("kept",)
    again.close()


def test_a_database_too_large_to_check_in_time_is_not_called_damaged(patient: Patient) -> None:
    patient.home.node.prepare()
    database(patient.home.node.database, 20_000)
    finding = SeatDoctor(patient.home.node, SETTINGS, ManualClock(), 1e-9).database()
    assert finding.status == OK
    assert "too large to check in time" in finding.detail
