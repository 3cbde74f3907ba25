"""What the fleet tells, on its way to the journal: in the order in which things happened, each with the time at which it did."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from typing import TYPE_CHECKING, Any

from covey.kernel.event import EventsError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from covey.contract.event_kind import EventKind
    from covey.kernel.events import Events

    Also = Callable[[sqlite3.Connection], None]

OUTSTANDING = 256

log = logging.getLogger("covey.fleet")


class Outbox:
    """`tell` never waits. `run` is its life; `aclose`, after that, writes what is left."""

    def __init__(self, events: Events, failed: Callable[[EventKind, str], None] = lambda _kind, _subject: None) -> None:
        """`failed` is called with the kind and the subject of an event that could not be written."""
        self._events = events
        self._failed = failed
        self.written: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        """Whether what was told last is in the journal, as soon as that is known. What was told before it is, then, too."""
        self._waiting: asyncio.Queue[
            tuple[EventKind, str, dict[str, Any], float, Also | None, asyncio.Future[bool]]
        ] = asyncio.Queue()
        self._writing: deque[asyncio.Task[None]] = deque()

    def tell(self, kind: EventKind, subject: str, data: dict[str, Any], at: float, also: Also | None = None) -> None:
        """Have an event written; what `also` writes is in the same transaction."""
        self.written = asyncio.get_running_loop().create_future()
        self._waiting.put_nowait((kind, subject, data, at, also, self.written))

    async def run(self) -> None:
        """Many at once share a commit."""
        while True:
            self._begin(*await self._waiting.get())
            while self._writing and (self._writing[0].done() or len(self._writing) >= OUTSTANDING):
                with contextlib.suppress(Exception):  # the store has told its own story in the log
                    await self._writing[0]
                self._writing.popleft()

    async def aclose(self) -> None:
        while not self._waiting.empty():  # what happened last is told as well
            self._begin(*self._waiting.get_nowait())
        await asyncio.gather(*self._writing, return_exceptions=True)

    def _begin(
        self,
        kind: EventKind,
        subject: str,
        data: dict[str, Any],
        at: float,
        also: Also | None,
        written: asyncio.Future[bool],
    ) -> None:
        task = asyncio.create_task(self._write(kind, subject, data, at, also))

        def done(task: asyncio.Task[None]) -> None:
            well = not task.cancelled() and task.exception() is None
            written.set_result(well)
            if not well and not task.cancelled():
                self._failed(kind, subject)

        task.add_done_callback(done)
        self._writing.append(task)

    async def _write(self, kind: EventKind, subject: str, data: dict[str, Any], at: float, also: Also | None) -> None:
        try:
            await self._events.append(kind, subject=subject, data=data, source="fleet", time=at, also=also)
        except EventsError as error:
            log.warning("the journal lacks an event of the fleet", extra={"kind": kind, "reason": error.message})
