"""Whether the person is at their terminals, as they say: `covey away` and `covey here`. Durable."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from covey.contract.approvals_events import PRESENCE_CHANGED
from covey.kernel.clock import sleep_until, timestamp
from covey.kernel.store.migrations import Migration

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from covey.kernel.clock import Clock
    from covey.kernel.events.events import Events
    from covey.kernel.store.store import Store

MIGRATION = Migration(
    "fleet.presence",
    "CREATE TABLE presence (one INTEGER PRIMARY KEY CHECK (one = 1), away INTEGER NOT NULL, since REAL NOT NULL, "
    "until REAL) STRICT;",
)
LONGEST_S = 3600.0
"""Between two looks at the wall clock, which may be set."""


class State(Struct, frozen=True):
    """What the person said last."""

    away: bool
    since: float
    until: float | None = None
    """When they will be back; None if they did not say."""

    def as_dict(self) -> dict[str, Any]:
        until = None if self.until is None else timestamp(self.until)
        return {"away": self.away, "since": timestamp(self.since), "until": until}


class Presence:
    """Here or away."""

    def __init__(self, store: Store, events: Events, clock: Clock) -> None:
        self.state = State(away=False, since=clock.time())
        self._store = store
        self._events = events
        self._clock = clock
        self.on_here: Callable[[], None] = lambda: None
        """Called when the person is back, by their word or because the time is over."""
        self._changed = asyncio.Event()

    @property
    def away(self) -> bool:
        until = self.state.until
        return self.state.away and (until is None or self._clock.time() < until)

    async def load(self) -> None:
        """Continue with what was said to the last daemon."""
        if (stored := await self._store.read(_read)) is not None:
            self.state = stored

    async def set(self, *, away: bool, until: float | None = None) -> State:
        """Note that the person is away or here, and return that when it is durable."""
        state = State(away=away, since=self._clock.time(), until=until)

        def also(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT OR REPLACE INTO presence VALUES (1, ?, ?, ?)", (away, state.since, until))

        await self._events.append(PRESENCE_CHANGED, "", state.as_dict(), source="fleet", also=also)
        self.state = state
        self._changed.set()
        if not away:
            self.on_here()
        return state

    async def watch(self) -> None:
        """Until cancelled: end an absence whose time is over."""
        while True:
            self._changed.clear()
            if self.state.away and not self.away:
                await self.set(away=False)
                continue
            until = self.state.until if self.state.away else None
            left = LONGEST_S if until is None else max(until - self._clock.time(), 0.001)
            await sleep_until(self._changed, self._clock, min(left, LONGEST_S))


def _read(connection: sqlite3.Connection) -> State | None:
    row = connection.execute("SELECT away, since, until FROM presence").fetchone()
    return State(away=bool(row[0]), since=row[1], until=row[2]) if row else None
