"""What does it cost to share and fetch a file, beside a plain copy and beside nats-py's object store?

A real broker (sync_interval always) and real peers, each a process of its own. Everything is done in turn in one run,
so that a noisy machine disturbs all alike; a figure is the best of some rounds.

    share, fetch      through the peers: hashed, sealed, stored; read, opened, verified, written and fsynced
    copy              a plain copy of the file, fsynced
    object store      put and get of nats-py (no seal, no resumption), over a connection of this process
    memory            the most that a peer has needed, against the same before

    ./run python bench/mesh_files.py [--megabytes 256] [--rounds 3]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from nats.js.api import ObjectMeta

from covey.mesh.crypto.identity import KeyPair
from covey.mesh.link.session import Session
from covey.mesh.membership_file import Membership, keys_path
from lab.mesh.stage import open_stage
from lab.show import table

if TYPE_CHECKING:
    from lab.mesh.processes import PeerVictim

MB = 1 << 20
WAIT_S = 20


async def carried(peer: PeerVictim, method: str, target: str, document: Any = None) -> dict[str, Any]:
    """Return a transfer when it is done."""
    found: dict[str, Any] = await peer.api.call(method, target, document)
    while found["state"] != "done":
        assert found["state"] != "failed", found
        told = await peer.api.call("GET", f"/v1/file/status?transfer={found['transfer']}&wait_s={WAIT_S}")
        (found,) = told["items"]
    return found


async def listed(peer: PeerVictim, id_: str) -> None:
    """Wait until a peer knows a file."""
    while True:
        told = await peer.api.call("GET", "/v1/file/list")
        if any(one["id"] == id_ for one in told["items"]):
            return
        await asyncio.sleep(0.01)


def memory_mb(peer: PeerVictim, what: str) -> int:
    """Return the memory of a peer from its status: VmRSS or VmHWM."""
    text = Path(f"/proc/{peer.pid}/status").read_text(encoding="utf-8")
    return int(text.partition(f"{what}:")[2].split()[0]) // 1024


def copy(source: Path, target: Path) -> None:
    """Copy a file, and return when it is on the disk."""
    with source.open("rb") as read, target.open("wb") as write:
        shutil.copyfileobj(read, write, 1 << 20)
        write.flush()
        os.fsync(write.fileno())


async def measure(megabytes: int, rounds: int) -> str:
    """Return the table."""
    best: dict[str, float] = {}

    def note(what: str, began: float) -> None:
        took = time.perf_counter() - began
        best[what] = min(best.get(what, took), took)

    async with open_stage(members=("bob",)) as stage:
        anna, bob = stage.authority, stage.peers["bob"]
        before = {peer.name: memory_mb(peer, "VmRSS") for peer in (anna, bob)}
        membership, keys = Membership.load(anna.seat), KeyPair.load(keys_path(anna.seat))
        session = await Session.connect(membership.address, membership.credentials(keys))
        store = await session.client.jetstream().create_object_store("bench")
        for number in range(rounds):
            path, got = stage.folder / f"in{number}", stage.folder / f"out{number}"
            path.write_bytes(os.urandom(megabytes * MB))
            began = time.perf_counter()
            shared = await carried(bob, "POST", "/v1/file/share", {"path": str(path)})
            note("share", began)
            await listed(anna, shared["id"])
            began = time.perf_counter()
            await carried(anna, "GET", f"/v1/file/get?id={shared['id']}&out={got}")
            note("fetch", began)
            await bob.api.call("POST", "/v1/file/delete", {"id": shared["id"]})
            got.unlink()
            began = time.perf_counter()
            copy(path, got)
            note("copy", began)
            began = time.perf_counter()
            with path.open("rb") as file:
                await store.put(f"o{number}", file, meta=ObjectMeta())
            note("put", began)
            began = time.perf_counter()
            with got.open("wb") as written:
                await store.get(f"o{number}", writeinto=written)
                written.flush()
                os.fsync(written.fileno())
            note("get", began)
            await store.delete(f"o{number}")
            path.unlink()
            got.unlink()
        most = {peer.name: memory_mb(peer, "VmHWM") for peer in (anna, bob)}
        await session.aclose()

    def speed(what: str) -> str:
        return f"{megabytes / best[what]:.0f} MB/s"

    rows = [
        [ours, speed(ours), speed(theirs), f"{best[theirs] / best[ours]:.2f}", speed("copy")]
        for ours, theirs in (("share", "put"), ("fetch", "get"))
    ]
    lines = [table(["", "covey", "object store", "times as fast", "plain copy"], rows), ""]
    lines += [
        f"memory of {name} ({what}): {before[name]} MB before, at most {most[name]} MB"
        for name, what in (("bob", "shares"), (anna.name, "fetches"))
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--megabytes", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    print(asyncio.run(measure(args.megabytes, args.rounds)))
    print("load average " + " ".join(f"{one:.1f}" for one in os.getloadavg()))


if __name__ == "__main__":
    main()
