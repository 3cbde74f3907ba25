from __future__ import annotations

import asyncio
import contextlib
import math
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from covey.kernel.events.event import DATA_BYTES, Event, Kinds
from covey.kernel.events.events import EventKindError, Events, EventSizeError
from covey.kernel.store.migrations import Migration
from covey.kernel.store.store import Store
from tests.covey.kinds import kind

SCHEMA = (*Events.MIGRATIONS, Migration("state", "CREATE TABLE state (n INTEGER PRIMARY KEY) STRICT"))
LIMIT_S = 120
DAY_S = 86_400.0


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@contextlib.asynccontextmanager
async def open_events(path: Path, **options: Any) -> AsyncIterator[tuple[Events, Store, Clock]]:
    """Open a journal in a store of its own, with a clock that the test moves."""
    clock = Clock()
    async with asyncio.timeout(LIMIT_S), await Store.open(path / "a.db", SCHEMA, fsync="off") as store:
        events = await Events.open(store, clock=clock, **options)
        try:
            yield events, store, clock
        finally:
            await events.aclose()


def cursors(events: list[Event]) -> list[int]:
    return [event.cursor for event in events]


async def test_an_event_says_what_happened_when_and_to_whom(tmp_path: Path) -> None:
    async with open_events(tmp_path) as (events, _, clock):
        first = await events.append(kind("fleet.state"), "pane-3", {"state": "idle"}, "fleet")
        clock.now += 5
        second = await events.append(kind("node.up"))
        assert (first.cursor, first.time, first.kind, first.subject, first.data, first.source) == (
            1,
            1_000_000.0,
            "fleet.state",
            "pane-3",
            {"state": "idle"},
            "fleet",
        )
        assert (second.cursor, second.time, second.subject, second.data, second.source) == (
            2,
            1_000_005.0,
            "",
            {},
            "node",
        )
        assert first.id < second.id
        assert events.cursor == 2
        assert await events.history() == [first, second]
        assert [event.json for event in await events.history()] == [first.json, second.json]


async def test_the_journal_is_found_by_time_and_read_in_stretches(tmp_path: Path) -> None:
    """Also after the clock was set back: what it showed twice is the second time."""

    async with open_events(tmp_path) as (events, _, clock):
        for name, time in (("mark", 10.0), ("a", 20.0), ("a", 30.0), ("mark", 15.0), ("b", 25.0)):
            await events.append(kind(name), time=time)
        assert [(event.cursor, event.time) for event in await events.history()] == [
            (1, 10.0),
            (2, 20.0),
            (3, 30.0),
            (4, 15.0),
            (5, 25.0),
        ]
        assert await events.read(
            lambda journal: [journal.upto(time) for time in (9.0, 10.0, 15.0, 20.0, 25.0, 99.0)]
        ) == [0, 1, 4, 4, 5, 5]
        assert await events.read(lambda journal: [journal.last(Kinds(["mark"]), upto) for upto in (0, 3, 5)]) == [
            None,
            1,
            4,
        ]
        assert await events.read(lambda journal: cursors(list(journal.stretch(Kinds(["a", "b"]))))) == [2, 3, 5]
        assert await events.read(lambda journal: cursors(list(journal.stretch(Kinds(), 1, 4)))) == [2, 3, 4]
        assert (await events.append(kind("now"))).time == clock.now


async def test_the_journal_goes_on_after_a_restart(tmp_path: Path) -> None:
    async with open_events(tmp_path) as (events, _, __):
        one = await events.append(kind("one"))
    async with open_events(tmp_path) as (events, _, __):
        assert events.cursor == 1
        assert await events.history() == [one]
        assert (await events.append(kind("two"))).cursor == 2


