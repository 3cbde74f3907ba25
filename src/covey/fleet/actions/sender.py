"""Messages to agents, one at a time to each agent."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from covey.agents.summaries import one_line
from covey.contract.fleet_events import AGENT_SIGNAL
from covey.fleet.actions.delivery import Delivery
from covey.fleet.actions.message import Message
from covey.fleet.actions.pane import AgentPane, acting_of
from covey.fleet.actions.receipt import Receipt
from covey.fleet.actions.refusal import COMPOSER_HOLDS_DRAFT, Refusal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from covey.fleet.actions.receipt import Receipts
    from covey.fleet.actions.snapshot import Snapshot
    from covey.fleet.fleet import Fleet
    from covey.kernel.clock import Clock
    from covey.kernel.events.events import Events


class Sender:
    """Sends messages, one at a time to each agent."""

    def __init__(self, fleet: Fleet, events: Events, receipts: Receipts, clock: Clock) -> None:
        self._fleet = fleet
        self._events = events
        self._receipts = receipts
        self._clock = clock
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """By runtime, while a message is being sent to it or waits."""

    def message(self, snapshot: Snapshot, text: str, *, as_command: bool, stamp: str = "") -> Message:
        """Return the text as it will be sent to the agent of a snapshot. Raises AgentError if it cannot be sent."""
        return Message(text, acting_of(snapshot), as_command=as_command, stamp=stamp)

    async def check(self, snapshot: Snapshot) -> None:
        """Raise Refusal if a message could not be sent now. Nothing is typed."""
        pane = AgentPane(self._fleet, snapshot, acting_of(snapshot))
        pane.check_free(await pane.screen())

    def receipt(self, snapshot: Snapshot, message: Message) -> Receipt:
        """Return the receipt of a message that is accepted now. It is not stored yet."""
        now = self._clock.time()
        return Receipt(
            id=snapshot.action_id,
            runtime_id=snapshot.runtime.runtime_id,
            ref=snapshot.ref,
            agent=snapshot.runtime.agent,
            lane="paste",
            text=one_line(message.text),
            digest=message.digest,
            bytes=message.bytes,
            created_at=now,
            updated_at=now,
        )

    async def send(self, snapshot: Snapshot, message: Message) -> Receipt:
        """Send a message and return its closed receipt. Raises Refusal if nothing was typed."""
        async with self._turn(snapshot), self._events.subscribe(kinds=[AGENT_SIGNAL]) as heard:
            snapshot.check_fresh(self._clock.time())
            receipt = await self._receipts.put(self.receipt(snapshot, message))
            try:
                return await self._delivery(snapshot, receipt, message).run(heard)
            except Refusal as refusal:
                await asyncio.shield(self._receipts.close(receipt, refusal.message, self._clock.time()))
                raise

    async def send_accepted(self, snapshot: Snapshot, receipt: Receipt, begin: Callable[[], Awaitable[str]]) -> Receipt:
        """Send a message that was accepted before, and return its closed receipt.

        `begin` is called when its agent is ready and right before something is typed; it returns the text. Raises
        Refusal if nothing was typed; the receipt is open then.
        """
        async with self._turn(snapshot), self._events.subscribe(kinds=[AGENT_SIGNAL]) as heard:
            snapshot.check_fresh(self._clock.time())
            try:
                await self.check(snapshot)
            except Refusal as refusal:  # the draft may be this message, which a daemon that was killed left there
                known = await self._receipts.left_typed(receipt.runtime_id, receipt.digest)
                if refusal.error != COMPOSER_HOLDS_DRAFT or known is None:
                    raise
            message = self.message(snapshot, await begin(), as_command=True)  # it was checked when it was accepted
            return await self._delivery(snapshot, receipt, message).run(heard)

    def _turn(self, snapshot: Snapshot) -> asyncio.Lock:
        return self._turns.setdefault(snapshot.runtime.runtime_id, asyncio.Lock())

    def _delivery(self, snapshot: Snapshot, receipt: Receipt, message: Message) -> Delivery:
        return Delivery(self._fleet, self._receipts, self._clock, snapshot, receipt, message)
