"""A consumer that resumes at its stored cursor, also when it was too slow or the database could not be used."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from covey.contract.event_kind import EventKind
from covey.kernel.clock import SystemClock
from covey.kernel.events.consumer import Consumer, store_cursor, stored_cursor
from covey.kernel.events.event import Event
from covey.kernel.events.events import Events
from covey.kernel.store.errors import StoreFullError
from covey.kernel.store.migrations import Migration
from covey.kernel.store.store import Store

MANY = 3000
"""More than wait for a slow reader."""
LIMIT_S = 120
WANTED = EventKind("wanted", "An event that the consumer of a test reads.")
OTHER = EventKind("other", "An event that it does not read.")
SCHEMA = (*Events.MIGRATIONS, Migration("done", "CREATE TABLE done (subject TEXT NOT NULL) STRICT"))


@contextlib.asynccontextmanager
async def open_events(path: Path) -> AsyncIterator[tuple[Store, Events]]:
    async with asyncio.timeout(LIMIT_S), await Store.open(path / "db", SCHEMA, fsync="off") as store:
        yield store, await Events.open(store, clock=lambda: 1.0)


def done(connection: sqlite3.Connection) -> list[str]:
    return [subject for (subject,) in connection.execute("SELECT subject FROM done ORDER BY rowid")]


def put(connection: sqlite3.Connection, subject: str, advance: Callable[[sqlite3.Connection], None]) -> None:
    connection.execute("INSERT INTO done VALUES (?)", (subject,))
    advance(connection)


async def test_a_consumer_that_falls_behind_reads_on_in_the_journal_and_misses_nothing(tmp_path: Path) -> None:
    async with open_events(tmp_path) as (store, events):
        consumer = await Consumer.open("one", [WANTED], store, events)
        await events.append(WANTED, subject="0")
        heard = [event.subject for event in await consumer.take()]
        consumer.cursor = events.cursor
        await asyncio.gather(*(events.append(WANTED, subject=str(number)) for number in range(1, MANY)))
        while len(heard) < MANY:
            batch = await consumer.take()
            heard += [event.subject for event in batch]
            consumer.cursor = batch[-1].cursor
        assert await consumer.take(0) == []
        await events.aclose()
        assert await consumer.take() == []
        assert consumer.ended
        assert heard == [str(number) for number in range(MANY)]


async def test_each_consumer_has_its_own_cursor(tmp_path: Path) -> None:
    async with open_events(tmp_path) as (store, _):
        await store.write(lambda database: store_cursor(database, "one", 7))
        await store.write(lambda database: store_cursor(database, "one", 8))
        assert await store.read(lambda database: (stored_cursor(database, "one"), stored_cursor(database, "two"))) == (
            8,
            0,
        )


async def test_results_and_cursor_are_stored_together_and_the_next_consumer_goes_on_after_them(tmp_path: Path) -> None:
    async def consume(store: Store, events: Events, name: str) -> None:
        consumer = await Consumer.open(name, [WANTED], store, events)

        async def handle(event: Event, advance: Callable[[sqlite3.Connection], None]) -> None:
            await store.write(lambda database: put(database, event.subject, advance))

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(consumer.run(handle, SystemClock()))
            while await store.read(lambda database: stored_cursor(database, name)) < events.cursor:  # noqa: ASYNC110 - nothing tells us
                await asyncio.sleep(0.01)
            await events.aclose()

    async with open_events(tmp_path) as (store, events):
        for subject in ("a", "b"):
            await events.append(OTHER, subject="not this one")
            await events.append(WANTED, subject=subject)
        await consume(store, events, "one")
    async with open_events(tmp_path) as (store, events):
        await events.append(WANTED, subject="c")
        await consume(store, events, "one")
        assert await store.read(done) == ["a", "b", "c"]


async def test_an_event_whose_handler_fails_is_skipped_and_one_that_cannot_be_stored_is_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("WARNING", logger="covey.events")

    class Impatient(SystemClock):
        async def sleep(self, seconds: float) -> None:
            await asyncio.sleep(min(seconds, 0.01))

    async with open_events(tmp_path) as (store, events):
        consumer = await Consumer.open("one", [WANTED], store, events)
        refusals = iter([True, True])

        async def handle(event: Event, advance: Callable[[sqlite3.Connection], None]) -> None:
            if event.subject == "broken":
                raise ValueError("it cannot be handled")
            if event.subject == "full" and next(refusals, False):
                raise StoreFullError("the disk is full", "Make room.")
            await store.write(lambda database: put(database, event.subject, advance))
            if event.subject == "last":
                await events.aclose()

        for subject in ("first", "broken", "full", "last"):
            await events.append(WANTED, subject=subject)
        await consumer.run(handle, Impatient())
        assert await store.read(done) == ["first", "full", "last"]
    assert [record.message for record in caplog.records] == [
        "event skipped: its handler failed",
        "event consumer waits for the database",
    ]
