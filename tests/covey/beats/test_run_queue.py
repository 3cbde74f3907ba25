"""Runs when a daemon starts, stops, or something in it fails; real runs of a pretended agent."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from covey.beats.run_folder import marked_processes
from covey.contract.event_kind import EventKind
from covey.kernel.events.event import Event
from covey.kernel.store.errors import StoreError
from tests.covey.beats.driving import LONG, passes, running
from tests.covey.beats.world import World

# Ends and beginnings.


async def test_a_daemon_that_stops_ends_what_runs_and_leaves_what_waits_to_the_next(world: World) -> None:
    world.beat("one", interval="1h")
    world.beat("two", interval="1h")
    world.agent.wish(seconds=LONG)
    async with world.living(max_concurrent=1) as node:
        await running(world, node, 1)
        assert len(node.beats.queued) == 1
    world.agent.wish()
    async with world.living() as node:
        await node.rest()
        assert [(run.outcome, run.error_kind) for run in await node.runs()] == [("error", "interrupted"), ("ok", "")]
    assert len(world.agent.starts) == 2
    assert len(world.log) == 2


async def test_a_log_that_cannot_be_written_keeps_no_beat_from_running_and_is_made_up_for(world: World) -> None:
    world.beat("api")
    (world.folder / "beats" / "heartbeats.jsonl").mkdir(parents=True)
    async with world.living() as node:
        await node.rest()
        await node.advance(60)
        assert [run.outcome for run in await node.runs()] == ["ok", "ok"]
    async with world.living() as node:
        await node.rest()  # it still cannot
    (world.folder / "beats" / "heartbeats.jsonl").rmdir()
    async with world.living() as node:
        await node.rest()
    assert len({line["run"] for line in world.log}) == len(world.log) >= 2


async def test_what_lies_about_in_the_folder_of_runs_keeps_no_daemon_from_starting(world: World) -> None:
    world.beat("api")
    runs = world.folder / "beats" / "runs"
    (runs / "01BROKEN").mkdir(parents=True)
    (runs / "01BROKEN" / "hand.json").write_text('{"run": {"run": 5}}')
    (runs / "file").write_text("x")
    (runs / "01SOMEBODYS").mkdir()
    async with world.living() as node:
        await node.rest()
    assert sorted(path.name for path in runs.iterdir()) == ["01SOMEBODYS", "file"]


async def test_a_run_that_cannot_be_prepared_is_an_error_and_the_beat_runs_on(world: World) -> None:
    world.beat("api")
    runs = world.folder / "beats" / "runs"
    async with world.living() as node:
        await node.rest()
        await node.until(lambda: not any(runs.iterdir()))  # the folder of a run goes last
        runs.rmdir()
        runs.write_text("in the way")
        await node.advance(60)
        runs.unlink()
        await node.advance(60)
        first, second, third = await node.runs()
        assert (first.outcome, second.outcome, third.outcome) == ("ok", "error", "ok")
        assert (second.error_kind, "Not a directory" in second.error) == ("crash", True)


async def test_a_database_that_cannot_be_written_for_a_while_loses_no_run_and_stops_no_beat(world: World) -> None:
    world.beat("api")
    world.agent.wish(seconds=LONG)
    async with world.living() as node:
        await running(world, node, 1)
        with contextlib.closing(sqlite3.connect(world.folder / "node.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            for run in node.beats.running:
                for pid in marked_processes(run):
                    os.kill(pid, signal.SIGKILL)
            await node.until(lambda: node.clock.sleepers == 2)  # the scheduler, and the run that cannot be recorded
            other.execute("ROLLBACK")
        world.agent.wish()
        await node.advance(10)
        await node.advance(60)
        assert [run.state for run in await node.runs()] == ["done", "done"]
        assert node.beats.records[f"{world.folder}/api/HEARTBEAT.md"].plan.running == 0
        assert len(world.log) == 2


async def test_a_start_that_cannot_be_stored_does_not_happen_and_comes_later(world: World) -> None:
    world.beat("api")
    async with world.living() as node:
        await node.rest()
        with contextlib.closing(sqlite3.connect(world.folder / "node.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError):
                await node.beats._decide(node.beats.catalog.beats["api"], node.clock.time() + 60)
            other.execute("ROLLBACK")
        assert node.beats.records[f"{world.folder}/api/HEARTBEAT.md"].plan.running == 0
        assert len(world.agent.starts) == 1
        await node.advance(60)
        assert len(world.agent.starts) == 2


# The background task.


async def test_a_tick_that_raises_is_counted_and_the_scheduler_goes_on(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    world.beat("api")
    async with world.living() as node:
        await node.rest()
        reload, failed = node.beats.catalog.reload, 0

        def fail_twice(workspaces: Sequence[Mapping[str, Any]]) -> bool:
            nonlocal failed
            failed += 1
            if failed <= 2:
                raise RuntimeError("the catalog is broken")
            return reload(workspaces)

        monkeypatch.setattr(node.beats.catalog, "reload", fail_twice)
        for _ in range(8):
            await passes(node, 10)
        await node.rest()
        assert failed > 2
        assert 'covey_task_failures_total{task="beat scheduler"} 2' in node.metrics.text()
        assert len(await node.runs()) == 2
    assert [record.message for record in caplog.records].count("a background task failed") == 2


async def test_a_step_that_cannot_be_published_is_counted_and_later_ones_are_published(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.beat("api")
    async with world.living() as node:
        await node.rest()
        append = node.events.append

        async def fail_once(kind: EventKind, **event: Any) -> Event:
            if kind == "beat.step":
                monkeypatch.setattr(node.events, "append", append)
                raise RuntimeError("the journal is broken")
            return await append(kind, **event)

        steps = len(await node.published("beat.step"))
        monkeypatch.setattr(node.events, "append", fail_once)
        node.clock.advance(60)
        await node.until(lambda: 'covey_task_failures_total{task="beat steps"} 1' in node.metrics.text())
        await node.until(lambda: not node.beats.running and node.clock.sleepers == 2)  # the scheduler, and the pause
        await node.advance(60)
        assert len(await node.published("beat.finished")) == 3
        assert len(await node.published("beat.step")) >= 2 * steps


async def test_a_run_that_cannot_be_recorded_is_counted_and_recorded_by_the_next_daemon(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.beat("api")
    world.agent.wish(waits=True)
    async with world.living() as node:

        async def fail(*_: object) -> None:
            raise RuntimeError("a defect")

        await running(world, node, 1)
        monkeypatch.setattr(node.beats.ledger, "finish", fail)
        world.agent.let_go()
        await node.until(lambda: not node.beats.running)
        await node.until(lambda: 'covey_task_failures_total{task="beat run"} 1' in node.metrics.text())
    async with world.living() as node:
        await node.rest()
        assert [run.outcome for run in await node.runs()] == ["ok"]
