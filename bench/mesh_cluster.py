"""What does a cluster of three brokers carry, beside the embedded one?

Both have real peers, each a process, and sync each message before they acknowledge it. The cluster writes each message
three times (`--replicas 3`). Rounds alternate between the two, so that a noisy machine disturbs both alike; three
servers that share two cores and a disk carry less than on three machines.

    sent        messages of 256 bytes in a second, from the outbox of one peer until the broker has all of them on its
                disk, in batches of 1,000; the recipient is away
    delivered   a lone message of 1 KB, from the call until the recipient's receipt is back, median
    CPU         of all servers together, for one message that is sent
    memory      of each server, at the end

    ./run python bench/mesh_cluster.py [--rounds 6]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import statistics
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

import msgspec

from bench.mesh import HIGH_QUEUE, IN_BATCH, LARGE, SMALL, cpu_of, drained, repeat, resident, tell, timed
from lab.mesh.local_api import request
from lab.mesh.stage import open_stage
from lab.show import table
from tests.covey.mesh.nats_cluster import SERVERS, open_cluster

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from lab.mesh.stage import MeshStage

BATCHES, LONE = 3, 30


class Side(NamedTuple):
    """A mesh, the processes of its broker, and what was measured of it in each round."""

    stage: MeshStage
    pids: Sequence[int]
    sent: list[float]
    delivered: list[float]
    cpu: list[float]


@contextlib.asynccontextmanager
async def sides() -> AsyncIterator[tuple[Side, Side]]:
    """Run both meshes, each with the authority `a` and the member `b`."""
    async with (
        open_stage(config=HIGH_QUEUE) as single,
        open_stage(embedded=False) as clustered,
        open_cluster(clustered.folder / "cluster") as servers,
    ):
        assert single.broker is not None
        operator = str(clustered.folder / "cluster" / "operator.json")
        await clustered.found("a", nats=servers.urls, operator=operator, replicas=SERVERS, config=HIGH_QUEUE)
        pids = [node.process.pid for node in servers.nodes if node.process is not None]
        for stage in (single, clustered):
            await stage.join("b", config=HIGH_QUEUE)
            await stage.acquainted()
        yield Side(single, [single.broker.pid], [], [], []), Side(clustered, pids, [], [], [])


async def measure_round(side: Side) -> None:
    api, to = side.stage.authority.api, side.stage.peers["b"].member
    lone = request("POST", "/v1/send", msgspec.json.encode({"to": to, "message": LARGE, "wait": "inbox"}))
    side.delivered.extend([await timed(lambda: repeat(api, lone, 1)) for _ in range(LONE)])
    await side.stage.peers["b"].end()
    messages = msgspec.json.encode({"messages": [{"to": to, "message": SMALL}] * IN_BATCH})
    batch = request("POST", "/v1/send/batch", messages)

    async def send() -> None:
        await repeat(api, batch, BATCHES)
        await drained(side.stage)

    before = sum(cpu_of(pid) for pid in side.pids)
    side.sent.append(IN_BATCH * BATCHES / await timed(send))
    side.cpu.append((sum(cpu_of(pid) for pid in side.pids) - before) / (IN_BATCH * BATCHES))
    await side.stage.peers["b"].start()
    await side.stage.acquainted()
    await repeat(api, lone, 1)  # it has read what waited for it


async def measure(rounds: int) -> tuple[Side, Side]:
    async with sides() as (single, clustered):
        for turn in range(rounds + 1):
            tell(f"round {turn} of {rounds}")
            for side in (single, clustered):
                await measure_round(side)
            for side in (single, clustered) if turn == 0 else ():  # it warms up
                for values in (side.sent, side.delivered, side.cpu):
                    values.clear()
        memory = [[resident(pid) for pid in side.pids] for side in (single, clustered)]
        print(report(single, clustered, memory))
    return single, clustered


def report(single: Side, clustered: Side, memory: Sequence[Sequence[int]]) -> str:
    median = statistics.median
    rows = [
        [
            "sent, messages in a second",
            f"{median(clustered.sent):,.0f}",
            f"{median(single.sent):,.0f}",
            f"{median(clustered.sent) / median(single.sent):.2f}",
        ],
        [
            "delivered, p50",
            f"{median(clustered.delivered) * 1e3:.1f} ms",
            f"{median(single.delivered) * 1e3:.1f} ms",
            f"{median(clustered.delivered) / median(single.delivered):.2f}",
        ],
        [
            "CPU of the servers for a message",
            f"{median(clustered.cpu) * 1e3:.2f} ms",
            f"{median(single.cpu) * 1e3:.2f} ms",
            f"{median(clustered.cpu) / median(single.cpu):.2f}",
        ],
        ["memory of a server", f"{max(memory[1]) / 2**20:.0f} MB", f"{max(memory[0]) / 2**20:.0f} MB", ""],
    ]
    return str(table(["", "cluster of three", "embedded", "ratio"], rows))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=6)
    asyncio.run(measure(parser.parse_args().rounds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
