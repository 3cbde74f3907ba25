"""A durable consumer of events: its cursor is stored in the transaction that stores the result of its work.

After a crash it resumes exactly after the last event whose result is stored: nothing is missed, nothing is done twice.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from covey.kernel.events.event import SlowReader
from covey.kernel.store.errors import StoreError
from covey.kernel.store.migrations import Migration

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Awaitable, Callable, Sequence
    from typing import Self

    from covey.contract.event_kind import EventKind
    from covey.kernel.clock import Clock
    from covey.kernel.events.event import Event
    from covey.kernel.events.events import Events
    from covey.kernel.events.subscription import Subscription
    from covey.kernel.store.store import Store

    Advance = Callable[[sqlite3.Connection], None]
    """Stores the cursor after an event."""
    Handler = Callable[[Event, Advance], Awaitable[None]]
    """Handles one event, and calls `advance` in the transaction that stores its result, if there is one."""

MIGRATION = Migration(
    "events.consumer_cursor",
    "CREATE TABLE event_cursor (consumer TEXT PRIMARY KEY, cursor INTEGER NOT NULL) STRICT;",
)
RETRY_S = 2.0

log = logging.getLogger("covey.events")


class Consumer:
    """Reads events of some kinds in order, from the cursor that is stored under its name.

    `run` calls a handler for each event. A consumer that works on several events at once uses `take` and `commit`.
    """

    def __init__(self, name: str, kinds: Sequence[EventKind], store: Store, events: Events, cursor: int = 0) -> None:
        """Use `open`, which begins at the stored cursor."""
        self.name = name
        self.cursor = cursor
        """The last event that is done with: `rewind` goes back to it."""
        self.ended = False
        """The daemon is stopping: no more events will come."""
        self._kinds = kinds
        self._store = store
        self._events = events
        self._subscription: Subscription | None = None

    @classmethod
    async def open(cls, name: str, kinds: Sequence[EventKind], store: Store, events: Events) -> Self:
        """Return the consumer of that name, at the cursor that is stored for it; a new one begins with the journal."""
        cursor = await store.read(lambda connection: stored_cursor(connection, name))
        return cls(name, kinds, store, events, cursor)

    async def run(self, handle: Handler, clock: Clock) -> None:
        """Handle every event until the events end.

        While the database cannot be used, it waits and tries again. An event whose handler raises anything else is
        logged and skipped: it would fail again.
        """
        failing = False
        while not self.ended:
            try:
                for event in await self.take():
                    await self._handle(event, handle)
                    self.cursor = event.cursor
                failing = False
            except StoreError as error:
                if not failing:
                    log.warning(
                        "event consumer waits for the database",
                        extra={"consumer": self.name, "reason": error.message},
                    )
                failing = True
                self.rewind()
                await clock.sleep(RETRY_S)

    async def take(self, timeout_s: float | None = None) -> list[Event]:
        """Return the next events, at least one; none when the time is up or the events have `ended`.

        A consumer that falls behind reads on in the journal.
        """
        while True:
            try:
                subscription = self._subscription or await self._subscribe()
                batch = await subscription.take(timeout_s)
            except SlowReader:
                self.rewind()
                continue
            self.ended = subscription.closed
            return batch

    async def commit(self, cursor: int) -> None:
        """Store that everything up to a cursor is done with, when the work itself stores nothing."""
        await self._store.write(lambda connection: store_cursor(connection, self.name, cursor))
        self.cursor = cursor

    def rewind(self) -> None:
        """Have `take` begin after `cursor` again."""
        if self._subscription is not None:
            self._subscription.close()
        self._subscription = None

    async def _handle(self, event: Event, handle: Handler) -> None:
        try:
            await handle(event, lambda connection: store_cursor(connection, self.name, event.cursor))
        except StoreError:
            raise
        except Exception:
            log.exception(
                "event skipped: its handler failed",
                extra={"consumer": self.name, "cursor": event.cursor, "subject": event.subject[:200]},
            )

    async def _subscribe(self) -> Subscription:
        subscription = self._events.subscribe(since=self.cursor, kinds=self._kinds)
        self._subscription = subscription
        await subscription.__aenter__()
        if subscription.gap is not None:
            since, until = subscription.gap
            log.info(
                "events were pruned before they could be consumed",
                extra={"consumer": self.name, "since": since, "until": until},
            )
        return subscription


def stored_cursor(connection: sqlite3.Connection, consumer: str) -> int:
    """Return the cursor that is stored for a consumer; 0 if there is none."""
    found = connection.execute("SELECT cursor FROM event_cursor WHERE consumer = ?", (consumer,)).fetchone()
    return 0 if found is None else int(found[0])


def store_cursor(connection: sqlite3.Connection, consumer: str, cursor: int) -> None:
    """Store the cursor of a consumer."""
    connection.execute("INSERT OR REPLACE INTO event_cursor VALUES (?, ?)", (consumer, cursor))
