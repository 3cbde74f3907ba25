"""kill -9 at random moments, hundreds of times: what was acknowledged is there, and nothing is half there."""

from __future__ import annotations

import asyncio
import os
import random
import select
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Self

import pytest

from covey.kernel.store.store import Fsync, Store
from tests.covey.kernel.store_victim import SCHEMA

KILLS = 120
RANGE = 1_000_000  # numbers per life
LIMIT_S = 120


class Victim:
    """The process that forks writers and sees them die."""

    def __init__(self) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        program = Path(__file__).with_name("store_victim.py")
        self._process = subprocess.Popen(
            [sys.executable, str(program)], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        self._rest = b""

    def live(self, path: Path, fsync: Fsync, first: int, stage: int, seconds: float) -> list[int]:
        """Kill a writer some time after a stage, and return the writes that were acknowledged.

        A stage is its birth (-1), its open store (0), or a number of writes (n).
        """
        _pipe(self._process.stdin).write(f"{path} {fsync} {first}\n".encode())
        pid, reached, killed = 0, -2, False
        acknowledged: list[int] = []
        deadline = time.monotonic() + LIMIT_S
        while True:
            for line in self._lines(max(0.0, deadline - time.monotonic())):
                before = reached
                match line.split():
                    case [b"pid", number]:
                        pid = int(number)
                        reached = max(reached, -1)
                    case [b"open"]:
                        reached = 0
                    case [b"end"]:
                        assert killed, "it died before it was killed"
                        return acknowledged
                    case [number]:
                        acknowledged.append(int(number))
                        reached = len(acknowledged)
                if before < stage <= reached and not killed:
                    deadline = time.monotonic() + seconds
            if time.monotonic() >= deadline:
                assert pid, "it was never born"
                assert not killed, "it cannot be killed"
                assert reached >= stage, "it does not get anywhere"
                os.kill(pid, signal.SIGKILL)
                killed, deadline = True, time.monotonic() + LIMIT_S

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        _pipe(self._process.stdin).close()
        _pipe(self._process.stdout).close()  # a writer that is still alive dies of it
        assert self._process.wait(LIMIT_S) == 0

    def _lines(self, seconds: float) -> list[bytes]:
        stdout = _pipe(self._process.stdout)
        if not select.select([stdout], [], [], min(seconds, LIMIT_S))[0]:
            return []
        *lines, self._rest = (self._rest + os.read(stdout.fileno(), 65536)).split(b"\n")
        return lines


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


def verify(path: Path, acknowledged: set[int], *, thoroughly: bool) -> None:
    async def main() -> None:
        async with asyncio.timeout(LIMIT_S), await Store.open(path, SCHEMA) as store:
            assert store.recovered_from is None
            if thoroughly:
                assert await store.check() == []
            await store.read(agree)

    def agree(connection: sqlite3.Connection) -> None:
        def one(query: str) -> list[int]:
            return [row[0] for row in connection.execute(query)]

        kept = set(one("SELECT n FROM credit"))
        assert acknowledged <= kept, "acknowledged and lost"
        assert kept == set(one("SELECT n FROM debit")), "half written"
        assert not one(
            "SELECT n FROM credit JOIN debit USING (n) "
            "WHERE length(credit.word) != n % 3000 OR length(debit.word) != n % 3000"
        )
        subjects = one("SELECT CAST(subject AS INTEGER) FROM event ORDER BY cursor")
        assert sorted(subjects) == sorted(n for n in kept if n % 2), (
            "an event without what belongs to it, or the other way round"
        )
        assert one("SELECT cursor FROM event ORDER BY cursor") == list(range(1, len(subjects) + 1))

    asyncio.run(main())


@pytest.mark.parametrize("fsync", ["strict", "batched_50ms"])
def test_nothing_acknowledged_is_lost_and_nothing_half_written_seen_after_kill_9(tmp_path: Path, fsync: Fsync) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    print("seed", seed)
    moments = random.Random(seed)
    acknowledged: set[int] = set()
    with Victim() as victim:
        for kill in range(KILLS):
            path = tmp_path / f"{kill // 30}.db"  # also the first moments of a file are worth dying in
            stage = (-1, 0, moments.randint(1, 20), moments.randint(20, 100))[kill % 4]
            acknowledged.update(victim.live(path, fsync, kill * RANGE, stage, moments.uniform(0, 0.01)))
            last = kill % 30 == 29
            if last or moments.random() < 0.4:  # else it is the next writer that recovers what this one left
                verify(path, acknowledged, thoroughly=last)
            if last:
                acknowledged.clear()
