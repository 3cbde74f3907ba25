"""What does it cost to claim a task, and to read one?

A real broker (sync_interval always) and a real peer in a process of its own; the client is this process. Both sides
of a ratio are measured in turn in one run, so that a noisy machine disturbs both alike.

    read        GET /v1/task/show, against GET /v1/health: what any call costs
    claim       POST /v1/task/claim until the broker has stored it, against a bare publish with the same condition over
                a connection of our own
    take        POST /v1/task/take: the best of all open tasks is found first, against the same publish
    lease       POST /v1/lease/acquire, against the same publish

The read of a document within the peer, against bare SQLite, is in bench/mesh_services.py.

    ./run python bench/mesh_tasks.py [--tasks 1000]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.mesh_services import Row, compared, timed
from covey.mesh.crypto.identity import KeyPair
from covey.mesh.link.session import Session
from covey.mesh.membership_file import Membership, keys_path
from lab.mesh.stage import open_stage
from lab.show import table

ROUNDS = 100


async def measure(tasks: int) -> list[Row]:
    """Measure with so many open tasks."""
    async with open_stage() as stage:
        peer = stage.authority
        api = peer.api
        made = [(await api.call("POST", "/v1/task/create", {"title": f"task {one}"}))["id"] for one in range(tasks)]
        membership, keys = Membership.load(peer.seat), KeyPair.load(keys_path(peer.seat))
        session = await Session.connect(membership.address, membership.credentials(keys))
        sequence = 0
        found: dict[str, list[float]] = {name: [] for name in ("read", "health", "claim", "take", "lease", "bare")}
        for number in range(ROUNDS):
            id_ = made[-1 - number]
            found["read"].append(await timed(api.call("GET", f"/v1/task/show?id={id_}")))
            found["health"].append(await timed(api.call("GET", "/v1/health")))
            found["claim"].append(await timed(api.call("POST", "/v1/task/claim", {"id": id_})))
            found["take"].append(await timed(api.call("POST", "/v1/task/take", {})))
            found["lease"].append(await timed(api.call("POST", "/v1/lease/acquire", {"name": f"lease/{number}"})))

            async def publish() -> None:
                nonlocal sequence
                wire = b"x" * 700
                sequence = (await session.publish(f"s.bench.{'a' * 24}", wire, after=sequence, deadline_s=10)).seq

            found["bare"].append(await timed(publish()))
        await session.aclose()
        return [
            compared("read of a task over UDS", found["read"], found["health"], "GET /v1/health"),
            compared("claim", found["claim"], found["bare"], "bare publish"),
            compared(f"take, of {tasks} open", found["take"], found["bare"], "bare publish"),
            compared("lease", found["lease"], found["bare"], "bare publish"),
        ]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tasks", type=int, default=1000)
    rows = asyncio.run(measure(parser.parse_args().tasks))
    print(table(["", "Covey", "beside it", "ratio"], [list(row[:4]) for row in rows]))
    print("load average " + " ".join(f"{one:.1f}" for one in os.getloadavg()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
