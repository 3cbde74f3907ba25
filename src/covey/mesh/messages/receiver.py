"""From the broker to the inbox: envelopes are opened, and stored with the position in the stream in one transaction.

What cannot be accepted (forged, of another mesh, of a member that was removed, malformed) is counted and left out; the
position goes on, so that one bad envelope never stops a peer.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from covey.mesh.crypto.envelope import DirectHeader, open_direct, open_topic, read_header
from covey.mesh.crypto.errors import MeshCryptoError, UnknownKeyError
from covey.mesh.inbox.inbox import Incoming
from covey.mesh.link.pull import Pull
from covey.mesh.messages.requests import NOT_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from covey.kernel.metrics import Metrics
    from covey.mesh.crypto.envelope import Envelope, TopicHeader
    from covey.mesh.crypto.identity import KeyPair
    from covey.mesh.directory.directory import Directory
    from covey.mesh.inbox.inbox import Inbox, Message
    from covey.mesh.link.pull import StreamMessage
    from covey.mesh.link.session import Session

    Fetch = Callable[[Session, str], Awaitable[object]]
    """Reads a record of the directory now."""

REFUSED = "covey_mesh_refused_total"
DM, TOPICS = "DM", "TOPICS"
ATTEMPTS, ATTEMPT_S = 10, 0.1
"""How often the records of a sender are read until its key is among them."""
WAIT_EVERY_S = 60.0

log = logging.getLogger("covey.mesh.inbox")


class Refused(Exception):  # noqa: N818 - what happened to an envelope
    """The envelope is not accepted, for this reason."""


class Receiver:
    """Reads the streams of messages over one session after another, each from where the inbox has it."""

    def __init__(
        self,
        *,
        inbox: Inbox,
        directory: Directory,
        keys: Callable[[], KeyPair],
        topics: Callable[[], dict[str, str]],
        begins_after: Callable[[str, str], int],
        incarnation: Callable[[], str],
        fetch: Fetch,
        on_messages: Callable[[list[Message], set[str]], None],
        metrics: Metrics,
    ) -> None:
        """`topics` returns the names of the topics that are read, by their tokens; `incarnation` says which streams of
        these names there are now; `begins_after` returns the sequence after which a topic of them is read.

        `on_messages` is called with what is new in the inbox and with everybody who sent anything.
        """
        self.refused = 0
        """Envelopes that were not accepted since the start."""
        self.caught_up = {DM: asyncio.Event(), TOPICS: asyncio.Event()}
        """Set when what the broker had at the beginning of the session is in the inbox."""
        self._waited: dict[str, float] = {}
        """When the records of a sender were waited for the last time."""
        self._inbox = inbox
        self._directory = directory
        self._keys = keys
        self._topics = topics
        self._begins_after = begins_after
        self._incarnation = incarnation
        self._fetch = fetch
        self._on_messages = on_messages
        self._metrics = metrics
        metrics.counter(REFUSED, "Envelopes that were not accepted, by reason.")

    async def read_direct(self, session: Session) -> None:
        """Read messages to this member until the session breaks."""
        await self._read(session, DM, [f"dm.{session.member}.*"])

    async def read_topics(self, session: Session) -> None:
        """Read the topics that are subscribed to, until the session breaks or this is cancelled."""
        await self._read(session, TOPICS, [f"t.{token}.*" for token in self._topics()])

    async def _read(self, session: Session, stream: str, subjects: Sequence[str]) -> None:
        async with Pull(session, stream, subjects, await self._cursor(stream)) as pull:
            await pull.begin()
            if not pull.pending:
                self.caught_up[stream].set()
            while True:
                batch = await pull.take()
                incoming = [one for message in batch if (one := await self._opened(session, stream, message))]
                released = await self._inbox.store(incoming, {stream: batch[-1].sequence})
                self._on_messages(released, {one.sender for one in incoming if not one.scope})
                if not batch[-1].pending:
                    self.caught_up[stream].set()

    async def _cursor(self, stream: str) -> int:
        return await self._inbox.cursor(stream, self._incarnation())

    async def _opened(self, session: Session, stream: str, message: StreamMessage) -> Incoming | None:
        try:
            try:
                return self._open(stream, message)
            except UnknownKeyError:
                return await self._open_with_news(session, stream, message)
        except MeshCryptoError as error:
            reason: str = error.error
            detail = error.message
        except Refused as error:
            reason = detail = str(error)
        self._metrics.count(REFUSED, reason=reason)
        self.refused += 1
        log.warning(
            "envelope refused",
            extra={"stream": stream, "sequence": message.sequence, "reason": detail, "subject": message.subject[:200]},
        )
        return None

    async def _open_with_news(self, session: Session, stream: str, message: StreamMessage) -> Incoming | None:
        """Open an envelope after reading the newest records of its sender.

        A server of a cluster may not have them yet, so it is asked a few times; for each sender seldom, so that nobody
        can hold up the others with keys that do not exist.
        """
        sender, now = message.subject.rpartition(".")[2], asyncio.get_running_loop().time()
        attempts = ATTEMPTS if now - self._waited.get(sender, -WAIT_EVERY_S) >= WAIT_EVERY_S else 1
        for attempt in range(1, attempts + 1):
            await self._fetch_missing(session, message)
            try:
                return self._open(stream, message)
            except UnknownKeyError:
                if attempt == attempts:
                    raise
            self._waited[sender] = now
            await asyncio.sleep(ATTEMPT_S)
        raise AssertionError("unreachable")

    def _open(self, stream: str, message: StreamMessage) -> Incoming | None:
        words = message.subject.split(".")
        if len(words) != 3:  # noqa: PLR2004 - kind, recipient or topic, sender
            raise Refused("malformed_subject")
        _, target, sender = words
        header = read_header(message.data)
        self._check_sender(sender, message)
        if header.ob in NOT_MESSAGES:  # whoever has the broker can put a request into a stream
            raise Refused("not_a_message")
        if isinstance(header, DirectHeader):
            if stream != DM:
                raise Refused("wrong_stream")
            envelope = open_direct(
                message.data,
                self._keys(),
                self._directory.key_of,
                mesh=self._directory.mesh,
                subject_from=sender,
                subject_to=target,
            )
            return self._incoming(stream, message, envelope, "", "")
        if stream != TOPICS:
            raise Refused("wrong_stream")
        return self._open_topic(message, header, sender, target)

    def _open_topic(self, message: StreamMessage, header: TopicHeader, sender: str, token: str) -> Incoming | None:
        name = self._topics().get(token)
        if name is None or sender == self._keys().member:
            return None
        if message.sequence <= self._begins_after(name, self._incarnation()):
            return None
        epoch = self._directory.epochs.get(header.epoch)
        if epoch is None:
            raise UnknownKeyError(f"topic keys of epoch {header.epoch} were not granted to this member")
        envelope = open_topic(
            message.data,
            mesh=self._directory.mesh,
            subject_from=sender,
            subject_token=token,
            topic_key=epoch.key(token),
        )
        return self._incoming(TOPICS, message, envelope, token, name)

    def _check_sender(self, sender: str, message: StreamMessage) -> None:
        """Raise if the sender was not a member when the broker stored the message."""
        record = self._directory.members.get(sender)
        if record is None:
            raise UnknownKeyError(f"{sender[:8]} is not known to be a member")
        if record.revoked_at is not None and message.time > record.revoked_at:
            raise Refused("revoked_sender")

    async def _fetch_missing(self, session: Session, message: StreamMessage) -> None:
        """Read what may have been published just now: the sender's records, or the topic keys of its epoch."""
        sender = message.subject.rpartition(".")[2]
        header = read_header(message.data)
        await self._fetch(session, f"a.member.{sender}")
        await self._fetch(session, f"m.{sender}")
        if not isinstance(header, DirectHeader):
            await self._fetch(session, f"a.grant.{session.member}.{header.epoch}")

    def _incoming(self, stream: str, message: StreamMessage, envelope: Envelope, scope: str, topic: str) -> Incoming:
        header, body = envelope.header, envelope.body
        return Incoming(
            stream=stream,
            sequence=message.sequence,
            id=header.id,
            sender=header.from_,
            sender_name=self._directory.name_of(header.from_),
            scope=scope,
            topic=topic,
            outbox=header.ob,
            n=header.n,
            at=header.at / 1000,
            skip=envelope.skip,
            text=body.text if body else "",
            meta=body.meta if body else None,
            priority=body.priority if body else "next",
            reply_to=body.reply_to if body else "",
            mentions=body.mentions if body else [],
            hops=body.hops if body else 0,
            agent=body.agent if body else None,
            from_agent=body.from_agent if body else None,
            epoch=getattr(header, "epoch", 0),
        )
