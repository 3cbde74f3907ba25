"""A real embedded broker for tests, with meshes in it, and members that connect with nats-py as it is."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import ssl
import subprocess
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.errors import TimeoutError as NatsTimeoutError

from covey.mesh.auth.jwt import account_jwt, user_jwt
from covey.mesh.auth.permissions import AUTHORITY, INVITE, MEMBER, inbox_prefix
from covey.mesh.broker.accounts import SystemLink
from covey.mesh.broker.operator_file import OperatorFile
from covey.mesh.broker.server import BrokerFiles
from covey.mesh.broker.server_config import BrokerSettings
from covey.mesh.broker.streams import ensure_streams
from covey.mesh.crypto.nkeys import SigningKey
from covey.mesh.link.session import Address

LIMIT_S = 120


class RefusedError(Exception):
    """The broker refused a connection, with its words."""


class Broker:
    """The embedded broker of a home, run as a child of the test."""

    def __init__(self, home: Path, settings: BrokerSettings | None = None) -> None:
        self.files = BrokerFiles(str(home))
        self.keys = self.files.prepare(settings)
        self.process: subprocess.Popen[bytes] | None = None
        self.urls: list[str] = []
        self.tls: ssl.SSLContext | None = None
        self.system = SystemLink(lambda: Address(self.urls, self.tls), self.keys)

    async def start(self) -> list[str]:
        """Start the server, and return its URLs when it is ready."""
        self.spawn()
        self.urls = await self.files.ready()
        return self.urls

    def spawn(self) -> int:
        self.process = subprocess.Popen(self.files.argv(), env={}, stdin=subprocess.DEVNULL)
        return self.process.pid

    def kill(self) -> None:
        """End the server as a crash does."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    async def aclose(self) -> None:
        await self.system.aclose()
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(10)


class Host(Protocol):
    """What a mesh needs of a broker, embedded or a cluster."""

    @property
    def keys(self) -> OperatorFile: ...
    @property
    def urls(self) -> list[str]: ...
    @property
    def tls(self) -> ssl.SSLContext | None: ...
    @property
    def system(self) -> SystemLink: ...


H = TypeVar("H", bound=Host)


class Mesh(Generic[H]):
    """An account of a broker with the signing keys of a mesh."""

    def __init__(self, broker: H, name: str = "team") -> None:
        self.broker = broker
        self.name = name
        self.account = SigningKey.generate("A")
        self.member_signer = SigningKey.generate("A")
        self.invite_signer = SigningKey.generate("A")
        self.owner_signer = SigningKey.generate("A")
        self.revocations: dict[str, int] = {}
        self.owner = SigningKey.generate("U")
        self.token = os.urandom(16).hex()

    def jwt(self) -> str:
        return account_jwt(
            self.broker.keys.signer,
            self.account.public,
            self.name,
            signing_keys={
                self.member_signer.public: MEMBER,
                self.invite_signer.public: INVITE,
                self.owner_signer.public: None,
            },
            revocations=self.revocations,
        )

    async def push(self) -> None:
        await self.broker.system.push_account(self.jwt())

    def member_jwt(self, member: SigningKey, issued_at: int | None = None) -> str:
        return user_jwt(
            self.member_signer, member.public, "anna", issuer_account=self.account.public, issued_at=issued_at
        )

    def invite_jwt(self, user: SigningKey, invite: str, expires_at: int) -> str:
        return user_jwt(
            self.invite_signer, user.public, invite, issuer_account=self.account.public, expires_at=expires_at
        )

    async def connect_owner(self) -> Connection:
        jwt = user_jwt(
            self.owner_signer,
            self.owner.public,
            "authority",
            issuer_account=self.account.public,
            permissions=AUTHORITY,
        )
        return await connect(self.broker.urls, self.owner, jwt, self.broker.tls)

    async def connect_member(self, member: SigningKey) -> Connection:
        return await connect(self.broker.urls, member, self.member_jwt(member), self.broker.tls)


