"""A cluster of three brokers that loses the leader of its streams under traffic."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from typing import TYPE_CHECKING, Any

from covey.mesh.link.errors import LinkError
from covey.mesh.link.session import Session
from lab.mesh.outcome import Outcome
from lab.mesh.partitions import two_way
from lab.mesh.stage import open_stage
from tests.covey.mesh.nats_cluster import SERVERS, open_cluster

if TYPE_CHECKING:
    from lab.mesh.outcome import Progress
    from lab.mesh.stage import MeshStage

KILLS = 6
DOWN_S = 6.0


async def cluster(seed: int, progress: Progress) -> Outcome:
    """Kill the leader of the stream of direct messages, or of topics, again and again."""
    chance = random.Random(seed)  # noqa: S311 - moments, no secrets
    outcome = Outcome(f"a cluster of three, {KILLS} kills of a stream's leader, seed {seed}")
    async with open_stage(embedded=False) as stage, open_cluster(stage.folder / "cluster") as servers:
        operator = stage.folder / "cluster" / "operator.json"
        await stage.found("a", nats=servers.urls, operator=str(operator), replicas=SERVERS)
        await stage.join("b")
        await stage.acquainted()
        await stage.subscribe("a", "b")
        traffic = two_way(stage, chance)
        nodes = {node.name: node for node in servers.nodes}
        killed: dict[str, int] = {}
        began = time.monotonic()
        async with traffic.flowing():
            for number in range(1, KILLS + 1):
                await asyncio.sleep(chance.uniform(2.0, 5.0))
                leader = await _leader(stage, chance.choice(["DM", "TOPICS"]))
                nodes[leader].kill()
                killed[leader] = killed.get(leader, 0) + 1
                await asyncio.sleep(chance.uniform(0.5, DOWN_S))
                nodes[leader].start()
                await _healthy(stage)
                progress(f"killed {leader}, {traffic.accepted} messages", number, KILLS)
        seconds = time.monotonic() - began
        await stage.settle(traffic)
        outcome.figures = {
            "kills by server": " ".join(f"{name}:{count}" for name, count in sorted(killed.items())),
            "messages accepted per second": traffic.accepted / seconds,
            "longest time without a direct message at b, s": _longest_gap(stage, "b"),
        }
        outcome.add(await stage.judge(traffic))
    return outcome


async def _leader(stage: MeshStage, stream: str) -> str:
    found = await _info(stage, stream)
    leader: str = found["cluster"]["leader"]
    return leader


async def _healthy(stage: MeshStage) -> None:
    """Wait until the streams have a leader and all copies are current."""
    for stream in ("DM", "TOPICS"):
        while True:
            copies = (await _info(stage, stream)).get("cluster", {})
            replicas = copies.get("replicas", [])
            if copies.get("leader") and len(replicas) == SERVERS - 1 and all(one.get("current") for one in replicas):
                break
            await asyncio.sleep(0.2)


async def _info(stage: MeshStage, stream: str) -> dict[str, Any]:
    membership, keys = stage.credentials("a")
    async with asyncio.timeout(120):
        while True:
            try:
                session = await Session.connect(membership.address, membership.credentials(keys), name="lab")
                try:
                    found: dict[str, Any] = await session.api(f"STREAM.INFO.{stream}")
                finally:
                    await session.aclose()
                if found.get("cluster", {}).get("leader"):
                    return found
            except LinkError:
                pass
            await asyncio.sleep(0.2)


def _longest_gap(stage: MeshStage, name: str) -> float:
    query = "SELECT received_at FROM inbox_message WHERE scope = '' ORDER BY received_at"
    times = [row[0] for row in stage.rows(name, "inbox.db", query)]
    return max((after - before for before, after in itertools.pairwise(times)), default=0.0)
