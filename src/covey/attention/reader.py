"""Events read from a place that is written down: nothing is missed over a restart, and nothing is taken for new that is not."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from covey.kernel.event import SlowReader

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from covey.kernel.event import Event
    from covey.kernel.events import Events
    from covey.kernel.subscription import Subscription

MIGRATION = "CREATE TABLE attention_cursor (reader TEXT PRIMARY KEY, cursor INTEGER NOT NULL) STRICT;"

log = logging.getLogger("covey.attention")


def written(connection: sqlite3.Connection, reader: str) -> int:
    """How far a reader has come."""
    found = connection.execute("SELECT cursor FROM attention_cursor WHERE reader = ?", (reader,)).fetchone()
    return 0 if found is None else int(found[0])


def write(connection: sqlite3.Connection, reader: str, cursor: int) -> None:
    """Write down how far a reader has come: in the transaction of what it has made of it."""
    connection.execute("INSERT OR REPLACE INTO attention_cursor VALUES (?, ?)", (reader, cursor))


class Reader:
    """Events of some kinds after `cursor`, which whoever reads moves on when it is done with them. One that falls behind reads on in the journal."""

    def __init__(self, events: Events, kinds: Sequence[str], cursor: int) -> None:
        self.cursor = cursor
        self.ended = False
        """The daemon is stopping: no more will come."""
        self._events = events
        self._kinds = kinds
        self._heard: Subscription | None = None

    async def take(self, timeout_s: float | None = None) -> list[Event]:
        """What there is, at least one; none when the time is over or the events have `ended`."""
        while True:
            try:
                heard = self._heard or await self._begin()
                batch = await heard.take(timeout_s)
            except SlowReader:
                self.rewind()
                continue
            self.ended = heard.closed
            return batch

    def rewind(self) -> None:
        """Read from `cursor` again."""
        if self._heard is not None:
            self._heard.close()
        self._heard = None

    async def _begin(self) -> Subscription:
        self._heard = self._events.subscribe(since=self.cursor, kinds=self._kinds)
        await self._heard.__aenter__()
        if self._heard.gap is not None:
            log.info(
                "events were pruned before they could be looked at",
                extra={"since": self._heard.gap[0], "until": self._heard.gap[1]},
            )
        return self._heard
