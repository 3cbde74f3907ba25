"""What a dead agent left running is ended, and nothing else."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from covey.keeper.sessions import leftovers
from covey.keeper.sessions.leftovers import VARIABLE, end_leftovers, processes_of
from covey.kernel.clock import SystemClock
from covey.kernel.processes.process import birth
from tests.covey.tmux.conftest import Tmux, until

STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(1000)"
Started = subprocess.Popen[bytes]


class Launches:
    """Processes with the mark of a start."""

    def __init__(self) -> None:
        self.processes: list[Started] = []

    def run(self, launch: str, *argv: str) -> Started:
        environment = {**os.environ, VARIABLE: launch}
        process = subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, start_new_session=True)
        self.processes.append(process)
        return process


@pytest.fixture
def launches() -> Iterator[Launches]:
    found = Launches()
    yield found
    for process in found.processes:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


async def test_the_processes_of_a_start_are_ended_and_no_others(launches: Launches) -> None:
    mine, other = uuid4().hex, uuid4().hex
    one, two = (launches.run(mine, "sleep", "1000") for _ in range(2))
    kept = launches.run(other, "sleep", "1000")
    await until(lambda: birth(one.pid) and birth(two.pid) and birth(kept.pid))
    assert await end_leftovers(mine, SystemClock()) == sorted([one.pid, two.pid])
    assert (one.wait(), two.wait(), kept.poll()) == (-15, -15, None)
    assert await end_leftovers(mine, SystemClock()) == []


async def test_children_in_sessions_of_their_own_are_found(launches: Launches) -> None:
    launch = uuid4().hex
    shell = launches.run(launch, "sh", "-c", "setsid sleep 1000 & echo $!; exit")
    assert shell.stdout
    child = int(shell.stdout.readline())
    shell.wait()
    while child not in await processes_of(launch):  # while it becomes another program, it has no environment
        assert birth(child)
    assert await end_leftovers(launch, SystemClock()) == [child]
    assert not birth(child)


async def test_who_does_not_listen_is_killed(launches: Launches, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "ENDS_S", 0.2)
    launch = uuid4().hex
    stubborn = launches.run(launch, sys.executable, "-c", STUBBORN)
    assert stubborn.stdout
    stubborn.stdout.readline()
    assert await end_leftovers(launch, SystemClock()) == [stubborn.pid]
    assert stubborn.wait() == -9


async def test_without_a_start_there_is_nothing_to_end(launches: Launches) -> None:
    empty = launches.run("", "sleep", "1000")
    assert await processes_of("") == []
    assert await end_leftovers("", SystemClock()) == []
    assert empty.poll() is None


async def test_a_daemon_that_a_kept_agent_started_does_not_end_itself(launches: Launches) -> None:
    launch = uuid4().hex
    script = (
        "import asyncio, sys; from covey.keeper.sessions.leftovers import processes_of\n"
        f"print(asyncio.run(processes_of({launch!r})))"
    )
    daemon = launches.run(launch, sys.executable, "-c", script)
    assert daemon.stdout
    assert daemon.stdout.read() == b"[]\n"


async def test_a_tmux_server_that_the_agent_started_goes_on() -> None:
    launch = uuid4().hex
    folder = Path(tempfile.mkdtemp(prefix="covey-"))
    tmux = Tmux(folder)
    try:
        argv = ["tmux", "-S", tmux.socket, "-f", "/dev/null", "new-session", "-d", "-s", "mine"]
        environment = {**os.environ, VARIABLE: launch}
        started = await asyncio.create_subprocess_exec(*argv, f"exec env -u {VARIABLE} sleep 1000", env=environment)
        assert await started.wait() == 0
        server = tmux.pid
        await until(lambda: tmux.run("list-panes", "-a", "-F", "#{pane_current_command}") == "sleep")
        assert await end_leftovers(launch, SystemClock()) == []
        assert tmux.pid == server
    finally:
        tmux.close()
        shutil.rmtree(folder)
