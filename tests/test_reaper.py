"""A test run that is ended leaves no process behind, however it is ended and whatever it has started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

REAPER = Path(__file__).with_name("reaper.py")
LIMIT_S = 120
MARK = "COVEY_TESTED_REAPER"
SUITE = """
import os, subprocess, sys, time
from pathlib import Path
import pytest

DETACHES = "import os, sys, time; os.fork() and os._exit(0); os.setsid(); open(sys.argv[1], 'w'); time.sleep(900)"


@pytest.mark.parametrize("part", range(4))
def test_that_never_ends(part, tmp_path):
    socket, folder = tmp_path / "s", Path(__file__).parent
    subprocess.run(["tmux", "-S", str(socket), "-f", "/dev/null", "new-session", "-d", "exec sleep 900"], check=True)
    subprocess.run([sys.executable, "-c", DETACHES, str(folder / f"detached-{part}")], check=True)
    (folder / f"started-{part}").touch()
    time.sleep(900)
"""


def marked(mark: str) -> list[int]:
    """Return the processes that were started below the one with this mark in its environment, zombies excluded."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdecimal() and f"{MARK}={mark}\0".encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:  # it is not ours, or it has ended meanwhile
            continue
    return found


def until(true: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + LIMIT_S
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.02)


class Run:
    """A run of a suite whose tests never end, below the reaper, with two workers."""

    def __init__(self, folder: Path) -> None:
        self.mark = str(folder)
        (folder / "test_endless.py").write_text(SUITE)
        (folder / "pytest.ini").write_text("[pytest]\n")
        pytest_of_it = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "-c", "pytest.ini"]
        with (folder / "out").open("wb") as out:
            self.process = subprocess.Popen(
                [sys.executable, str(REAPER), *pytest_of_it, "test_endless.py"],
                cwd=folder,
                env={**os.environ, MARK: self.mark},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        until(lambda: len(list(folder.glob("detached-*"))) == 2, (folder / "out").read_text())
        until(lambda: len(list(folder.glob("started-*"))) == 2, (folder / "out").read_text())

    def children(self, pid: int) -> list[int]:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    started = Run(tmp_path)
    yield started
    for pid in marked(started.mark):
        os.kill(pid, signal.SIGKILL)
    started.process.wait(LIMIT_S)


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives orphans to who asks for them")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
def test_a_run_that_is_ended_leaves_no_process_behind(run: Run, number: signal.Signals) -> None:
    assert len(marked(run.mark)) >= 10, "two reapers, the controller, two workers, and what their tests have started"
    run.process.send_signal(number)
    run.process.wait(LIMIT_S)
    until(lambda: not marked(run.mark), "processes are left")


@pytest.mark.parametrize("depth", [1, 2], ids=["the inner reaper", "the controller of the workers"])
def test_a_part_of_the_run_that_is_killed_takes_everything_with_it(run: Run, depth: int) -> None:
    pid = run.process.pid
    for _ in range(depth):
        pid = run.children(pid)[0]  # the others are orphans, and younger
    os.kill(pid, signal.SIGKILL)
    assert run.process.wait(LIMIT_S) == 128 + signal.SIGKILL
    assert marked(run.mark) == []


@pytest.mark.parametrize(
    ("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143), ("sleep 900 & exit 3", 3)]
)
def test_the_exit_code_is_that_of_the_command(script: str, code: int) -> None:
    ended = subprocess.run([sys.executable, str(REAPER), "/bin/sh", "-c", script], timeout=LIMIT_S, check=False)
    assert ended.returncode == code


def test_a_command_that_does_not_exist_is_told() -> None:
    command = [sys.executable, str(REAPER), "/nonexistent/pytest"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert (ended.returncode, ended.stderr) == (127, "reaper: /nonexistent/pytest: No such file or directory\n")
