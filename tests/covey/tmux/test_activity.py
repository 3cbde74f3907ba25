"""Whether a real process has run."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess

from covey.tmux.activity import Activity
from tests.covey.tmux.conftest import LIMIT_S, until


async def test_a_process_that_waits_has_not_run_and_one_that_did_something_has() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        activity = Activity(process.pid)
        try:
            assert activity.has_run()  # nothing is known yet

            async def still() -> bool:
                await activity.mark_seen()
                return not any(activity.has_run() for _ in range(100))

            process.stdin.write(b"x")
            process.stdin.flush()
            assert process.stdout.read(1) == b"x"
            async with asyncio.timeout(LIMIT_S):
                while not await still():  # noqa: ASYNC110 - it happens in another process
                    await asyncio.sleep(0.01)
            process.stdin.write(b"y")
            process.stdin.flush()
            await until(activity.has_run)
        finally:
            activity.close()
        process.kill()


async def test_a_process_that_has_ended_counts_as_having_run() -> None:
    process = subprocess.Popen(["sleep", "1000"])
    activity = Activity(process.pid)
    await activity.mark_seen()
    assert activity.known
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert activity.has_run()
    activity.close()


async def test_where_the_system_provides_nothing_everything_counts_as_having_run() -> None:
    activity = Activity(0)
    await activity.mark_seen()
    assert activity.has_run()
    assert not activity.known
