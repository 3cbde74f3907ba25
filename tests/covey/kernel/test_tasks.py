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


async def test_work_that_fails_is_logged_counted_and_begun_again_after_longer_and_longer_pauses(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR):
        clock, metrics, begun = ManualClock(), Metrics(), list[float]()

        async def work() -> None:
            begun.append(clock.monotonic())
            if len(begun) == 9:
                await clock.sleep(STEADY_S)
            raise OSError("no space left")

        async with asyncio.timeout(60), Tasks(clock, metrics) as tasks:
            tasks.keep("notifier", work)
            for _ in range(600):
                await passed(clock, 1.0)
        pauses = [after - before for before, after in pairwise(begun)]
        assert pauses[:8] == [1, 2, 4, 8, 16, 32, 60, 60]
        assert LONGEST_PAUSE_S == 60
        assert pauses[8] == STEADY_S + 1, "what ran for long begins anew"
        assert f'covey_task_failures_total{{task="notifier"}} {len(begun)}' in metrics.text()
    assert {record.message for record in caplog.records} == {"a background task failed"}


async def test_work_that_returns_is_over_and_the_last_one_is_ended_first() -> None:
    ended, returned = list[str](), 0

    async def endless(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(name)

    async def short() -> None:
        nonlocal returned
        returned += 1

    async with asyncio.timeout(60), Tasks(ManualClock(), Metrics()) as tasks:
        tasks.keep("first", lambda: endless("first"))
        tasks.keep("short", short)
        tasks.keep("second", lambda: endless("second"))
        await asyncio.sleep(0.01)
    assert (ended, returned) == (["second", "first"], 1)


async def test_single_work_that_fails_is_logged_and_counted_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        metrics = Metrics()

        async def fail() -> None:
            raise OSError("no space left")

        async with asyncio.timeout(60), Tasks(ManualClock(), metrics) as tasks:
            tasks.spawn("lookup", fail())
            await tasks.drain(60)
        assert 'covey_task_failures_total{task="lookup"} 1' in metrics.text()
    assert [record.message for record in caplog.records] == ["a background task failed"]


async def test_shielded_work_returns_and_raises_to_its_caller_and_is_then_not_counted() -> None:
    metrics = Metrics()

    async def answer(value: int) -> int:
        if not value:
            raise ValueError("zero")
        return value

    async with asyncio.timeout(60), Tasks(ManualClock(), metrics) as tasks:
        assert await tasks.shield("write", answer(1)) == 1
        with pytest.raises(ValueError, match="zero"):
            await tasks.shield("write", answer(0))
    assert 'task="write"' not in metrics.text()


async def test_shielded_work_goes_on_without_its_caller_and_its_error_is_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR):
        metrics, go, done = Metrics(), asyncio.Event(), list[str]()

        async def write(error: Exception | None) -> None:
            await go.wait()
            done.append("written")
            if error:
                raise error

        async with asyncio.timeout(60), Tasks(ManualClock(), metrics) as tasks:
            callers = [asyncio.create_task(tasks.shield("write", write(error))) for error in (None, OSError("full"))]
            await asyncio.sleep(0.01)
            for caller in callers:
                caller.cancel()
            await asyncio.wait(callers)
            go.set()
            await tasks.drain(60)
        assert done == ["written", "written"]
        assert 'covey_task_failures_total{task="write"} 1' in metrics.text()
    assert [record.message for record in caplog.records] == ["a background task failed"]


async def test_single_work_that_does_not_end_in_time_is_cancelled_before_what_is_kept() -> None:
    ended = list[str]()

    async def endless(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(name)

    async with asyncio.timeout(60), Tasks(ManualClock(), Metrics()) as tasks:
        tasks.spawn("single", endless("single"))
        tasks.keep("kept", lambda: endless("kept"))
        await tasks.drain(0.01)
        assert ended == []
    assert ended == ["single", "kept"]
