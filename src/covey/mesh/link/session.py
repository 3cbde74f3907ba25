"""One connection to a broker, from its beginning to its end. It is never connected again: a link opens the next one.

The client library's own reconnection is not used. It sends again what has timed out, never gives up credentials that
are refused, and takes half a minute to notice a dead TLS connection; here a connection that does not answer is left.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import secrets
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from nats.aio.client import Client
from nats.errors import AuthorizationError
from nats.errors import Error as NatsError

from covey.kernel.telemetry import no_span
from covey.mesh.link.acknowledgement import acknowledgement, not_in_time
from covey.mesh.link.errors import NEW_INVITE, LinkError, NotAnsweredError, NotConnected, RefusedError
from covey.mesh.link.tls_client import TlsClient

if TYPE_CHECKING:
    import ssl
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from nats.aio.msg import Msg
    from nats.aio.subscription import Subscription

    from covey.kernel.telemetry import BeginSpan
    from covey.mesh.link.acknowledgement import Acknowledgement

CONNECT_S = 5.0
CLOSE_S = 1.0
SPAN = "covey.mesh.broker"
"""What traces call a message to the broker that is answered or acknowledged."""
PROBE_S = 5.0
"""How often a connection is probed, and how long it may take to answer."""
REFUSED = ("authorization violation", "authentication expired", "authentication revoked", "user authentication")
ASK_AGAIN_S = 0.1
LARGEST_NUMBER = 1 << 62


class Credentials(NamedTuple):
    """What a client proves itself with."""

    member: str
    """The public nkey of the user."""
    jwt: str
    sign: Callable[[bytes], bytes]
    """Signs the nonce of the server with the key of `member`."""


class Address(NamedTuple):
    """Where a broker is."""

    urls: Sequence[str]
    tls: ssl.SSLContext | None = None
    """If it is there, nothing is said but over TLS."""


class Stored(NamedTuple):
    """A message as a stream has it."""

    subject: str
    data: bytes
    sequence: int


class Session:
    """One connection. `broken` is set when it cannot be used any more; `reason` then says why."""

    def __init__(self, client: Client, member: str) -> None:
        self.client = client
        self.member = member
        self.broken = asyncio.Event()
        self.wake_when_broken: set[asyncio.Event] = set()
        self.reason = ""
        self.refused = False
        """The broker has refused or revoked the credentials."""
        self.lag_ms = 0.0
        """The last round trip to the broker."""
        self.begin_span: BeginSpan = no_span
        self._inbox = f"_INBOX.{member}"
        self._replies = f"{self._inbox}.r.{secrets.token_hex(8)}"
        """Answers come below it. It is this session's own: those who use one invite at once have the same inbox."""
        self._tokens = itertools.count(1)
        self._waiting: dict[str, asyncio.Future[Msg]] = {}
        self._probe: asyncio.Task[None] | None = None

    @classmethod
    async def connect(cls, address: Address, credentials: Credentials, *, name: str = "covey") -> Session:
        """Connect within `CONNECT_S`. Raises RefusedError or NotConnected with the first reason that was given."""
        client = Client() if address.tls is None else TlsClient()
        session = cls(client, credentials.member)
        errors: list[str] = []

        async def on_error(error: Exception) -> None:
            errors.append(_said_by(error))
            if isinstance(error, AuthorizationError) or _is_refusal(errors[-1]):
                session.refused = True

        async def on_closed() -> None:
            session.fail(errors[-1] if errors else "the broker closed the connection")

        connecting = asyncio.create_task(
            client.connect(
                servers=list(address.urls),
                name=name,
                allow_reconnect=False,
                max_reconnect_attempts=1,
                reconnect_time_wait=0,
                connect_timeout=int(CONNECT_S),
                ping_interval=120,
                error_cb=on_error,
                disconnected_cb=on_closed,
                closed_cb=on_closed,
                tls=address.tls,
                inbox_prefix=f"_INBOX.{credentials.member}",
                user_jwt_cb=lambda: bytearray(credentials.jwt.encode()),
                signature_cb=lambda nonce: base64.b64encode(credentials.sign(nonce.encode())),
            ),
            name="mesh link connect",
        )
        try:
            async with asyncio.timeout(CONNECT_S):
                await asyncio.wait({connecting})  # alone: the library swallows the cancellation of whoever connects
                connecting.result()
                await client.subscribe(f"{session._replies}.*", cb=session._on_reply)
                await client.flush()
        except (OSError, NatsError, TimeoutError, ValueError) as error:
            reason = errors[0] if errors else _said_by(error)
            refused = session.refused or isinstance(error, AuthorizationError) or _is_refusal(reason)
            await session._abandon()
            if refused:
                raise RefusedError(f"the broker refused this member: {reason}", NEW_INVITE) from error
            raise NotConnected(f"the broker at {', '.join(address.urls)} was not reached: {reason}") from error
        except asyncio.CancelledError:
            _keep_until_done(asyncio.create_task(_discard(client, connecting), name="mesh link discard"))
            raise
        finally:
            connecting.cancel()
            _keep_until_done(connecting)
        session._probe = asyncio.create_task(session._probing(), name="mesh link probe")
        return session

    def fail(self, reason: str) -> None:
        """Mark the connection as broken, and end everything that waits for an answer over it."""
        if self.broken.is_set():
            return
        self.reason = reason
        self.refused = self.refused or _is_refusal(reason)
        self.broken.set()
        for event in self.wake_when_broken:
            event.set()
        waiting = list(self._waiting.values())
        self._waiting.clear()
        for future in waiting:
            if not future.done():
                future.set_exception(NotConnected(f"the connection to the broker broke: {reason}"))
                future.exception()  # whoever waited may be gone

    async def aclose(self) -> None:
        """Leave the connection, without waiting for one that does not answer."""
        self.fail("it was closed")
        if self._probe is not None:
            self._probe.cancel()
        await self._abandon()

    async def _abandon(self) -> None:
        """Close the connection, in a task of its own: the library swallows the cancellation of whoever closes it."""
        closing = asyncio.create_task(self.client.close(), name="mesh link close")
        try:
            await asyncio.wait({closing}, timeout=CLOSE_S)
        finally:
            closing.cancel()
            _keep_until_done(closing)

    async def publish(
        self, subject: str, data: bytes, *, message_id: str = "", after: int | None = None, deadline_s: float
    ) -> Acknowledgement:
        """Publish to a stream, and return its acknowledgement. Raises NotAcknowledged or NotConnected.

        With `after` it is stored only if the last message of its subject has that sequence (0: there is none); else
        Overtaken is raised.
        """
        headers = _identified(message_id)
        if after is not None:
            headers = {**(headers or {}), "Nats-Expected-Last-Subject-Sequence": str(after)}
        try:
            reply = await self._ask(subject, data, deadline_s, headers)
        except NotAnsweredError as error:
            raise not_in_time(deadline_s) from error
        return acknowledgement(reply)

    async def start_publish(self, subject: str, data: bytes, *, message_id: str) -> asyncio.Future[Msg]:
        """Publish to a stream, and return the future of what `acknowledgement` reads. Raises NotConnected.

        It has no deadline: whoever waits cancels it. It raises NotConnected when the connection breaks.
        """
        token = str(next(self._tokens))
        future: asyncio.Future[Msg] = asyncio.get_running_loop().create_future()
        self._waiting[token] = future
        future.add_done_callback(lambda _: self._waiting.pop(token, None) and None)
        try:
            await self._publish(subject, data, f"{self._replies}.{token}", _identified(message_id))
        except BaseException:
            future.cancel()
            raise
        end_span = self.begin_span(SPAN, _kind(subject))
        future.add_done_callback(lambda answered: end_span(_error_of(answered)))
        return future

    async def send(self, subject: str, data: bytes, *, reply: str = "") -> None:
        """Publish without waiting for an answer: it may be lost. Raises NotConnected."""
        await self._publish(subject, data, reply, None)

    async def request(self, subject: str, data: bytes, *, deadline_s: float = 5.0, patience_s: float = 0.0) -> bytes:
        """Return the answer to a request. Raises NotAnsweredError or NotConnected.

        While nobody is there to answer, it is asked again for `patience_s`: who answers may be starting.
        """
        began = time.monotonic()
        while True:
            reply = await self._ask(subject, data, deadline_s, None)
            if not (reply.headers and reply.headers.get("Status") == "503"):
                return reply.data
            if time.monotonic() - began >= patience_s:
                raise NotAnsweredError("nobody answers this request now")
            await asyncio.sleep(ASK_AGAIN_S)

    async def api(self, subject: str, document: Mapping[str, Any] | None = None, *, deadline_s: float = 5.0) -> Any:
        """Return the answer of JetStream's API, also if it has an error. Raises LinkError if there is no answer."""
        data = msgspec.json.encode(document) if document is not None else b""
        return msgspec.json.decode(await self.request(f"$JS.API.{subject}", data, deadline_s=deadline_s))

    async def newest(self, stream: str, subject: str, *, deadline_s: float = 5.0) -> bytes | None:
        """Return the newest message of a subject, read directly from the stream; None if there is none."""
        found = await self.newest_stored(stream, subject, deadline_s=deadline_s)
        return None if found is None else found.data

    async def newest_stored(self, stream: str, subject: str, *, deadline_s: float = 5.0) -> Stored | None:
        """Return the newest message of a subject with its place in the stream; None if there is none."""
        reply = await self._ask(f"$JS.API.DIRECT.GET.{stream}.{subject}", b"", deadline_s, None)
        status = (reply.headers or {}).get("Status", "")
        if status == "404":
            return None
        if status:
            raise NotAnsweredError(f"the broker cannot read {stream} now: status {status}")
        return Stored(subject, reply.data, int((reply.headers or {}).get("Nats-Sequence", 0)))

    async def subscribe(self, subject: str, receive: Callable[[Msg], Awaitable[None]]) -> Subscription:
        """Call `receive` for each message of a subject, one after the other. Raises NotConnected."""

        async def deliver(message: Msg) -> None:  # the library takes coroutine functions only
            await receive(message)

        try:
            return await self.client.subscribe(subject, cb=deliver)
        except (OSError, NatsError) as error:
            raise self._lost(error) from error

    @property
    def server(self) -> str:
        """Host and port of the server; empty without one."""
        url = self.client.connected_url
        return "" if url is None else str(url.netloc)

    def inbox(self, *words: str) -> str:
        """Return a subject to which only this member can be answered."""
        return ".".join((self._inbox, *words))

    async def _ask(self, subject: str, data: bytes, deadline_s: float, headers: dict[str, str] | None) -> Msg:
        token = str(next(self._tokens))
        future: asyncio.Future[Msg] = asyncio.get_running_loop().create_future()
        self._waiting[token] = future
        end_span, error = self.begin_span(SPAN, _kind(subject)), "interrupted"
        try:
            await self._publish(subject, data, f"{self._replies}.{token}", headers)
            async with asyncio.timeout(deadline_s):
                reply = await future
            error = ""
        except TimeoutError:
            error = NotAnsweredError.kind
            raise NotAnsweredError(f"there was no answer within {deadline_s:g} s") from None
        except LinkError as lost:
            error = lost.error
            raise
        else:
            return reply
        finally:
            self._waiting.pop(token, None)
            end_span(error)

    async def _publish(self, subject: str, data: bytes, reply: str, headers: dict[str, str] | None) -> None:
        if self.broken.is_set():
            raise NotConnected(f"the connection to the broker broke: {self.reason}")
        try:
            await self.client.publish(subject, data, reply=reply, headers=headers)
        except (OSError, NatsError) as error:
            raise self._lost(error) from error

    def _lost(self, error: Exception) -> LinkError:
        return NotConnected(f"the connection to the broker broke: {_said_by(error)}")

    async def _on_reply(self, message: Msg) -> None:
        future = self._waiting.pop(message.subject.rpartition(".")[2], None)
        if future is not None and not future.done():
            future.set_result(message)

    async def _probing(self) -> None:
        """Measure the round trip every few seconds; a connection that does not answer is broken."""
        while not self.broken.is_set():
            began = time.monotonic()
            try:
                async with asyncio.timeout(PROBE_S):
                    await self.client.flush()
            except (OSError, NatsError, TimeoutError) as error:
                if not self.broken.is_set():
                    self.fail(f"the broker does not answer: {_said_by(error)}")
                return
            self.lag_ms = (time.monotonic() - began) * 1000
            await asyncio.sleep(PROBE_S)


