"""What is written down about beats."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from covey.beats import planner
from covey.beats.alerts import Alert
from covey.beats.beat import Beat, Cron, Probe
from covey.beats.ledger import MIGRATIONS, Ledger
from covey.beats.money import Spent
from covey.beats.records import BeatRecord, Run
from covey.kernel.events.events import Events
from covey.kernel.store.store import Store

NOW = 1_800_000_000.0
BEAT = Beat(
    name="api",
    workspace="/w",
    file="/w/HEARTBEAT.md",
    schedule=Cron("0 9 * * *"),
    probe=Probe(command="true"),
    deny=("Bash(sudo:*)",),
)
RECORD = BeatRecord(
    file=BEAT.file,
    plan=planner.Plan(rhythm="r", anchor=NOW, offset=1.5, last_slot=NOW),
    reason="x",
    budget_from=2.0,
)


def run(number: int, **fields: Any) -> Run:
    plain = {
        "file": BEAT.file,
        "beat": "api",
        "workspace": "/w",
        "agent": "claude",
        "why": "schedule",
        "spec": BEAT,
        "queued_at": NOW + number,
    }
    return Run(id=f"01RUN{number:021}", **{**plain, **fields})


def over(number: int, **fields: Any) -> Run:
    return run(
        number,
        **{
            "state": "done",
            "began_at": NOW + number,
            "ended_at": NOW + number + 1,
            "outcome": "ok",
            "cost_usd": 0.5,
            "tokens": 7,
            **fields,
        },
    )


@contextlib.asynccontextmanager
async def open_ledger(path: Path) -> AsyncIterator[tuple[Ledger, Events]]:
    async with asyncio.timeout(60), await Store.open(path / "node.db", [*Events.MIGRATIONS, *MIGRATIONS]) as store:
        events = await Events.open(store, clock=lambda: NOW)
        yield Ledger(store, events), events


async def test_a_run_and_a_record_come_back_as_they_were(tmp_path: Path) -> None:
    async with open_ledger(tmp_path) as (ledger, _):
        wanted = run(1, slot=NOW, missed=2, verbose=True)
        await ledger.queue(wanted, RECORD)
        assert await ledger.unfinished() == [wanted]
        assert await ledger.records() == {BEAT.file: RECORD}
        begun = await ledger.begin(wanted)
        assert await ledger.unfinished() == [begun]
        done = replace(over(1), slot=NOW, missed=2, verbose=True, denials=("Bash(sudo ls)",))
        await ledger.finish(done, replace(RECORD, streak=4), [{"role": "result", "text": "\ud800"}])
        assert await ledger.unfinished() == []
        assert await ledger.unlogged() == [(done, [{"role": "result", "text": "\ud800"}])]
        await ledger.mark_logged(done.id)
        assert await ledger.unlogged() == []
        assert await ledger.latest() == {BEAT.file: done}
        assert (await ledger.records())[BEAT.file].streak == 4


async def test_what_happens_to_a_run_is_told_in_order(tmp_path: Path) -> None:
    async with open_ledger(tmp_path) as (ledger, events):
        await ledger.queue(run(1), None)
        await ledger.finish(replace(over(1), id=(await ledger.begin(run(1))).id), None, [])
        told = await events.history()
        assert [event.kind for event in told] == ["beat.queued", "beat.started", "beat.finished"]
        assert {event.subject for event in told} == {run(1).id}
        assert "spec" not in told[0].data


async def test_a_run_that_cannot_be_written_leaves_neither_an_event_nor_a_record(tmp_path: Path) -> None:
    async with open_ledger(tmp_path) as (ledger, events):
        await ledger.queue(run(1), RECORD)
        with pytest.raises(sqlite3.IntegrityError):
            await ledger.queue(run(1), replace(RECORD, streak=9))
        assert len(await events.history()) == 1
        assert await ledger.records() == {BEAT.file: RECORD}


async def test_what_was_spent_is_counted_from_a_moment_on_by_one_or_by_all(tmp_path: Path) -> None:
    async with open_ledger(tmp_path) as (ledger, _):
        for number in range(4):
            await ledger.take_in({"run": to_builtins(over(number)), "turns": []})
        await ledger.take_in({"run": to_builtins(over(9, file="/other", cost_usd=None, tokens=None)), "turns": []})
        await ledger.queue(run(20), None)
        assert await ledger.spent(NOW + 2, BEAT.file) == Spent(2, 1.0, 14)
        assert await ledger.spent(NOW + 2) == Spent(3, 1.0, 14)
        assert await ledger.spent(NOW + 99, BEAT.file) == Spent(0, 0.0, 0)


async def test_a_run_is_taken_in_once(tmp_path: Path) -> None:
    async with open_ledger(tmp_path) as (ledger, _):
        for _again in range(2):
            await ledger.take_in({"run": to_builtins(over(1)), "turns": [{"role": "result"}]})
        assert await ledger.history() == [over(1)]
        assert await ledger.turns(over(1).id) == [{"role": "result"}]
        assert await ledger.unlogged() == []


async def test_history_is_newest_first_and_can_be_narrowed(tmp_path: Path) -> None:
    async with open_ledger(tmp_path) as (ledger, _):
        for number in range(6):
            await ledger.take_in(
                {
                    "run": to_builtins(
                        over(number, beat=f"b{number % 2}", outcome=("ok", "attention", "error")[number % 3])
                    ),
                    "turns": [],
                }
            )
        assert [one.queued_at - NOW for one in await ledger.history()] == [5, 4, 3, 2, 1, 0]
        assert [one.queued_at - NOW for one in await ledger.history(name="b1", limit=2)] == [5, 3]
        assert [one.queued_at - NOW for one in await ledger.history(outcome="error")] == [5, 2]
        assert [one.queued_at - NOW for one in await ledger.find("3")] == [3]
        assert len(await ledger.find("0")) == 1
        assert await ledger.find("%") == []


async def test_alerts_stay_open_until_they_are_settled(tmp_path: Path) -> None:
    async with open_ledger(tmp_path) as (ledger, events):
        await ledger.open_alert("a", Alert("t", "d"))
        await ledger.open_alert("a", Alert("t2", "d"))
        assert await ledger.open_alerts() == {"a": ("t2", "d")}
        await ledger.settle_alert("a", "well")
        assert await ledger.open_alerts() == {}
        assert [event.kind for event in await events.history()] == [
            "attention.asked",
            "attention.asked",
            "attention.settled",
        ]


async def test_a_long_past_does_not_make_it_slow(tmp_path: Path) -> None:
    async with open_ledger(tmp_path) as (ledger, _):
        row = over(0)
        await ledger.take_in({"run": to_builtins(row), "turns": ["x" * 1000]})
        copy = (
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) "
            "INSERT INTO beat_run SELECT 'R' || i, '/f' || (i % 10), beat, workspace, agent, why, state, slot, missed, "
            "verbose, queued_at, began_at + i, ended_at + i, duration_ms, outcome, summary, error_kind, error, "
            "retry_at, probe, denials, cost_usd, tokens, num_turns, spec, 1, turns, 0, NULL FROM beat_run, n"
        )
        await ledger._store.write(lambda connection: connection.execute(copy).rowcount)
        began = time.perf_counter()
        assert len(await ledger.latest()) == 11
        for number in range(200):
            assert (await ledger.spent(NOW + 29_000, f"/f{number % 10}")).runs == 100 + (number % 10 == 0)
        await ledger.spent(NOW + 29_000)
        await ledger.history()
        seconds = time.perf_counter() - began
        began = time.perf_counter()
        for _again in range(5):
            await ledger._store.read(
                lambda connection: connection.execute("SELECT sum(length(spec)) FROM beat_run").fetchone()
            )
        assert seconds < 20 * (time.perf_counter() - began), "no question reads the whole table"