class Connection:
    """A connection of nats-py, and the errors that the server sent over it."""

    def __init__(self, key: SigningKey) -> None:
        self.key = key
        self.client = Client()
        self.errors: list[str] = []
        self.ended = asyncio.Event()

    def abort(self) -> None:
        """Close the socket, which nats-py leaves open when the broker refuses."""
        transport = self.client._transport
        if transport is not None:
            transport.close()  # type: ignore[no-untyped-call]

    async def api(self, subject: str, document: Mapping[str, Any] | None = None) -> dict[str, Any] | None:
        """Return the answer of JetStream's API; None if the broker refused or did not answer."""
        reply = await self.ask(f"$JS.API.{subject}", msgspec.json.encode(document) if document is not None else b"")
        return None if reply is None else msgspec.json.decode(reply.data, type=dict[str, Any])

    async def ask(self, subject: str, data: bytes = b"", headers: dict[str, str] | None = None) -> Msg | None:
        """Return the answer to a request; None if there is none: a refused publish has no answer."""
        before = len(self.errors)
        asking = asyncio.ensure_future(self.client.request(subject, data, timeout=5, headers=headers))
        while not asking.done():
            await asyncio.wait({asking}, timeout=0.02)
            if any("permissions violation" in error for error in self.errors[before:]):
                asking.cancel()
                return None
        try:
            return asking.result()
        except NatsTimeoutError:
            return None

    async def store(self, subject: str, data: bytes = b"x", headers: dict[str, str] | None = None) -> dict[str, Any]:
        """Return the acknowledgement of a stream; empty if the broker refused."""
        reply = await self.ask(subject, data, headers)
        return {} if reply is None else msgspec.json.decode(reply.data, type=dict[str, Any])

    async def pull(self, stream: str, consumer: str) -> Msg:
        """Return the next message of a consumer. It comes under its own subject, so that a request would not see it."""
        inbox = f"{inbox_prefix(self.key.public)}.pull"
        subscription = await self.client.subscribe(inbox)
        await self.client.publish(f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}", b"1", reply=inbox)
        try:
            return await subscription.next_msg(5)
        finally:
            await subscription.unsubscribe()

    async def settle(self) -> None:
        """Wait until the server has handled everything that was sent, and its complaints are here.

        nats-py writes a ping before what is pending, so that only the second one follows it.
        """
        await self.client.flush()
        await self.client.flush()

    async def may_subscribe(self, subject: str) -> bool:
        """Return whether the broker lets this user subscribe."""
        before = len(self.errors)
        subscription = await self.client.subscribe(subject)
        await self.settle()
        with contextlib.suppress(NatsError):
            await subscription.unsubscribe()
        return not any("permissions violation" in error for error in self.errors[before:])


async def connect(
    urls: list[str], key: SigningKey, jwt: str, tls: ssl.SSLContext | None = None, prefix: str = ""
) -> Connection:
    """Connect once. Raises `RefusedError` with what the broker said."""
    connection = Connection(key)

    async def on_error(error: Exception) -> None:
        connection.errors.append(str(error))

    async def on_end() -> None:
        connection.ended.set()

    try:
        async with asyncio.timeout(10):
            await connection.client.connect(
                servers=urls,
                allow_reconnect=False,
                max_reconnect_attempts=1,
                error_cb=on_error,
                disconnected_cb=on_end,
                closed_cb=on_end,
                tls=tls,
                inbox_prefix=prefix or inbox_prefix(key.public),
                user_jwt_cb=lambda: bytearray(jwt.encode()),
                signature_cb=lambda nonce: base64.b64encode(key.sign_nonce(nonce.encode())),
            )
    except (NatsError, OSError, TimeoutError) as error:
        connection.abort()
        raise RefusedError(connection.errors[0] if connection.errors else str(error) or "no reason") from error
    return connection


@contextlib.asynccontextmanager
async def open_broker(home: Path, settings: BrokerSettings | None = None) -> AsyncIterator[Broker]:
    """Yield a broker that runs; it is ended afterwards."""
    broker = Broker(home, settings)
    async with asyncio.timeout(LIMIT_S):
        try:
            await broker.start()
            yield broker
        finally:
            await broker.aclose()


@contextlib.asynccontextmanager
async def open_mesh(home: Path) -> AsyncIterator[tuple[Mesh[Broker], Connection, Connection, Connection]]:
    """Yield a mesh with its streams, the connection of its authority, and those of two members."""
    async with open_broker(home) as broker:
        mesh = Mesh(broker)
        await mesh.push()
        owner = await mesh.connect_owner()
        await ensure_streams(owner.client, authority_token=mesh.token)
        anna = await mesh.connect_member(SigningKey.generate("U"))
        bert = await mesh.connect_member(SigningKey.generate("U"))
        try:
            yield mesh, owner, anna, bert
        finally:
            for one in (owner, anna, bert):
                await one.client.close()
