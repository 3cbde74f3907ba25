"""One reader of the events: what it missed out of the journal, then what comes, in one unbroken row."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Protocol

from covey.kernel.event import FutureCursorError, SlowReader

if TYPE_CHECKING:
    from typing import Self

    from covey.kernel.event import Event, Kinds
    from covey.kernel.journal import Page


class Source(Protocol):
    """Where a subscription reads from: the journal, and the bus that it joins when it has caught up."""

    @property
    def cursor(self) -> int: ...
    async def page(self, after: int, kinds: Kinds) -> Page: ...
    def join(self, subscription: Subscription) -> None: ...
    def leave(self, subscription: Subscription) -> None: ...


class Subscription:
    """An async iterator of `Event`, for one task. Made by `Events.subscribe`; close it with `aclose` or `async with`.

    It reads the journal page by page until it has reached the newest published event and joins the bus in the same turn of the loop, so nothing falls
    between the two; an event that it has already read from the journal when the bus brings it is dropped by its cursor.
    """

    def __init__(self, source: Source, since: int | None, kinds: Kinds, queue: int) -> None:
        self.gap: tuple[int, int] | None = None
        """The first and last cursor that were asked for but are no longer kept; known once the subscription is entered or first read."""
        self.closed = False
        self._source = source
        self._kinds = kinds
        self._queue = queue
        self._read = (
            source.cursor if since is None else max(since, 0)
        )  # all up to here came out of the journal, or is not wanted
        self._given = self._read
        self._page: deque[Event] = deque()  # being handed out
        self._live: deque[Event] = deque()  # what the bus brought since
        self._ending = ""  # why the reader is to be sent away
        self._waiter: asyncio.Future[None] | None = None
        self._began = self._joined = since is None
        if self._joined:
            source.join(self)

    @property
    def cursor(self) -> int:
        """The newest event that was handed out: resume with `since=` this."""
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
        """All events that are there, at least one; none when `timeout_s` passed without any, or when the subscription is `closed`."""
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
        """End the iteration after what is being handed out; the rest stays in the journal."""
        self.closed = True
        self._leave()

    def offer(self, event: Event) -> None:
        """From the bus: take the event if it is wanted. Never waits: a full queue ends the subscription."""
        if event.cursor <= self._read or not self._kinds.match(event.kind):
            return
        if len(self._live) >= self._queue:
            self._ending = f"The reader fell more than {self._queue} events behind and was disconnected."
            self._leave()
            return
        self._live.append(event)
        self._wake()

    async def _fill(self, timeout_s: float | None) -> None:
        """Make the next page of what is there; returns without one when closed or out of time. A cancelled caller loses nothing."""
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
                self._ending = "What was to be replayed next has been pruned meanwhile."
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
        self._live.clear()  # it can be read again from the journal; memory is for readers that keep up
        self._source.leave(self)
        self._wake()
