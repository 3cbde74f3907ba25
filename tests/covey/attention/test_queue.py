"""The queue inside a daemon: nothing is lost, nothing is there twice, and who asks is told."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from covey.attention.item import Item, changed
from covey.attention.queue import CLOSED_KEPT, CONSUMER, MIGRATIONS
from covey.contract.attention import OPERATIONS
from covey.kernel.clock import timestamp
from covey.kernel.events import journal
from covey.kernel.events.consumer import stored_cursor
from covey.kernel.events.event import Event
from covey.kernel.events.events import Events
from covey.kernel.home import Home
from covey.kernel.store.store import Store
from murli import AgentError
from tests.covey.attention.rooms import homes, in_room, opened, until
from tests.covey.conftest import Covey

KILLS = 20


async def test_what_is_asked_is_listed_told_of_and_counted() -> None:
    async with in_room() as room:
        asked = await room.ask("beat:/x", "nightly: tests fail", "3 of 7", beat="nightly")
        await room.count(1)
        (item,) = await room.items()
        assert item["id"] == asked.id
        assert (item["key"], item["source"], item["title"], item["detail"], item["data"]) == (
            "beat:/x",
            "test",
            "nightly: tests fail",
            "3 of 7",
            {"beat": "nightly"},
        )
        assert (item["times"], item["closed_at"], item["opened_at"]) == (1, None, timestamp(asked.time))
        assert set(item) == set(OPERATIONS[0].result["properties"]["items"]["items"]["properties"])
        assert await room.told() == [("attention.opened", "beat:/x")]
        status = (await room.call("status"))["attention"]
        assert status == {"open": 1, "titles": ["nightly: tests fail"], "notify_problem": "", "channels": []}
        assert "covey_attention_open 1\n" in room.daemon.metrics.text()


async def test_duplicates_are_one_item_and_only_another_text_is_told() -> None:
    async with in_room() as room:
        for _ in range(20):
            await room.ask("beat:/x", "the same")
        await room.ask("beat:/x", "another")
        await room.heard()
        (item,) = await room.items()
        assert (item["times"], item["title"]) == (21, "another")
        assert [kind for kind, key in await room.told() if key == "beat:/x"] == [
            "attention.opened",
            "attention.changed",
        ]


async def test_settled_before_it_is_asked_is_nothing_and_settled_after_closes() -> None:
    async with in_room() as room:
        await room.settle("beat:/x")
        await room.settle("beat:/x")
        await room.heard()
        assert [item["key"] for item in await room.items(all=True)] == ["mark:"]
        await room.ask("beat:/x")
        await room.settle("beat:/x", "the last run was ok")
        await room.settle("beat:/x")
        await room.heard()
        assert await room.items() == []
        (item,) = [item for item in await room.items(all=True) if item["key"] == "beat:/x"]
        assert item["closed_at"]
        assert item["closed_why"] == "the last run was ok"
        await room.ask("beat:/x", "again")
        await room.count(1)
        (new,) = await room.items()
        assert (new["id"] != item["id"], new["times"]) == (True, 1)


async def test_done_by_hand_by_id_by_its_end_or_by_key() -> None:
    async with in_room() as room:
        for key in ("one", "two", "three"):
            await room.ask(key)
        await room.count(3)
        ids = {item["key"]: item["id"] for item in await room.items()}
        first = await room.call("attention.done", item=ids["one"])
        assert (first["key"], first["closed_why"]) == ("one", "done by hand")
        assert (await room.call("attention.done", item=ids["two"][-20:].lower()))["key"] == "two"
        assert (await room.call("attention.done", item="three"))["key"] == "three"
        assert await room.items() == []
        again = await room.call("attention.done", item=ids["one"])
        assert again["closed_at"] == first["closed_at"], "done twice is done once"
        assert [kind for kind, _ in await room.told()] == ["attention.opened"] * 3 + ["attention.closed"] * 3
        await room.ask("three", "it came back")
        await room.count(1)
        assert (await room.call("attention.done", item="three"))["title"] == "it came back"


async def test_nonsense_for_an_item_is_an_error_that_says_what_to_do() -> None:
    async with in_room() as room:
        for number in range(3):
            await room.ask(f"key:{number}")
        await room.count(3)
        for name in ("", "nothing", "%", "_", "../..", "' OR 1=1 --", "x" * 10_000, "\ud800", "\0", "0" * 20):
            with pytest.raises(AgentError) as refused:
                await room.call("attention.done", item=name)
            assert refused.value.code in (1, 5), name
            assert refused.value.suggestion, name
        assert len(await room.items()) == 3


async def test_an_end_that_fits_several_closes_none_of_them() -> None:
    async with in_room() as room:
        for number in range(33):  # more than there are letters in an id's alphabet
            await room.ask(f"key:{number}")
        await room.count(33)
        ends = [item["id"][-1] for item in await room.items()]
        with pytest.raises(AgentError) as refused:
            await room.call("attention.done", item=max(ends, key=ends.count))
        assert len(refused.value.valid_values) > 1
        assert len(await room.items()) == 33


async def test_a_thousand_items_are_kept_and_listed_the_longest_waiting_first() -> None:
    async with in_room() as room:
        await asyncio.gather(*(room.ask(f"key:{number}", f"number {number}") for number in range(1000)))
        await room.count(1000)
        found = await room.call("attention.list", limit=1000)
        assert found["open"] == 1000
        assert len({item["key"] for item in found["items"]}) == 1000
        times = [item["updated_at"] for item in found["items"]]
        assert times == sorted(times)
        assert len(await room.items()) == 50
        await asyncio.gather(*(room.settle(f"key:{number}") for number in range(1000)))
        await room.count(0)
        assert len(await room.told("attention.closed")) == 1000


async def test_closed_items_are_forgotten_when_there_are_very_many() -> None:
    async with in_room() as room:
        for _ in range(2):
            await asyncio.gather(*(room.ask(f"key:{number}") for number in range(CLOSED_KEPT // 2 + 10)))
            await room.count(CLOSED_KEPT // 2 + 10)
            await asyncio.gather(*(room.settle(f"key:{number}") for number in range(CLOSED_KEPT // 2 + 10)))
            await room.count(0)
        assert await room.daemon.store.read(
            lambda database: database.execute("SELECT count(*) FROM attention_item").fetchone()
        ) == (CLOSED_KEPT,)


async def test_an_item_outlives_the_daemon_and_what_was_asked_at_the_end_is_taken_up_by_the_next() -> None:
    with homes() as home:
        async with opened(home) as room:
            await room.ask("kept", "kept")
            await room.count(1)
        async with opened(home) as room:
            await room.daemon.events.aclose()  # nobody listens any more
            await room.ask("late", "late")
            await room.ask("kept", "kept")
        async with opened(home) as room:
            await room.heard()
            assert {item["key"]: item["times"] for item in await room.items()} == {"kept": 2, "late": 1}
            assert [key for _, key in await room.told("attention.opened")] == ["kept", "late", "mark:"]


async def test_the_cursors_of_an_earlier_covey_are_carried_over(tmp_path: Path) -> None:
    async with await Store.open(tmp_path / "db", [*journal.MIGRATIONS, *MIGRATIONS[:2]]) as store:
        await store.write(
            lambda database: database.execute("INSERT INTO attention_cursor VALUES ('queue', 41)").rowcount
        )
        await store.write(lambda database: database.execute("ALTER TABLE schema_step DROP COLUMN name").rowcount)
    async with await Store.open(tmp_path / "db", [*Events.MIGRATIONS, *MIGRATIONS]) as store:
        assert await store.read(lambda database: stored_cursor(database, CONSUMER)) == 41


async def test_a_gap_in_the_journal_is_survived() -> None:
    with homes() as home:
        async with opened(home) as room:
            await room.ask("kept")
            await room.count(1)
            await room.daemon.events.aclose()
            await room.ask("lost")
        with closing(sqlite3.connect(home.node.database, isolation_level=None)) as database:
            database.execute("DELETE FROM event")
        async with opened(home) as room:
            await room.ask("new")
            await room.count(2)
            assert {item["key"] for item in await room.items()} == {"kept", "new"}


async def test_a_full_disk_delays_the_queue_and_loses_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async with in_room() as room:
        store = room.daemon.store

        def fill(database: sqlite3.Connection) -> None:
            (pages,) = database.execute("PRAGMA page_count").fetchone()
            database.execute("CREATE TABLE ballast (weight BLOB)")
            database.execute(
                "CREATE TRIGGER heavy BEFORE INSERT ON attention_item "
                "BEGIN INSERT INTO ballast VALUES (zeroblob(50000000)); END"
            )
            database.execute(f"PRAGMA max_page_count = {pages + 1000}")

        await store.write(fill)
        await room.ask("first")
        await room.ask("second")
        await until(lambda: bool(caplog.records), "a word about it")
        assert room.status()["open"] == 0
        await store.write(lambda database: database.execute("DROP TRIGGER heavy").rowcount)
        await room.count(2)
        assert [key for _, key in await room.told()] == ["first", "second"]


async def test_killed_at_any_moment_the_queue_is_what_the_journal_says() -> None:
    chance = random.Random(7)
    with homes() as home:
        for number in range(KILLS):
            victim = subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name("victim.py")), home.path, str(number)],
                stdout=subprocess.PIPE,
                text=True,
            )
            assert victim.stdout
            assert victim.stdout.readline() == "ready\n"
            await asyncio.sleep(chance.uniform(0.0, 0.15))  # the moment is what is tested here
            os.kill(victim.pid, signal.SIGKILL)
            victim.wait()
            victim.stdout.close()
        await _compare(home)


async def _compare(home: Home) -> None:
    async with opened(home) as room:
        await room.heard()
        events = await room.daemon.events.history(kinds=["attention."], limit=1_000_000)
        items = await room.items(limit=1000)
    expected, openings, closings = _replayed(events)
    assert {item["key"]: (item["id"], item["title"], item["detail"], item["times"]) for item in items} == {
        key: (item.id, item.title, item.detail, item.times) for key, item in expected.items()
    }
    assert [event.data["id"] for event in events if event.kind == "attention.opened"] == openings
    assert [event.data["id"] for event in events if event.kind == "attention.closed"] == closings
    assert len(openings) > KILLS


def _replayed(events: list[Event]) -> tuple[dict[str, Item], list[str], list[str]]:
    """The queue as it has to be: all that was asked and settled, from the beginning."""
    items: dict[str, Item] = {}
    openings, closings = [], []
    for event in events:
        change = (
            changed(items.get(event.subject), event) if event.kind in ("attention.asked", "attention.settled") else None
        )
        if change is None:
            continue
        if change.kind == "attention.closed":
            del items[event.subject]
            closings.append(change.item.id)
        else:
            items[event.subject] = change.item
            openings += [change.item.id] if change.kind == "attention.opened" else []
    return items, openings, closings


def test_the_command_line_says_so_when_nothing_needs_anybody(daemon: Covey) -> None:
    assert daemon.run("needs").result == {"items": [], "open": 0}
    assert daemon.run("attention", "list", "--all", "--limit", "5").result == {"items": [], "open": 0}
    refused = daemon.run("attention", "done", "nonsense")
    assert (refused.code, refused.error["field"]) == (5, "item")
    assert "covey needs" in refused.error["suggestion"]
    status, _, body = daemon.request(
        "POST", "/v1/attention/done", json.dumps({"item": "\ud800"}), {"Content-Type": "application/json"}
    )
    assert status in (400, 404), body


def test_the_list_has_limits(daemon: Covey) -> None:
    for limit in ("0", "1001", "many"):
        assert daemon.run("attention", "list", "--limit", limit).code == 1
    answers: list[Any] = [
        daemon.request("GET", f"/v1/attention?limit={limit}")[0] for limit in ("0", "-1", "9999999999999999999999")
    ]
    assert answers == [400] * 3
