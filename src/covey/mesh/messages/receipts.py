"""Receipts: what a recipient says about the messages that are in its inbox, and what the sender makes of it.

A receipt is a state, not an event: for each outbox of a sender it says up to which number everything has come, which
came beyond that, and which an agent has seen. The newest one is all there is to know, so losing one loses nothing.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from covey.mesh.crypto.errors import MeshCryptoError
from covey.mesh.crypto.nkeys import decode_public
from covey.mesh.crypto.records import Receipt, ReceiptNumbers, open_record, sign_record
from covey.mesh.link.errors import LinkError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from nats.aio.msg import Msg

    from covey.kernel.clock import Clock
    from covey.mesh.crypto.identity import KeyPair
    from covey.mesh.inbox.inbox import Inbox
    from covey.mesh.link.session import Session
    from covey.mesh.outbox.outbox import Outbox

EVERY_S = 0.02
"""Receipts to one sender are at least this far apart."""
ASK_EVERY_S = 30.0
STREAM = "RECEIPTS"
PUBLISH_S = 5.0

log = logging.getLogger("covey.mesh.receipts")


class ReceiptSender:
    """Tells senders what has come: the first time at once, then at most every `EVERY_S`."""

    def __init__(self, mesh: str, keys: Callable[[], KeyPair], inbox: Inbox, clock: Clock) -> None:
        self._mesh = mesh
        self._keys = keys
        self._inbox = inbox
        self._clock = clock
        self._changed: set[str] = set()
        self._wake = asyncio.Event()
        self._told = asyncio.Event()
        self._told.set()

    def mark(self, senders: Iterable[str]) -> None:
        """Tell these senders soon."""
        self._changed.update(senders)
        if self._changed:
            self._told.clear()
            self._wake.set()

    async def told(self) -> None:
        """Wait until every sender knows."""
        await self._told.wait()

    async def run(self, session: Session) -> None:
        """Send receipts until the session breaks. One that could not be sent is sent over the next session."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            senders = sorted(self._changed)
            self._changed.clear()
            try:
                async with asyncio.TaskGroup() as group:
                    for sender in senders:
                        group.create_task(self._send(session, sender))
            except BaseException:
                self._changed.update(senders)
                self._wake.set()
                raise
            if not self._changed:
                self._told.set()
            await asyncio.sleep(EVERY_S)

    async def _send(self, session: Session, sender: str) -> None:
        keys = self._keys()
        seen = self._inbox.seen(sender)
        receipt = Receipt(
            mesh=self._mesh,
            sender=sender,
            recipient=keys.member,
            at=self._clock.time(),
            outboxes={
                outbox: ReceiptNumbers(upto=upto, extra=list(extra), seen=seen.get(outbox, []))
                for outbox, (upto, extra) in self._inbox.numbers(sender).items()
            },
        )
        wire = sign_record(keys.identity, "receipt", receipt)
        try:
            await session.publish(f"rc.{sender}.{keys.member}", wire, deadline_s=PUBLISH_S)
        except LinkError as error:
            self._changed.add(sender)
            self._wake.set()
            log.warning("receipt not sent, sent again", extra={"sender": sender, "reason": error.message})
            await asyncio.sleep(1.0)


class ReceiptReader:
    """Applies the receipts of recipients to the outbox."""

    def __init__(
        self, mesh: str, member: str, outbox: Outbox, clock: Clock, on_progress: Callable[[list[str], list[str]], None]
    ) -> None:
        """Call `on_progress` with the ids of messages that are newly in an inbox, and of those newly seen."""
        self._mesh = mesh
        self._member = member
        self._outbox = outbox
        self._clock = clock
        self._on_progress = on_progress
        self._compared = False
        self.beyond: set[str] = set()
        """Members that have messages of this outbox which it does not know."""

    async def run(self, session: Session) -> None:
        """Apply receipts as they come, and ask for those of recipients of open messages now and then.

        The first time it is asked for those of all recipients: they show whether the outbox is older than they are.
        """
        await session.subscribe(f"rc.{self._member}.*", self._receive)
        while True:
            recipients = await (self._outbox.open_recipients() if self._compared else self._outbox.recipients())
            for recipient in recipients:
                try:
                    wire = await session.newest(STREAM, f"rc.{self._member}.{recipient}")
                except LinkError as error:
                    log.warning("receipt cannot be read", extra={"recipient": recipient, "reason": error.message})
                    break
                if wire is not None:
                    await self.apply(recipient, wire)
            else:
                self._compared = True
            await self._clock.sleep(ASK_EVERY_S)

    async def _receive(self, message: Msg) -> None:
        await self.apply(message.subject.rpartition(".")[2], message.data)

    async def apply(self, recipient: str, wire: bytes) -> None:
        """Apply one receipt. One that its recipient has not signed is left out."""
        try:
            receipt = open_record(Receipt, decode_public(recipient, "U"), "receipt", wire)
        except MeshCryptoError as error:
            log.warning("receipt refused", extra={"recipient": recipient[:60], "reason": error.message})
            return
        if (receipt.mesh, receipt.sender, receipt.recipient) != (self._mesh, self._member, recipient):
            log.warning("receipt refused", extra={"recipient": recipient[:60], "reason": "it is about others"})
            return
        numbers = receipt.outboxes.get(self._outbox.outbox_id)
        if numbers is None:
            return
        if not self._compared and max(numbers.upto, *numbers.extra, 0) > await self._outbox.last_number(recipient):
            self.beyond.add(recipient)
            log.error("outbox.db is older than what was sent from it", extra={"recipient": recipient})
        in_inbox, seen = await self._outbox.record_receipt(
            recipient, numbers.upto, numbers.extra, numbers.seen, self._clock.time()
        )
        if in_inbox or seen:
            self._on_progress(in_inbox, seen)
