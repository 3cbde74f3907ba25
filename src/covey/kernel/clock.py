"""Time, injected: what depends on it takes a `Clock`, and a test hands in one that it moves by hand."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from asyncio import Event, Future


class Clock(Protocol):
    """What tells the time. Measure with `monotonic`, show `time`."""

    def time(self) -> float:
        """The wall clock: seconds since 1970, UTC. It may jump either way."""
        ...

    def monotonic(self) -> float:
        """Seconds since some moment in the past. It never goes back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Let at least `seconds` pass."""
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
    """A clock that stands still until it is told to move."""

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
        """Let time pass, and wake whoever slept until then. They run when the event loop comes round to them."""
        self._wall += seconds
        self._passed += seconds
        due = [sleeper for sleeper in self._sleepers if sleeper[0] <= self._passed]
        self._sleepers = [sleeper for sleeper in self._sleepers if sleeper[0] > self._passed]
        for _, wakes in sorted(due, key=lambda sleeper: sleeper[0]):
            if not wakes.done():
                wakes.set_result(None)

    def set_wall(self, now: float) -> None:
        """Set the wall clock, as a person or NTP does; no time passes."""
        self._wall = now

    @property
    def sleepers(self) -> int:
        """How many are asleep: a test waits for this before it moves the clock."""
        return sum(not wakes.done() for _, wakes in self._sleepers)


async def sleep_until(woken: Event, clock: Clock, seconds: float) -> None:
    """Let `seconds` pass, or less if somebody sets the event meanwhile."""
    from asyncio import FIRST_COMPLETED, create_task, wait

    waits = [create_task(clock.sleep(seconds)), create_task(woken.wait())]
    try:
        await wait(waits, return_when=FIRST_COMPLETED)
    finally:
        for one in waits:
            one.cancel()


def timestamp(seconds: float) -> str:
    """A wall time as RFC 3339 in UTC with milliseconds: 2026-01-01T00:00:00.000Z."""
    whole, milliseconds = divmod(round(seconds * 1000), 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(whole))}.{milliseconds:03d}Z"
