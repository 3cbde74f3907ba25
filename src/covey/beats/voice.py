"""What the beats tell the rest of the node: steps of runs, and what a person has to look at. Everything goes through events."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from covey.kernel.store_errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from covey.beats.ledger import Run
    from covey.beats.report import Step
    from covey.kernel.events import Events

STEP_CHARACTERS = 500

log = logging.getLogger("covey.beats")


class Voice:
    """Speaks in the order in which things happened."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self._steps: asyncio.Queue[tuple[str, dict[str, Any]]] = asyncio.Queue()
        self._complaints: dict[str, tuple[str, str]] = {}
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._speak(), name="steps of beats")
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def step(self, run: Run, step: Step) -> None:
        """Something happens in a run; told soon."""
        self._steps.put_nowait((run.run, {"beat": run.beat, "kind": step.kind, "name": step.name, "text": step.text[:STEP_CHARACTERS]}))

    async def told(self) -> None:
        """Wait until all steps so far are told."""
        await self._steps.join()

    async def say(self, kind: str, beat: str, **data: Any) -> None:
        await self._events.append(kind, subject=beat, data={"beat": beat, **data}, source="beats")

    async def ask(self, key: str, title: str, detail: str, **data: Any) -> None:
        """Somebody has to look at this. Asked again under the same key it is the same matter."""
        await self._events.append("attention.asked", subject=key, data={"title": title, "detail": detail, **data}, source="beats")

    async def settle(self, key: str, why: str) -> None:
        """Nobody has to look at it any more."""
        await self._events.append("attention.settled", subject=key, data={"why": why}, source="beats")

    async def complain(self, wrong: Mapping[str, tuple[str, str]]) -> None:
        """All that is wrong with the schedule at this moment, by key: what is new is asked about, what is gone is settled."""
        for key, (title, detail) in wrong.items():
            if self._complaints.get(key) != (title, detail):
                self._complaints[key] = title, detail
                await self.ask(key, title, detail)
        for key in self._complaints.keys() - wrong.keys():
            del self._complaints[key]
            await self.settle(key, "it is well again")

    async def _speak(self) -> None:
        while True:
            subject, data = await self._steps.get()
            try:
                await self._events.append("beat.step", subject=subject, data=data, source="beats")
            except StoreError as error:
                log.warning("a step of a run was not told", extra={"reason": error.message})
            finally:
                self._steps.task_done()
