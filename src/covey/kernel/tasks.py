"""Background work of a daemon: each task has a name and an owner; one that fails is logged, counted and started again after a pause."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from covey.kernel.backoff import BackOff

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Self

    from covey.kernel.clock import Clock
    from covey.kernel.metrics import Metrics

FAILURES = "covey_task_failures_total"
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 60.0
STEADY_S = 300.0
"""What ran for so long before it failed begins again with the first pause."""

log = logging.getLogger("covey.tasks")


class Tasks:
    """The tasks of one owner. `async with` ends them, the last one first, and waits for each."""

    def __init__(self, clock: Clock, metrics: Metrics) -> None:
        self._clock = clock
        self._metrics = metrics
        self._running: list[asyncio.Task[None]] = []
        metrics.counter(FAILURES, "Background tasks that failed and were started again, by name.")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        while self._running:
            task = self._running.pop()
            task.cancel()
            await asyncio.wait({task})

    def keep(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Run `work` until it returns. If it raises, it is called again after a pause, which doubles each time."""
        self._running.append(asyncio.create_task(self._keep(name, work), name=name))

    async def _keep(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        back_off = BackOff(FIRST_PAUSE_S, LONGEST_PAUSE_S, jitter=False)
        while True:
            began = self._clock.monotonic()
            try:
                await work()
            except Exception:
                log.exception("a background task failed", extra={"task": name})
                self._metrics.count(FAILURES, task=name)
            else:
                return
            if self._clock.monotonic() - began >= STEADY_S:
                back_off.succeed()
            await self._clock.sleep(back_off.fail())
