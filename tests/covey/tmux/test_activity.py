"""Whether a process has run: a real one."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess

from covey.tmux.activity import Activity
from tests.covey.tmux.conftest import until_now


def test_a_process_that_waits_has_not_run_and_one_that_did_something_has() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        activity = Activity(process.pid)
        try:
            assert activity.ran()  # nothing is known yet

            def still() -> bool:
                asyncio.run(activity.settle())
                return not any(activity.ran() for _ in range(100))

            process.stdin.write(b"x")
            process.stdin.flush()
            assert process.stdout.read(1) == b"x"
            until_now(still)
            process.stdin.write(b"y")
            process.stdin.flush()
            until_now(activity.ran)
        finally:
            activity.close()
        process.kill()


def test_a_process_that_has_ended_counts_as_having_run() -> None:
    process = subprocess.Popen(["sleep", "1000"])
    activity = Activity(process.pid)
    asyncio.run(activity.settle())
    assert activity.known
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert activity.ran()
    activity.close()


def test_where_nothing_is_told_everything_counts_as_having_run() -> None:
    activity = Activity(0)
    asyncio.run(activity.settle())
    assert activity.ran()
    assert not activity.known
