"""How long a piece of work keeps the event loop at a time, in processor time, which other programs do not lengthen."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable


def _reference() -> float:
    """Return how long this machine takes for what takes about 5 ms on a quiet one."""
    began = time.thread_time()
    "".join(str(number) for number in range(60_000)).count("7")
    return time.thread_time() - began


MOST_S = 60 * max(_reference() for _ in range(3))
"""About five times of what is promised, by the speed of this machine now. What is not in slices takes seconds."""


async def longest_slice(work: Awaitable[object]) -> float:
    """Do the work, and return the longest time for which nothing else could run."""
    longest = 0.0

    async def others() -> None:
        nonlocal longest
        while True:
            began = time.thread_time()
            await asyncio.sleep(0)
            longest = max(longest, time.thread_time() - began)

    beside = asyncio.create_task(others())
    await asyncio.sleep(0)
    try:
        await work
        await asyncio.sleep(0)
    finally:
        beside.cancel()
    return longest
