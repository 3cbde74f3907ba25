"""Administration of a broker's accounts over its system account: changes of an account, and who is connected to it."""

from __future__ import annotations

import asyncio
import itertools
from collections import deque
from typing import TYPE_CHECKING, Any, Self

import msgspec

from covey.kernel.clock import SystemClock
from covey.mesh.auth.jwt import account_deletion, claims
from covey.mesh.link.errors import LinkError, NotAnsweredError, RefusedError
from covey.mesh.link.session import Credentials, Session
from murli import AgentError, tool_error

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from nats.aio.msg import Msg

    from covey.kernel.clock import Clock
    from covey.mesh.broker.operator_file import OperatorFile
    from covey.mesh.link.session import Address

UPDATE, DELETE = "$SYS.REQ.CLAIMS.UPDATE", "$SYS.REQ.CLAIMS.DELETE"
HEALTH = "$SYS.REQ.SERVER.PING.HEALTHZ"
PAUSE_S = 0.2
PAGE = 1024


class _Outcome(msgspec.Struct, frozen=True):
    code: int = 0
    description: str = ""


class _Reply(msgspec.Struct, frozen=True):
    """What a server answers to a change of an account."""

    data: _Outcome | None = None
    error: _Outcome | None = None


class _Condition(msgspec.Struct, frozen=True):
    status: str = ""
    error: str = ""


class _Health(msgspec.Struct, frozen=True):
    """How a server is."""

    data: _Condition = _Condition()


class _Server(msgspec.Struct, frozen=True):
    id: str = ""


class _Client(msgspec.Struct, frozen=True):
    id: int = 0
    user: str = ""


class _ConnectionEvent(msgspec.Struct, frozen=True):
    """A connection was made or has ended."""

    server: _Server
    client: _Client


class _Connection(msgspec.Struct, frozen=True):
    cid: int = 0
    authorized_user: str = ""


class _Page(msgspec.Struct, frozen=True):
    connections: list[_Connection] = []


class _Connections(msgspec.Struct, frozen=True):
    """A part of a server's list of connections."""

    server: _Server
    data: _Page = _Page()


class Online:
    """Counts the connections of each member, and tells when a member's first one comes and its last one goes."""

    def __init__(self) -> None:
        self._connections: dict[str, set[tuple[str, int]]] = {}

    def apply(self, member: str, connection: tuple[str, int], *, connected: bool) -> bool:
        """Count a connection that was made or has ended. Returns whether that changed if the member is online."""
        before = self._connections.get(member, set())
        after = before | {connection} if connected else before - {connection}
        if after:
            self._connections[member] = after
        else:
            self._connections.pop(member, None)
        return bool(before) != bool(after)

    def replace(self, present: dict[str, set[tuple[str, int]]]) -> list[tuple[str, bool]]:
        """Take a whole list of connections for the truth. Returns the members whose state differs, and the new one."""
        before = self._connections
        self._connections = present
        gone = [(member, False) for member in before if member not in present]
        return gone + [(member, True) for member in present if member not in before]


