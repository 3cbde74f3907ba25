"""The processes of a machine through a shell: of this one, so that both ways can be compared."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
from collections.abc import AsyncIterator

from covey.hosts.executor import Local
from covey.hosts.processes import ProcessTable
from covey.hosts.remote_processes import RemoteProcesses
from covey.hosts.shell import Shell
from covey.kernel.processes.process import start_of


class Counting(Shell):
    """Knows how often it was asked."""

    asked = 0

    async def run(self, script: str, *, deadline_s: float, first_s: float | None = None) -> bytes:
        self.asked += 1
        return await super().run(script, deadline_s=deadline_s, first_s=first_s)


@contextlib.asynccontextmanager
async def open_processes() -> AsyncIterator[tuple[RemoteProcesses, Counting]]:
    shell = Counting(Local())
    try:
        yield RemoteProcesses(shell), shell
    finally:
        await shell.aclose()


async def test_both_ways_see_the_same() -> None:
    async with open_processes() as (remote, _):
        there, here = await remote.read([os.getpid()]), ProcessTable.read()
        mine, same = there.get(os.getpid()), here.get(os.getpid())
        assert mine is not None
        assert same is not None
        assert there.describe(mine) == here.describe(same)
        assert there.boot == here.boot
        assert abs(there.age(mine) - here.age(same)) < 5
        assert len(there) > len(here) // 2


async def test_only_those_in_panes_are_described_and_each_once() -> None:
    odd = ["sh", "-c", "read x", "new\nline", "", "ünï"]
    with subprocess.Popen(odd, stdin=subprocess.PIPE) as process:
        async with open_processes() as (remote, shell):
            for _ in range(3):
                table = await remote.read([process.pid])
                found = table.get(process.pid)
                assert found is not None
                assert table.describe(found).argv == tuple(odd)
            assert shell.asked == 3 + 1
            stranger = table.get(os.getpid())
            assert stranger is not None
            assert table.describe(stranger).argv == ()
        process.kill()


async def test_a_process_that_calls_itself_something_odd_hides_no_other() -> None:
    script = "printf 'x\\n9 (y) S 1' > /proc/$$/comm; echo; read x"
    with subprocess.Popen(["sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        async with open_processes() as (remote, _):
            there, here = await remote.read([]), ProcessTable.read()
            seen = there.get(process.pid)
            assert seen is not None
            assert seen == here.get(process.pid)
            assert there.get(9) == here.get(9)
        process.kill()


async def test_a_signal_goes_to_the_process_that_was_seen_and_to_no_later_one() -> None:
    sleeper = subprocess.Popen(["sleep", "1000"])
    try:
        started = start_of(sleeper.pid)
        assert started is not None
        async with open_processes() as (remote, _):
            assert not await remote.signal(sleeper.pid, started + 1, "KILL")
            assert sleeper.poll() is None
            assert await remote.lives(sleeper.pid, started)
            assert await remote.signal(sleeper.pid, started, "KILL")
            async with asyncio.timeout(30):
                while await remote.lives(sleeper.pid, started):  # noqa: ASYNC110 - nothing else tells
                    await asyncio.sleep(0.01)
            assert not await remote.signal(sleeper.pid, started, "KILL")
    finally:
        sleeper.kill()
        sleeper.wait()
