"""Events in order: appended to the journal, then published to subscriptions.

append -> journal (durable, in one transaction with what belongs to it) -> bus, in cursor order -> subscriptions
"""

from __future__ import annotations

from json import loads
from typing import TYPE_CHECKING, Any, TypeVar

from covey.contract.event_kind import EventKind
from covey.kernel.events import consumer, journal
from covey.kernel.events.event import (
    DATA_BYTES,
    Event,
    EventKindError,
    EventsError,
    EventSizeError,
    FutureCursorError,
    Kinds,
    SlowReader,
    encode,
)
from covey.kernel.events.ids import Ulids
from covey.kernel.events.subscription import Subscription

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence
    from typing import ClassVar, Self

    from covey.kernel.store.migrations import Migration
    from covey.kernel.store.store import Store

__all__ = [
    "Event",
    "EventKindError",
    "EventSizeError",
    "Events",
    "EventsError",
    "FutureCursorError",
    "SlowReader",
    "Subscription",
]

T = TypeVar("T")

_DAY_S = 86_400.0
_PAGE = 256
_PRUNED_AT_ONCE = 1000


class Events:
    """The journal and the bus of one daemon. Open it with `await Events.open(store, clock=…)`."""

    MIGRATIONS: ClassVar[Sequence[Migration]] = (*journal.MIGRATIONS, consumer.MIGRATION)

    def __init__(
        self,
        store: Store,
        *,
        clock: Callable[[], float],
        max_age_s: float = 30 * _DAY_S,
        max_bytes: int = 64 << 20,
        ids: Callable[[], str] | None = None,
    ) -> None:
        self.cursor = 0
        """The cursor of the newest published event."""
        self._store = store
        self._clock = clock
        self._max_age_s = max_age_s
        self._max_bytes = max_bytes
        self._ids = ids or Ulids(clock)
        self._bus: dict[Subscription, None] = {}
        self._closed = False

    @classmethod
    async def open(
        cls,
        store: Store,
        *,
        clock: Callable[[], float],
        max_age_s: float = 30 * _DAY_S,
        max_bytes: int = 64 << 20,
        ids: Callable[[], str] | None = None,
    ) -> Self:
        """Return the events of a store, at the newest cursor that its journal has given."""
        events = cls(store, clock=clock, max_age_s=max_age_s, max_bytes=max_bytes, ids=ids)
        events.cursor = await store.read(journal.newest)
        return events

    @property
    def subscribers(self) -> int:
        """Return the number of subscriptions that have caught up with the journal."""
        return len(self._bus)

    async def append(
        self,
        kind: EventKind,
        subject: str = "",
        data: Mapping[str, Any] | None = None,
        source: str = "node",
        also: Callable[[sqlite3.Connection], None] | None = None,
        time: float | None = None,
    ) -> Event:
        """Append an event, and return it once it is durable and published.

        What `also` writes is in the same transaction: both or neither. `time` is when it happened, if not now. An
        append that is cancelled may still happen; if it does, it is published. Raises EventKindError for a kind that is
        not declared, and EventSizeError for too much data.
        """
        draft = self._draft(kind, subject, data, source, self._clock() if time is None else time)

        def work(connection: sqlite3.Connection) -> Event:
            event = draft.at(journal.insert(connection, draft))
            if also is not None:
                also(connection)
            return event

        return await self._store.write(work, then=self._publish)

    async def history(self, *, since: int = 0, kinds: Sequence[str] = (), limit: int = 1000) -> list[Event]:
        """Return the first `limit` events after the cursor `since` that are still kept."""
        wanted = Kinds(kinds)
        return await self._store.read(
            lambda connection: journal.page(connection, since, wanted, max(limit, 1), most_bytes=self._max_bytes).events
        )

    async def read(self, work: Callable[[journal.Reader], T]) -> T:
        """Return what `work` returns. It runs in a thread, on one snapshot of the journal; cancelling stops it."""
        return await self._store.read(lambda connection: work(journal.Reader(connection)))

    def subscribe(self, *, since: int | None = None, kinds: Sequence[str] = (), queue: int = 1024) -> Subscription:
        """Return a subscription to the events after the cursor `since`, without it to those that are still to come.

        At most `queue` events wait for a slow reader.
        """
        return Subscription(self, since, Kinds(kinds), queue)

    def limit(self, *, max_age_s: float, max_bytes: int) -> None:
        """Set how much is kept from the next `prune` on."""
        self._max_age_s = max_age_s
        self._max_bytes = max_bytes

    async def prune(self) -> int:
        """Delete the oldest events that are too old or too much, and return how many.

        It goes in small steps, so that appends can go on in between.
        """
        before = self._clock() - self._max_age_s
        pruned = 0
        while True:
            count = await self._store.write(
                lambda connection: journal.prune(connection, before, self._max_bytes, _PRUNED_AT_ONCE)
            )
            pruned += count
            if count < _PRUNED_AT_ONCE:
                return pruned

    async def aclose(self) -> None:
        """End all subscriptions; one that still reads the journal ends when it has caught up."""
        self._closed = True
        for subscription in list(self._bus):
            subscription.close()

    # The side that subscriptions use.

    async def page(self, after: int, kinds: Kinds) -> journal.Page:
        """Return the next events of these kinds from the journal."""
        return await self._store.read(lambda connection: journal.page(connection, after, kinds, _PAGE))

    def join(self, subscription: Subscription) -> None:
        """Publish new events to a subscription from now on."""
        self._bus[subscription] = None
        if self._closed:
            subscription.close()

    def leave(self, subscription: Subscription) -> None:
        """Publish nothing to a subscription any more."""
        self._bus.pop(subscription, None)

    def _draft(self, kind: EventKind, subject: str, data: Mapping[str, Any] | None, source: str, time: float) -> Event:
        if not isinstance(kind, EventKind):
            raise EventKindError(
                f"{str(kind)[:80]!r} is not a declared kind of event.",
                "Declare it as an EventKind in covey.contract, and append it by that name.",
            )
        text = encode(dict(data or {}))
        if len(text) > DATA_BYTES:
            raise EventSizeError(
                f"An event of {len(text)} bytes is too large; {DATA_BYTES} fit.",
                "Keep the data elsewhere and refer to it.",
            )
        # Decoded again: what is published is what the journal returns later, and shares nothing with the caller.
        return Event(0, self._ids(), time, str(kind), _storable(subject), loads(text), _storable(source), text)

    def _publish(self, event: Event) -> None:
        self.cursor = event.cursor
        for subscription in list(self._bus):
            subscription.offer(event)


def _storable(text: str) -> str:
    """Replace what UTF-8 cannot encode: text from a terminal or a path may hold it."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
