"""Meshes of real peers on a real broker: each peer is a daemon in this process, or a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from covey.contract.mesh import PEER_OPERATIONS
from covey.kernel.client import Client
from covey.kernel.clock import Clock
from covey.kernel.daemon import Daemon
from covey.kernel.home import Home
from covey.kernel.operations.call import Caller
from covey.kernel.seat import Seat
from covey.mesh import membership
from covey.mesh.crypto.identity import KeyPair
from covey.mesh.membership_file import Membership, keys_path
from covey.mesh.peer.peer import Peer
from covey.mesh.peer.subsystem import peer_subsystem
from murli import AgentError
from tests.covey.mesh.embedded_broker import Broker, Connection, connect
from tests.covey.mesh.nats_cluster import NatsCluster

LIMIT_S = 120.0
SLUG = "team"
CONFIG: Mapping[str, Any] = {"reconnect.initial_backoff_ms": 50, "reconnect.max_backoff_ms": 200}
CALLER = Caller("internal", subsystem="test")
OPERATIONS = {operation.name: operation for operation in PEER_OPERATIONS}


class MemberPeer:
    """A member of a mesh in a home of its own, its daemon while it runs in this process, and what it can be asked."""

    def __init__(self, home: Home, slug: str, name: str, urls: Sequence[str]) -> None:
        self.home = home
        self.slug = slug
        self.name = name
        self.urls = list(urls)
        self.seat: Seat = home.seat("mesh", slug)
        self.clock: Clock | None = None
        self._daemon: Daemon | None = None
        self._peer: Peer | None = None
        self._stack = contextlib.AsyncExitStack()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def peer(self) -> Peer:
        assert self._peer is not None, f"{self.name} does not run in this process"
        return self._peer

    @property
    def daemon(self) -> Daemon:
        assert self._daemon is not None, f"{self.name} does not run in this process"
        return self._daemon

    @property
    def membership(self) -> Membership:
        return Membership.load(self.seat)

    @property
    def keys(self) -> KeyPair:
        return KeyPair.load(keys_path(self.seat))

    @property
    def member(self) -> str:
        return self.membership.member

    def configure(self, **values: Any) -> None:
        """Write the configuration. The names have two underscores for the dot."""
        settings = {**CONFIG, **{name.replace("__", "."): value for name, value in values.items()}}
        lines = [f"{key} = {_toml(value)}\n" for key, value in settings.items()]
        Path(self.seat.config_file).write_text("".join(lines))

    async def start(self, *, connected: bool = True) -> MemberPeer:
        """Run the peer in this process, and wait until it is connected."""
        if not Path(self.seat.config_file).exists():
            self.configure()
        peers: list[Peer] = []
        running = Daemon.running(self.seat, [peer_subsystem(peers.append)], clock=self.clock)
        self._daemon = await self._stack.enter_async_context(running)
        (self._peer,) = peers
        if connected:
            await until(lambda: self.peer.link.session is not None, f"{self.name} is connected")
        return self

    async def stop(self) -> None:
        """End the peer in this process, as `covey mesh down` does."""
        self._daemon = self._peer = None
        await self._stack.aclose()

    async def vanish(self) -> None:
        """End the peer in this process without a word to the others, as the loss of its connection does."""
        session = self.peer.link.session
        if session is not None:
            transport = session.client._transport
            if transport is not None:
                transport.close()  # type: ignore[no-untyped-call]
            self.peer.link.session = None
        await self.stop()

    def spawn(self) -> int:
        """Run the peer as a process of its own, and return its pid at once."""
        if not Path(self.seat.config_file).exists():
            self.configure()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "covey.mesh", self.home.path, self.slug],
            env={"PATH": os.environ["PATH"], "HOME": self.home.path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return self.process.pid

    def kill(self) -> None:
        """End the process as a crash does."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def terminate(self) -> None:
        """End the process as a service manager does."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()

    async def call(self, operation: str, /, *, idempotency: str | None = None, **params: Any) -> Any:
        """Return the result of an operation of the peer in this process. `from_` stands for `from`."""
        given = {name.removesuffix("_"): value for name, value in params.items()}
        return await self.daemon.dispatcher.call(operation, given, CALLER, idempotency_key=idempotency)

    async def ask(self, operation: str, /, *, idempotency: str = "", token: str = "", **params: Any) -> Any:
        """Return the result of an operation over the socket, whichever process the peer is in."""
        client = Client(self.seat.socket, timeout=LIMIT_S, token=token, seat=self.seat)
        found = OPERATIONS.get(operation) or self.daemon.dispatcher.operations[operation]
        return await asyncio.to_thread(client.call, found, params, idempotency_key=idempotency)

    async def send(self, to: MemberPeer | str, text: str, **params: Any) -> Any:
        """Send a direct message and return the answer."""
        reference = to if isinstance(to, str) else f"@{to.name}"
        return await self.call("mesh.send", to=reference, message=text, **params)

    async def deliver(self, to: MemberPeer, text: str, **params: Any) -> Any:
        """Send a direct message, wait until it is in the inbox, and return the answer."""
        answer = await self.send(to, text, wait="inbox", timeout_s=20, **params)
        assert answer["rung"] in {"in_inbox", "seen"}, answer
        return answer

    async def inbox(self, **params: Any) -> list[dict[str, Any]]:
        """Return all messages of the inbox, the oldest first."""
        found: list[dict[str, Any]] = []
        cursor = "0"
        while True:
            page = await self.call("mesh.inbox", since=cursor, limit=1000, **params)
            found += page["items"]
            cursor = str(page["cursor"])
            if not page["more"]:
                return found

    async def texts(self, **params: Any) -> list[str]:
        """Return the texts of all messages of the inbox, the oldest first."""
        return [message["text"] for message in await self.inbox(**params)]

    async def wait_for(self, count: int, **params: Any) -> list[dict[str, Any]]:
        """Return the messages of the inbox when there are so many."""

        async def there() -> bool:
            return len(await self.inbox(**params)) >= count

        await until(there, f"{self.name} has {count} messages")
        return await self.inbox(**params)

    async def events(self, kind: str, since: int = 0) -> list[dict[str, Any]]:
        """Return the events of a kind, each with its cursor and its data, as `/v1/events` gives them."""
        operation = self.daemon.dispatcher.operations["events"]
        client = Client(self.seat.socket, timeout=LIMIT_S, seat=self.seat)
        given = {"since": str(since), "kind": [kind]}
        return await asyncio.to_thread(lambda: list(client.stream(operation, given)))

    async def wait_for_event(self, kind: str, **data: Any) -> dict[str, Any]:
        """Return the first event of a kind with this data."""
        found: list[dict[str, Any]] = []

        async def there() -> bool:
            found[:] = [one for one in await self.events(kind) if data.items() <= one["data"]["data"].items()]
            return bool(found)

        await until(there, f"{self.name} has an event {kind} with {data}")
        return found[0]

    async def status(self) -> dict[str, Any]:
        """Return the peer's part of the status."""
        found: dict[str, Any] = (await self.call("status"))["mesh"]
        return found

    async def refused(self) -> dict[str, int]:
        """Return how many envelopes were not accepted, by reason."""
        found: dict[str, int] = {}
        for line in self.daemon.metrics.text().splitlines():
            if line.startswith("covey_mesh_refused_total{"):
                name, _, value = line.rpartition(" ")
                found[name.partition('reason="')[2].partition('"')[0]] = int(float(value))
        return found

    async def raw(self) -> Connection:
        """Return a connection of this member's own, without a peer: for what a peer would never send."""
        return await connect(self.urls, self.keys.identity, self.membership.jwt)

    def hook(self, name: str, text: str) -> Path:
        """Write a hook; `text` is for a shell unless it has a first line of its own."""
        folder = Path(self.seat.directory) / "hooks"
        folder.mkdir(mode=0o700, exist_ok=True)
        path = folder / name
        path.write_text(text if text.startswith("#!") else f"#!/bin/sh\n{text}\n")
        path.chmod(0o700)
        return path


