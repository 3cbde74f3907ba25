"""The process that does one run: with real commands in place of the agent."""

from __future__ import annotations

import hashlib
import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from covey.beats import runner
from covey.beats.run_folder import RunFolder, marked_processes
from tests.covey.beats.pretended import new_run, until

LIMIT_S = 120


class Runner:
    """A folder and what can be done with it."""

    def __init__(self, path: Path) -> None:
        self.folder = RunFolder(path / new_run())
        self.workspace = path

    def prepare(self, command: str = "cat", probe: dict[str, Any] | None = None, **task: Any) -> None:
        wanted = (
            {"command": "true", "when": "fails", "timeout_s": 20, "previous": "", **probe}
            if probe is not None
            else None
        )
        plain = {
            "cwd": str(self.workspace),
            "argv": ["/bin/sh", "-c", command],
            "environment": {},
            "timeout_s": 20,
            "probe": wanted,
        }
        self.folder.prepare({**plain, **task}, "the prompt", {})

    def start(self, **environment: str) -> subprocess.Popen[bytes]:
        argv = [sys.executable, "-m", "covey.beats.runner", str(self.folder.path)]
        return subprocess.Popen(argv, env={**os.environ, **environment}, start_new_session=True)

    def run(self, **environment: str) -> dict[str, Any]:
        with self.start(**environment) as process:
            assert process.wait(LIMIT_S) == 0
        assert not marked_processes(self.folder.run_id), "nothing is left running"
        assert self.folder.exit_record is not None
        return self.folder.exit_record

    @property
    def said(self) -> str:
        return self.folder.stdout.read_text(errors="replace")


@pytest.fixture
def one() -> Iterator[Runner]:
    with tempfile.TemporaryDirectory(prefix="covey-") as path:
        yield Runner(Path(path))


def test_the_agent_reads_the_prompt_and_its_end_is_in_the_exit_record(one: Runner) -> None:
    one.prepare("cat; pwd; echo no >&2; exit 3")
    word = one.run()
    assert (word["code"], word["why"], word["probe"]) == (3, "ended", None)
    assert one.said == f"the prompt{one.workspace}\n"
    assert one.folder.stderr.read_text() == "no\n"
    assert {stat.S_IMODE(file.stat().st_mode) for file in one.folder.path.iterdir()} == {0o600}


def test_the_environment_is_added_to_and_taken_from(one: Runner) -> None:
    one.prepare("env", environment={"CLAUDECODE": None, "ADDED": "yes"})
    one.run(CLAUDECODE="1", KEPT="yes")
    assert {"ADDED=yes", "KEPT=yes", f"COVEY_RUN={one.folder.run_id}"} <= set(one.said.split("\n"))
    assert "CLAUDECODE" not in one.said


def test_a_second_runner_does_nothing(one: Runner) -> None:
    one.prepare("echo once")
    word = one.run()
    assert one.run() == word
    assert one.said == "once\n"


def test_without_a_task_there_is_nothing_to_do(one: Runner) -> None:
    with one.start() as process:
        assert process.wait(LIMIT_S) == 0
    assert not one.folder.path.exists()


def test_a_signal_counts_as_a_shell_counts_it(one: Runner) -> None:
    one.prepare("kill -9 $$")
    assert one.run()["code"] == 137


def test_what_cannot_be_started_says_so(one: Runner) -> None:
    one.prepare(argv=["/no/such/program"])
    word = one.run()
    assert (word["why"], word["message"]) == ("start", "/no/such/program: No such file or directory")


@pytest.mark.parametrize("task", [{"cwd": "/no/such/folder"}, {"argv": ["/bin/echo", "a\0b"]}])
def test_a_missing_workspace_and_an_impossible_argument_are_in_the_exit_record_too(
    one: Runner, task: dict[str, Any]
) -> None:
    one.prepare(**task)
    word = one.run()
    assert word["why"] == "start"
    assert word["message"]


def test_a_timeout_ends_the_whole_group_and_what_has_left_it(one: Runner) -> None:
    one.prepare("trap '' TERM; setsid sleep 1000 & sleep 1000 & echo begun; wait; sleep 1000", timeout_s=1)
    (one.folder.path / "stdout").touch()
    word = one.run()
    assert word["why"] == "timeout"
    assert one.said == "begun\n"


