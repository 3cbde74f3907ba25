"""How far a message has come, in words and for those who wait for it."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Literal

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
