"""A reader that goes on where it was, also when it was too slow."""

from __future__ import annotations

import asyncio
from pathlib import Path

from covey.attention.reader import MIGRATION, Reader, write, written
from covey.kernel.events import Events
from covey.kernel.store import Store

MANY = 3000
"""More than wait for a slow reader."""


def test_a_reader_that_falls_behind_reads_on_in_the_journal_and_misses_nothing(tmp_path: Path) -> None:
    async def scene() -> list[str]:
        async with await Store.open(tmp_path / "db", [*Events.MIGRATIONS, MIGRATION], fsync="off") as store:
            events = await Events.open(store, clock=lambda: 1.0)
            reader = Reader(events, ["wanted"], 0)
            await events.append("wanted", subject="0")
            heard = [event.subject for event in await reader.take()]
            reader.cursor = events.cursor
            await asyncio.gather(*(events.append("wanted", subject=str(number)) for number in range(1, MANY)))
            while len(heard) < MANY:
                batch = await reader.take()
                heard += [event.subject for event in batch]
                reader.cursor = batch[-1].cursor
            assert await reader.take(0) == []
            await events.aclose()
            assert await reader.take() == []
            assert reader.ended
            return heard

    assert asyncio.run(scene()) == [str(number) for number in range(MANY)]


def test_each_reader_has_its_own_place(tmp_path: Path) -> None:
    async def scene() -> None:
        async with await Store.open(tmp_path / "db", [MIGRATION]) as store:
            await store.write(lambda database: write(database, "one", 7))
            await store.write(lambda database: write(database, "one", 8))
            assert await store.read(lambda database: (written(database, "one"), written(database, "two"))) == (8, 0)

    asyncio.run(scene())
