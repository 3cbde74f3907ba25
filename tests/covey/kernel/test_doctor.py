"""The doctor, on real programs and real files."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from covey.kernel import doctor
from covey.kernel.doctor import Finding, examine, readable
from covey.kernel.home import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    found = Home(str(tmp_path / "h"))
    found.prepare()
    return found


def programs(folder: Path, monkeypatch: pytest.MonkeyPatch, **scripts: str) -> None:
    """A PATH on which only these programs are."""
    folder.mkdir(exist_ok=True)
    for name, script in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def finding(home: Home, name: str) -> Finding:
    return next(finding for finding in examine(home) if finding.name == name)


def test_what_is_there_is_told_with_its_version(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs(tmp_path / "bin", monkeypatch, tmux="echo tmux 3.5a", ssh="echo OpenSSH_9.9p1, LibreSSL 3.3 >&2", claude="echo '2.1.224 (Claude Code)'")
    found = {each.name: each for each in examine(home)}
    assert found["tmux"] == Finding("tools", "tmux", "ok", "3.5a")
    assert found["ssh"] == Finding("tools", "ssh", "ok", "OpenSSH_9.9p1")
    assert found["claude"] == Finding("agents", "claude", "ok", "2.1.224 (Claude Code)")
    assert found["codex"].detail == "not installed"


def test_the_real_tmux_is_recognised(home: Home) -> None:
    assert shutil.which("tmux"), "the set-up installs tmux"
    assert finding(home, "tmux").status == "ok"


def test_a_missing_tmux_is_something_to_mend(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs(tmp_path / "bin", monkeypatch)
    found = finding(home, "tmux")
    assert (found.status, "install tmux" in found.fix) == ("fail", True)


@pytest.mark.parametrize("version", ["tmux 2.9", "tmux 3.1c"])
def test_an_old_tmux_is_warned_about(version: str, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs(tmp_path / "bin", monkeypatch, tmux=f"echo {version}")
    assert finding(home, "tmux").status == "warn"


@pytest.mark.parametrize("version", ["tmux next-3.6", "tmux 3.2", "tmux openbsd-7.5", ""])
def test_odd_versions_of_tmux_do_not_confuse_it(version: str, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs(tmp_path / "bin", monkeypatch, tmux=f"echo '{version}'")
    assert finding(home, "tmux").status == "ok"


def test_a_program_that_hangs_or_babbles_stops_nothing(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "PROBE_S", 0.5)
    babble = "printf '\\033[31m\\377\\n'; exit 3"
    programs(tmp_path / "bin", monkeypatch, tmux="echo tmux 3.5", claude="exec /bin/sleep 60", codex=babble)
    assert finding(home, "claude").status == "warn"
    assert "\x1b" not in finding(home, "codex").detail


def test_a_home_that_others_can_write_comes_with_its_remedy(home: Home) -> None:
    Path(home.path).chmod(0o777)
    found = finding(home, "home")
    assert found.status == "fail"
    assert "chmod" in found.fix


def test_a_broken_configuration_is_found(home: Home) -> None:
    Path(home.config_file).write_text("[log]\nlevel = 7\n")
    assert finding(home, "config").status == "fail"


def test_a_damaged_database_is_found_and_left_alone(home: Home) -> None:
    database = Path(home.database)
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.executemany("INSERT INTO t VALUES (?)", [("x" * 500,)] * 200)
    connection.close()
    assert finding(home, "database").status == "ok"
    damaged = bytearray(database.read_bytes())
    damaged[4096:12288] = b"\xaa" * 8192
    database.write_bytes(damaged)
    assert finding(home, "database").status == "fail"
    assert database.read_bytes() == damaged


def test_a_daemon_that_is_down_is_a_remark_and_no_failure(home: Home) -> None:
    assert finding(home, "daemon") == Finding("covey", "daemon", "warn", "is not running", "covey up")


def test_the_answer_comes_first_and_remedies_stand_under_their_finding() -> None:
    good = Finding("tools", "python", "ok", "3.13")
    bad = Finding("tools", "tmux", "fail", "is not installed", "sudo apt-get install tmux")
    assert readable([good]).splitlines()[0] == "All good"
    lines = readable([good, bad]).splitlines()
    assert lines == ["1 thing to mend", "✗ tmux: is not installed", "    sudo apt-get install tmux", "✓ tools    python 3.13"]
    assert "\x1b[31m" in readable([bad], colour=True)
