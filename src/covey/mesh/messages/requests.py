"""Requests from one peer to another that are answered at once or not at all: nothing of them is stored anywhere.

A request goes to `q.<to>.<from>` and its answer to `q.<from>.<to>`, over the connection itself and no stream: each is a
direct envelope, so that only the other one can read it, and knows whom it is from. A request that comes again is not
performed again: its id is remembered as long as it counts as new, and one from before the start of this peer is old.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from covey.kernel.durations import seconds_text
from covey.mesh.crypto.envelope import Body, DirectHeader, new_message_id, open_direct, read_header, seal_direct
from covey.mesh.crypto.errors import MalformedError, MeshCryptoError, UnknownKeyError
from covey.mesh.link.errors import LinkError, NotAnsweredError
from murli import AgentError, permission_denied, rate_limited, timed_out, tool_error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nats.aio.msg import Msg

    from covey.mesh.crypto.identity import KeyPair, PublicKeys
    from covey.mesh.directory.directory import Directory
    from covey.mesh.link.link import Link
    from covey.mesh.link.session import Session

REQUEST: Final = "request"
ANSWER: Final = "answer"
NOT_MESSAGES = frozenset({REQUEST, ANSWER})
"""What such envelopes have in the place of an outbox: none of them is a message, and no message is one of them."""
NEW_S = 120.0
"""How old a request may be: clocks differ, and so long its id is remembered."""
LARGEST = 450 * 1024
"""Bytes of a request or an answer, as JSON: quoted in the body of an envelope it may become twice as long."""
AT_ONCE, AT_ONCE_EACH = 32, 8
"""How many requests are performed at a time, and how many of one member."""
KEYS_S, KEYS_EVERY_S = 3.0, 0.1
PATIENCE_S = 1.0
"""How long a request is sent again while the other peer is not there."""

STALE = tool_error(
    "the request was made before this peer started, or the clocks of the two differ",
    "Nothing was done. Try again; if it stays so, set the clocks.",
    error="request_stale",
)

log = logging.getLogger("covey.mesh.requests")


class Asked(NamedTuple):
    """A request of another member, which was verified."""

    id: str
    member: str
    what: str
    arguments: dict[str, Any]
    timeout_s: float
    """How long the other one waits."""


class _Request(Struct, frozen=True, kw_only=True):
    what: str
    arguments: dict[str, Any]
    timeout_s: float


class _Failure(Struct, frozen=True, kw_only=True):
    error: str
    message: str
    code: int
    suggestion: str = ""


class _Answer(Struct, frozen=True, kw_only=True):
    result: Any = None
    failure: _Failure | None = None


class PeerRequests:
    """Asks other peers, and answers them while `serve` runs."""

    def __init__(
        self,
        *,
        link: Link,
        keys: Callable[[], KeyPair],
        directory: Directory,
        now: Callable[[], float],
        answer: Callable[[Asked], Awaitable[Any]],
    ) -> None:
        """`now` is the time of the mesh. `answer` returns what is answered, or raises AgentError, which is told."""
        self._link = link
        self._keys = keys
        self._directory = directory
        self._now = now
        self._answer = answer
        self._waiting: dict[str, tuple[str, asyncio.Future[_Answer]]] = {}
        """By the id of the request: who was asked, and what waits for the answer."""
        self._seen: dict[str, float] = {}
        self._since: float | None = None
        self._running: dict[asyncio.Task[None], str] = {}
        """Requests that are performed, and of whom."""

    async def ask(self, member: str, what: str, arguments: dict[str, Any], *, timeout_s: float) -> Any:
        """Return the answer of a member's peer. Raises AgentError: its own, or that there is none."""
        session, name = self._link.require(), self._directory.name_of(member)
        keys = await self._keys_of(member)
        id_ = new_message_id()
        request = _Request(what=what, arguments=arguments, timeout_s=timeout_s)
        data = self._sealed(keys, id_, REQUEST, msgspec.json.encode(request))
        future: asyncio.Future[_Answer] = asyncio.get_running_loop().create_future()
        self._waiting[id_] = (member, future)
        delivery: asyncio.Task[bytes] = asyncio.create_task(
            session.request(self._subject(member), data, deadline_s=2 * timeout_s, patience_s=PATIENCE_S)
        )
        try:
            async with asyncio.timeout(timeout_s):
                waited: set[asyncio.Future[Any]] = {future, delivery}
                await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
                if not future.done():
                    raise _not_there(name, delivery)
                return _result(future.result(), name)
        except TimeoutError:
            raise timed_out(
                f"{name} did not answer within {seconds_text(timeout_s)}; whether it was done is not known",
                "Look whether it was done before you try again.",
            ) from None
        finally:
            self._waiting.pop(id_, None)
            delivery.cancel()
            with contextlib.suppress(asyncio.CancelledError, LinkError):
                await delivery

    async def serve(self, session: Session) -> None:
        """Answer requests, and take answers, until the session breaks."""
        if self._since is None:
            self._since = self._now()
        subscription = await session.subscribe(f"q.{session.member}.*", self._received)
        try:
            await session.broken.wait()
        finally:
            for task in self._running:
                task.cancel()
            if not session.broken.is_set():
                with contextlib.suppress(Exception):  # the connection may be going just now
                    await subscription.unsubscribe()

    async def _keys_of(self, member: str) -> PublicKeys:
        """Return the key to seal for. Raises AgentError if it does not become known soon."""
        for _ in range(int(KEYS_S / KEYS_EVERY_S)):
            keys = self._directory.public_keys(member)
            if keys is not None:
                return keys
            await asyncio.sleep(KEYS_EVERY_S)
        name = self._directory.name_of(member)
        raise tool_error(f"{name} has not published a key yet", "Try again when its peer has run.")

    def _subject(self, member: str) -> str:
        return f"q.{member}.{self._keys().member}"

    def _sealed(self, to: PublicKeys, id_: str, kind: str, text: bytes, reply_to: str | None = None) -> bytes:
        return seal_direct(
            self._keys(),
            to,
            mesh=self._directory.mesh,
            id=id_,
            at_ms=int(self._now() * 1000),
            ob=kind,
            n=1,
            body=Body(text=text.decode(), reply_to=reply_to),
        )

    async def _received(self, message: Msg) -> None:
        """Begin to perform a request, or pass an answer on. What cannot be accepted is left out and logged."""
        sender = message.subject.rpartition(".")[2]
        record = self._directory.members.get(sender)
        if record is not None and record.revoked_at is not None:
            return
        if self._is_answer(message.data):
            if any(asked == sender for asked, _ in self._waiting.values()):
                await self._take(message, sender)
            return
        of_sender = sum(one == sender for one in self._running.values())
        if of_sender >= 2 * AT_ONCE_EACH or len(self._running) >= 2 * AT_ONCE:
            log.warning("request left out: there are too many", extra={"from": sender[:60]})
            return
        busy = of_sender >= AT_ONCE_EACH or len(self._running) >= AT_ONCE
        self._keep(asyncio.create_task(self._take(message, sender, busy=busy)), sender)

    def _keep(self, task: asyncio.Task[None], sender: str) -> None:
        self._running[task] = sender
        task.add_done_callback(lambda done: self._running.pop(done, None) and None)

    @staticmethod
    def _is_answer(data: bytes) -> bool:
        try:
            return read_header(data).ob == ANSWER
        except MeshCryptoError:
            return False

    async def _take(self, message: Msg, sender: str, *, busy: bool = False) -> None:
        try:
            header, body = await self._opened(message, sender)
            if header.ob == ANSWER:
                self._take_answer(sender, body)
                return
            asked, stale = self._checked(header, body)
        except (MeshCryptoError, msgspec.MsgspecError, ValueError) as error:
            log.warning("request refused", extra={"from": sender[:60], "reason": str(error)})
            return
        if stale:
            answer = _told(STALE)
        elif busy:
            answer = _told(rate_limited("this peer has too many requests to perform", 1000))
        else:
            answer = await self._performed(asked)
        await self._reply(asked, answer)

    async def _opened(self, message: Msg, sender: str) -> tuple[DirectHeader, Body]:
        """Return the header and the body of an envelope, as soon as the keys are known. Raises MeshCryptoError."""
        patience = int(KEYS_S / KEYS_EVERY_S)
        while True:
            try:
                envelope = open_direct(
                    message.data,
                    self._keys(),
                    self._directory.key_of,
                    mesh=self._directory.mesh,
                    subject_from=sender,
                    subject_to=self._keys().member,
                )
            except UnknownKeyError:
                patience -= 1
                if patience <= 0:
                    raise
                await asyncio.sleep(KEYS_EVERY_S)
                continue
            header = envelope.header
            if not isinstance(header, DirectHeader) or envelope.body is None or header.ob not in NOT_MESSAGES:
                raise MalformedError("the envelope is neither a request nor an answer")
            return header, envelope.body

    def _checked(self, header: DirectHeader, body: Body) -> tuple[Asked, bool]:
        """Return a request of a member, and whether it is too old to be performed. Raises MalformedError."""
        if not self._directory.is_member(header.from_):
            raise MalformedError("it is from somebody who is not a member")
        now, at = self._now(), header.at / 1000
        stale = abs(now - at) > NEW_S or self._since is None or at < self._since
        if header.id in self._seen:
            raise MalformedError("it has come before")
        self._seen = {id_: seen for id_, seen in self._seen.items() if now - seen <= 2 * NEW_S}
        self._seen[header.id] = now
        request = msgspec.json.decode(body.text, type=_Request)
        return Asked(header.id, header.from_, request.what, request.arguments, request.timeout_s), stale

    def _take_answer(self, sender: str, body: Body) -> None:
        asked, future = self._waiting.get(body.reply_to or "", ("", None))
        if future is not None and asked == sender and not future.done():
            future.set_result(msgspec.json.decode(body.text, type=_Answer))

    async def _performed(self, asked: Asked) -> _Answer:
        try:
            return _Answer(result=await self._answer(asked))
        except AgentError as error:
            return _told(error)
        except Exception:
            log.exception("request not performed", extra={"what": asked.what[:100]})
            return _told(tool_error("it failed inside the other peer", "Its owner finds the reason in its log."))

    async def _reply(self, asked: Asked, answer: _Answer) -> None:
        session, keys = self._link.session, self._directory.public_keys(asked.member)
        if session is None or keys is None:
            return
        text = msgspec.json.encode(answer)
        if len(text) > LARGEST:  # whoever answers has its own limit below this one
            text = msgspec.json.encode(_told(tool_error(f"the answer is too large: {len(text)} bytes")))
        with contextlib.suppress(LinkError):
            await session.send(
                self._subject(asked.member), self._sealed(keys, new_message_id(), ANSWER, text, reply_to=asked.id)
            )


def _told(error: AgentError) -> _Answer:
    return _Answer(
        failure=_Failure(error=error.error, message=error.message, code=error.code, suggestion=error.suggestion or "")
    )


def _result(answer: _Answer, name: str) -> Any:
    """Return what was answered. Raises the AgentError that was told instead."""
    failure = answer.failure
    if failure is None:
        return answer.result
    raise AgentError(
        f"{name}: {failure.message[:2000]}",
        code=failure.code if 0 < failure.code <= 9 else 1,  # noqa: PLR2004 - the codes of murli
        error=failure.error[:100],
        suggestion=failure.suggestion[:2000],
    )


def _not_there(name: str, delivery: asyncio.Task[bytes]) -> AgentError:
    """Return the error for a request that nobody has taken."""
    error = delivery.exception()
    if isinstance(error, NotAnsweredError):
        return tool_error(
            f"the peer of {name} is not connected", "Try again when it is: covey mesh peers", error="peer_offline"
        )
    if isinstance(error, AgentError):
        return error
    return permission_denied("the broker answered in another member's place", "See the log of the broker.")
