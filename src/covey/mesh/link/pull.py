"""A stream read without a gap: messages are asked for in advance, so that each comes as soon as it is stored.

The reader keeps its own position (cursor). The consumer at the broker is in memory, needs no acknowledgement, and is
made anew whenever it is gone: after a restart of the broker, a new connection, or a long silence.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, NamedTuple, Self

import msgspec

from covey.mesh.link.errors import LinkError, NotConnected

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nats.aio.msg import Msg
    from nats.aio.subscription import Subscription

    from covey.mesh.link.session import Session

BATCH = 256
"""Messages that are asked for at a time; again when half of them have come."""
EXPIRES_S, HEARTBEAT_S = 30.0, 5.0
INACTIVE_S = 60.0
NS = 1_000_000_000
PAUSE_S = 0.5
SHORT_ACK, LONG_ACK = 9, 11
"""Words in the reply subject of a message, before and since NATS names domain and account in it."""

log = logging.getLogger("covey.mesh.link")


class StreamMessage(NamedTuple):
    """One message of a stream."""

    subject: str
    data: bytes
    sequence: int
    time: float
    """When the broker stored it, by the broker's clock."""
    pending: int
    """How many follow in the stream now."""


class Pull:
    """Reads one stream after a cursor over one session. Use `take` in a loop; `async with` ends it."""

    def __init__(
        self, session: Session, stream: str, subjects: Sequence[str], after: int, *, consumer: str = ""
    ) -> None:
        """Read the messages of `subjects` with a sequence greater than `after`.

        Two readers of one stream need different names of their consumers; without one it is the member's.
        """
        self.stream = stream
        self.cursor = after
        self.pending = 0
        """How many messages there were when reading began."""
        self._session = session
        self._subjects = list(subjects)
        self._consumer = consumer or session.member
        self._inbox = session.inbox("s", stream, self._consumer)
        self._ready: list[StreamMessage] = []
        self._wake = asyncio.Event()
        self._outstanding = 0
        """How many messages were asked for and have not come."""
        self._generation = 0
        """The number of the consumer."""
        self._subscription: Subscription | None = None
        self._gone = True
        """The consumer is not there, or nobody knows."""

    async def __aenter__(self) -> Self:
        self._session.wake_when_broken.add(self._wake)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._session.wake_when_broken.discard(self._wake)
        await self._unsubscribe()

    async def take(self) -> list[StreamMessage]:
        """Return the next messages in order, at least one. Raises NotConnected when the session is broken."""
        while True:
            if self._session.broken.is_set():
                raise NotConnected(f"the connection to the broker broke: {self._session.reason}")
            if self._gone:
                await self._begin()
            elif self._outstanding <= BATCH // 2:
                await self._request()
            if self._ready:
                ready = self._ready
                self._ready = []
                self.cursor = ready[-1].sequence
                return ready
            await self._wait()

    async def begin(self) -> None:
        """Make the consumer, so that `pending` is known. `take` does it otherwise. Raises NotConnected."""
        if self._gone:
            await self._begin()

    async def _wait(self) -> None:
        """Wait for messages, a status, or two missed heartbeats: then the consumer is taken for gone."""
        if self._ready or self._gone:
            return
        self._wake.clear()
        try:
            async with asyncio.timeout(2 * HEARTBEAT_S + 1):
                await self._wake.wait()
        except TimeoutError:
            self._gone = True

    async def _begin(self) -> None:
        """Make the consumer anew, after the last message that was taken, with a subject of its own for its messages.

        So nothing of the consumer before can come between.
        """
        self._ready = []
        await self._unsubscribe()
        consumer, session = self._consumer, self._session
        config = {
            "name": consumer,
            "deliver_policy": "by_start_sequence",
            "opt_start_seq": self.cursor + 1,
            "ack_policy": "none",
            "mem_storage": True,
            "num_replicas": 1,
            "inactive_threshold": int(INACTIVE_S * NS),
        }
        subject = f"CONSUMER.CREATE.{self.stream}.{consumer}"
        if len(self._subjects) == 1:
            config["filter_subject"] = self._subjects[0]
            subject = f"{subject}.{self._subjects[0]}"
        elif self._subjects:
            config["filter_subjects"] = self._subjects
        while True:
            try:
                await session.api(f"CONSUMER.DELETE.{self.stream}.{consumer}")  # where one begins cannot be changed
                answer = await session.api(subject, {"stream_name": self.stream, "config": config})
                if "error" not in answer:
                    self.pending = int(answer.get("num_pending", 0))
                    break
                reason = answer["error"].get("description", "")
            except NotConnected:
                raise
            except (LinkError, msgspec.DecodeError) as error:
                reason = str(error)
            log.warning("stream cannot be read yet", extra={"stream": self.stream, "reason": reason})
            await asyncio.sleep(PAUSE_S)
        self._generation += 1
        self._subscription = await session.subscribe(f"{self._inbox}.{self._generation}", self._receive)
        self._gone = False
        self._outstanding = 0
        await self._request()

    async def _unsubscribe(self) -> None:
        subscription = self._subscription
        self._subscription = None
        if subscription is not None:
            with contextlib.suppress(Exception):  # the connection may be broken already
                await subscription.unsubscribe()

    async def _request(self) -> None:
        self._outstanding += BATCH
        document = {"batch": BATCH, "expires": int(EXPIRES_S * NS), "idle_heartbeat": int(HEARTBEAT_S * NS)}
        await self._session.send(
            f"$JS.API.CONSUMER.MSG.NEXT.{self.stream}.{self._consumer}",
            msgspec.json.encode(document),
            reply=f"{self._inbox}.{self._generation}",
        )

    async def _receive(self, message: Msg) -> None:
        status = (message.headers or {}).get("Status", "") if not message.data else ""
        if status == "100":
            self._wake.set()  # a heartbeat: the consumer is there
            return
        if status:
            self._on_status(status, message.headers or {})
            return
        place = position(message.reply)
        if place is None:
            return
        self._outstanding -= 1
        self._ready.append(StreamMessage(message.subject, message.data, *place))
        self._wake.set()

    def _on_status(self, status: str, headers: Mapping[str, str]) -> None:
        """A request has ended with messages left (404, 408), or the consumer is not there any more (409, 503)."""
        left = headers.get("Nats-Pending-Messages", "")
        if status in {"404", "408"} and left.isdigit():
            self._outstanding -= int(left)
        else:
            self._gone = True
        self._wake.set()


