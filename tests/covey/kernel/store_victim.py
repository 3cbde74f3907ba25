"""The process that `test_store_torture` kills.

It starts once and forks a writer for every line that it is given, since starting Python is the slow part.

Line in:   path, fsync policy, first number
Lines out: `pid <n>` of the writer, `open` when its store is, one number for each acknowledged write,
           `end` when the writer is dead
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from covey.contract.event_kind import EventKind
from covey.kernel.events.events import Events
from covey.kernel.store.migrations import Migration
from covey.kernel.store.store import Store

if TYPE_CHECKING:
    from covey.kernel.store.store import Fsync

PRODUCERS = 16
SCHEMA = (
    Migration("credit", "CREATE TABLE credit (n INTEGER PRIMARY KEY, word TEXT NOT NULL) STRICT"),
    *Events.MIGRATIONS,
    Migration("debit", "CREATE TABLE debit (n INTEGER PRIMARY KEY, word TEXT NOT NULL) STRICT"),
)


def put(n: int) -> Callable[[sqlite3.Connection], Any]:
    """One work, two tables: they must always agree."""

    def work(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO credit VALUES (?, ?)", (n, "x" * (n % 3000)))
        connection.execute("INSERT INTO debit VALUES (?, ?)", (n, "y" * (n % 3000)))

    return work


async def write_for_ever(path: Path, fsync: Fsync, first: int) -> None:
    store = await Store.open(path, SCHEMA, fsync=fsync)
    if store.recovered_from is not None:
        raise SystemExit("the store was found damaged")
    events = await Events.open(store, clock=lambda: 1.0)
    os.write(1, b"open\n")

    async def produce(n: int) -> None:
        while True:
            if n % 2:
                await events.append(EventKind("put", "A number was put."), subject=str(n), also=put(n))
            else:
                await store.write(put(n))
            os.write(1, b"%d\n" % n)
            n += PRODUCERS

    await asyncio.gather(*(produce(first + n) for n in range(PRODUCERS)))


def main() -> None:
    for line in sys.stdin:
        path, fsync, first = line.split()
        pid = os.fork()
        if pid == 0:
            asyncio.run(write_for_ever(Path(path), cast("Fsync", fsync), int(first)))
        os.write(1, b"pid %d\n" % pid)
        os.waitpid(pid, 0)
        os.write(1, b"end\n")


if __name__ == "__main__":
    main()
