"""A mesh to break: a broker and some peers, each with a home of its own, in a folder that is removed afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.contract.mesh_events import MESSAGE_RECEIVED
from covey.mesh import membership
from covey.mesh.crypto.identity import KeyPair
from covey.mesh.crypto.nkeys import decode_mesh_id
from covey.mesh.directory.directory import Directory
from covey.mesh.membership_file import Membership, keys_path
from lab.mesh.local_api import RefusedCall
from lab.mesh.processes import BrokerVictim, PeerVictim
from lab.mesh.verdict import Line, judge, judge_events

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from covey.mesh.broker.server_config import BrokerSettings
    from covey.mesh.crypto.topic_keys import EpochSecret
    from lab.mesh.traffic import Traffic
    from lab.mesh.verdict import Verdict

SLUG = "lab"
TOPIC = "news"
CONFIG = "[reconnect]\ninitial_backoff_ms = 50\nmax_backoff_ms = 500\n\n[outbox]\nmax_queue_size = 200000\n"
"""Pauses are short: a loop of kills would mostly wait with the default of up to 30 s."""
SETTLE_S = 180.0


class MeshStage:
    """A broker, peers by their names, and what is needed to judge them. The first peer is the authority."""

    def __init__(self, folder: Path, broker: BrokerVictim | None) -> None:
        self.folder = folder
        self.broker = broker
        self.peers: dict[str, PeerVictim] = {}
        self.readers: set[str] = set()
        """The peers that read the topic."""
        self.traffic: list[Traffic] = []

    @property
    def authority(self) -> PeerVictim:
        return next(iter(self.peers.values()))

    async def found(
        self, name: str, *, nats: Sequence[str] = (), operator: str = "", replicas: int = 1, config: str = CONFIG
    ) -> PeerVictim:
        """Create the mesh; its first peer is the authority."""
        home = self.folder / "h"
        peer = PeerVictim(home, SLUG, name, config)
        created = await membership.create(peer.home, SLUG, name, nats=nats, operator=operator, replicas=replicas)
        peer.member = created.member
        self.peers[name] = peer
        await peer.start()
        return peer

    async def invite(self, uses: int = 1) -> str:
        """Return an invite."""
        made = await self.authority.api.decide("POST", "/v1/invite", {"uses": uses, "expires": "24h"})
        token: str = made["token"]
        return token

    async def join(self, name: str, *, config: str = CONFIG, start: bool = True) -> PeerVictim:
        """Let one more member join, with a home of its own."""
        peer = PeerVictim(self.folder / name, SLUG, name, config)
        peer.member = (await membership.join(peer.home, await self.invite(), name)).member
        self.peers[name] = peer
        if start:
            await peer.start()
        return peer

    async def acquainted(self) -> None:
        """Wait until each peer knows all members, and has the keys of topics."""
        async with asyncio.timeout(SETTLE_S):
            for peer in self.peers.values():
                while True:
                    status = await peer.status()
                    if status["members"] == len(self.peers) and status["epoch"]:
                        break
                    await asyncio.sleep(0.05)

    async def subscribe(self, *names: str) -> None:
        """Let these peers read the topic."""
        for name in names:
            await self.peers[name].api.call("POST", "/v1/topic/subscribe", {"topic": TOPIC})
            self.readers.add(name)

    async def settle(self, traffic: Traffic, limit_s: float = SETTLE_S) -> None:
        """Wait until everything that was accepted is in the inboxes, or nothing changes any more."""
        wanted = traffic.expected()
        deadline = asyncio.get_running_loop().time() + limit_s
        while asyncio.get_running_loop().time() < deadline:
            held = await asyncio.to_thread(self.received)
            missing = sum(len(set(sent.accepted) - set(held.get(line, ()))) for line, sent in wanted.items())
            if missing == 0:
                break
            await asyncio.sleep(0.5)
        await asyncio.sleep(1.0)  # what would come a second time has the time to come

    def received(self) -> dict[Line, list[str]]:
        """Return what the inboxes hold, in the order of delivery."""
        names = {peer.member: name for name, peer in self.peers.items()}
        found: dict[Line, list[str]] = defaultdict(list)
        for name, peer in self.peers.items():
            query = "SELECT sender, topic, text FROM inbox_message ORDER BY position"
            for sender, topic, text in _rows(peer.folder / "inbox.db", query):
                found[Line(names.get(sender, sender), name, topic)].append(text)
        return found

    async def judge(self, traffic: Traffic, *, events: bool = True) -> Verdict:
        """Return what became of the messages. `events` counts also the events of messages."""
        verdict = judge(traffic.expected(), await asyncio.to_thread(self.received))
        for name, peer in self.peers.items() if events else ():
            await self._announced(peer)
            messages = [row[0] for row in _rows(peer.folder / "inbox.db", "SELECT id FROM inbox_message")]
            query = f"SELECT subject FROM event WHERE kind = '{MESSAGE_RECEIVED}'"  # noqa: S608 - a constant
            judge_events(verdict, name, messages, [row[0] for row in _rows(Path(peer.seat.database), query)])
        if verdict.broken:
            verdict.broken += [await self._condition(peer) for peer in self.peers.values()]
        return verdict

    async def _condition(self, peer: PeerVictim) -> str:
        """Return how a peer is, for whoever looks for the reason of what was broken."""
        peer.api.close()
        try:
            status = await peer.status()
        except (OSError, RefusedCall, TimeoutError) as error:
            return f"{peer.name} does not answer: {error}; {peer.last_words()}"
        shown = {name: status[name] for name in ("connected", "reason", "reconnects", "outbox", "inbox", "problems")}
        return f"{peer.name} is {shown}; {peer.last_words()}"

    async def _announced(self, peer: PeerVictim) -> None:
        """Wait until the last message of an inbox has its event."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(30):
                while True:
                    newest = _rows(peer.folder / "inbox.db", "SELECT coalesce(max(position), 0) FROM inbox_message")
                    told = _rows(Path(peer.seat.database), "SELECT value FROM mesh_fact WHERE name = 'announced'")
                    if not newest[0][0] or (told and int(told[0][0]) >= newest[0][0]):
                        return
                    await asyncio.sleep(0.1)

    def epoch(self, name: str) -> EpochSecret:
        """Return the newest topic keys that a peer has stored."""
        membership_, keys = self.credentials(name)
        directory = Directory(membership_.mesh, decode_mesh_id(membership_.mesh), keys)
        directory.load(_rows(Path(self.peers[name].seat.database), "SELECT subject, wire FROM mesh_record"))
        assert directory.epoch is not None
        return directory.epoch

    def rows(self, name: str, database: str, query: str) -> list[tuple[Any, ...]]:
        """Return rows of a database of a peer."""
        return _rows(self.peers[name].folder / database, query)

    def credentials(self, name: str) -> tuple[Membership, KeyPair]:
        """Return what a member has to connect with."""
        seat = self.peers[name].seat
        return Membership.load(seat), KeyPair.load(keys_path(seat))

    async def aclose(self) -> None:
        """End all processes."""
        for one in self.traffic:
            one.close()
        for peer in self.peers.values():
            peer.api.close()
            await peer.end()
        if self.broker is not None:
            await self.broker.end()


@contextlib.asynccontextmanager
async def open_stage(
    *, settings: BrokerSettings | None = None, embedded: bool = True, config: str = CONFIG, members: Sequence[str] = ()
) -> AsyncIterator[MeshStage]:
    """Yield a mesh whose broker runs, with the authority `a` and these other members, all acquainted."""
    with tempfile.TemporaryDirectory(prefix="cvm-", ignore_cleanup_errors=True) as folder:
        broker = BrokerVictim(Path(folder) / "h", settings) if embedded else None
        stage = MeshStage(Path(folder), broker)
        try:
            if broker is not None:
                await broker.start()
                await stage.found("a", config=config)
                for name in members:
                    await stage.join(name, config=config)
                await stage.acquainted()
            yield stage
        finally:
            await stage.aclose()


def _rows(database: Path, query: str) -> list[tuple[Any, ...]]:
    """Return rows of a database that another process has open; none if there is no such file or table."""
    if not database.exists():
        return []
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=10.0)
    try:
        return connection.execute(query).fetchall()
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            return []
        raise
    finally:
        connection.close()
