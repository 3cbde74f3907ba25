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

from covey.beats.folder import MARK, Folder, make_private, marked
from tests.covey.beats.pretended import new_run, until

TASK = {"cwd": "/", "argv": ["true"], "environment": {}, "timeout_s": 5, "probe": None}


@pytest.fixture
def folder() -> Iterator[Folder]:
    with tempfile.TemporaryDirectory(prefix="covey-") as path:
        yield Folder(Path(path) / "runs" / new_run())


def sleeper(run: str, *, apart: bool = False) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "1000"], env={**os.environ, MARK: run}, start_new_session=apart)


def test_all_in_it_is_for_its_owner_only(folder: Folder) -> None:
    folder.prepare(TASK, "Look.", {"settings.json": "{}"})
    folder.claim()
    folder.end({})
    folder.appended("stdout").close()
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.path.iterdir()} == {0o600}
    assert not [file for file in folder.path.iterdir() if file.name.startswith(".")]


def test_of_many_runners_one_gets_the_run(folder: Folder) -> None:
    folder.prepare(TASK, "", {})
    claims = [
        f"import sys; from pathlib import Path; from covey.beats.folder import Folder; sys.exit(not Folder(Path({str(folder.path)!r})).claim())"
    ] * 6
    runners = [subprocess.Popen([sys.executable, "-c", claim]) for claim in claims]
    codes = [runner.wait(60) for runner in runners]
    assert sorted(codes) == [0, 1, 1, 1, 1, 1]
    assert folder.claimed
    assert folder.claimed[0] == runners[codes.index(0)].pid


def test_a_word_that_is_half_written_is_not_read(folder: Folder) -> None:
    folder.prepare(TASK, "", {})
    assert folder.task == TASK
    for name in ("exit.json", "hand.json", "claim", "agent"):
        (folder.path / name).write_bytes(b'{"wh\xff')
    assert folder.ended is None
    assert folder.handed_over is None
    assert folder.claimed is None
    assert not folder.sweep()


def test_who_is_to_stop_is_told_why_once_it_is_over_it_is_not(folder: Folder) -> None:
    folder.stop("nobody")
    assert not folder.path.exists(), "there is nothing to stop"
    folder.prepare(TASK, "", {})
    folder.stop("because")
    assert folder.stopped == "because"
    folder.end({"why": "ended"})
    folder.stop("too late")
    assert folder.stopped == "because"


def test_a_claim_of_a_process_that_is_gone_stops_nobody_else(folder: Folder) -> None:
    folder.prepare(TASK, "", {})
    other = sleeper("01OTHER")
    try:
        (folder.path / "claim").write_text(f"{other.pid} somebody-else")
        (folder.path / "agent").write_text(f"{other.pid} somebody-else")
        folder.stop("because")
        assert not folder.sweep()
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="only there processes tell their environment")
def test_a_sweep_ends_what_carries_the_mark_wherever_it_has_gone_and_nothing_else(folder: Folder) -> None:
    folder.prepare(TASK, "", {})
    own = [sleeper(folder.run), sleeper(folder.run, apart=True)]
    others = [
        sleeper(f"{folder.run}2"),
        sleeper(folder.run[:-1]),
        sleeper(f"X{folder.run}"),
        subprocess.Popen(["sleep", "1000"], env={"OTHER": f"{MARK}={folder.run}"}),
    ]
    try:
        until(lambda: set(marked(folder.run)) == {process.pid for process in own}, "the mark")
        assert folder.sweep()
        assert [process.wait(10) for process in own] == [-9, -9]
        assert not folder.sweep()
        assert [process.poll() for process in others] == [None] * 4
    finally:
        for process in (*own, *others):
            process.kill()
            process.wait()


def test_the_group_of_an_agent_is_ended_where_nothing_carries_a_mark(folder: Folder) -> None:
    folder.prepare(TASK, "", {})
    with subprocess.Popen(
        ["sh", "-c", "sleep 1000 & wait"], start_new_session=True, env={"PATH": os.environ["PATH"]}
    ) as agent:
        folder.agent_is(agent.pid)
        assert folder.sweep()
        assert agent.wait(10) == -9


def test_where_the_system_does_not_tell_nothing_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert marked("01RUN") == []


def test_a_run_that_never_began_can_be_handed_over(folder: Folder) -> None:
    folder.hand_over({"run": {}})
    assert folder.handed_over == {"run": {}}
    assert folder.touched > 0
    folder.remove()
    assert folder.touched == 0.0


def test_folders_are_for_their_owner_alone(tmp_path: Path) -> None:
    make_private(tmp_path / "beats" / "runs")
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "beats", tmp_path / "beats" / "runs")} == {0o700}
