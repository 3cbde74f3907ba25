"""kill -9 while messages are accepted: what was acknowledged is there, whole, numbered without holes, under its key."""

from __future__ import annotations

import asyncio
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import IO, Self

from covey.kernel.clock import SystemClock
from covey.mesh.outbox.outbox import Draft, Item, Outbox
from tests.covey.mesh.outbox.outbox_victim import BATCH, TARGETS

KILLS = 40
RANGE = 1_000_000  # numbers per life
LIMIT_S = 120


class Victim:
    """The process that forks writers and sees them die."""

    def __init__(self) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        program = Path(__file__).with_name("outbox_victim.py")
        self._process = subprocess.Popen(
            [sys.executable, str(program)], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        self._rest = b""

    def live(self, path: Path, first: int, stage: int, seconds: float) -> list[int]:
        """Kill a writer some time after it has accepted `stage` batches, and return those that it printed."""
        _pipe(self._process.stdin).write(f"{path} {first}\n".encode())
        pid, killed = 0, False
        accepted: list[int] = []
        deadline = time.monotonic() + LIMIT_S
        while True:
            before = len(accepted)
            for line in self._lines(max(0.0, deadline - time.monotonic())):
                match line.split():
                    case [b"pid", number]:
                        pid = int(number)
                    case [b"open"]:
                        pass
                    case [b"end"]:
                        assert killed, "it died before it was killed"
                        return accepted
                    case [number]:
                        accepted.append(int(number))
            if before < stage <= len(accepted) and not killed:
                deadline = time.monotonic() + seconds
            if time.monotonic() >= deadline:
                assert pid, "it was never born"
                assert not killed, "it cannot be killed"
                assert len(accepted) >= stage, "it does not get anywhere"
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


async def verify(path: Path, accepted: set[int]) -> None:
    async with asyncio.timeout(LIMIT_S), await Outbox.open(path, clock=SystemClock()) as outbox:
        assert outbox.recovered_from is None
        items = await outbox.list(limit=10_000_000)
        batches = Counter(int(item.request) for item in items)
        assert accepted <= set(batches), "accepted and lost"
        assert set(batches.values()) <= {BATCH}, "half stored"
        assert all(len(item.body) == int(item.request) * 37 % 3000 for item in items)
        for target in TARGETS:
            assert sorted(item.n for item in items if item.target == target) == list(
                range(1, sum(item.target == target for item in items) + 1)
            )
        assert len({item.id for item in items}) == len(items)
        await verify_counts_and_keys(outbox, items)


async def verify_counts_and_keys(outbox: Outbox, items: list[Item]) -> None:
    counts = await outbox.counts()
    assert counts.pending == len(await outbox.pending()) == sum(item.status == "pending" for item in items)
    for number in sorted({int(item.request) for item in items})[:20]:
        draft = Draft(kind="direct", target="anna", body=b"")
        again = await outbox.accept([draft], key=f"key-{number}", fingerprint=str(number).encode())
        assert again.replayed


def test_every_accepted_message_is_there_after_kill_9(tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    print("seed", seed)
    moments = random.Random(seed)
    path = tmp_path / "outbox.db"
    accepted: set[int] = set()
    with Victim() as victim:
        for kill in range(KILLS):
            accepted.update(victim.live(path, kill * RANGE, moments.randint(1, 60), moments.uniform(0, 0.01)))
            if kill % 8 == 7:  # else it is the next writer that recovers what this one left
                asyncio.run(verify(path, accepted))
