"""Notifications through one channel when something new needs a person. A burst of items is one notification.

If the daemon is killed, the next one sends what was due; in the worst case twice rather than never.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from covey.attention.notification import document
from covey.contract.attention_events import ATTENTION_OPENED
from covey.kernel.events.consumer import Consumer, store_cursor
from covey.kernel.store.errors import StoreError
from covey.kernel.store.migrations import Migration

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Awaitable, Callable, Iterable

    from covey.attention.channel import Channel
    from covey.attention.item import Item
    from covey.attention.queue import Queue
    from covey.kernel.clock import Clock
    from covey.kernel.events.events import Events
    from covey.kernel.store.store import Store

    Send = Callable[[Channel, dict[str, Any]], Awaitable[str]]
    """Sends a notification through a channel; returns why that failed, or nothing."""

MIGRATION = Migration(
    "attention.channels",
    "CREATE TABLE attention_channel (name TEXT PRIMARY KEY, sent_at REAL NOT NULL) STRICT;",
)
BURST_S = 2.0
"""Items that come within this time are one notification."""
FIX = "Try it: covey attention test"

log = logging.getLogger("covey.attention")


class Notifier:
    """Notifies through one channel, one notification at a time. `channel` returns it as it is configured now."""

    def __init__(
        self,
        channel: Callable[[], Channel],
        send: Send,
        queue: Queue,
        store: Store,
        events: Events,
        clock: Clock,
    ) -> None:
        self.channel = channel
        self.problem = ""
        """Why the last notification failed; empty if it did not."""
        self.held = 0
        """Items that wait for the end of quiet hours, or of the time in which one notification is allowed."""
        self._send = send
        self._queue = queue
        self._store = store
        self._events = events
        self._clock = clock
        self._sent_at = 0.0

    async def live(self) -> None:
        """Notify of new items until the daemon stops.

        Raises OSError if a command cannot even be prepared; the next call then sends that notification.
        """
        channel = self.channel()
        self._sent_at = await self._store.read(lambda connection: _sent_at(connection, channel.name))
        consumer = await Consumer.open(channel.consumer, [ATTENTION_OPENED], self._store, self._events)
        try:
            while not consumer.ended:
                try:
                    await self._notify_once(consumer)
                except OSError as error:
                    self.problem = f"a command cannot be run: {error.strerror or error}"
                    raise
                except StoreError as error:
                    log.warning("notifications wait: the database cannot be used", extra={"reason": error.message})
                    consumer.rewind()
                    await self._clock.sleep(BURST_S)
        finally:
            consumer.rewind()
            self.held = 0

    async def _notify_once(self, consumer: Consumer) -> None:
        batch = await consumer.take()
        await self._clock.sleep(BURST_S)
        while True:
            while not consumer.ended and (more := await consumer.take(0)):
                batch += more
            if not batch:
                return
            channel = self.channel()
            items = self._open({event.data["id"] for event in batch}, channel)
            wait = channel.rules.wait_s(self._clock.time(), self._sent_at) if items else 0.0
            self.held = len(items) if wait else 0
            if not wait:
                break
            batch += await consumer.take(wait)
            if consumer.ended:
                return  # the next daemon sends them
        if items and (channel.kind != "command" or channel.command):
            self._sent_at = self._clock.time()
            self._report(channel, await self._send(channel, document(items)))
        await self._commit(consumer, channel.name, batch[-1].cursor)

    def _open(self, ids: Iterable[str], channel: Channel) -> list[Item]:
        """Return the items with these ids that are still open, and that the channel is for."""
        return [item for item in self._queue.open.values() if item.id in ids and channel.rules.match(item)]

    async def _commit(self, consumer: Consumer, name: str, cursor: int) -> None:
        """Store that everything up to a cursor was sent, and when."""

        def write(connection: sqlite3.Connection) -> None:
            store_cursor(connection, consumer.name, cursor)
            connection.execute("INSERT OR REPLACE INTO attention_channel VALUES (?, ?)", (name, self._sent_at))

        await self._store.write(write)
        consumer.cursor = cursor

    def _report(self, channel: Channel, problem: str) -> None:
        """Remember how a notification went, and log a problem that is new."""
        if problem and problem != self.problem:
            log.warning(
                "notification failed",
                extra={"channel": channel.name, "reason": problem, "suggestion": FIX},
            )
        self.problem = problem


def _sent_at(connection: sqlite3.Connection, name: str) -> float:
    found = connection.execute("SELECT sent_at FROM attention_channel WHERE name = ?", (name,)).fetchone()
    return 0.0 if found is None else float(found[0])