async def test_what_belongs_to_an_event_is_written_with_it_or_not_at_all(tmp_path: Path) -> None:
    def also(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO state VALUES (1)")

    async with open_events(tmp_path) as (events, store, _):
        await events.append(kind("state"), also=also)
        async with events.subscribe() as listener:
            with pytest.raises(sqlite3.IntegrityError):
                await events.append(kind("state"), also=also)
            after = await events.append(kind("after"))
            assert await listener.take() == [after]
        assert after.cursor == 2
        assert cursors(await events.history()) == [1, 2]
        assert await store.read(lambda c: c.execute("SELECT n FROM state").fetchall()) == [(1,)]


async def test_concurrent_appends_are_published_in_the_order_of_their_cursors(tmp_path: Path) -> None:
    async with open_events(tmp_path) as (events, _, __):
        async with events.subscribe(queue=10_000) as listener:
            tasks = [asyncio.ensure_future(events.append(kind("n"), str(n))) for n in range(300)]
            await asyncio.sleep(0)
            for task in tasks[::7]:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            last = await events.append(kind("last"))
            seen: list[Event] = []
            while not seen or seen[-1] != last:
                seen += await listener.take()
        assert cursors(seen) == list(range(1, last.cursor + 1))
        assert seen == await events.history()


async def test_an_append_whose_caller_has_gone_is_published_if_it_happened(tmp_path: Path) -> None:
    async with open_events(tmp_path) as (events, _, __):
        loop = asyncio.get_running_loop()

        def leave(_: sqlite3.Connection) -> None:
            loop.call_soon_threadsafe(gone.cancel)

        async with events.subscribe() as listener:
            gone = asyncio.ensure_future(events.append(kind("n"), "gone", also=leave))
            with pytest.raises(asyncio.CancelledError):
                await gone
            assert [event.subject for event in await listener.take()] == ["gone"]


async def test_history_is_asked_by_cursor_kind_and_number(tmp_path: Path) -> None:
    async with open_events(tmp_path) as (events, _, __):
        for name in ("a", "fleet.x", "fleet.y.z", "fleet", "fleets.x", "a"):
            await events.append(kind(name))
        assert cursors(await events.history()) == [1, 2, 3, 4, 5, 6]
        assert cursors(await events.history(since=4)) == [5, 6]
        assert cursors(await events.history(since=6)) == cursors(await events.history(since=60)) == []
        assert cursors(await events.history(limit=2)) == [1, 2]
        assert cursors(await events.history(since=1, limit=2)) == [2, 3]
        assert cursors(await events.history(limit=0)) == [1]
        assert cursors(await events.history(kinds=["a"])) == [1, 6]
        assert (
            cursors(await events.history(kinds=["fleet.*"]))
            == cursors(await events.history(kinds=["fleet."]))
            == [2, 3]
        )
        assert cursors(await events.history(kinds=["a", "fleet", "fleets.*"], since=1)) == [4, 5, 6]
        assert await events.history(kinds=["nothing"]) == []


async def test_the_data_of_an_event_is_what_a_replay_gives_and_no_longer_the_callers(tmp_path: Path) -> None:
    async with open_events(tmp_path) as (events, _, __):
        data: dict[str, Any] = {
            "list": [1, 2],
            "tuple": (1, 2),
            "deep": {1: "int key"},
            "text": "é\u2028\udc80\n",
            "none": None,
        }
        event = await events.append(kind("odd"), "sub\udc80ject é", data)
        data["list"].append(3)
        assert event.data == {
            "list": [1, 2],
            "tuple": [1, 2],
            "deep": {"1": "int key"},
            "text": "é\u2028\udc80\n",
            "none": None,
        }
        assert event.subject == "sub?ject é"
        assert await events.history() == [event]


@pytest.mark.parametrize(
    ("of", "data", "error"),
    [
        ("two words", {}, EventKindError),
        ("line\nbreak", {}, EventKindError),
        ("", {}, EventKindError),
        ("not.declared", {}, EventKindError),
        (kind("n"), {"x": math.nan}, ValueError),
        (kind("n"), {"x": object()}, TypeError),
        (kind("n"), {"x": "y" * DATA_BYTES}, EventSizeError),
    ],
)
async def test_what_cannot_be_an_event_is_refused_before_it_is_written(
    tmp_path: Path, of: Any, data: dict[str, Any], error: type[Exception]
) -> None:
    async with open_events(tmp_path) as (events, _, __):
        with pytest.raises(error):
            await events.append(of, data=data)
        assert (await events.append(kind("next"))).cursor == 1


async def test_old_events_are_pruned_by_age_and_no_cursor_is_given_twice(tmp_path: Path) -> None:
    async with open_events(tmp_path, max_age_s=3 * DAY_S) as (events, _, clock):
        assert await events.prune() == 0
        for _day in range(10):
            await events.append(kind("daily"))
            clock.now += DAY_S
        assert await events.prune() == 7
        assert await events.prune() == 0
        assert cursors(await events.history()) == [8, 9, 10]
        clock.now += 100 * DAY_S
        assert await events.prune() == 3
        assert await events.history() == []
        assert (await events.append(kind("again"))).cursor == 11
        assert cursors(await events.history()) == [11]


async def test_events_are_pruned_by_size_oldest_first(tmp_path: Path) -> None:
    async with open_events(tmp_path, max_bytes=100000) as (events, store, _):
        await asyncio.gather(*(events.append(kind("n"), data={"filler": "x" * 1000}) for _ in range(2500)))
        assert await events.prune() > 2400
        kept = await events.history()
        assert cursors(kept) == list(range(2501 - len(kept), 2501))
        assert 80 < len(kept) <= 100
        assert await store.read(lambda c: c.execute("SELECT sum(size) FROM event").fetchone()[0]) <= 100_000
        await events.append(kind("n"), data={"filler": "x" * 50_000})
        assert await events.prune() >= 40
        assert await events.prune() == 0
        await events.append(kind("n"), data={"filler": "x" * 200_000})
        await events.prune()
        assert await events.history() == []


async def test_a_clock_that_went_back_does_not_make_young_events_old(tmp_path: Path) -> None:
    async with open_events(tmp_path, max_age_s=DAY_S) as (events, _, clock):
        await events.append(kind("now"))
        clock.now -= 1000 * DAY_S
        await events.append(kind("later"))  # long ago, says the clock
        assert await events.prune() == 0
        clock.now += 1000 * DAY_S
        assert await events.prune() == 0  # the first is young, and nothing is taken from the middle


async def test_appends_go_on_between_the_steps_of_a_large_pruning(tmp_path: Path) -> None:
    async with open_events(tmp_path, max_age_s=DAY_S) as (events, _, clock):
        await asyncio.gather(*(events.append(kind("old")) for _ in range(3500)))
        clock.now += 2 * DAY_S
        pruning = asyncio.ensure_future(events.prune())
        appended = 0
        while not pruning.done():
            await events.append(kind("young"))
            appended += 1
        assert await pruning == 3500
        assert len(await events.history()) == appended > 1
