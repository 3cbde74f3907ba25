"""The process that `test_outbox_torture` kills: it accepts messages, and prints each number when it is accepted.

It starts once and forks a writer for every line that it is given, since starting Python is the slow part.

Line in:   path, first number
Lines out: `pid <n>` of the writer, `open` when its outbox is, the number of each accepted batch, `end` when it is dead
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from covey.kernel.clock import SystemClock
from covey.mesh.outbox.outbox import Draft, Limits, Outbox

CALLERS, BATCH = 8, 5
LIMITS = Limits(max_queue_size=10_000_000)
TARGETS = ("anna", "bert", "carla")


async def accept_for_ever(path: Path, first: int) -> None:
    outbox = await Outbox.open(path, clock=SystemClock())
    if outbox.recovered_from is not None:
        raise SystemExit("the outbox was found damaged")
    os.write(1, b"open\n")

    async def call(number: int) -> None:
        while True:
            body = b"x" * (number * 37 % 3000)
            drafts = [
                Draft(kind="direct", target=TARGETS[(number + n) % 3], body=body, request=str(number))
                for n in range(BATCH)
            ]
            fingerprint = str(number).encode()
            accepted = await outbox.accept(drafts, key=f"key-{number}", fingerprint=fingerprint, limits=LIMITS)
            if accepted.replayed:
                raise SystemExit("a key was known that was never used")
            os.write(1, b"%d\n" % number)
            await outbox.record_acks([item.id for item in accepted.items[:2]], 1.0)
            number += CALLERS

    await asyncio.gather(*(call(first + n) for n in range(CALLERS)))


def main() -> None:
    for line in sys.stdin:
        path, first = line.split()
        pid = os.fork()
        if pid == 0:
            asyncio.run(accept_for_ever(Path(path), int(first)))
        os.write(1, b"pid %d\n" % pid)
        os.waitpid(pid, 0)
        os.write(1, b"end\n")


if __name__ == "__main__":
    main()
