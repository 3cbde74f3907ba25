"""The beats inside the daemon, on a clock that is moved by hand, with real runs of a pretended agent."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sqlite3
import time
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from covey.beats import answers
from covey.beats.run_folder import marked_processes
from covey.kernel.clock import ManualClock
from covey.kernel.event import Event
from covey.kernel.store_errors import StoreError
from tests.covey.beats.living import DAY_S, Living
from tests.covey.beats.world import World

LONG = 100.0


async def passes(node: Living, seconds: float) -> None:
    """Let time pass while runs go on: until the schedule sleeps again."""
    node.clock.advance(seconds)
    await asyncio.sleep(0.05)
    await node.until(lambda: node.clock.sleepers == 1)


async def running(world: World, node: Living, count: int) -> None:
    """Until the agents of so many runs are at work."""
    await node.until(lambda: len(node.beats.running) == count and set(node.beats.running) <= set(world.agent.starts))


async def end(node: Living) -> None:
    """End all runs that go on."""
    for run in list(node.beats.running):
        for pid in marked_processes(run):
            os.kill(pid, signal.SIGKILL)
    await node.rest()


async def about(node: Living, kind: str, key: str) -> list[str]:
    """What was asked, or settled, about a matter."""
    return [
        event.data.get("title") or event.data["why"]
        for event in await node.published(f"attention.{kind}")
        if event.subject.startswith(key)
    ]


# Overlap and the limit.


def test_a_beat_that_still_runs_is_skipped(world: World) -> None:
    world.beat("api")
    world.agent.wish(seconds=LONG)

    async def work(node: Living) -> None:
        await running(world, node, 1)
        for _ in range(3):
            await passes(node, 60)
        assert len(node.beats.running) == 1
        record = node.beats.records[f"{world.folder}/api/HEARTBEAT.md"]
        assert (record.skipped, record.plan.running) == (3, 1)
        assert [event.data["why"] for event in await node.published("beat.skipped")] == ["overlap"] * 3
        await end(node)
        assert len(await node.runs()) == 1

    world.live(work)


def test_a_beat_that_still_runs_queues_one_more_run_with_overlap_queue(world: World) -> None:
    world.beat("api", "overlap: queue")
    world.agent.wish(seconds=LONG)

    async def work(node: Living) -> None:
        await running(world, node, 1)
        for _ in range(3):
            await passes(node, 60)
        world.agent.wish()
        await end(node)
        runs = await node.runs()
        assert [run.missed for run in runs] == [0, 2], "what was missed is one run"

    world.live(work)


def test_a_beat_runs_beside_itself_with_overlap_parallel(world: World) -> None:
    world.beat("api", "overlap: parallel")
    world.agent.wish(seconds=LONG)

    async def work(node: Living) -> None:
        await running(world, node, 1)
        await passes(node, 60)
        await passes(node, 60)
        await running(world, node, 3)
        assert node.beats.records[f"{world.folder}/api/HEARTBEAT.md"].plan.running == 3
        await end(node)
        assert node.beats.records[f"{world.folder}/api/HEARTBEAT.md"].plan.running == 0

    world.live(work)


def test_the_limit_holds_and_can_be_raised_while_runs_wait(world: World) -> None:
    for number in range(5):
        world.beat(f"w{number}", interval="1h")
    world.agent.wish(seconds=LONG)

    async def work(node: Living) -> None:
        await running(world, node, 2)
        assert len(node.beats.queued) == 3
        shown = await answers.beat_list(node.beats, node.clock.time())
        assert sorted(item["state"] for item in shown["items"]) == ["queued"] * 3 + ["running"] * 2
        node.settings["beats.max_concurrent"] = 4
        await passes(node, 10)
        await running(world, node, 4)
        node.settings["beats.max_concurrent"] = 1
        world.agent.wish()
        await end(node)
        assert len(await node.runs()) == 5

    world.live(work, max_concurrent=2)


def test_a_run_by_hand_comes_before_those_that_wait(world: World) -> None:
    for name in ("one", "two", "three"):
        world.beat(name, interval="1h")
    world.agent.wish(seconds=LONG)

    async def work(node: Living) -> None:
        await running(world, node, 1)
        wanted = await node.beats.run_now(node.beats.catalog.beats["three"], verbose=False)
        assert node.beats.queued[0] == wanted
        world.agent.wish()
        await end(node)
        assert world.agent.starts[1] == wanted.id

    world.live(work, max_concurrent=1)


# Pausing, and what changes meanwhile.


def test_a_pause_also_holds_for_a_run_that_waits(world: World) -> None:
    world.beat("one", interval="1h")
    world.beat("two", interval="1h")
    world.agent.wish(seconds=LONG)

    async def work(node: Living) -> None:
        await running(world, node, 1)
        waits = node.beats.queued[0].beat
        await node.beats.pause(node.beats.catalog.beats[waits])
        assert not node.beats.queued
        await end(node)
        (gone,) = [run for run in await node.runs() if run.beat == waits]
        assert (gone.state, gone.outcome, gone.error_kind, gone.error) == (
            "done",
            None,
            "withdrawn",
            "it was not begun: the beat was paused",
        )
        assert gone.file not in node.beats.latest, "what was never begun is no last run"
        assert [line["beat"] for line in world.log] != [gone.beat], "nor a heartbeat"
        assert len(world.agent.starts) == 1
        record = node.beats.records[gone.file]
        assert (record.plan.paused, record.plan.running, record.reason) == (True, 0, "paused by hand")

    world.live(work, max_concurrent=1)


def test_a_pause_while_the_budget_is_looked_up_is_not_lost(world: World) -> None:
    world.beat("api", "budget: {day: 5}")

    async def work(node: Living) -> None:
        await node.rest()
        beat = node.beats.catalog.beats["api"]
        due = asyncio.create_task(node.beats._decide(beat, node.clock.time() + 60))
        await asyncio.sleep(0)  # it waits for the database now
        assert not due.done()
        await asyncio.gather(node.beats.pause(beat), due)
        assert node.beats.records[beat.file].plan.paused
        assert not node.beats.queued
        assert len(await node.runs()) == 1

    world.live(work)


def test_a_run_is_queued_even_if_its_caller_is_cancelled(world: World) -> None:
    world.beat("api", interval="1h")

    async def work(node: Living) -> None:
        await node.rest()
        asked = asyncio.create_task(node.beats.run_now(node.beats.catalog.beats["api"], verbose=False))
        await asyncio.sleep(0)
        asked.cancel()
        await node.until(lambda: bool(node.beats.queued) or bool(node.beats.running) or len(world.agent.starts) == 2)
        await passes(node, 10)
        await node.rest()
        assert [run.state for run in await node.runs()] == ["done", "done"]

    world.live(work)


@pytest.mark.parametrize("what", ["removed", "broken", "renamed", "gone"])
def test_a_beat_that_changes_while_it_runs_is_concluded_all_the_same(world: World, what: str) -> None:
    workspace = world.beat("api")
    world.agent.wish(seconds=LONG)

    async def work(node: Living) -> None:
        await running(world, node, 1)
        if what == "removed":
            node.settings["beats.workspace"] = []
        elif what == "broken":
            (workspace / "HEARTBEAT.md").write_text("---\ninterval: never\n---\nLook.\n")
        elif what == "renamed":
            world.beat("api", "name: other")
        else:
            shutil.rmtree(workspace)
        await passes(node, 10)
        assert ("api" in node.beats.catalog.beats) is False
        await end(node)
        run, *others = await node.runs()
        assert [other.error_kind for other in others] == (["prompt_missing"] if what == "gone" else [])
        assert (run.beat, run.outcome) == ("api", "error")
        assert node.beats.records[run.file].plan.running == 0
        assert [line["run"] for line in world.log] == [run.id, *(other.id for other in others)]
        asked = await about(node, "asked", "beat-broken:")
        assert len(asked) == (what in {"broken", "gone"})

    world.live(work)


def test_what_is_mended_while_no_daemon_runs_is_settled_by_the_next(world: World) -> None:
    workspace = world.beat("api")
    (workspace / "HEARTBEAT.md").write_text("---\ninterval: never\n---\nLook.\n")

    async def broken(node: Living) -> None:
        await passes(node, 10)
        assert await about(node, "asked", "beat-broken:") == ["api cannot run"]

    async def still(node: Living) -> None:
        assert len(await about(node, "asked", "beat-broken:")) == 1, "nobody is told twice"
        world.beat("api")
        await node.advance(10)
        assert await about(node, "settled", "beat-broken:") == ["it is well again"]

    world.live(broken)
    world.live(still)


# What a run finds.


def test_attention_stays_open_while_nothing_changes_and_is_settled_by_ok(world: World) -> None:
    workspace = world.beat("api", 'probe: "cat state; test ! -s state"')
    (workspace / "state").write_text("broken\n")
    world.agent.wish(says="ATTENTION: it is broken")

    async def work(node: Living) -> None:
        await node.rest()
        assert await about(node, "asked", "beat:") == ["api: it is broken"]
        await node.advance(60)
        look, still = await node.runs()
        assert (still.probe, still.outcome, still.summary, still.looked_at) == (
            "unchanged",
            "attention",
            "it is broken",
            look.ended_at,
        )
        assert node.beats.records[still.file].streak == 2
        assert await about(node, "settled", "beat:") == []
        assert len(await about(node, "asked", "beat:")) == 1, "nobody is told again of what has not changed"
        (workspace / "state").write_text("")
        await node.advance(60)
        assert (await node.runs())[-1].probe == "ok"
        assert await about(node, "settled", "beat:") == ["the last run was ok"]
        await node.advance(60)
        assert len(await about(node, "settled", "beat:")) == 1
        (workspace / "state").write_text("broken\n")
        await node.advance(60)
        assert (await node.runs())[-1].probe == "needed", "the same fault again is news"

    world.live(work)


def test_parallel_runs_that_end_well_settle_the_attention_item(world: World) -> None:
    world.beat("api", "overlap: parallel")
    world.agent.wish(says="ATTENTION: it is broken")

    async def work(node: Living) -> None:
        await node.rest()
        world.agent.wish()
        beat = node.beats.catalog.beats["api"]
        await asyncio.gather(*(node.beats.run_now(beat, verbose=False) for _ in range(4)))
        await node.until(lambda: len(world.agent.starts) == 5)
        await node.rest()
        assert await about(node, "settled", "beat:") == ["the last run was ok"]

    world.live(work)


def test_events_of_a_run_come_in_order(world: World) -> None:
    world.beat("api")

    async def work(node: Living) -> None:
        await node.rest()
        kinds = [event.kind for event in await node.published() if event.kind.startswith("beat.")]
        assert kinds == ["beat.queued", "beat.started", "beat.step", "beat.finished"]

    world.live(work)


def test_a_beat_that_notifies_never_asks_for_no_attention(world: World) -> None:
    world.beat("api", "notify: never")
    world.agent.wish(says="ATTENTION: it is broken")

    async def work(node: Living) -> None:
        await node.rest()
        assert (await node.runs())[0].outcome == "attention"
        assert await node.published("attention") == []

    world.live(work)


# Errors.


def test_a_program_that_is_missing_is_an_error_of_its_own_and_is_backed_off_from(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.beat("api")
    monkeypatch.setenv("PATH", "/nowhere")

    async def work(node: Living) -> None:
        await node.rest()
        for _ in range(10):
            await node.advance(60)
        runs = await node.runs()
        assert {run.error_kind for run in runs} == {"agent_missing"}
        assert len(runs) == 4, "at once, after one period, after two more and after four more"
        assert node.beats.records[runs[0].file].reason.startswith("agent missing: claude is not installed")

    world.live(work)


@pytest.mark.parametrize("what", ["file", "workspace"])
def test_a_run_whose_instructions_have_gone_while_it_waited_is_an_error(world: World, what: str) -> None:
    world.beat("one", interval="1h")
    world.beat("two", interval="1h")
    world.agent.wish(seconds=LONG)

    async def work(node: Living) -> None:
        await running(world, node, 1)
        waits = node.beats.queued[0]
        if what == "file":
            os.unlink(waits.file)  # noqa: PTH108 - a text
        else:
            shutil.rmtree(waits.workspace)
        await end(node)
        (run,) = [run for run in await node.runs() if run.id == waits.id]
        assert run.error_kind == "prompt_missing"

    world.live(work, max_concurrent=1)


@pytest.mark.parametrize("what", ["file", "workspace"])
def test_a_heartbeat_whose_file_is_missing_is_an_error_in_the_log_each_time_it_goes_away(
    world: World, what: str
) -> None:
    workspace = world.beat("api")
    file = workspace / "HEARTBEAT.md"

    async def work(node: Living) -> None:
        await node.rest()
        for round_ in (1, 2):
            if what == "file":
                file.unlink()
            else:
                shutil.rmtree(workspace)
            for _ in range(3):
                await node.advance(10)
            missing = [line for line in world.log if line["outcome"] == "error"]
            assert [line["errorKind"] for line in missing] == ["prompt_missing"] * round_
            assert "not" in missing[-1]["error"]
            assert (await node.runs())[-1].error_kind == "prompt_missing"
            assert await about(node, "asked", "beat:") == [], "that the beat is broken is the matter"
            assert len(await about(node, "asked", "beat-broken:")) == round_
            world.beat("api")
            await node.advance(60)
            assert (await node.runs())[-1].outcome == "ok", "it runs again as soon as the file is back"

    world.live(work)


def test_a_workspace_that_never_had_a_heartbeat_is_an_error_in_the_log_once(world: World) -> None:
    world.workspaces.append(world.folder / "empty")
    world.workspaces[0].mkdir()

    async def work(node: Living) -> None:
        await node.rest()
        await node.advance(60)

    world.live(work)
    world.live(work)
    (line,) = world.log
    assert (line["outcome"], line["errorKind"], line["workspace"]) == (
        "error",
        "prompt_missing",
        str(world.workspaces[0]),
    )


def test_a_rate_limit_parks_the_beat_until_the_reset(world: World) -> None:
    world.beat("api")
    clock = ManualClock(1_800_000_000.0)
    limit = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 1_800_003_600}}
    result = {"type": "result", "is_error": True, "api_error_status": 429, "result": "no"}
    (world.agent.folder / "claude").write_text(
        f"#!/bin/sh\necho x >> {world.folder}/bin/starts\n"
        f"echo '{json.dumps(limit)}'\necho '{json.dumps(result)}'\nexit 1\n"
    )

    async def work(node: Living) -> None:
        await node.rest()
        (item,) = (await answers.beat_list(node.beats, clock.time()))["items"]
        assert (item["state"], item["reason"], item["next_at"]) == (
            "parked",
            "rate limit: no",
            "2027-01-15T09:00:00.000Z",
        )
        for _ in range(59):
            await node.advance(60)
        assert len(world.agent.starts) == 1
        await node.advance(60)
        assert len(world.agent.starts) == 2

    world.live(work, clock)


# Money.


def test_a_run_over_its_budget_pauses_the_beat_and_somebody_is_told_until_it_is_resumed(world: World) -> None:
    world.beat("api", "budget: {run: 0.2}\nnotify: never")

    async def work(node: Living) -> None:
        await node.rest()
        await node.advance(60)
        (run,) = await node.runs()
        assert (run.outcome, run.error_kind, run.cost_usd) == ("error", "budget", 0.25)
        assert await about(node, "asked", "") == ["api: a run went over its budget ($0.2)"]
        world.agent.wish(cost=0.1)
        await node.beats.resume(node.beats.catalog.beats["api"])
        await node.advance(60)
        assert [run.outcome for run in await node.runs()] == ["error", "ok"]
        assert await about(node, "settled", "beat-budget:") == ["it is well again"]

    world.live(work)


@pytest.mark.parametrize("ends", ["hangs", "dies"])
@pytest.mark.parametrize("budget", ["day: 0.01", "month: 0.01", "run: 0.01", "day: 0.01, run: 0.01"])
def test_a_run_that_ends_before_it_tells_its_cost_counts_against_a_dollar_budget(
    world: World, ends: str, budget: str
) -> None:
    world.beat("api", f"budget: {{{budget}}}\ntimeout: 1s")
    world.agent.wish(streams=24_000_000, seconds=LONG if ends == "hangs" else 0, dies=True)

    async def work(node: Living) -> None:
        await node.rest()
        for _ in range(3):
            await node.advance(60)
        (run,) = await node.runs()
        assert (run.error_kind, run.cost_usd, run.cost_estimated) == (
            "timeout" if ends == "hangs" else "crash",
            360.0,
            True,
        )
        (item,) = (await answers.beat_list(node.beats, node.clock.time()))["items"]
        assert item["state"] == "paused"
        assert world.log[0]["costEstimated"]

    world.live(work)


def test_tokens_of_a_run_that_dies_count_at_the_price_of_the_runs_before(world: World) -> None:
    world.beat("api", "budget: {day: 5}")

    async def work(node: Living) -> None:
        await node.rest()
        world.agent.wish(streams=1200, dies=True)
        await node.advance(60)
        first, second = await node.runs()
        assert (first.cost_usd, first.tokens, first.cost_estimated) == (0.25, 120, False)
        assert second.cost_usd == pytest.approx(2.5)
        assert (second.tokens, second.cost_estimated) == (1200, True)
        third = await node.beats.ledger.prices(first.spec)
        assert third.usd_per_token == pytest.approx(0.25 / 120), "an estimate is no price to go by"

    world.live(work)


def test_resuming_counts_from_now(world: World) -> None:
    world.beat("api", "budget: {day: 0.5}")

    async def work(node: Living) -> None:
        await node.rest()
        for _ in range(3):
            await node.advance(60)
        assert len(world.agent.starts) == 2
        (item,) = (await answers.beat_list(node.beats, node.clock.time()))["items"]
        assert (item["state"], item["reason"]) == ("paused", "daily budget reached: $0.5 of $0.5")
        node.clock.set_wall(node.clock.time() + DAY_S)  # what is spent from here on is measured by the real clock
        await passes(node, 10)
        await node.rest()
        assert len(world.agent.starts) == 3, "a new day has a new budget"
        assert await about(node, "settled", "beat-budget:") == ["it is well again"]

    world.live(work)


def test_a_budget_for_all_is_one_alert_however_many_beats_it_stops(world: World) -> None:
    for number in range(3):
        world.beat(f"w{number}")

    async def work(node: Living) -> None:
        await node.rest()
        await node.advance(60)
        await node.advance(60)
        assert len(world.agent.starts) == 2, "the third waited, and was not begun when the others had spent it all"
        assert await about(node, "asked", "") == ["all beats together: daily budget reached: $0.5 of $0.5"]
        refused = [run for run in await node.runs() if run.error_kind == "withdrawn"]
        assert [run.error for run in refused] == [
            "it was not begun: all beats together: daily budget reached: $0.5 of $0.5"
        ]
        node.settings["beats.day_usd"] = 100.0
        await node.advance(60)
        assert len(world.agent.starts) == 5, "a budget that was raised is enough"
        assert await about(node, "settled", "beats-budget") == ["it is well again"]

    world.live(work, max_concurrent=1, day_usd=0.5)


def test_resuming_lets_beats_run_on_though_the_budget_for_all_is_used_up(world: World) -> None:
    world.beat("one")
    world.beat("two")

    async def work(node: Living) -> None:
        await node.rest()
        await node.advance(60)
        assert len(world.agent.starts) == 2
        node.clock.set_wall(time.time())  # runs are dated by the real clock
        for beat in list(node.beats.catalog.beats.values()):
            await node.beats.resume(beat)
        await node.advance(120)
        assert len(world.agent.starts) == 4

    world.live(work, ManualClock(time.time() - 300), day_usd=0.5)


def test_a_budget_that_is_raised_in_the_file_lets_the_beat_go_on(world: World) -> None:
    world.beat("api", "budget: {day: 0.25}")

    async def work(node: Living) -> None:
        await node.rest()
        await node.advance(60)
        assert len(world.agent.starts) == 1
        world.beat("api", "budget: {day: 5}")
        await node.advance(10)
        assert len(world.agent.starts) == 2

    world.live(work)


# The clock, and what is late.


def test_a_clock_that_jumps_ahead_makes_one_run_and_one_that_jumps_back_none(world: World) -> None:
    world.beat("api")

    async def work(node: Living) -> None:
        await node.rest()
        node.clock.set_wall(node.clock.time() + 7200)
        await node.advance(10)
        assert [run.missed for run in await node.runs()] == [0, 119]
        node.clock.set_wall(node.clock.time() - 3600)
        await node.advance(10)
        assert len(await node.runs()) == 2, "no time of the schedule comes twice"

    world.live(work)


@pytest.mark.parametrize("days", [1, 1000])
def test_a_clock_that_was_ahead_does_not_silence_a_beat(
    world: World, caplog: pytest.LogCaptureFixture, days: int
) -> None:
    world.beat("api")

    async def work(node: Living) -> None:
        await node.rest()
        node.clock.set_wall(node.clock.time() + days * DAY_S)
        await node.advance(10)
        node.clock.set_wall(node.clock.time() - days * DAY_S)
        await node.advance(10)
        assert [record.message for record in caplog.records if "clock" in record.message] == [
            "the clock was set back: the beat is scheduled anew from now"
        ]
        before = len(await node.runs())
        await node.advance(60)
        assert len(await node.runs()) == before + 1

    world.live(work)


def test_a_beat_that_waits_too_long_is_late_and_somebody_is_told(world: World) -> None:
    world.beat("one", interval="1m")
    world.beat("two", interval="1m")
    world.agent.wish(seconds=LONG)

    async def work(node: Living) -> None:
        await running(world, node, 1)
        waits = node.beats.queued[0].beat
        assert node.beats.late() == {}
        for _ in range(7):
            await passes(node, 60)
        assert list(node.beats.late()) == [waits]
        late = {
            item["name"]: item["late_s"] for item in (await answers.beat_list(node.beats, node.clock.time()))["items"]
        }
        assert late[waits] == 420.0
        assert await about(node, "asked", "beat-late:") == [f"{waits} should have run and has not"]
        world.agent.wish()
        await end(node)
        await passes(node, 10)
        assert node.beats.late() == {}
        assert await about(node, "settled", "beat-late:") == ["it is well again"]

    world.live(work, max_concurrent=1)


# Ends and beginnings.


def test_a_daemon_that_stops_ends_what_runs_and_leaves_what_waits_to_the_next(world: World) -> None:
    world.beat("one", interval="1h")
    world.beat("two", interval="1h")
    world.agent.wish(seconds=LONG)

    async def first(node: Living) -> None:
        await running(world, node, 1)
        assert len(node.beats.queued) == 1

    async def second(node: Living) -> None:
        await node.rest()
        assert [(run.outcome, run.error_kind) for run in await node.runs()] == [("error", "interrupted"), ("ok", "")]

    world.live(first, max_concurrent=1)
    world.agent.wish()
    world.live(second)
    assert len(world.agent.starts) == 2
    assert len(world.log) == 2


def test_a_log_that_cannot_be_written_keeps_no_beat_from_running_and_is_made_up_for(world: World) -> None:
    world.beat("api")
    (world.folder / "beats" / "heartbeats.jsonl").mkdir(parents=True)

    async def first(node: Living) -> None:
        await node.rest()
        await node.advance(60)
        assert [run.outcome for run in await node.runs()] == ["ok", "ok"]

    async def second(node: Living) -> None:
        await node.rest()

    world.live(first)
    world.live(second)  # it still cannot
    (world.folder / "beats" / "heartbeats.jsonl").rmdir()
    world.live(second)
    assert len({line["run"] for line in world.log}) == len(world.log) >= 2


def test_what_lies_about_in_the_folder_of_runs_keeps_no_daemon_from_starting(world: World) -> None:
    world.beat("api")
    runs = world.folder / "beats" / "runs"
    (runs / "01BROKEN").mkdir(parents=True)
    (runs / "01BROKEN" / "hand.json").write_text('{"run": {"run": 5}}')
    (runs / "file").write_text("x")
    (runs / "01SOMEBODYS").mkdir()

    async def work(node: Living) -> None:
        await node.rest()

    world.live(work)
    assert sorted(path.name for path in runs.iterdir()) == ["01SOMEBODYS", "file"]


def test_a_run_that_cannot_be_prepared_is_an_error_and_the_beat_runs_on(world: World) -> None:
    world.beat("api")
    runs = world.folder / "beats" / "runs"

    async def work(node: Living) -> None:
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

    world.live(work)


def test_a_database_that_cannot_be_written_for_a_while_loses_no_run_and_stops_no_beat(world: World) -> None:
    world.beat("api")
    world.agent.wish(seconds=LONG)

    async def work(node: Living) -> None:
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

    world.live(work)


def test_a_start_that_cannot_be_stored_does_not_happen_and_comes_later(world: World) -> None:
    world.beat("api")

    async def work(node: Living) -> None:
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

    world.live(work)


# The background task.


def test_a_tick_that_raises_is_counted_and_the_scheduler_goes_on(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    world.beat("api")

    async def work(node: Living) -> None:
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

    world.live(work)
    assert [record.message for record in caplog.records].count("a background task failed") == 2


def test_a_step_that_cannot_be_published_is_counted_and_later_ones_are_published(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.beat("api")

    async def work(node: Living) -> None:
        await node.rest()
        append = node.events.append

        async def fail_once(kind: str, **event: Any) -> Event:
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

    world.live(work)


def test_a_run_that_cannot_be_recorded_is_counted_and_recorded_by_the_next_daemon(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.beat("api")

    async def broken(node: Living) -> None:
        async def fail(*_: object) -> None:
            raise RuntimeError("a defect")

        await running(world, node, 1)
        monkeypatch.setattr(node.beats.ledger, "finish", fail)
        world.agent.let_go()
        await node.until(lambda: not node.beats.running)
        await node.until(lambda: 'covey_task_failures_total{task="beat run"} 1' in node.metrics.text())

    async def mended(node: Living) -> None:
        await node.rest()
        assert [run.outcome for run in await node.runs()] == ["ok"]

    world.agent.wish(waits=True)
    world.live(broken)
    world.live(mended)
