"""Injected time: code that depends on time takes a `Clock`, and a test passes one that it moves by hand."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from asyncio import Event, Future


class Clock(Protocol):
    """A source of time. Measure with `monotonic`, show `time`."""

    def time(self) -> float:
        """Return the wall clock: seconds since 1970, UTC. It may jump either way."""
        ...

    def monotonic(self) -> float:
        """Return the seconds since some moment in the past. It never goes back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait for at least `seconds`."""
        ...


class SystemClock:
    """The clock of the machine."""

    def time(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        from asyncio import sleep

        await sleep(seconds)


class ManualClock:
    """A clock that moves only when `advance` or `set_wall` is called."""

    def __init__(self, now: float = 1_767_225_600.0) -> None:
        self._wall = now
        self._passed = 0.0
        self._sleepers: list[tuple[float, Future[None]]] = []

    def time(self) -> float:
        return self._wall

    def monotonic(self) -> float:
        return self._passed

    async def sleep(self, seconds: float) -> None:
        from asyncio import get_running_loop, sleep

        if seconds <= 0:
            await sleep(0)
            return
        wakes = get_running_loop().create_future()
        self._sleepers.append((self._passed + seconds, wakes))
        await wakes

    def advance(self, seconds: float) -> None:
        """Move both clocks forward and wake the sleepers that are due. They run at the next turn of the event loop."""
        self._wall += seconds
        self._passed += seconds
        due = [sleeper for sleeper in self._sleepers if sleeper[0] <= self._passed]
        self._sleepers = [sleeper for sleeper in self._sleepers if sleeper[0] > self._passed]
        for _, wakes in sorted(due, key=lambda sleeper: sleeper[0]):
            if not wakes.done():
                wakes.set_result(None)

    def set_wall(self, now: float) -> None:
        """Set the wall clock, as a person or NTP does; the monotonic clock stays."""
        self._wall = now

    @property
    def sleepers(self) -> int:
        """The number of sleeping tasks: a test waits for it before it moves the clock."""
        return sum(not wakes.done() for _, wakes in self._sleepers)


async def sleep_until(woken: Event, clock: Clock, seconds: float) -> None:
    """Wait for `seconds`, or less if the event is set meanwhile."""
    from asyncio import FIRST_COMPLETED, create_task, wait

    waits = [create_task(clock.sleep(seconds)), create_task(woken.wait())]
    try:
        await wait(waits, return_when=FIRST_COMPLETED)
    finally:
        for one in waits:
            one.cancel()


def timestamp(seconds: float) -> str:
    """Return a wall time as RFC 3339 in UTC with milliseconds: 2026-01-01T00:00:00.000Z."""
    whole, milliseconds = divmod(round(seconds * 1000), 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(whole))}.{milliseconds:03d}Z"
