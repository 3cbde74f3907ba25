"""Background work of a daemon. Every task has a name and an owner; a task that fails is logged and counted.

`keep` is for work that goes on as long as its owner, `spawn` for work that ends by itself, `shield` for work that a
caller waits for and that must not stop halfway when the caller goes away.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, TypeVar

from covey.kernel.backoff import BackOff

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from typing import Self

    from covey.kernel.clock import Clock
    from covey.kernel.metrics import Metrics

T = TypeVar("T")

FAILURES = "covey_task_failures_total"
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 60.0
STEADY_S = 300.0
"""Work that ran for this long before it failed is restarted after the first pause again."""

log = logging.getLogger("covey.tasks")


class Tasks:
    """The tasks of one owner. `async with` ends with `aclose`."""

    def __init__(self, clock: Clock, metrics: Metrics) -> None:
        self._clock = clock
        self._metrics = metrics
        self._kept: list[asyncio.Task[None]] = []
        self._single: list[asyncio.Task[Any]] = []
        metrics.counter(FAILURES, "Failures of background tasks, by name.")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Cancel the spawned and shielded tasks, all at once; then the kept ones, the last one first. Wait for each."""
        for task in self._single:
            task.cancel()
        if self._single:
            await asyncio.wait(self._single)
        for task in reversed(tuple(self._kept)):
            task.cancel()
            await asyncio.wait({task})

    def keep(self, name: str, work: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
        """Run `work` until it returns. If it raises, it is called again after a pause, which doubles each time."""
        task = asyncio.create_task(self._keep(name, work), name=name)
        self._kept.append(task)
        task.add_done_callback(self._kept.remove)
        return task

    def spawn(self, name: str, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run `work` once. If it raises, that is logged and counted."""
        task = self._start(name, work)
        task.add_done_callback(self._report)
        return task

    async def shield(self, name: str, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` once and return or raise what it does. It goes on if the caller is cancelled meanwhile.

        An error that then has no caller any more is logged and counted.
        """
        task = self._start(name, work)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(self._report)
            raise

    async def drain(self, timeout_s: float) -> None:
        """Wait until everything that was spawned or shielded has ended, but no longer than `timeout_s`."""
        if self._single:
            await asyncio.wait(self._single, timeout=timeout_s)

    def _start(self, name: str, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work, name=name)
        self._single.append(task)
        task.add_done_callback(self._single.remove)
        return task

    def _report(self, task: asyncio.Task[Any]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._failed(task.get_name(), error)

    def _failed(self, name: str, error: BaseException) -> None:
        log.error("a background task failed", exc_info=error, extra={"task": name})
        self._metrics.count(FAILURES, task=name)

    async def _keep(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        back_off = BackOff(FIRST_PAUSE_S, LONGEST_PAUSE_S, jitter=False)
        while True:
            began = self._clock.monotonic()
            try:
                await work()
            except Exception as error:  # noqa: BLE001 - logged and counted, whatever it is
                self._failed(name, error)
            else:
                return
            if self._clock.monotonic() - began >= STEADY_S:
                back_off.succeed()
            await self._clock.sleep(back_off.fail())
