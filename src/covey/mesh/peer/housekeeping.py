"""What a peer does now and then: gives up what is too old, shows what waited too long, and forgets what may go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from covey.mesh.inbox.inbox import InboxCounts
from covey.mesh.outbox.outbox import OutboxCounts
from covey.mesh.peer import settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from covey.kernel.clock import Clock
    from covey.mesh.inbox.inbox import Inbox, Message
    from covey.mesh.messages.publisher import Publisher
    from covey.mesh.outbox.outbox import Outbox

EVERY_S = 2.0
PRUNE_EVERY_S = 600.0
HOUR_S, DAY_S = 3600.0, 86_400.0


class Counted(NamedTuple):
    """How much there is in the stores, as of a few seconds ago."""

    outbox: OutboxCounts = OutboxCounts(0, 0, 0, 0)
    inbox: InboxCounts = InboxCounts(0, 0)


class Housekeeping:
    """Looks after the outbox and the inbox."""

    def __init__(
        self,
        outbox: Outbox,
        inbox: Inbox,
        publisher: Publisher,
        clock: Clock,
        get: Callable[[str], Any],
        on_messages: Callable[[Sequence[Message], set[str]], None],
    ) -> None:
        self._outbox = outbox
        self._inbox = inbox
        self._publisher = publisher
        self._clock = clock
        self._get = get
        self._on_messages = on_messages
        self.counted = Counted()
        self._changed = True

    def count_again(self) -> None:
        """Count soon: something was stored."""
        self._changed = True

    async def run(self) -> None:
        """Work for ever, with pauses."""
        pruned = float("-inf")
        while True:
            now, passed = self._clock.time(), self._clock.monotonic()
            max_age_s = float(self._get(settings.MAX_AGE_HOURS)) * HOUR_S
            expired = await self._outbox.expire(now, max_age_s)
            self._publisher.withdraw(item.id for item in expired)
            self._changed = self._changed or bool(expired)
            released = await self._inbox.release_overdue(now)
            if released:
                self._on_messages(released, {message.sender for message in released})
            await self._inbox.index_some()
            if self._changed:
                self._changed = False
                self.counted = Counted(await self._outbox.counts(), await self._inbox.counts())
            if passed - pruned >= PRUNE_EVERY_S:
                pruned = passed
                self._changed = True
                await self._inbox.prune(now - float(self._get(settings.RETENTION_DAYS)) * DAY_S)
                await self._outbox.prune(now - max_age_s)
            await self._clock.sleep(EVERY_S)
