"""Which deliveries were accepted before, by this daemon and by earlier ones.

The id of a delivery is the key under which the journal holds it. So one that was answered too late, and spooled as
well, counts once, also in the next daemon.
"""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from typing import TYPE_CHECKING

from covey.contract.fleet_events import AGENT_SIGNAL

if TYPE_CHECKING:
    from covey.fleet.ingest.delivery import HookDelivery
    from covey.kernel.clock import Clock
    from covey.kernel.events.events import Events

REMEMBERED = 20_000
"""Ids that are kept: more than the spool holds."""
PAGE = 1000
"""Events of the journal that are read back at a time."""


class AcceptedDeliveries:
    """The ids of accepted deliveries, each with a future: whether it is in the journal, as soon as that is known."""

    def __init__(self, events: Events, clock: Clock) -> None:
        self._events = events
        self._began = clock.time()
        self._accepted: OrderedDict[str, asyncio.Future[bool]] = OrderedDict()
        self._earlier: set[str] = set()
        """Ids that earlier daemons accepted, as far back as `_loaded_since`."""
        self._loaded_since = math.inf
        self._unread = events.cursor
        """The journal has not been read back up to this cursor."""
        self._loading = asyncio.Lock()
        self.nothing_to_write: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        """The future of a delivery that says nothing new."""
        self.nothing_to_write.set_result(True)

    def get(self, delivery: HookDelivery) -> asyncio.Future[bool] | None:
        """Return the future of a delivery that was accepted before; None if it was not."""
        if delivery.id and delivery.id in self._earlier:
            return self.nothing_to_write
        return self._accepted.get(delivery.id)

    def add(self, delivery: HookDelivery, durable: asyncio.Future[bool]) -> None:
        """Remember that a delivery was accepted. One without an id cannot be recognised."""
        if not delivery.id:
            return
        self._accepted[delivery.id] = durable
        if len(self._accepted) > REMEMBERED:
            self._accepted.popitem(last=False)

    async def load(self, delivery: HookDelivery) -> None:
        """Before a delivery older than this process is accepted, load the ids that earlier daemons journaled since.

        Raises StoreError if the journal cannot be read.
        """
        if not delivery.id or delivery.at >= min(self._began, self._loaded_since):
            return
        async with self._loading:
            while delivery.at < self._loaded_since and len(self._earlier) < REMEMBERED:
                await self._load_page()

    async def _load_page(self) -> None:
        start = max(self._unread - PAGE, 0)
        history = await self._events.history(since=start, limit=PAGE)
        page = [event for event in history if event.cursor <= self._unread]
        for event in page:
            if event.kind == AGENT_SIGNAL and event.data.get("source") == "hook":
                self._earlier.add(event.data["dedupe_key"].rpartition("/")[0])
        pruned = not page or page[0].cursor > start + 1
        self._unread = start
        self._loaded_since = -math.inf if pruned or not start else page[0].time
