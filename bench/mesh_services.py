"""What do shared documents cost: a local read, a write, and a new peer that reads 100,000 of them?

A real broker (sync_interval always) and real peers, each a process of its own; the client is this process. Both sides
of a ratio are measured in turn in one run, so that a noisy machine disturbs both alike.

    read        a value out of the replica within the peer's process, against the same SELECT and json.loads on bare
                SQLite
    over UDS    GET /v1/state/get, against GET /v1/health: what any call costs
    write       POST /v1/state/set until the broker has stored it and the replica has it, against a bare publish with
                the same condition over a connection of our own
    catch up    a peer that joins and reads all documents: verified, opened and stored
    at rest     memory of a peer with the documents, and of one with none

    ./run python bench/mesh_services.py [--documents 100000]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sqlite3
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

from covey.mesh.crypto.identity import KeyPair
from covey.mesh.crypto.nkeys import decode_mesh_id
from covey.mesh.directory.directory import Directory
from covey.mesh.link.session import Session
from covey.mesh.membership_file import Membership, keys_path
from covey.mesh.services.document import document_subject, seal_document, subject_token
from covey.mesh.services.replica import Replica
from lab.mesh.stage import MeshStage, open_stage
from lab.show import table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

READ_WANTED = 1.5
ROUNDS, READS = 30, 200
IN_FLIGHT = 256
LIMIT_S = 600.0


class Row(NamedTuple):
    """One line of the result. `holds` is None where nothing is wanted."""

    what: str
    ours: str
    other: str = ""
    ratio: str = ""
    wanted: str = ""
    holds: bool | None = None


def a_value(number: int) -> tuple[str, str, dict[str, Any]]:
    """Return service, key and value of the document of that number."""
    return "state", f"bench/{number:06}", {"value": "x" * 100}


async def publish_documents(
    stage: MeshStage, count: int, document_of: Callable[[int], tuple[str, str, dict[str, Any]]] = a_value
) -> float:
    """Publish so many documents as the authority, many at a time, and return how long that took."""
    peer = stage.authority
    membership, keys = Membership.load(peer.seat), KeyPair.load(keys_path(peer.seat))
    directory = Directory(membership.mesh, decode_mesh_id(membership.mesh), keys)
    records = await asyncio.to_thread(read_records, Path(peer.seat.database))
    directory.load(records)
    epoch = directory.epoch
    assert epoch is not None
    session = await Session.connect(membership.address, membership.credentials(keys))
    window = asyncio.Semaphore(IN_FLIGHT)
    now = int(time.time() * 1000)
    began = time.perf_counter()

    async def publish(number: int) -> None:
        service, key, value = document_of(number)
        token = subject_token(keys, epoch, service, key, private=False)
        id_, wire = seal_document(keys, epoch, membership.mesh, token, service, key, value, written=now, private=False)
        subject = document_subject(service, token, private=False)
        await (await session.start_publish(subject, wire, message_id=id_))
        window.release()

    async with asyncio.TaskGroup() as group:
        for number in range(count):
            await window.acquire()
            group.create_task(publish(number))
    took = time.perf_counter() - began
    await session.aclose()
    return took


def read_records(database: Path) -> list[tuple[str, bytes]]:
    """Return the signed records that a peer has stored."""
    with sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True) as connection:
        return connection.execute("SELECT subject, wire FROM mesh_record ORDER BY rowid").fetchall()


async def caught_up(stage: MeshStage, name: str, count: int) -> float:
    """Wait until a peer has so many documents, and return how long that took."""
    began = time.perf_counter()
    async with asyncio.timeout(LIMIT_S):
        while True:
            told = await stage.peers[name].api.call("GET", "/v1/services")
            if told["documents"] >= count:
                return time.perf_counter() - began
            await asyncio.sleep(0.05)


async def reads(folder: Path, count: int) -> Row:
    """Compare reads of a replica with the same query on bare SQLite."""
    replica = await Replica.open(folder / "services.db", [], {})
    bare = sqlite3.connect(f"{(folder / 'services.db').as_uri()}?mode=ro", uri=True)
    query = "SELECT value, revision, author, at, written FROM document WHERE service = ? AND private = ? AND key = ?"
    ours, theirs = [], []
    for _ in range(ROUNDS):
        keys = [f"bench/{random.randrange(count):06}" for _ in range(READS)]
        began = time.perf_counter()
        for key in keys:
            assert replica.get("state", key) is not None
        middle = time.perf_counter()
        for key in keys:
            json.loads(bare.execute(query, ("state", 0, key)).fetchone()[0])
        theirs.append((time.perf_counter() - middle) / READS)
        ours.append((middle - began) / READS)
    bare.close()
    await replica.aclose()
    return compared("read of a value", ours, theirs, "bare SQLite", wanted=READ_WANTED)


async def calls(stage: MeshStage, count: int) -> list[Row]:
    """Compare calls over the socket, and a write with a bare conditional publish."""
    peer = stage.authority
    ours, theirs, writes, bare = [], [], [], []
    membership, keys = Membership.load(peer.seat), KeyPair.load(keys_path(peer.seat))
    session = await Session.connect(membership.address, membership.credentials(keys))
    token, sequence = "a" * 24, 0
    for number in range(ROUNDS * 5):
        key = f"bench/{random.randrange(count):06}"
        ours.append(await timed(peer.api.call("GET", f"/v1/state/get?key={key}")))
        theirs.append(await timed(peer.api.call("GET", "/v1/health")))
        writes.append(await timed(peer.api.call("POST", "/v1/state/set", {"key": "lone", "value": number})))
        began = time.perf_counter()
        stored = await session.publish(f"s.bench.{token}", b"x" * 500, after=sequence, deadline_s=10)
        bare.append(time.perf_counter() - began)
        sequence = stored.seq
    await session.aclose()
    return [
        compared("read over UDS", ours, theirs, "GET /v1/health"),
        compared("write of a value", writes, bare, "bare publish"),
    ]


async def timed(call: object) -> float:
    began = time.perf_counter()
    await call  # type: ignore[misc]
    return time.perf_counter() - began


def compared(
    what: str, ours: Sequence[float], theirs: Sequence[float], beside: str, *, wanted: float | None = None
) -> Row:
    one, other = statistics.median(ours), statistics.median(theirs)
    ratio = one / other
    return Row(
        what,
        f"{one * 1e6:.0f} µs p50",
        f"{beside} {other * 1e6:.0f} µs",
        f"{ratio:.2f}",
        f"<= {wanted}" if wanted else "",
        None if wanted is None else ratio <= wanted,
    )


async def measure(count: int) -> list[Row]:
    async with open_stage() as stage:
        none = (await stage.authority.api.call("GET", "/v1/status"))["rss_bytes"]
        took = await publish_documents(stage, count)
        tell(f"{count} documents published in {took:.1f} s")
        await caught_up(stage, stage.authority.name, count)
        rows = await calls(stage, count)
        tell("a new peer")
        late = await stage.join("late")
        waited = await caught_up(stage, "late", count)
        full = (await late.api.call("GET", "/v1/status"))["rss_bytes"]
        digests = {(await peer.api.call("GET", "/v1/services"))["digest"] for peer in stage.peers.values()}
        assert len(digests) == 1, "replicas differ"
        size = (late.folder / "services.db").stat().st_size
        folder = late.folder
        late.kill()
        rows.append(await reads(folder, count))
        return [
            *rows,
            Row(f"a new peer reads {count}", f"{waited:.1f} s", f"{count / waited:.0f}/s"),
            Row("memory of a peer", f"{full / 1e6:.0f} MB with them", f"{none / 1e6:.0f} MB with none"),
            Row("replica on the disk", f"{size / 1e6:.0f} MB", f"{size / count:.0f} bytes each"),
        ]


def tell(what: str) -> None:
    print(f"# {what}, load average {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--documents", type=int, default=100_000)
    rows = asyncio.run(measure(parser.parse_args().documents))
    shown = [[*row[:5], {None: "", True: "ok", False: "BROKEN"}[row.holds]] for row in rows]
    print(table(["", "Covey", "beside it", "ratio", "wanted", ""], shown))
    print("load average " + " ".join(f"{one:.1f}" for one in os.getloadavg()))
    return 1 if any(row.holds is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
