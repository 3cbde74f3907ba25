"""From the outbox to the broker: a window of messages under way, each with a deadline, sent again until it is stored.

A message leaves the window when the broker has acknowledged it durably. One that was sent twice is stored once: the
broker knows its id for a day, and the recipient knows its number for ever.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import logging
from typing import TYPE_CHECKING, NamedTuple

from covey.mesh.link.acknowledgement import acknowledgement, not_in_time
from covey.mesh.link.errors import LinkError, NotAcknowledged, NotConnected
from covey.mesh.link.link import Pauses

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from nats.aio.msg import Msg

    from covey.kernel.clock import Clock
    from covey.mesh.link.session import Session
    from covey.mesh.outbox.outbox import Item, Outbox

    Seal = Callable[[Item], Awaitable["Sealed"]]

WINDOW = 256
BURST = 16
"""Messages that are sealed and sent before others get their turn: they leave in one packet."""
ACK_S = 2.0
RECORD_EVERY_S = 0.02
PAUSES = Pauses(first_s=0.2, longest_s=30.0)

log = logging.getLogger("covey.mesh.outbox")


class Sealed(NamedTuple):
    """A message as it goes to the broker."""

    subject: str
    data: bytes


class Attempt(NamedTuple):
    """A message on its way over a session; it has a place in the window."""

    session: Session
    group: asyncio.TaskGroup
    window: asyncio.Semaphore
    item: Item
    failures: int


class Undeliverable(Exception):  # noqa: N818 - what a message is, not a fault
    """The message can never be delivered: its recipient has left the mesh, or it cannot be sealed."""


class Publisher:
    """Publishes what the outbox holds, in order of acceptance, over one session after another."""

    def __init__(self, outbox: Outbox, seal: Seal, on_stored: Callable[[Item], None], clock: Clock) -> None:
        """Call `on_stored` for each message when the broker has acknowledged it and that is written down."""
        self._outbox = outbox
        self._seal = seal
        self._on_stored = on_stored
        self._clock = clock
        self._due: list[tuple[int, Item]] = []
        """What is to be published now, by the order of acceptance."""
        self._unacknowledged: dict[str, tuple[int, Item]] = {}
        self._wake = asyncio.Event()
        self._drained = asyncio.Event()
        self._stored: list[Item] = []
        self._stored_wake = asyncio.Event()

    @property
    def depth(self) -> int:
        """How many messages are not yet at the broker."""
        return len(self._unacknowledged)

    def oldest_s(self) -> float | None:
        """Return for how long the oldest of them has waited; None if there is none."""
        waiting = [item.enqueued_at for _, item in self._unacknowledged.values()]
        return max(0.0, self._clock.time() - min(waiting)) if waiting else None

    async def load(self) -> None:
        """Take what a former process has left."""
        self.offer(await self._outbox.pending())

    def offer(self, items: Iterable[Item]) -> None:
        """Publish these too, as soon as there is a session."""
        for item in items:
            if item.id not in self._unacknowledged:
                entry = (item.position, item)
                self._unacknowledged[item.id] = entry
                heapq.heappush(self._due, entry)
        self._wake.set()

    def withdraw(self, ids: Iterable[str]) -> None:
        """Publish these no more: they have been dropped, or are too old."""
        for one in ids:
            self._done_with(one)

    async def drained(self) -> None:
        """Wait until every message is at the broker."""
        while self._unacknowledged:
            self._drained.clear()
            await self._drained.wait()

    def _done_with(self, one: str) -> None:
        self._unacknowledged.pop(one, None)
        if not self._unacknowledged:
            self._drained.set()

    async def run(self, session: Session) -> None:
        """Publish over a session until it breaks. What was under way then is published again over the next one.

        A few messages at a time are sealed and sent, and calls of this peer are served in between. Only the
        acknowledgements are waited for together.
        """
        self._due = sorted(self._unacknowledged.values())
        window = asyncio.Semaphore(WINDOW)
        started = 0
        async with asyncio.TaskGroup() as group:
            recording = group.create_task(self._record())
            try:
                while not session.broken.is_set():
                    await window.acquire()
                    entry = await self._next(session)
                    if entry is None:
                        break
                    await self._start(Attempt(session, group, window, entry[1], entry[1].attempts))
                    started += 1
                    if started % BURST == 0:
                        await asyncio.sleep(0)
            finally:
                recording.cancel()
        raise NotConnected(session.reason)

    async def _next(self, session: Session) -> tuple[int, Item] | None:
        """Return the next message that is due; None when the session is broken."""
        session.wake_when_broken.add(self._wake)
        try:
            while not session.broken.is_set():
                while self._due:
                    entry = heapq.heappop(self._due)
                    if entry[1].id in self._unacknowledged:
                        return entry
                self._wake.clear()
                await self._wake.wait()
            return None
        finally:
            session.wake_when_broken.discard(self._wake)

    async def _start(self, attempt: Attempt) -> None:
        """Seal and send a message; its acknowledgement is waited for elsewhere."""
        item = attempt.item
        try:
            sealed = await self._seal(item)
            future = await attempt.session.start_publish(sealed.subject, sealed.data, message_id=item.id)
        except NotConnected:
            attempt.window.release()
        except Undeliverable as error:
            attempt.window.release()
            self._done_with(item.id)
            await self._outbox.record_dead(item.id, str(error))
        except LinkError as error:
            self._retry(attempt, error)
        else:
            limit = asyncio.get_running_loop().call_later(ACK_S, future.cancel)
            future.add_done_callback(lambda answered: self._answered(attempt, answered, limit))

    def _answered(self, attempt: Attempt, answered: asyncio.Future[Msg], limit: asyncio.TimerHandle) -> None:
        limit.cancel()
        item = attempt.item
        try:
            acknowledgement(answered.result())
        except asyncio.CancelledError:
            self._retry(attempt, not_in_time(ACK_S))
        except NotConnected:
            attempt.window.release()
        except LinkError as error:
            self._retry(attempt, error)
        else:
            attempt.window.release()
            self._done_with(item.id)
            self._stored.append(item)
            self._stored_wake.set()

    def _retry(self, attempt: Attempt, error: LinkError) -> None:
        """Send a message again after a pause. A broker that does not store holds up the others too, a recipient not."""
        held = isinstance(error, NotAcknowledged) and not attempt.session.broken.is_set()
        if not held:
            attempt.window.release()
        if not attempt.session.broken.is_set():
            attempt.group.create_task(self._pause(attempt, error.message, held=held))

    async def _pause(self, attempt: Attempt, reason: str, *, held: bool) -> None:
        item, failures = attempt.item, attempt.failures
        pause = PAUSES.after(failures)
        if failures == 0:
            log.warning("message not stored by the broker, sent again", extra={"id": item.id, "reason": reason})
        await self._outbox.record_failure(item.id, reason, self._clock.time() + pause)
        await self._clock.sleep(pause)
        if not held:
            await attempt.window.acquire()
        if item.id not in self._unacknowledged or attempt.session.broken.is_set():
            attempt.window.release()
            return
        await self._start(attempt._replace(failures=failures + 1))

    async def _record(self) -> None:
        """Write down which messages are at the broker, many in one transaction. Losing this only sends them again."""
        try:
            while True:
                await self._stored_wake.wait()
                await self.flush()
                await asyncio.sleep(RECORD_EVERY_S)
        finally:
            with contextlib.suppress(Exception):  # the next session sends them again
                await asyncio.shield(self.flush())

    async def flush(self) -> None:
        """Write down now which messages are at the broker."""
        self._stored_wake.clear()
        stored = self._stored
        self._stored = []
        if stored:
            try:
                await self._outbox.record_acks([item.id for item in stored], self._clock.time())
            except BaseException:
                self._stored = stored + self._stored
                raise
            for item in stored:
                self._on_stored(item)
