"""What do 100,000 memories and as many texts of a collection cost: for a new peer, at each recall, and in memory?

A real broker and real peers, each a process of its own. Both sides of a ratio are measured in turn in one run, within
this process, over the replica of the peer that came late. The vectors are random, with the dimensions of the static
embedder; texts are eight words out of 20,000.

    recall      words and meaning joined, with the documents that were found, against the same FTS5 query on bare SQLite
                plus the product with a bare numpy matrix and its best 50; the vector of the query is made before
    search      a collection by meaning, with the documents, against that product alone
    catch up    a peer that joins and reads all: verified, opened, checked, stored and indexed
    memory      of a peer with none, with all, and after a search of each by meaning

With `--local` only the searches are measured, over a replica that is filled directly: there is no broker.

    ./run python bench/mesh_memory.py [--texts 100000] [--local]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sqlite3
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent.parent))

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as a peer has it

import numpy as np

from bench.mesh_services import Row, caught_up, compared, publish_documents, tell
from covey.mesh.services.document import Document
from covey.mesh.services.embedding.embedder import STATIC, TIERS
from covey.mesh.services.embedding.embedding import Embedded
from covey.mesh.services.embedding.stored_vector import stored_vector
from covey.mesh.services.embedding.text_search import CANDIDATES, TextSearch
from covey.mesh.services.memory.memory import INDEX as MEMORY
from covey.mesh.services.memory.memory import Memory
from covey.mesh.services.replica import Replica, Version, document_of
from covey.mesh.services.vector.vector import INDEX as VECTOR
from covey.mesh.services.vector.vector import Vector
from lab.mesh.stage import open_stage
from lab.show import table

if TYPE_CHECKING:
    from covey.mesh.services.embedding.text_index import TextIndex

WANTED = 1.5
ROUNDS, LIMIT = 60, 10
COLLECTION = "bench"
TIER = TIERS[STATIC]
WORDS = [f"w{number:05}" for number in range(20_000)]
DOCUMENTS = (
    "SELECT service, key, value, revision, author, at, private FROM document "
    "WHERE service = ? AND private = 0 AND key IN "
)


def a_memory(number: int) -> tuple[str, str, dict[str, Any]]:
    """Return service, key and value of the memory of that number."""
    return "memory", f"{number:023x}", {"content": a_text(number), "tags": ["bench"], "vector": a_vector(number)}


def a_stored_text(number: int) -> tuple[str, str, dict[str, Any]]:
    """Return service, key and value of the text of that number."""
    value = {"collection": COLLECTION, "text": a_text(number), "metadata": {"n": number}, "vector": a_vector(number)}
    return "vector", f"{number:023x}/{COLLECTION}", value


def a_text(number: int) -> str:
    return " ".join(random.Random(number).choices(WORDS, k=8))


def a_vector(number: int) -> dict[str, Any]:
    stored = stored_vector(TIER.model, a_direction(number).astype("<f2").tobytes())
    return {"model": stored.model, "dimensions": stored.dimensions, "f16": stored.f16}


def a_direction(number: int) -> Any:
    numbers = np.random.default_rng(number).standard_normal(TIER.dimensions, np.float32)
    return numbers / np.linalg.norm(numbers)


def compare(database: Path, index: TextIndex, name: str, area: str, *, words: bool) -> Row:
    """Compare a search with bare SQLite and numpy over the same file."""
    uri = f"{database.as_uri()}?mode=ro"
    ours, bare = sqlite3.connect(uri, uri=True), sqlite3.connect(uri, uri=True)
    search = TextSearch(index)
    tier = TIER._replace(floor=-1.0)
    blobs = [blob for (blob,) in bare.execute(f"SELECT vector FROM {name}_entry WHERE present ORDER BY number")]
    matrix = np.frombuffer(b"".join(blobs), "<f2").astype(np.float32).reshape(len(blobs), -1)
    search.find(ours, area, "w1", Embedded(tier, a_direction(1), ""), chosen=[], limit=LIMIT, words=words)

    def with_covey(query: str, asked: Any) -> None:
        hits = search.find(ours, area, query, Embedded(tier, asked, ""), chosen=[], limit=LIMIT, words=words)
        keys = [hit.key for hit in hits.items]
        found = ours.execute(f"{DOCUMENTS} ({', '.join('?' * len(keys))})", (name, *keys))
        assert len([document_of(row) for row in found]) == LIMIT

    def with_bare(query: str, asked: Any) -> None:
        if words:
            match = " OR ".join(f'"{word}"' for word in query.split())
            rank = f"SELECT rowid FROM {name}_words WHERE {name}_words MATCH ? ORDER BY rank LIMIT {CANDIDATES}"
            bare.execute(rank, (match,)).fetchall()
        similarities = matrix @ asked
        best = np.argpartition(similarities, -CANDIDATES)[-CANDIDATES:]
        best[np.argsort(-similarities[best])]

    one: list[float] = []
    other: list[float] = []
    sides = [(with_covey, one), (with_bare, other)]
    for round_ in range(ROUNDS):
        asked, query = a_direction(10**9 + round_), " ".join(random.choices(WORDS, k=3))
        for side, times in sides if round_ % 2 else reversed(sides):  # whoever comes first finds colder caches
            began = time.perf_counter()
            side(query, asked)
            times.append(time.perf_counter() - began)
    ours.close()
    bare.close()
    beside = "bare FTS5 + numpy" if words else "bare numpy"
    return compared(f"{name}: a search", one, other, beside, wanted=WANTED)


async def measure_local(count: int) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "services.db"
        services = (Memory, Vector)
        migrations = [one for service in services for one in service.migrations]
        replica = await Replica.open(database, migrations, {one.name: one.project for one in services})
        revision = 0
        began = time.perf_counter()
        for make in (a_memory, a_stored_text):
            for first in range(0, count, 500):
                versions = []
                for number in range(first, min(first + 500, count)):
                    revision += 1
                    service, key, value = make(number)
                    document = Document(service, key, value, revision, "A" * 56, 1.0)
                    versions.append(Version(document, f"s.{service}.{number}", b"x" * 1000))
                await replica.apply(versions)
        tell(f"2 x {count} made, stored and indexed in {time.perf_counter() - began:.1f} s")
        await replica.aclose()
        return [
            compare(database, MEMORY, "memory", "", words=True),
            compare(database, VECTOR, "vector", COLLECTION, words=False),
        ]


async def measure(count: int) -> list[Row]:
    rows = []
    async with open_stage() as stage:
        none = (await stage.authority.api.call("GET", "/v1/status"))["rss_bytes"]
        for make in (a_memory, a_stored_text):
            tell(f"{count} published in {await publish_documents(stage, count, make):.1f} s")
        await caught_up(stage, stage.authority.name, 2 * count)
        tell("a new peer")
        late = await stage.join("late")
        waited = await caught_up(stage, "late", 2 * count)
        full = (await late.api.call("GET", "/v1/status"))["rss_bytes"]
        config = late.folder / "config.toml"
        config.write_text(f'services.embedder = "{TIER.name}"\n{config.read_text()}')
        await late.api.call("POST", "/v1/reload")
        answers = [
            await late.api.call("GET", "/v1/memory/recall?q=w00001"),
            await late.api.call("GET", f"/v1/vector/search?collection={COLLECTION}&q=w00001"),
        ]
        assert all(answer["left_out"] == 0 for answer in answers)
        searched = (await late.api.call("GET", "/v1/status"))["rss_bytes"]
        digests = {(await peer.api.call("GET", "/v1/services"))["digest"] for peer in stage.peers.values()}
        assert len(digests) == 1, "replicas differ"
        database = late.folder / "services.db"
        late.kill()
        rows.append(compare(database, MEMORY, "memory", "", words=True))
        rows.append(compare(database, VECTOR, "vector", COLLECTION, words=False))
        size = database.stat().st_size
    return [
        *rows,
        Row(f"a new peer reads 2 x {count}", f"{waited:.1f} s", f"{2 * count / waited:.0f}/s"),
        Row("memory of a peer", f"{full / 1e6:.0f} MB with them", f"{none / 1e6:.0f} MB with none"),
        Row("after a search of both", f"{searched / 1e6:.0f} MB", answers[0]["embedder"]["tier"]),
        Row("replica on the disk", f"{size / 1e6:.0f} MB", f"{size / count / 2:.0f} bytes each"),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--texts", type=int, default=100_000)
    parser.add_argument("--local", action="store_true")
    args = parser.parse_args()
    rows = asyncio.run((measure_local if args.local else measure)(args.texts))
    shown = [[*row[:5], {None: "", True: "ok", False: "BROKEN"}[row.holds]] for row in rows]
    print(table(["", "Covey", "beside it", "ratio", "wanted", ""], shown))
    print("load average " + " ".join(f"{one:.1f}" for one in os.getloadavg()))
    return 1 if any(row.holds is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
