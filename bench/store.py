"""How many durable writes does the store acknowledge, against a simple loop of single fsynced SQLite inserts?

Every write is one row of 100 bytes in its own unit of work, acknowledged only after an fsynced commit. Producers write
one after the other and wait for each acknowledgement. Rounds are interleaved, so that a noisy machine disturbs all
columns alike; figures are medians of the rounds' own ratios to the simple loop of the same round. The files lie beside
this repository: in a memory file system an fsync costs nothing.

    ./run python bench/store.py [rounds]
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from covey.kernel.store.migrations import Migration
from covey.kernel.store.store import Store

if TYPE_CHECKING:
    from covey.kernel.store.store import Fsync

ROOT = Path(__file__).resolve().parent.parent
TABLE = "CREATE TABLE item (n INTEGER PRIMARY KEY, word TEXT NOT NULL) STRICT"
INSERT = "INSERT INTO item (word) VALUES (?)"
WORD = "x" * 100
POLICIES: tuple[Fsync, ...] = ("strict", "batched_50ms")
PRODUCERS = (1, 16, 64, 256)
LIMIT = 5.0  # at the most producers


def plain(connection: sqlite3.Connection, writes: int) -> float:
    """Writes per second, one fsynced commit each."""
    started = time.perf_counter()
    for _ in range(writes):
        connection.execute(INSERT, (WORD,))
    return writes / (time.perf_counter() - started)


async def through(store: Store, producers: int, each: int) -> float:
    """Return the acknowledged writes per second of that many producers."""

    def work(connection: sqlite3.Connection) -> None:
        connection.execute(INSERT, (WORD,))

    async def produce() -> None:
        for _ in range(each):
            await store.write(work)

    started = time.perf_counter()
    await asyncio.gather(*(produce() for _ in range(producers)))
    return producers * each / (time.perf_counter() - started)


async def measure(folder: Path, rounds: int) -> tuple[list[float], dict[tuple[Fsync, int], list[float]]]:
    """Return the rates of the simple loop, and those of the store by policy and producers, round by round."""
    loops: list[float] = []
    rates: dict[tuple[Fsync, int], list[float]] = {
        (policy, producers): [] for producers in PRODUCERS for policy in POLICIES
    }
    async with contextlib.AsyncExitStack() as stack:
        connection = stack.enter_context(contextlib.closing(sqlite3.connect(folder / "plain.db", isolation_level=None)))
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(TABLE)
        stores = {
            policy: await stack.enter_async_context(
                await Store.open(folder / f"{policy}.db", [Migration("item", TABLE)], fsync=policy)
            )
            for policy in POLICIES
        }
        for round_ in range(-1, rounds):
            loop = plain(connection, 300)
            taken = {
                (policy, producers): await through(stores[policy], producers, _each(policy, producers))
                for policy, producers in rates
            }
            if round_ >= 0:  # the first round warms the files and the page cache
                loops.append(loop)
                for key, rate in taken.items():
                    rates[key].append(rate)
    return loops, rates


def _each(policy: Fsync, producers: int) -> int:
    """Return the writes of each producer: a measurement takes a good part of a second, or less where that is enough."""
    if policy == "batched_50ms" and producers < 128:  # each waits for the 50 ms to pass
        return 5
    return max(20, 300 // producers)


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    with tempfile.TemporaryDirectory(dir=ROOT, prefix=".bench-") as folder:
        loops, rates = asyncio.run(measure(Path(folder), rounds))
    print(
        f"durable writes, median of {rounds} rounds; "
        f"1.00 = a plain loop of single fsynced inserts = {statistics.median(loops):,.0f}/s\n"
    )
    print(f"{'producers':>10}" + "".join(f"{policy:>15}" for policy in POLICIES) + f"{'limit':>8}")
    held = True
    for producers in PRODUCERS:
        ratios = [
            statistics.median(rate / loop for rate, loop in zip(rates[policy, producers], loops, strict=True))
            for policy in POLICIES
        ]
        limited = producers == max(PRODUCERS)
        held = held and (not limited or min(ratios) >= LIMIT)
        verdict = "  below the limit" if limited and min(ratios) < LIMIT else ""
        print(
            f"{producers:>10}"
            + "".join(f"{ratio:15.2f}" for ratio in ratios)
            + (f"{LIMIT:8.2f}" if limited else "")
            + verdict
        )
    print(
        "\nbatched_50ms: fewer than 128 writes wait up to 50 ms for company, so that a quiet daemon seldom wakes the "
        "disk; its rate below that is the policy"
    )
    return 0 if held else 1


if __name__ == "__main__":
    raise SystemExit(main())
