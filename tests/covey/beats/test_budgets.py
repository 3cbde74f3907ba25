"""Budgets of beats, with real runs of a pretended agent."""

from __future__ import annotations

import time

import pytest

from covey.beats import answers
from covey.kernel.clock import ManualClock
from tests.covey.beats.driving import LONG, about, passes
from tests.covey.beats.living import DAY_S
from tests.covey.beats.world import World


async def test_a_run_over_its_budget_pauses_the_beat_and_somebody_is_told_until_it_is_resumed(world: World) -> None:
    world.beat("api", "budget: {run: 0.2}\nnotify: never")
    async with world.living() as node:
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


@pytest.mark.parametrize("ends", ["hangs", "dies"])
@pytest.mark.parametrize("budget", ["day: 0.01", "month: 0.01", "run: 0.01", "day: 0.01, run: 0.01"])
async def test_a_run_that_ends_before_it_tells_its_cost_counts_against_a_dollar_budget(
    world: World, ends: str, budget: str
) -> None:
    world.beat("api", f"budget: {{{budget}}}\ntimeout: 1s")
    world.agent.wish(streams=24_000_000, seconds=LONG if ends == "hangs" else 0, dies=True)
    async with world.living() as node:
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


async def test_tokens_of_a_run_that_dies_count_at_the_price_of_the_runs_before(world: World) -> None:
    world.beat("api", "budget: {day: 5}")
    async with world.living() as node:
        await node.rest()
        world.agent.wish(streams=1200, dies=True)
        await node.advance(60)
        first, second = await node.runs()
        assert (first.cost_usd, first.tokens, first.cost_estimated) == (0.25, 120, False)
        assert second.cost_usd == pytest.approx(2.5)
        assert (second.tokens, second.cost_estimated) == (1200, True)
        third = await node.beats.ledger.prices(first.spec)
        assert third.usd_per_token == pytest.approx(0.25 / 120), "an estimate is no price to go by"


async def test_resuming_counts_from_now(world: World) -> None:
    world.beat("api", "budget: {day: 0.5}")
    async with world.living() as node:
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


async def test_a_budget_for_all_is_one_alert_however_many_beats_it_stops(world: World) -> None:
    for number in range(3):
        world.beat(f"w{number}")
    async with world.living(max_concurrent=1, day_usd=0.5) as node:
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


async def test_resuming_lets_beats_run_on_though_the_budget_for_all_is_used_up(world: World) -> None:
    world.beat("one")
    world.beat("two")
    async with world.living(ManualClock(time.time() - 300), day_usd=0.5) as node:
        await node.rest()
        await node.advance(60)
        assert len(world.agent.starts) == 2
        node.clock.set_wall(time.time())  # runs are dated by the real clock
        for beat in list(node.beats.catalog.beats.values()):
            await node.beats.resume(beat)
        await node.advance(120)
        assert len(world.agent.starts) == 4


async def test_a_budget_that_is_raised_in_the_file_lets_the_beat_go_on(world: World) -> None:
    world.beat("api", "budget: {day: 0.25}")
    async with world.living() as node:
        await node.rest()
        await node.advance(60)
        assert len(world.agent.starts) == 1
        world.beat("api", "budget: {day: 5}")
        await node.advance(10)
        assert len(world.agent.starts) == 2
