"""Publishes what the beats do as events of the node: steps of runs, skips and pauses, and what needs a person."""

from __future__ import annotations

import asyncio
import itertools
import logging
from typing import TYPE_CHECKING, Any

from covey.contract.attention_events import ATTENTION_ASKED, ATTENTION_SETTLED
from covey.contract.beats_events import BEAT_STEP
from covey.kernel.store.errors import StoreError
from covey.kernel.tasks import Tasks

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from covey.agents.headless.report import Step
    from covey.beats.records import Run
    from covey.contract.event_kind import EventKind
    from covey.kernel.clock import Clock
    from covey.kernel.events.events import Events
    from covey.kernel.metrics import Metrics

STEP_CHARACTERS = 500
MAX_STEPS = 1000
"""Further steps of a run are not published: a run with more is stuck, and would push all else out of the journal."""

log = logging.getLogger("covey.beats")


class BeatEvents:
    """Appends events; steps of runs are queued and appended in order by a background task."""

    def __init__(self, events: Events, clock: Clock, metrics: Metrics) -> None:
        self._events = events
        self._steps: asyncio.Queue[tuple[str, dict[str, Any]]] = asyncio.Queue()
        self._tasks = Tasks(clock, metrics)

    async def __aenter__(self) -> Self:
        self._tasks.keep("beat steps", self._append_steps)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._tasks.aclose()

    def step_publisher(self, run: Run) -> Callable[[Step], None]:
        """Return a function that publishes the steps of a run, from its first one on, under consecutive numbers.

        The steps of a run that was taken over are published again, under the same numbers.
        """
        numbers = itertools.count(1)

        def publish(step: Step) -> None:
            number = next(numbers)
            if number <= MAX_STEPS:
                text = {"name": step.name[:STEP_CHARACTERS], "text": step.text[:STEP_CHARACTERS]}
                self._steps.put_nowait((run.id, {"beat": run.beat, "number": number, "kind": step.kind, **text}))

        return publish

    async def flush(self) -> None:
        """Wait until all steps so far are appended."""
        await self._steps.join()

    async def publish(self, kind: EventKind, beat: str, **data: Any) -> None:
        """Append an event about a beat."""
        await self._events.append(kind, subject=beat, data={"beat": beat, **data}, source="beats")

    async def ask(self, key: str, title: str, detail: str, **data: Any) -> None:
        """Ask for a person's attention. Asking again under the same key updates the same attention item."""
        await self._events.append(
            ATTENTION_ASKED,
            subject=key,
            data={"title": title, "detail": detail, "kind": "beat", **data},
            source="beats",
        )

    async def settle(self, key: str, why: str) -> None:
        """Settle an attention item: it needs nobody any more."""
        await self._events.append(ATTENTION_SETTLED, subject=key, data={"why": why}, source="beats")

    async def _append_steps(self) -> None:
        while True:
            subject, data = await self._steps.get()
            try:
                await self._events.append(BEAT_STEP, subject=subject, data=data, source="beats")
            except StoreError as error:
                log.warning("beat step event not stored", extra={"reason": error.message, "run": subject})
            finally:
                self._steps.task_done()
