"""The truth log: what the model, the person and the system really did, and when. Everything else is derived from it."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True)
class Fact:
    """One thing that happened. `at` is unix time; `data` holds JSON values."""

    at: float
    conversation: str
    kind: str
    data: dict[str, Any] = field(default_factory=dict)

    def line(self) -> str:
        return json.dumps(
            {"at": round(self.at, 4), "conversation": self.conversation, "kind": self.kind, **self.data},
            ensure_ascii=False,
        )


# Kinds, by who reports them.
#   model:   request, first_byte, call, answered, failed, cut, disconnected, side, unknown_request
#   person:  submitted, approved, denied, answered_question, interrupted, quit, killed
#   driver:  started, ready, dialog, drawn, gave_up, rested, gone


class TruthLog:
    """Facts in the order in which they happened; a task that waits for a fact is woken by the next."""

    def __init__(self, file: Path | None = None) -> None:
        self.facts: list[Fact] = []
        self._file = file
        self._grown = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()

    def note(self, conversation: str, kind: str, at: float | None = None, **data: Any) -> Fact:
        fact = Fact(time.time() if at is None else at, conversation, kind, data)
        self.facts.append(fact)
        if self._file is not None:
            with self._file.open("a", encoding="utf-8") as stream:
                stream.write(f"{fact.line()}\n")
        task = asyncio.get_running_loop().create_task(self._wake())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return fact

    def of(self, conversation: str) -> list[Fact]:
        return sorted((fact for fact in self.facts if fact.conversation == conversation), key=lambda fact: fact.at)

    async def until(self, true: Callable[[], bool], timeout: float) -> None:
        """Wait for a condition over the facts; TimeoutError when it does not come true."""
        async with asyncio.timeout(timeout), self._grown:
            await self._grown.wait_for(true)

    async def _wake(self) -> None:
        async with self._grown:
            self._grown.notify_all()