class MeshOfPeers:
    """A mesh with an authority, and members that have joined it."""

    def __init__(self, folder: Path, broker: Broker | None, cluster: NatsCluster | None) -> None:
        self.folder = folder
        self._broker = broker
        self.cluster = cluster
        self.peers: dict[str, MemberPeer] = {}
        self.slug = SLUG

    @property
    def broker(self) -> Broker:
        """The embedded broker."""
        assert self._broker is not None
        return self._broker

    @property
    def urls(self) -> list[str]:
        return self.broker.urls if self.cluster is None else self.cluster.urls

    @property
    def authority(self) -> MemberPeer:
        return next(iter(self.peers.values()))

    def stores(self) -> list[Path]:
        """The folders in which the broker keeps everything."""
        if self.cluster is None:
            return [self.broker.files.directory]
        return [node.directory for node in self.cluster.nodes]

    async def create(self, name: str, slug: str = SLUG, *, start: bool = True) -> MemberPeer:
        """Create a mesh: its authority is a member of this name."""
        home = Home(str(self.folder / name))
        if self.cluster is None:
            home = Home(str(self.folder / "b"))  # the one with the broker
            await membership.create(home, slug, name)
        else:
            operator = str(self.cluster.nodes[0].directory.parent / "operator.json")
            await membership.create(home, slug, name, nats=self.urls, operator=operator, replicas=3)
        peer = MemberPeer(home, slug, name, self.urls)
        self.peers[name] = peer
        return await peer.start() if start else peer

    async def invite(self, **params: Any) -> str:
        """Return the token of a new invite."""
        made = await self.authority.call("mesh.invite", **params)
        return str(made["token"])

    async def join(self, name: str, token: str = "", *, start: bool = True) -> MemberPeer:
        """Join the mesh under this name."""
        home = Home(str(self.folder / name))
        joined = await membership.join(home, token or await self.invite(), name)
        peer = MemberPeer(home, joined.slug, name, self.urls)
        self.peers[name] = peer
        return await peer.start() if start else peer

    async def settled(self) -> None:
        """Wait until all peers that run here know each other with keys, and can read topics."""
        running = [peer for peer in self.peers.values() if peer._peer is not None]
        members = [one.member for one in running]

        def known() -> bool:
            return all(
                peer.peer.directory.epoch is not None
                and all(peer.peer.directory.is_member(one) for one in members)
                and all(peer.peer.directory.public_keys(one) is not None for one in members)
                for peer in running
            )

        await until(known, "all peers know each other")

    async def aclose(self) -> None:
        for peer in reversed(self.peers.values()):
            peer.terminate()
            await peer.stop()


