"""The daemon is killed before, during and after runs: nothing is lost, done twice or left running."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from contextlib import closing

import pytest

from covey.beats.run_folder import marked_processes
from tests.covey.beats.pretended import Pretended, logged, until
from tests.covey.conftest import Covey

PARTS, KILLS = 3, 10
"""Thirty kills in all. A busy machine needs ten seconds for one."""


@pytest.fixture
def pretended(covey: Covey) -> Pretended:
    agent = Pretended(covey.folder / "bin")
    for name in ("one", "two"):
        workspace = covey.folder / name
        workspace.mkdir()
        (workspace / "HEARTBEAT.md").write_text("---\ninterval: 10s\noverlap: parallel\n---\nLook.\n")
    covey.home.mkdir()
    (covey.home / "config.toml").write_text(
        f'[beats]\njitter_s = 0\n\n[[beats.workspace]]\npath = "{covey.folder}/one"\n'
    )
    return agent


def begin(covey: Covey, workspace: str) -> str | None:
    """Ask for a run; its id, or None if the daemon went away before it could answer."""
    try:
        status, answer = covey.decide("POST", "/v1/beats/run", path=str(covey.folder / workspace))
    except subprocess.CalledProcessError:
        return None
    assert status == 200, answer
    run: str = answer["run"]
    return run


def rows(covey: Covey) -> list[tuple[str, str, str, float | None]]:
    with closing(sqlite3.connect(f"file:{covey.node / 'node.db'}?mode=ro", uri=True)) as database:
        return database.execute("SELECT run, state, file, slot FROM beat_run").fetchall()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("part", range(PARTS))
def test_a_daemon_that_is_killed_again_and_again_loses_no_run_and_runs_none_twice(
    covey: Covey, pretended: Pretended, part: int
) -> None:
    chance = random.Random(part)  # the same moments every time
    path = {"PATH": f"{pretended.folder}:{os.environ['PATH']}"}
    asked: list[str] = []
    for _ in range(KILLS):
        pretended.wish(seconds=chance.choice([0.0, 0.05, 0.3]), children=chance.random() < 0.3)
        assert covey.run("up", **path).code == 0
        daemon = covey.pid
        asked += [run for _ in range(chance.randint(1, 3)) if (run := begin(covey, "two")) is not None]
        time.sleep(chance.uniform(0.0, 0.6))  # the moment is what is tested here
        os.kill(daemon, signal.SIGKILL)
    assert covey.run("up", **path).code == 0
    until(lambda: all(state == "done" for _, state, _, _ in rows(covey)), "the end of all runs")
    covey.run("down")
    known = rows(covey)
    runs = {run for run, *_ in known}
    assert set(asked) <= runs, "what was accepted is not forgotten"
    assert len(runs) == len(known)
    slots = [(file, slot) for _, _, file, slot in known if slot is not None]
    assert slots
    assert len(set(slots)) == len(slots), "no time of the schedule had two runs"
    starts = Counter(pretended.starts)
    assert set(starts) <= runs
    assert max(starts.values()) == 1, "no run was done twice"
    lines = Counter(line["run"] for line in logged(covey.home))
    done = {run for run, state, *_ in known if state == "done"}  # one may have become due when the daemon stopped
    assert set(asked) <= done
    assert lines == dict.fromkeys(done, 1), "each run is in the log, once"
    assert not [pid for run in runs for pid in marked_processes(run)], "nothing is left running"
    assert not list((covey.home / "beats" / "runs").iterdir())


def test_a_run_goes_on_while_the_daemon_is_away_and_is_concluded_by_the_next(
    covey: Covey, pretended: Pretended
) -> None:
    path = {"PATH": f"{pretended.folder}:{os.environ['PATH']}"}
    (covey.home / "config.toml").write_text("")
    pretended.wish(seconds=1.0, says="ATTENTION: it rains")
    assert covey.run("up", **path).code == 0
    run = begin(covey, "one")
    until(lambda: run in pretended.starts, "the start of the agent")
    os.kill(covey.pid, signal.SIGKILL)
    assert run is not None
    until(lambda: not marked_processes(run), "the end of the agent")
    assert logged(covey.home) == []
    assert covey.run("up", **path).code == 0
    until(lambda: bool(logged(covey.home)), "the log")
    assert [(line["run"], line["outcome"], line["summary"]) for line in logged(covey.home)] == [
        (run, "attention", "it rains")
    ]
    assert pretended.starts == [run]


def test_a_run_whose_runner_was_killed_is_an_error_and_nothing_of_it_is_left(
    covey: Covey, pretended: Pretended
) -> None:
    path = {"PATH": f"{pretended.folder}:{os.environ['PATH']}"}
    (covey.home / "config.toml").write_text("")
    pretended.wish(seconds=100.0, children=True)
    assert covey.run("up", **path).code == 0
    run = begin(covey, "one")
    assert run is not None
    until(lambda: len(marked_processes(run)) == 3, "the agent and what it has started")
    claim = covey.home / "beats" / "runs" / run / "claim"
    os.kill(int(claim.read_text().split()[0]), signal.SIGKILL)
    until(lambda: bool(logged(covey.home)), "the log")
    assert [(line["outcome"], line["errorKind"]) for line in logged(covey.home)] == [("error", "crash")]
    until(lambda: not marked_processes(run), "the end of what was left")
    until(lambda: not claim.parent.exists(), "the end of its folder")


def test_a_daemon_that_is_stopped_ends_its_runs_and_says_so(covey: Covey, pretended: Pretended) -> None:
    path = {"PATH": f"{pretended.folder}:{os.environ['PATH']}"}
    (covey.home / "config.toml").write_text("")
    pretended.wish(seconds=100.0, children=True)
    assert covey.run("up", **path).code == 0
    run = begin(covey, "one")
    assert run is not None
    until(lambda: len(marked_processes(run)) == 3, "the agent and what it has started")
    assert covey.run("down").code == 0
    assert not marked_processes(run)
    assert [(line["outcome"], line["errorKind"], line["error"]) for line in logged(covey.home)] == [
        ("error", "interrupted", "it was interrupted: the daemon was stopped")
    ]
