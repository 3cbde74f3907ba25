"""The folder of a run: what the daemon and the runner tell each other, and what is ended with it."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from covey.beats.run_folder import MARK, RunFolder, make_private, marked_processes
from tests.covey.beats.pretended import new_run, until

TASK = {"cwd": "/", "argv": ["true"], "environment": {}, "timeout_s": 5, "probe": None}


@pytest.fixture
def folder() -> Iterator[RunFolder]:
    with tempfile.TemporaryDirectory(prefix="covey-") as path:
        yield RunFolder(Path(path) / "runs" / new_run())


def sleeper(run: str, *, apart: bool = False) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "1000"], env={**os.environ, MARK: run}, start_new_session=apart)


def test_all_files_of_a_run_are_readable_by_their_owner_only(folder: RunFolder) -> None:
    folder.prepare(TASK, "Look.", {"settings.json": "{}"})
    folder.claim()
    folder.write_exit({})
    folder.open_append("stdout").close()
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.path.iterdir()} == {0o600}
    assert not [file for file in folder.path.iterdir() if file.name.startswith(".")]


def test_of_many_runners_one_claims_the_run(folder: RunFolder) -> None:
    folder.prepare(TASK, "", {})
    claim = (
        "import sys; from pathlib import Path; from covey.beats.run_folder import RunFolder;"
        f"sys.exit(not RunFolder(Path({str(folder.path)!r})).claim())"
    )
    runners = [subprocess.Popen([sys.executable, "-c", claim]) for _ in range(6)]
    codes = [runner.wait(60) for runner in runners]
    assert sorted(codes) == [0, 1, 1, 1, 1, 1]
    assert folder.runner
    assert folder.runner[0] == runners[codes.index(0)].pid


def test_a_file_that_is_half_written_is_not_read(folder: RunFolder) -> None:
    folder.prepare(TASK, "", {})
    assert folder.task == TASK
    for name in ("exit.json", "hand.json", "claim", "agent"):
        (folder.path / name).write_bytes(b'{"wh\xff')
    assert folder.exit_record is None
    assert folder.handover is None
    assert folder.runner is None
    assert not folder.kill_processes()


def test_a_run_is_stopped_with_a_reason_unless_it_is_over(folder: RunFolder) -> None:
    folder.stop("nobody")
    assert not folder.path.exists(), "there is nothing to stop"
    folder.prepare(TASK, "", {})
    folder.stop("because")
    assert folder.stop_reason == "because"
    folder.write_exit({"why": "ended"})
    folder.stop("too late")
    assert folder.stop_reason == "because"


def test_a_claim_of_a_process_that_is_gone_stops_nobody_else(folder: RunFolder) -> None:
    folder.prepare(TASK, "", {})
    other = sleeper("01OTHER")
    try:
        (folder.path / "claim").write_text(f"{other.pid} somebody-else")
        (folder.path / "agent").write_text(f"{other.pid} somebody-else")
        folder.stop("because")
        assert not folder.kill_processes()
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="only there processes tell their environment")
def test_every_process_with_the_runs_mark_is_killed_and_no_other(folder: RunFolder) -> None:
    folder.prepare(TASK, "", {})
    own = [sleeper(folder.run_id), sleeper(folder.run_id, apart=True)]
    others = [
        sleeper(f"{folder.run_id}2"),
        sleeper(folder.run_id[:-1]),
        sleeper(f"X{folder.run_id}"),
        subprocess.Popen(["sleep", "1000"], env={"OTHER": f"{MARK}={folder.run_id}"}),
    ]
    try:
        until(lambda: set(marked_processes(folder.run_id)) == {process.pid for process in own}, "the mark")
        assert folder.kill_processes()
        assert [process.wait(10) for process in own] == [-9, -9]
        assert not folder.kill_processes()
        assert [process.poll() for process in others] == [None] * 4
    finally:
        for process in (*own, *others):
            process.kill()
            process.wait()


def test_the_group_of_an_agent_is_ended_where_nothing_carries_a_mark(folder: RunFolder) -> None:
    folder.prepare(TASK, "", {})
    with subprocess.Popen(
        ["sh", "-c", "sleep 1000 & wait"], start_new_session=True, env={"PATH": os.environ["PATH"]}
    ) as agent:
        folder.set_agent(agent.pid)
        assert folder.kill_processes()
        assert agent.wait(10) == -9


def test_no_process_is_marked_where_the_system_shows_no_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert marked_processes("01RUN") == []


def test_a_run_that_never_began_can_be_handed_over(folder: RunFolder) -> None:
    folder.write_handover({"run": {}})
    assert folder.handover == {"run": {}}
    assert folder.modified_at > 0
    folder.remove()
    assert folder.modified_at == 0.0


def test_folders_are_for_their_owner_alone(tmp_path: Path) -> None:
    make_private(tmp_path / "beats" / "runs")
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "beats", tmp_path / "beats" / "runs")} == {0o700}