def _identified(message_id: str) -> dict[str, str] | None:
    return {"Nats-Msg-Id": message_id} if message_id else None


def _kind(subject: str) -> str:
    """Return the first word of a subject: all that a trace says of it."""
    return subject.partition(".")[0]


def _error_of(answered: asyncio.Future[Msg]) -> str:
    if answered.cancelled():
        return NotAnsweredError.kind
    error = answered.exception()
    return "" if error is None else NotConnected.kind


_left: set[asyncio.Task[None]] = set()
"""Tasks that nobody waits for any more."""


def _keep_until_done(task: asyncio.Task[None]) -> None:
    """Let a task end by itself, however it ends: a broken connection may fail in any way while it is left."""

    def retrieve(done: asyncio.Task[None]) -> None:
        _left.discard(done)
        if not done.cancelled():
            done.exception()

    _left.add(task)
    task.add_done_callback(retrieve)


async def _discard(client: Client, connecting: asyncio.Task[None]) -> None:
    """Close a connection that was still being made when nobody wanted it any more."""
    connecting.cancel()
    await asyncio.wait({connecting}, timeout=CONNECT_S)
    await client.close()


def _said_by(error: Exception) -> str:
    """Return what an error says; one of a time limit says nothing itself."""
    silent = "nothing came in time" if isinstance(error, TimeoutError) else type(error).__name__
    return str(error) or silent


def _is_refusal(reason: str) -> bool:
    return any(words in reason.lower() for words in REFUSED)
