"""A cluster of three real NATS servers with one operator, for tests and the lab."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec

from covey.mesh.broker.accounts import SystemLink
from covey.mesh.broker.operator_file import OperatorFile
from covey.mesh.broker.program import nats_server
from covey.mesh.broker.server_config import BrokerIdentity, BrokerSettings, Cluster, Listener, server_config
from covey.mesh.link.session import Address

SERVERS = 3


class ClusterNode:
    """One server of a cluster. `kill` and `start` may be repeated; it keeps its ports and its files."""

    def __init__(self, directory: Path, name: str, settings: BrokerSettings, keys: OperatorFile) -> None:
        self.name = name
        self.url = f"nats://{settings.listener.address}"
        self.directory = directory
        self.process: subprocess.Popen[bytes] | None = None
        identity = BrokerIdentity(
            server_name=name,
            directory=str(directory),
            operator_jwt=keys.operator_jwt(),
            system_account=keys.system_account.public,
            system_account_jwt=keys.system_account_jwt(),
        )
        (directory / "run").mkdir(parents=True)
        self.config = directory / "nats.conf"
        self.config.write_text(server_config(identity, settings))

    def start(self) -> None:
        self.process = subprocess.Popen(
            [nats_server(), "--config", self.config], env={}, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def kill(self) -> None:
        """End the server as a crash does."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()


class NatsCluster:
    """Three servers that know each other, and the keys of their operator."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.keys = OperatorFile.create(directory)
        clients, routes = _free_ports(SERVERS), _free_ports(SERVERS)
        self.nodes = [
            ClusterNode(
                directory / f"n{number}",
                f"n{number}",
                BrokerSettings(
                    listener=Listener(port=clients[number]),
                    cluster=Cluster(
                        name="covey-test",
                        listener=Listener(port=routes[number]),
                        routes=tuple(f"nats://127.0.0.1:{port}" for port in routes),
                    ),
                ),
                self.keys,
            )
            for number in range(SERVERS)
        ]
        self.urls = [node.url for node in self.nodes]
        self.tls = None
        self.system = SystemLink(lambda: Address(self.urls), self.keys, servers=SERVERS)

    async def start(self, deadline: float = 60.0) -> None:
        """Start all servers, and wait until they have a leader for their streams."""
        for node in self.nodes:
            node.start()
        async with asyncio.timeout(deadline):
            while not await self._has_leader():  # noqa: ASYNC110 - it happens in other processes
                await asyncio.sleep(0.1)

    async def _has_leader(self) -> bool:
        """Return whether all servers answer, and each names a leader."""
        try:
            session = await self.system._open()
            query = b'{"raft":false}'
            replies = await self.system._ask(session, "$SYS.REQ.SERVER.PING.JSZ", query, SERVERS, 2.0)
        except Exception:  # noqa: BLE001 - servers are starting: everything may fail
            return False
        found = [msgspec.json.decode(reply).get("data", {}).get("meta_cluster", {}) for reply in replies]
        return all(one.get("leader") and one.get("cluster_size", 0) >= SERVERS for one in found)

    async def aclose(self) -> None:
        await self.system.aclose()
        for node in self.nodes:
            node.stop()


@contextlib.asynccontextmanager
async def open_cluster(directory: Path) -> AsyncIterator[NatsCluster]:
    """Yield a cluster that runs; it is ended afterwards."""
    cluster = NatsCluster(directory)
    try:
        await cluster.start()
        yield cluster
    finally:
        await cluster.aclose()


def _free_ports(count: int) -> list[int]:
    """Return ports that are free now. Another program may take one before a server does; then the start fails."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()