class SystemLink:
    """A connection to a broker as its system user. It is made when it is needed, and again when it has broken.

    `servers` is how many servers a cluster has: each answers for itself.
    """

    def __init__(
        self, address: Callable[[], Address], keys: OperatorFile, *, servers: int = 1, clock: Clock | None = None
    ) -> None:
        self._address = address
        self._keys = keys
        self._servers = servers
        self._clock = clock or SystemClock()
        self._session: Session | None = None
        self._connecting = asyncio.Lock()
        self._numbers = itertools.count(1)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Leave the connection. A watch that runs connects again: end it first."""
        session = self._session
        self._session = None
        if session is not None:
            await session.aclose()

    async def push_account(self, jwt: str, *, deadline: float = 10.0) -> None:
        """Give the claims of an account to the broker, which applies them at once and keeps them.

        Users that the new claims revoke are disconnected. Raises `AgentError` if it is refused or there is no answer.
        Claims that this broker's operator has not signed are refused here: a server would store them, answer that all
        is well, and let nobody into the account any more.
        """
        try:
            issuer = claims(jwt).get("iss")
        except ValueError as error:
            raise _refused(str(error)) from error
        if issuer not in {self._keys.operator.public, self._keys.signer.public}:
            raise _refused("it is not signed by the operator of this broker")
        await self._change(UPDATE, jwt, deadline)

    async def delete_account(self, account: str, *, deadline: float = 10.0) -> None:
        """Delete an account: nobody can connect to it any more. Its streams must be deleted before.

        Raises `AgentError` if it is refused or there is no answer.
        """
        await self._change(DELETE, account_deletion(self._keys.signer, account), deadline)

    async def health(self, *, deadline: float = 5.0) -> str:
        """Return what the servers say is wrong with them; empty if all is well.

        Raises `LinkError` if there is no answer.
        """
        replies = await self._ask(await self._open(), HEALTH, b"{}", self._servers, deadline)
        try:
            found = [msgspec.json.decode(reply, type=_Health).data for reply in replies]
        except msgspec.DecodeError:
            raise NotAnsweredError("the broker does not say how it is") from None
        return "; ".join(one.error or one.status for one in found if one.status != "ok")

    async def watch(self, account: str) -> AsyncIterator[tuple[str, bool]]:
        """Yield each user of an account that comes or goes, and whether it is online now. It never ends by itself.

        First come the users that are online already. A user with several connections is online until the last one
        has ended. While the broker cannot be reached nothing is yielded; afterwards, what has changed meanwhile.
        """
        online = Online()
        while True:
            try:
                session = await self._open()
                async for change in self._watch(session, account, online):
                    yield change
            except RefusedError:
                raise
            except (LinkError, msgspec.DecodeError):
                await self._clock.sleep(PAUSE_S)

    async def _watch(self, session: Session, account: str, online: Online) -> AsyncIterator[tuple[str, bool]]:
        """Yield changes until the session is broken."""
        events: deque[tuple[str, bytes]] = deque()
        woken = asyncio.Event()

        async def receive(message: Msg) -> None:
            events.append((message.subject, message.data))
            woken.set()

        session.wake_when_broken.add(woken)
        subscriptions = [
            await session.subscribe(f"$SYS.ACCOUNT.{account}.{word}", receive) for word in ("CONNECT", "DISCONNECT")
        ]
        try:
            # Events were subscribed to before, so that none is missed between the list and them.
            for change in online.replace(await self._connections(session, account)):
                yield change
            while not session.broken.is_set():
                while events:
                    subject, data = events.popleft()
                    event = msgspec.json.decode(data, type=_ConnectionEvent)
                    connected = not subject.endswith(".DISCONNECT")
                    connection = event.server.id, event.client.id
                    if event.client.user and online.apply(event.client.user, connection, connected=connected):
                        yield event.client.user, connected
                woken.clear()
                if not session.broken.is_set() and not events:
                    await woken.wait()
        finally:
            session.wake_when_broken.discard(woken)
            for subscription in subscriptions:
                if not session.broken.is_set():
                    await subscription.unsubscribe()

    async def _connections(self, session: Session, account: str) -> dict[str, set[tuple[str, int]]]:
        """Return the connections of each user of an account."""
        present: dict[str, set[tuple[str, int]]] = {}
        query: dict[str, Any] = {"acc": account, "auth": True, "limit": PAGE, "offset": 0}
        first = await self._ask(session, "$SYS.REQ.SERVER.PING.CONNZ", msgspec.json.encode(query), self._servers, 5.0)
        pending = deque((0, msgspec.json.decode(data, type=_Connections)) for data in first)
        while pending:
            offset, page = pending.popleft()
            for one in page.data.connections:
                present.setdefault(one.authorized_user, set()).add((page.server.id, one.cid))
            if len(page.data.connections) == PAGE:
                query["offset"] = offset + PAGE
                subject = f"$SYS.REQ.SERVER.{page.server.id}.CONNZ"
                more = await self._ask(session, subject, msgspec.json.encode(query), 1, 5.0)
                pending.append((offset + PAGE, msgspec.json.decode(more[0], type=_Connections)))
        return present

    async def _change(self, subject: str, jwt: str, deadline: float) -> None:
        ends = self._clock.monotonic() + deadline
        while True:
            try:
                session = await self._open()
                remaining = max(0.1, ends - self._clock.monotonic())
                replies = await self._ask(session, subject, jwt.encode(), self._servers, remaining)
                break
            except RefusedError:
                raise
            except LinkError:
                if self._clock.monotonic() + PAUSE_S >= ends:
                    raise
                await self._clock.sleep(PAUSE_S)
        for reply in replies:
            outcome = msgspec.json.decode(reply, type=_Reply)
            if outcome.error is not None or outcome.data is None:
                reason = outcome.error.description if outcome.error is not None else "no reason given"
                raise _refused(reason)

    async def _ask(self, session: Session, subject: str, data: bytes, servers: int, deadline: float) -> list[bytes]:
        """Return the answers of so many servers. Raises `LinkError`."""
        replies: list[bytes] = []
        woken = asyncio.Event()

        async def receive(message: Msg) -> None:
            replies.append(message.data)
            woken.set()

        inbox = session.inbox("c", str(next(self._numbers)))
        subscription = await session.subscribe(inbox, receive)
        session.wake_when_broken.add(woken)
        try:
            await session.send(subject, data, reply=inbox)
            async with asyncio.timeout(deadline):
                while len(replies) < servers:
                    if session.broken.is_set():
                        raise NotAnsweredError(f"the connection to the broker broke: {session.reason}")
                    woken.clear()
                    await woken.wait()
        except TimeoutError:
            raise NotAnsweredError(f"{len(replies)} of {servers} servers answered within {deadline:g} s") from None
        finally:
            session.wake_when_broken.discard(woken)
            if not session.broken.is_set():
                await subscription.unsubscribe()
        if not all(replies):
            raise NotAnsweredError("no server answers this request now")
        return replies

    async def _open(self) -> Session:
        """Return a connection that is not broken. Raises `LinkError`."""
        async with self._connecting:
            if self._session is None or self._session.broken.is_set():
                if self._session is not None:
                    await self._session.aclose()
                user = self._keys.system_user
                credentials = Credentials(user.public, self._keys.system_user_jwt(), user.sign_nonce)
                self._session = await Session.connect(self._address(), credentials, name="covey system")
            return self._session


def _refused(reason: str) -> AgentError:
    return tool_error(
        f"the broker refused the change of the account: {reason}",
        "See the broker's log: covey mesh logs",
        error="broker_account",
    )
