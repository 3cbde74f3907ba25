"""The fleet's events on their way to the journal, in the order in which they happened, each with its time."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from covey.kernel.events.event import EventsError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from covey.contract.event_kind import EventKind
    from covey.kernel.events.events import Events

    Also = Callable[[sqlite3.Connection], None]

OUTSTANDING = 256

log = logging.getLogger("covey.fleet")


class _Entry(NamedTuple):
    kind: EventKind
    subject: str
    data: dict[str, Any]
    at: float
    also: Also | None
    durable: asyncio.Future[bool]


class Outbox:
    """A queue in front of the journal. `append` never waits; `run` writes until cancelled; `aclose` writes the rest."""

    def __init__(self, events: Events, failed: Callable[[EventKind, str], None] = lambda _kind, _subject: None) -> None:
        """`failed` is called with the kind and the subject of an event that could not be written."""
        self._events = events
        self._failed = failed
        self._waiting: asyncio.Queue[_Entry] = asyncio.Queue()
        self._writing: deque[asyncio.Task[None]] = deque()

    def append(
        self, kind: EventKind, subject: str, data: dict[str, Any], at: float, also: Also | None = None
    ) -> asyncio.Future[bool]:
        """Queue an event; what `also` writes is in the same transaction.

        Returns a future: whether the event is in the journal, as soon as that is known. Events that were appended
        before it are in the journal then, too.
        """
        durable: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.put_nowait(_Entry(kind, subject, data, at, also, durable))
        return durable

    async def run(self) -> None:
        """Write what is queued until cancelled. Many events that are written at once share a commit."""
        while True:
            self._begin(await self._waiting.get())
            while self._writing and (self._writing[0].done() or len(self._writing) >= OUTSTANDING):
                with contextlib.suppress(Exception):  # the store has logged it
                    await self._writing[0]
                self._writing.popleft()

    async def aclose(self) -> None:
        """Write what is still queued. To be called after `run` was cancelled."""
        while not self._waiting.empty():
            self._begin(self._waiting.get_nowait())
        await asyncio.gather(*self._writing, return_exceptions=True)

    def _begin(self, entry: _Entry) -> None:
        task = asyncio.create_task(self._write(entry))

        def done(task: asyncio.Task[None]) -> None:
            written = not task.cancelled() and task.exception() is None
            entry.durable.set_result(written)
            if not written and not task.cancelled():
                self._failed(entry.kind, entry.subject)

        task.add_done_callback(done)
        self._writing.append(task)

    async def _write(self, entry: _Entry) -> None:
        try:
            await self._events.append(
                entry.kind, subject=entry.subject, data=entry.data, source="fleet", time=entry.at, also=entry.also
            )
        except EventsError as error:
            log.warning("fleet event not stored", extra={"kind": entry.kind, "reason": error.message})
