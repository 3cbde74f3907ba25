"""A disk that is full: nothing of a refused call is kept, no number is lost, and it goes on when there is room."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

from covey.kernel.clock import SystemClock
from covey.kernel.store.store import StoreError
from covey.mesh.inbox.inbox import Inbox, Incoming
from covey.mesh.outbox.outbox import Draft, Item, Outbox

LIMIT_S = 120
FULL, BODY = 300_000, b"x" * 6000


def draft() -> Draft:
    return Draft(kind="direct", target="anna", body=BODY)


def limit(size: int) -> None:
    import resource  # noqa: PLC0415 - only in the child

    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def unlimited() -> None:
    import resource  # noqa: PLC0415 - only in the child

    limit(resource.RLIM_INFINITY)


async def fill_outbox(path: Path) -> None:
    handed = list[Item]()
    async with asyncio.timeout(LIMIT_S), await Outbox.open(path, clock=SystemClock()) as outbox:
        outbox.on_accepted = handed.extend
        limit(FULL)
        refusals, number = 0, 0
        while refusals < 3:
            number += 1
            calls = [outbox.accept([draft(), draft()], key=f"{number}-{n}", fingerprint=b"f") for n in range(5)]
            for result in await asyncio.gather(*calls, return_exceptions=True):
                if isinstance(result, BaseException):
                    assert isinstance(result, StoreError), result
                    assert "nothing of this write was kept" in result.message
                    refusals += 1
        assert await outbox.pending() == handed, "what was refused is not there and was not handed over"
        unlimited()
        again = await outbox.accept([draft(), draft()], key=f"{number}-0", fingerprint=b"f")
        assert not again.replayed, "a refused call used no key"
        assert [item.n for item in handed] == list(range(1, len(handed) + 1))
        assert await outbox.pending() == handed
        assert (await outbox.counts()).pending == len(handed)
        assert await outbox.database.check() == []


async def fill_inbox(path: Path) -> None:
    async with asyncio.timeout(LIMIT_S), await Inbox.open(path, clock=SystemClock()) as inbox:

        async def store(n: int) -> int:
            # The second comes before the first, so that one is held.
            numbers = (2 * n, 2 * n - 1)
            common = {"stream": "DM", "sender": "anna", "outbox": "o", "at": 1.0, "text": "x" * 6000}
            batch = [Incoming(sequence=one, id=str(one), n=one, **common) for one in numbers]  # type: ignore[arg-type]
            return len(await inbox.store(batch, {"DM": 2 * n}))

        limit(FULL)
        stored = 0
        try:
            while stored < 1000:
                assert await store(stored + 1) == 2
                stored += 1
        except StoreError as error:
            assert "nothing of this write was kept" in error.message  # noqa: PT017 - the loop ends with it
        assert 0 < stored < 1000
        assert await inbox.cursor("DM") == 2 * stored, "the position is that of what is stored"
        assert inbox.numbers("anna") == {"o": (2 * stored, [])}
        unlimited()
        assert await store(stored + 1) == 2, "the same batch is taken when there is room"
        assert [one.id for one in await inbox.after(0, 5000)] == [str(n) for n in range(1, 2 * stored + 3)]
        assert await inbox.database.check() == []


def test_an_outbox_and_an_inbox_that_cannot_grow_refuse_and_go_on_when_they_can(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    child = subprocess.run(
        [sys.executable, __file__, str(tmp_path)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=2 * LIMIT_S,
        check=False,
    )
    assert (child.returncode, child.stderr) == (0, "")


if __name__ == "__main__":
    asyncio.run(fill_outbox(Path(sys.argv[1]) / "outbox.db"))
    asyncio.run(fill_inbox(Path(sys.argv[1]) / "inbox.db"))
