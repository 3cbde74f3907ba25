"""Background work that fails, and how it ends."""

from __future__ import annotations

import asyncio
import logging
from itertools import pairwise

import pytest

from covey.kernel.clock import ManualClock
from covey.kernel.metrics import Metrics
from covey.kernel.tasks import LONGEST_PAUSE_S, STEADY_S, Tasks


async def passed(clock: ManualClock, seconds: float) -> None:
    """Let time pass, and whoever waits for it go on."""
    for _ in range(10):
        await asyncio.sleep(0)
    clock.advance(seconds)
    for _ in range(10):
        await asyncio.sleep(0)


def test_work_that_fails_is_logged_counted_and_begun_again_after_longer_and_longer_pauses(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        clock, metrics, begun = ManualClock(), Metrics(), list[float]()

        async def work() -> None:
            begun.append(clock.monotonic())
            if len(begun) == 9:
                await clock.sleep(STEADY_S)
            raise OSError("no space left")

        async with Tasks(clock, metrics) as tasks:
            tasks.keep("notifier", work)
            for _ in range(600):
                await passed(clock, 1.0)
        pauses = [after - before for before, after in pairwise(begun)]
        assert pauses[:8] == [1, 2, 4, 8, 16, 32, 60, 60]
        assert LONGEST_PAUSE_S == 60
        assert pauses[8] == STEADY_S + 1, "what ran for long begins anew"
        assert f'covey_task_failures_total{{task="notifier"}} {len(begun)}' in metrics.text()

    with caplog.at_level(logging.ERROR):
        asyncio.run(asyncio.wait_for(main(), 60))
    assert {record.message for record in caplog.records} == {"a background task failed"}


def test_work_that_returns_is_over_and_the_last_one_is_ended_first() -> None:
    async def main() -> None:
        ended, returned = list[str](), 0

        async def endless(name: str) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(name)

        async def short() -> None:
            nonlocal returned
            returned += 1

        async with Tasks(ManualClock(), Metrics()) as tasks:
            tasks.keep("first", lambda: endless("first"))
            tasks.keep("short", short)
            tasks.keep("second", lambda: endless("second"))
            await asyncio.sleep(0.01)
        assert (ended, returned) == (["second", "first"], 1)

    asyncio.run(asyncio.wait_for(main(), 60))
