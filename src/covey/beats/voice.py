"""What the beats tell the rest of the node: steps of runs, and what a person has to look at. Everything goes through events."""

from __future__ import annotations

import asyncio
import itertools
import logging
from typing import TYPE_CHECKING, Any

from covey.contract.attention_events import ATTENTION_ASKED, ATTENTION_SETTLED
from covey.contract.beats_events import BEAT_STEP
from covey.kernel.store_errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from covey.agents.headless.report import Step
    from covey.beats.ledger import Run
    from covey.contract.event_kind import EventKind
    from covey.kernel.events import Events

STEP_CHARACTERS = 500
STEPS = 1000
"""Of one run that are told; a run with more has lost its way, and would drive all else out of the journal."""

log = logging.getLogger("covey.beats")


class Voice:
    """Speaks in the order in which things happened."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self._steps: asyncio.Queue[tuple[str, dict[str, Any]]] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._speak(), name="steps of beats")
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def steps(self, run: Run) -> Callable[[Step], None]:
        """Takes what happens in a run from its beginning on, and tells it soon. A run that is taken over is told again, under the same numbers."""
        numbers = itertools.count(1)

        def step(step: Step) -> None:
            number = next(numbers)
            if number <= STEPS:
                told = {"kind": step.kind, "name": step.name[:STEP_CHARACTERS], "text": step.text[:STEP_CHARACTERS]}
                self._steps.put_nowait((run.run, {"beat": run.beat, "number": number, **told}))

        return step

    async def told(self) -> None:
        """Wait until all steps so far are told."""
        await self._steps.join()

    async def say(self, kind: EventKind, beat: str, **data: Any) -> None:
        await self._events.append(kind, subject=beat, data={"beat": beat, **data}, source="beats")

    async def ask(self, key: str, title: str, detail: str, **data: Any) -> None:
        """Somebody has to look at this. Asked again under the same key it is the same matter."""
        await self._events.append(
            ATTENTION_ASKED, subject=key, data={"title": title, "detail": detail, **data}, source="beats"
        )

    async def settle(self, key: str, why: str) -> None:
        """Nobody has to look at it any more."""
        await self._events.append(ATTENTION_SETTLED, subject=key, data={"why": why}, source="beats")

    async def _speak(self) -> None:
        while True:
            subject, data = await self._steps.get()
            try:
                await self._events.append(BEAT_STEP, subject=subject, data=data, source="beats")
            except StoreError as error:
                log.warning("a step of a run was not told", extra={"reason": error.message})
            except Exception:
                log.exception("a step of a run could not be told")
            finally:
                self._steps.task_done()
