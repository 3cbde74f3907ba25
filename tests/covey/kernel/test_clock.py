"""Time that a test moves by hand, and how it is written."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.kernel.clock import Clock, ManualClock, SystemClock, sleep_until, timestamp


async def test_the_system_clock_has_the_time_of_the_machine() -> None:
    clock: Clock = SystemClock()
    first, later = time.time(), clock.time()
    assert first <= later <= time.time()
    assert clock.monotonic() <= time.monotonic()
    await clock.sleep(0)


async def test_a_manual_clock_wakes_sleepers_in_order_when_their_time_has_come() -> None:
    clock, woken = ManualClock(), list[str]()

    async def nap(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append(name)

    async with asyncio.TaskGroup() as group:
        naps = [
            group.create_task(nap(name, seconds))
            for name, seconds in (("late", 60), ("now", 0), ("soon", 1), ("never", 100))
        ]
        await asyncio.sleep(0)
        assert clock.sleepers == 3
        clock.advance(0.5)
        await asyncio.sleep(0)
        assert woken == ["now"]
        clock.advance(59.5)
        await asyncio.gather(*naps[:3])
        naps[3].cancel()
    assert clock.monotonic() == 60
    assert woken == ["now", "soon", "late"]


def test_a_jump_of_the_wall_clock_lets_no_time_pass() -> None:
    clock = ManualClock(1000)
    clock.set_wall(10)
    assert (clock.time(), clock.monotonic()) == (10, 0)


@given(st.integers(min_value=0, max_value=4_102_444_800_000))
def test_a_timestamp_says_the_moment_to_the_millisecond(milliseconds: int) -> None:
    said = timestamp(milliseconds / 1000)
    assert datetime.fromisoformat(said) == datetime.fromtimestamp(milliseconds // 1000, UTC).replace(
        microsecond=milliseconds % 1000 * 1000
    )
    assert len(said) == len("2026-01-01T00:00:00.000Z")


@pytest.mark.parametrize("way", ["time", "event"])
async def test_a_sleep_until_an_event_ends_when_time_has_passed_or_the_event_is_set(way: str) -> None:
    clock, woken = ManualClock(), asyncio.Event()
    asleep = asyncio.create_task(sleep_until(woken, clock, 10.0))
    for _ in range(3):  # it starts, and so do those that it waits for
        await asyncio.sleep(0)
    assert (clock.sleepers, asleep.done()) == (1, False)
    clock.advance(10.0) if way == "time" else woken.set()
    await asyncio.wait_for(asleep, 5)
    await asyncio.sleep(0)
    assert clock.sleepers == 0, "nothing is left asleep"
