"""One reader of the events: what it missed from the journal, then new events, without a gap in between."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Protocol

from covey.kernel.events.event import FutureCursorError, SlowReader

if TYPE_CHECKING:
    from typing import Self

    from covey.kernel.events.event import Event, Kinds
    from covey.kernel.events.journal import Page


class Source(Protocol):
    """Where a subscription reads from: the journal, and the bus that it joins once it has caught up."""

    @property
    def cursor(self) -> int: ...
    async def page(self, after: int, kinds: Kinds) -> Page: ...
    def join(self, subscription: Subscription) -> None: ...
    def leave(self, subscription: Subscription) -> None: ...


class Subscription:
    """An async iterator of `Event`, for one task. Made by `Events.subscribe`; close it with `aclose` or `async with`.

    It reads the journal page by page until it has reached the newest published event, and joins the bus in the same
    turn of the loop, so that nothing is missed between the two. An event from the bus that it has already read from the
    journal is dropped by its cursor.
    """

    def __init__(self, source: Source, since: int | None, kinds: Kinds, queue: int) -> None:
        self.gap: tuple[int, int] | None = None
        """The first and last cursor that were asked for but are no longer kept; set when the iteration begins."""
        self.closed = False
        self._source = source
        self._kinds = kinds
        self._queue = queue
        self._read = source.cursor if since is None else max(since, 0)
        """Everything up to this cursor was read from the journal, or is not wanted."""
        self._given = self._read
        self._page: deque[Event] = deque()
        """Events that are being returned."""
        self._live: deque[Event] = deque()
        """Events from the bus since then."""
        self._ending = ""
        """Why the subscription is ended before its reader wants it."""
        self._waiter: asyncio.Future[None] | None = None
        self._began = self._joined = since is None
        if self._joined:
            source.join(self)

    @property
    def cursor(self) -> int:
        """Return the cursor of the newest event that was returned: resume with `since=` this."""
        return self._given

    async def __aenter__(self) -> Self:
        """Raises `FutureCursorError` and sets `gap` before the first event is asked for."""
        if not self._began:
            await self._turn_page()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        if not self._page:
            await self._fill(None)
        if not self._page:
            raise StopAsyncIteration
        event = self._page.popleft()
        self._given = event.cursor
        return event

    async def take(self, timeout_s: float | None = None) -> list[Event]:
        """Return all events that are available, waiting for at least one.

        Returns none when `timeout_s` passed without any, or when the subscription is `closed`.
        """
        if not self._page:
            await self._fill(timeout_s)
        events = list(self._page)
        self._page.clear()
        if events:
            self._given = events[-1].cursor
        return events

    async def aclose(self) -> None:
        self.close()

    def close(self) -> None:
        """End the iteration after the events that are being returned; the rest stays in the journal."""
        self.closed = True
        self._leave()

    def offer(self, event: Event) -> None:
        """Accept an event from the bus if it is wanted. Never waits: a full queue ends the subscription."""
        if event.cursor <= self._read or not self._kinds.match(event.kind):
            return
        if len(self._live) >= self._queue:
            self._ending = f"The reader fell more than {self._queue} events behind and was disconnected."
            self._leave()
            return
        self._live.append(event)
        self._wake()

    async def _fill(self, timeout_s: float | None) -> None:
        """Fill the next page; returns without one when closed or out of time. A cancelled caller loses nothing."""
        while not self._joined and not self._page and not self.closed and not self._ending:
            await self._turn_page()
        if self._page or self.closed:
            return
        if not self._live and not self._ending:
            await self._wait(timeout_s)
        if self._ending:
            self.closed = True
            raise SlowReader(self._ending, f"Resume after cursor {self._given}.", self._given)
        self._page, self._live = self._live, self._page

    async def _turn_page(self) -> None:
        page = await self._source.page(self._read, self._kinds)
        if self.closed:
            return
        if not self._began and self._read > page.newest:
            self.close()
            raise FutureCursorError(
                f"The cursor {self._read} lies ahead of the newest event, {page.newest}.",
                f"Use since={page.newest} or less.",
            )
        if page.oldest > self._read + 1:
            if self._began:
                self._ending = "The events that were to be read next have been pruned meanwhile."
                return
            self.gap = (self._read + 1, page.oldest - 1)
        self._began = True
        self._read = page.reached
        self._page.extend(page.events)
        if self._read >= self._source.cursor:
            self._joined = True
            self._source.join(self)

    async def _wait(self, timeout_s: float | None) -> None:
        if self._waiter is not None:
            raise RuntimeError("a subscription has one reader at a time")
        loop = asyncio.get_running_loop()
        self._waiter = loop.create_future()
        timer = None if timeout_s is None else loop.call_later(timeout_s, self._wake)
        try:
            await self._waiter
        finally:
            self._waiter = None
            if timer is not None:
                timer.cancel()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _leave(self) -> None:
        self._live.clear()  # they are in the journal; memory is for readers that keep up
        self._source.leave(self)
        self._wake()