def test_what_an_agent_leaves_behind_is_ended_when_it_has_ended_itself(one: Runner) -> None:
    one.prepare("setsid sleep 1000 & sleep 1000 & exit 0")
    assert one.run()["why"] == "ended"


@pytest.mark.parametrize("where", ["", " >&2"])
def test_an_agent_that_writes_without_end_is_ended_whichever_way_it_writes(one: Runner, where: str) -> None:
    one.prepare(f"yes{where}")
    assert one.run()["why"] == "output"


def test_the_reason_given_for_a_stop_is_in_the_exit_record(one: Runner) -> None:
    one.prepare("echo begun; sleep 1000 & wait")
    with one.start() as process:
        until(lambda: one.folder.stdout.exists() and one.said == "begun\n", "the agent")
        one.folder.stop("somebody said so")
        assert process.wait(LIMIT_S) == 0
    assert one.folder.exit_record
    assert one.folder.exit_record["why"] == "somebody said so"
    assert not marked_processes(one.folder.run_id)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_without_a_reason_is_an_interruption(one: Runner, number: int) -> None:
    one.prepare("echo begun; sleep 1000 & wait")
    with one.start() as process:
        until(lambda: one.folder.stdout.exists() and one.said == "begun\n", "the agent")
        process.send_signal(number)
        assert process.wait(LIMIT_S) == 0
    assert one.folder.exit_record
    assert one.folder.exit_record["why"] == "interrupted"


def test_a_run_that_was_stopped_before_its_runner_came_never_begins(one: Runner) -> None:
    one.prepare("echo begun")
    one.folder.stop("the daemon was stopped")
    assert one.run()["why"] == "the daemon was stopped"
    assert not one.folder.stdout.exists()


@pytest.mark.parametrize(
    ("probe", "means", "runs"),
    [
        ({"command": "echo fine"}, "ok", False),
        ({"command": "echo broken; exit 1"}, "needed", True),
        ({"command": "echo broken; exit 1", "previous": "broken\n"}, "unchanged", False),
        ({"command": "echo broken >&2; exit 1", "previous": "broken\n"}, "unchanged", False),
        ({"command": "echo worse; exit 1", "previous": "broken\n"}, "needed", True),
        ({"command": "echo fine", "when": "changed"}, "needed", True),
        ({"command": "echo fine", "when": "changed", "previous": "fine\n"}, "unchanged", False),
        ({"command": "echo fine; exit 1", "when": "changed", "previous": "fine\n"}, "unchanged", False),
        ({"command": "/no/such/program"}, "probe_failed", False),
        ({"command": "kill -9 $$"}, "probe_failed", False),
        ({"command": "sleep 1000", "timeout_s": 0.3}, "probe_timeout", False),
    ],
)
def test_a_probe_decides_whether_the_agent_is_started(
    one: Runner, probe: dict[str, Any], means: str, *, runs: bool
) -> None:
    if "previous" in probe:
        probe = {**probe, "previous": hashlib.sha256(probe["previous"].encode()).hexdigest()}
    one.prepare("echo agent", probe=probe)
    word = one.run()
    assert word["probe"]["means"] == means
    assert word["why"] == ("ended" if runs else means)
    assert one.folder.stdout.exists() is runs


def test_a_probe_that_is_ended_from_outside_starts_no_agent(one: Runner) -> None:
    one.prepare("echo agent", probe={"command": "echo asked; sleep 1000"})
    with one.start() as process:
        until(
            lambda: (one.folder.path / "probe").exists() and (one.folder.path / "probe").read_text() == "asked\n",
            "the probe",
        )
        process.terminate()
        assert process.wait(LIMIT_S) == 0
    assert one.folder.exit_record
    assert one.folder.exit_record["why"] == "interrupted"
    assert not one.folder.stdout.exists()


def test_a_runner_whose_folder_is_taken_away_does_not_pretend_to_be_well(one: Runner) -> None:
    written = one.folder.path / "agent"  # the last file that the runner writes before it waits
    one.prepare(f"until test -e {written}; do sleep 0.01; done; rm -rf {one.folder.path}")
    with one.start() as process:
        assert process.wait(LIMIT_S) != 0


def test_the_pipe_for_signals_never_blocks_and_is_not_inherited() -> None:
    read_fd, write_fd = runner._pipe()
    try:
        assert not os.get_blocking(read_fd)
        assert not os.get_inheritable(write_fd)
    finally:
        os.close(read_fd)
        os.close(write_fd)
