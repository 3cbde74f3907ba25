"""How far a message has come, in words and for those who wait for it."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from covey.mesh.outbox.outbox import Item

STORED, AT_BROKER, IN_INBOX, SEEN = "stored", "at_broker", "in_inbox", "seen"
RUNGS = (STORED, AT_BROKER, IN_INBOX, SEEN)
Reach = Literal["connected", "away", "refused"]
"""How it stands with the broker: there is a connection, there is none, or it does not let this member in."""
_AT_HOME: Mapping[Reach, str] = {
    "connected": "in our outbox",
    "away": "queued in our outbox: the broker is not reached",
    "refused": "in our outbox, and stays there: the broker refuses this member, which may have been removed",
}

MOST_NAMED = 3
"""Recipients that are named in one sentence."""


def rung_of(item: Item) -> str:
    """Return what is proven about a message."""
    if item.seen_at is not None:
        return SEEN
    if item.inbox_at is not None:
        return IN_INBOX
    return AT_BROKER if item.delivered_at is not None else STORED


def words(rung: str, name: str, *, online: bool | None, reach: Reach, topic: bool = False) -> str:
    """Return what a rung means for a person. Only what is proven is said.

    `online` is None if that is not known of a member. A `topic` has no inbox.
    """
    if rung == SEEN:
        return f"seen by the agent of {name}"
    if rung == IN_INBOX:
        return f"in the inbox of {name}"
    if rung == AT_BROKER:
        if online is False:
            return f"queued at the broker: {name} is offline"
        if topic:
            return f"at the broker, for {name}"
        return f"at the broker, not yet in the inbox of {name}"
    return _AT_HOME[reach]


def words_for_several(rows: Sequence[Mapping[str, Any]], reach: Reach) -> str:
    """Return how far the copies of a message have come, as one sentence; each has `name`, `rung` and `online`."""
    waiting = [row for row in rows if RUNGS.index(row["rung"]) < RUNGS.index(IN_INBOX)]
    if not waiting:
        all_seen = all(row["rung"] == SEEN for row in rows)
        return f"{'seen by the agents' if all_seen else 'in the inbox'} of all {len(rows)} members"
    if len(waiting) == len(rows) and any(row["rung"] == STORED for row in rows):
        return f"{_AT_HOME[reach]}, for {len(rows)} members" if reach == "connected" else _AT_HOME[reach]
    named = [f"{row['name']} (offline)" if row["online"] is False else str(row["name"]) for row in waiting[:MOST_NAMED]]
    more = [f"{len(waiting) - len(named)} more"] if len(waiting) > len(named) else []
    *first, last = [*named, *more]
    names = f"{', '.join(first)} and {last}" if first else last
    if len(waiting) == len(rows):
        return f"at the broker, not yet in the inbox of {names}"
    return f"in the inbox of {len(rows) - len(waiting)} of {len(rows)} members, not yet of {names}"


class Progress:
    """Wakes those who wait for messages to come further."""

    def __init__(self) -> None:
        self._reached: dict[str, str] = {}
        self._waiting: dict[str, set[asyncio.Event]] = {}

    def advance(self, ids: Iterable[str], rung: str) -> None:
        """Say that messages have reached a rung. Nothing is kept of messages that nobody waits for."""
        for one in ids:
            if one in self._waiting and RUNGS.index(rung) > RUNGS.index(self._reached.get(one, STORED)):
                self._reached[one] = rung
                for event in self._waiting[one]:
                    event.set()

    @contextlib.contextmanager
    def watching(self, ids: Sequence[str]) -> Iterator[Watch]:
        """Note from now on how far these messages come. What was reached before is not known here."""
        event = asyncio.Event()
        for one in ids:
            self._waiting.setdefault(one, set()).add(event)
        try:
            yield Watch(event, self._reached)
        finally:
            for one in set(ids):
                self._waiting[one].discard(event)
                if not self._waiting[one]:
                    del self._waiting[one]
                    self._reached.pop(one, None)


class Watch:
    """Waits for messages while they are watched."""

    def __init__(self, event: asyncio.Event, reached: Mapping[str, str]) -> None:
        self._event = event
        self._reached = reached

    async def reach(self, goals: Mapping[str, str], timeout_s: float) -> None:
        """Wait until each message has reached its rung, or the time is over."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while any(RUNGS.index(self._reached.get(one, STORED)) < RUNGS.index(goals[one]) for one in goals):
                    self._event.clear()
                    await self._event.wait()