@contextlib.asynccontextmanager
async def a_mesh(*names: str, cluster: NatsCluster | None = None) -> AsyncIterator[MeshOfPeers]:
    """Yield a mesh of peers that run in this process and know each other; the first one is the authority."""
    folder = Path(tempfile.mkdtemp(prefix="cv-"))  # short: a socket's path must be
    broker = None
    mesh = None
    try:
        if cluster is None:
            (folder / "b").mkdir(mode=0o700)
            broker = Broker(folder / "b")
            await broker.start()
        mesh = MeshOfPeers(folder, broker, cluster)
        if names:
            await mesh.create(names[0])
            for name in names[1:]:
                await mesh.join(name)
            await mesh.settled()
        yield mesh
    finally:
        if mesh is not None:
            await mesh.aclose()
        if broker is not None:
            await broker.aclose()
        shutil.rmtree(folder, ignore_errors=True)


async def until(condition: Callable[[], Any], what: str = "the condition", limit_s: float = LIMIT_S) -> None:
    """Wait until something is so; fail if it is not in time. The condition may be a coroutine function."""
    deadline = time.monotonic() + limit_s
    while True:
        found = condition()
        if inspect.isawaitable(found):
            found = await found
        if found:
            return
        assert time.monotonic() < deadline, f"not within {limit_s:g} s: {what}"
        await asyncio.sleep(0.01)


async def refusal(awaitable: Any) -> AgentError:
    """Return the error with which something is refused."""
    try:
        result = await awaitable
    except AgentError as error:
        return error
    raise AssertionError(f"it was not refused: {result!r}")


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else str(value)