async def read_all(session: Session, stream: str, subjects: Sequence[str], consumer: str) -> list[StreamMessage]:
    """Return what a stream holds of some subjects now. Raises LinkError."""
    found: list[StreamMessage] = []
    async with Pull(session, stream, subjects, 0, consumer=consumer) as pull:
        await pull.begin()
        while len(found) < pull.pending:
            found += await pull.take()
            if found[-1].pending == 0:
                break
        await session.api(f"CONSUMER.DELETE.{stream}.{consumer}")
    return found


async def last_sequence(session: Session, stream: str) -> int | None:
    """Return where a stream ends now; None if that cannot be found out."""
    try:
        answer = await session.api(f"STREAM.INFO.{stream}")
        return int(answer["state"]["last_seq"])
    except (LinkError, msgspec.DecodeError, KeyError, TypeError, ValueError):
        return None


def position(reply: str) -> tuple[int, float, int] | None:
    """Return sequence, time and how many are pending, from a message's reply subject; None if it is not such a one."""
    words = reply.split(".")
    if len(words) < SHORT_ACK or words[:2] != ["$JS", "ACK"]:
        return None
    offset = 2 if len(words) >= LONG_ACK else 0
    try:
        return int(words[5 + offset]), int(words[7 + offset]) / NS, int(words[8 + offset])
    except (ValueError, IndexError):
        return None
