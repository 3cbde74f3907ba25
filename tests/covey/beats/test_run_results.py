"""How runs end: attention, errors and the log, with real runs of a pretended agent."""

from __future__ import annotations

import asyncio
import json
import os
import shutil

import pytest

from covey.beats import answers
from covey.kernel.clock import ManualClock
from tests.covey.beats.driving import LONG, about, end, running
from tests.covey.beats.world import World

# What a run finds.


async def test_attention_stays_open_while_nothing_changes_and_is_settled_by_ok(world: World) -> None:
    workspace = world.beat("api", 'probe: "cat state; test ! -s state"')
    (workspace / "state").write_text("broken\n")
    world.agent.wish(says="ATTENTION: it is broken")
    async with world.living() as node:
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


async def test_parallel_runs_that_end_well_settle_the_attention_item(world: World) -> None:
    world.beat("api", "overlap: parallel")
    world.agent.wish(says="ATTENTION: it is broken")
    async with world.living() as node:
        await node.rest()
        world.agent.wish()
        beat = node.beats.catalog.beats["api"]
        await asyncio.gather(*(node.beats.run_now(beat, verbose=False) for _ in range(4)))
        await node.until(lambda: len(world.agent.starts) == 5)
        await node.rest()
        assert await about(node, "settled", "beat:") == ["the last run was ok"]


async def test_events_of_a_run_come_in_order(world: World) -> None:
    world.beat("api")
    async with world.living() as node:
        await node.rest()
        kinds = [event.kind for event in await node.published() if event.kind.startswith("beat.")]
        assert kinds == ["beat.queued", "beat.started", "beat.step", "beat.finished"]


async def test_a_beat_that_notifies_never_asks_for_no_attention(world: World) -> None:
    world.beat("api", "notify: never")
    world.agent.wish(says="ATTENTION: it is broken")
    async with world.living() as node:
        await node.rest()
        assert (await node.runs())[0].outcome == "attention"
        assert await node.published("attention") == []


# Errors.


async def test_a_program_that_is_missing_is_an_error_of_its_own_and_is_backed_off_from(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.beat("api")
    monkeypatch.setenv("PATH", "/nowhere")
    async with world.living() as node:
        await node.rest()
        for _ in range(10):
            await node.advance(60)
        runs = await node.runs()
        assert {run.error_kind for run in runs} == {"agent_missing"}
        assert len(runs) == 4, "at once, after one period, after two more and after four more"
        assert node.beats.records[runs[0].file].reason.startswith("agent missing: claude is not installed")


@pytest.mark.parametrize("what", ["file", "workspace"])
async def test_a_run_whose_instructions_have_gone_while_it_waited_is_an_error(world: World, what: str) -> None:
    world.beat("one", interval="1h")
    world.beat("two", interval="1h")
    world.agent.wish(seconds=LONG)
    async with world.living(max_concurrent=1) as node:
        await running(world, node, 1)
        waits = node.beats.queued[0]
        if what == "file":
            os.unlink(waits.file)  # noqa: PTH108 - a text
        else:
            shutil.rmtree(waits.workspace)
        await end(node)
        (run,) = [run for run in await node.runs() if run.id == waits.id]
        assert run.error_kind == "prompt_missing"


@pytest.mark.parametrize("what", ["file", "workspace"])
async def test_a_heartbeat_whose_file_is_missing_is_an_error_in_the_log_each_time_it_goes_away(
    world: World, what: str
) -> None:
    workspace = world.beat("api")
    file = workspace / "HEARTBEAT.md"
    async with world.living() as node:
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


async def test_a_workspace_that_never_had_a_heartbeat_is_an_error_in_the_log_once(world: World) -> None:
    world.workspaces.append(world.folder / "empty")
    world.workspaces[0].mkdir()
    for _ in range(2):
        async with world.living() as node:
            await node.rest()
            await node.advance(60)
    (line,) = world.log
    assert (line["outcome"], line["errorKind"], line["workspace"]) == (
        "error",
        "prompt_missing",
        str(world.workspaces[0]),
    )


async def test_a_rate_limit_parks_the_beat_until_the_reset(world: World) -> None:
    world.beat("api")
    clock = ManualClock(1_800_000_000.0)
    limit = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 1_800_003_600}}
    result = {"type": "result", "is_error": True, "api_error_status": 429, "result": "no"}
    (world.agent.folder / "claude").write_text(
        f"#!/bin/sh\necho x >> {world.folder}/bin/starts\n"
        f"echo '{json.dumps(limit)}'\necho '{json.dumps(result)}'\nexit 1\n"
    )
    async with world.living(clock) as node:
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
