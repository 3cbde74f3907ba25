"""The scheduler on a clock that a test moves, with real runs of a pretended agent."""

from __future__ import annotations

import asyncio
import shutil

import pytest

from covey.beats import answers
from tests.covey.beats.driving import LONG, about, end, passes, running
from tests.covey.beats.living import DAY_S
from tests.covey.beats.world import World

# Overlap and the limit.


async def test_a_beat_that_still_runs_is_skipped(world: World) -> None:
    world.beat("api")
    world.agent.wish(seconds=LONG)
    async with world.living() as node:
        await running(world, node, 1)
        for _ in range(3):
            await passes(node, 60)
        assert len(node.beats.running) == 1
        record = node.beats.records[f"{world.folder}/api/HEARTBEAT.md"]
        assert (record.skipped, record.plan.running) == (3, 1)
        assert [event.data["why"] for event in await node.published("beat.skipped")] == ["overlap"] * 3
        await end(node)
        assert len(await node.runs()) == 1


async def test_a_beat_that_still_runs_queues_one_more_run_with_overlap_queue(world: World) -> None:
    world.beat("api", "overlap: queue")
    world.agent.wish(seconds=LONG)
    async with world.living() as node:
        await running(world, node, 1)
        for _ in range(3):
            await passes(node, 60)
        world.agent.wish()
        await end(node)
        runs = await node.runs()
        assert [run.missed for run in runs] == [0, 2], "what was missed is one run"


async def test_a_beat_runs_beside_itself_with_overlap_parallel(world: World) -> None:
    world.beat("api", "overlap: parallel")
    world.agent.wish(seconds=LONG)
    async with world.living() as node:
        await running(world, node, 1)
        await passes(node, 60)
        await passes(node, 60)
        await running(world, node, 3)
        assert node.beats.records[f"{world.folder}/api/HEARTBEAT.md"].plan.running == 3
        await end(node)
        assert node.beats.records[f"{world.folder}/api/HEARTBEAT.md"].plan.running == 0


async def test_the_limit_holds_and_can_be_raised_while_runs_wait(world: World) -> None:
    for number in range(5):
        world.beat(f"w{number}", interval="1h")
    world.agent.wish(seconds=LONG)
    async with world.living(max_concurrent=2) as node:
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


async def test_a_run_by_hand_comes_before_those_that_wait(world: World) -> None:
    for name in ("one", "two", "three"):
        world.beat(name, interval="1h")
    world.agent.wish(seconds=LONG)
    async with world.living(max_concurrent=1) as node:
        await running(world, node, 1)
        wanted = await node.beats.run_now(node.beats.catalog.beats["three"], verbose=False)
        assert node.beats.queued[0] == wanted
        world.agent.wish()
        await end(node)
        assert world.agent.starts[1] == wanted.id


# Pausing, and what changes meanwhile.


async def test_a_pause_also_holds_for_a_run_that_waits(world: World) -> None:
    world.beat("one", interval="1h")
    world.beat("two", interval="1h")
    world.agent.wish(seconds=LONG)
    async with world.living(max_concurrent=1) as node:
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


async def test_a_pause_while_the_budget_is_looked_up_is_not_lost(world: World) -> None:
    world.beat("api", "budget: {day: 5}")
    async with world.living() as node:
        await node.rest()
        beat = node.beats.catalog.beats["api"]
        due = asyncio.create_task(node.beats._decide(beat, node.clock.time() + 60))
        await asyncio.sleep(0)  # it waits for the database now
        assert not due.done()
        await asyncio.gather(node.beats.pause(beat), due)
        assert node.beats.records[beat.file].plan.paused
        assert not node.beats.queued
        assert len(await node.runs()) == 1


async def test_a_run_is_queued_even_if_its_caller_is_cancelled(world: World) -> None:
    world.beat("api", interval="1h")
    async with world.living() as node:
        await node.rest()
        asked = asyncio.create_task(node.beats.run_now(node.beats.catalog.beats["api"], verbose=False))
        await asyncio.sleep(0)
        asked.cancel()
        await node.until(lambda: bool(node.beats.queued) or bool(node.beats.running) or len(world.agent.starts) == 2)
        await passes(node, 10)
        await node.rest()
        assert [run.state for run in await node.runs()] == ["done", "done"]


@pytest.mark.parametrize("what", ["removed", "broken", "renamed", "gone"])
async def test_a_beat_that_changes_while_it_runs_is_concluded_all_the_same(world: World, what: str) -> None:
    workspace = world.beat("api")
    world.agent.wish(seconds=LONG)
    async with world.living() as node:
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


async def test_what_is_mended_while_no_daemon_runs_is_settled_by_the_next(world: World) -> None:
    workspace = world.beat("api")
    (workspace / "HEARTBEAT.md").write_text("---\ninterval: never\n---\nLook.\n")
    async with world.living() as node:
        await passes(node, 10)
        assert await about(node, "asked", "beat-broken:") == ["api cannot run"]
    async with world.living() as node:
        assert len(await about(node, "asked", "beat-broken:")) == 1, "nobody is told twice"
        world.beat("api")
        await node.advance(10)
        assert await about(node, "settled", "beat-broken:") == ["it is well again"]


# The clock, and what is late.


async def test_a_clock_that_jumps_ahead_makes_one_run_and_one_that_jumps_back_none(world: World) -> None:
    world.beat("api")
    async with world.living() as node:
        await node.rest()
        node.clock.set_wall(node.clock.time() + 7200)
        await node.advance(10)
        assert [run.missed for run in await node.runs()] == [0, 119]
        node.clock.set_wall(node.clock.time() - 3600)
        await node.advance(10)
        assert len(await node.runs()) == 2, "no time of the schedule comes twice"


@pytest.mark.parametrize("days", [1, 1000])
async def test_a_clock_that_was_ahead_does_not_silence_a_beat(
    world: World, caplog: pytest.LogCaptureFixture, days: int
) -> None:
    world.beat("api")
    async with world.living() as node:
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


async def test_a_beat_that_waits_too_long_is_late_and_somebody_is_told(world: World) -> None:
    world.beat("one", interval="1m")
    world.beat("two", interval="1m")
    world.agent.wish(seconds=LONG)
    async with world.living(max_concurrent=1) as node:
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
