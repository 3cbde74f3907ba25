"""What is asked about the beats."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from covey.beats import answers
from covey.beats.beat import Beat, Cron, Interval
from covey.beats.lookup import find_beat
from covey.beats.records import Run
from murli import AgentError
from tests.covey.beats.living import Living, living
from tests.covey.beats.pretended import Pretended


@contextlib.asynccontextmanager
async def living_with(folder: Path, heads: dict[str, str]) -> AsyncIterator[Living]:
    """Beats whose files have these heads, after their first runs."""
    for name, head in heads.items():
        (folder / name).mkdir()
        (folder / name / "HEARTBEAT.md").write_text(f"---\n{head}\n---\nLook.\n")
    async with living(folder, *(folder / name for name in heads)) as node:
        await node.rest()
        yield node


@pytest.fixture(autouse=True)
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pretended:
    found = Pretended(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{found.folder}:{os.environ['PATH']}")
    return found


async def by_name(node: Living) -> dict[str, dict[str, Any]]:
    return {item["name"]: item for item in (await answers.beat_list(node.beats, node.clock.time()))["items"]}


async def test_the_list_tells_when_a_beat_runs_next_what_it_found_and_what_it_cost(tmp_path: Path) -> None:
    async with living_with(tmp_path, {"api": "interval: 1m\ntz: UTC\nbudget: {day: 2}"}) as node:
        await node.advance(60)
        item = (await by_name(node))["api"]
        assert (item["state"], item["schedule"], item["streak"], item["late_s"]) == ("scheduled", "every 1m", 2, None)
        assert item["last"]["outcome"] == "ok"
        assert item["today"] == item["month"] == {"runs": 2, "cost_usd": 0.5, "tokens": 240}
        assert item["budget"]["day_usd"] == 2.0
        assert item["next_at"]


async def test_what_cannot_run_is_listed_with_what_is_wrong(tmp_path: Path) -> None:
    async with living_with(tmp_path, {"good": "interval: 1h", "bad": "interval: never"}) as node:
        found = await answers.beat_list(node.beats, node.clock.time())
        assert [(item["name"], item["state"]) for item in found["items"]] == [("good", "scheduled"), ("bad", "broken")]
        assert [problem["file"] for problem in found["problems"]] == [f"{tmp_path}/bad/HEARTBEAT.md"]
        assert answers.summary(node.beats, node.clock.time())["by_state"] == {"scheduled": 1, "broken": 1}


async def test_a_paused_beat_says_why_and_has_no_next_time(tmp_path: Path) -> None:
    async with living_with(tmp_path, {"api": "interval: 1h"}) as node:
        beat = node.beats.catalog.beats["api"]
        await node.beats.pause(beat)
        item = (await by_name(node))["api"]
        assert (item["state"], item["reason"], item["next_at"]) == ("paused", "paused by hand", None)
        assert answers.summary(node.beats, node.clock.time()) == {
            "total": 1,
            "by_state": {"paused": 1},
            "reasons": ["paused by hand"],
            "next": None,
        }
        await node.beats.resume(beat)
        assert (await by_name(node))["api"]["state"] == "scheduled"
        assert answers.summary(node.beats, node.clock.time())["next"]["name"] == "api"


async def test_cost_tells_of_each_and_of_all(tmp_path: Path) -> None:
    async with living_with(tmp_path, {"one": "interval: 1h", "two": "interval: 1h"}) as node:
        found = await answers.cost(node.beats, node.clock.time(), {"day_usd": 5.0, "month_usd": 0.0})
        assert [(item["name"], item["total"]["cost_usd"]) for item in found["items"]] == [("one", 0.25), ("two", 0.25)]
        assert (found["total"]["cost_usd"], found["total"]["runs"]) == (0.5, 2)
        assert found["limits"] == {"day_usd": 5.0, "month_usd": 0.0}


async def test_a_folder_that_is_not_scheduled_counts_in_every_total(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "HEARTBEAT.md").write_text("Look.\n")
    async with living_with(tmp_path, {"one": "interval: 1h"}) as node:
        await node.beats.run_now(find_beat(str(other), None, [], str(tmp_path)), verbose=False)
        await node.rest()
        listed = await answers.beat_list(node.beats, node.clock.time())
        found = await answers.cost(node.beats, node.clock.time(), {"day_usd": 5.0, "month_usd": 0.0})
        assert (listed["today"], listed["month"]) == (found["today"], found["month"])
        assert found["today"]["cost_usd"] == 0.5
        assert sum(item["today"]["cost_usd"] for item in (*found["items"], found["others"])) == 0.5
        assert found["others"]["today"] == {"runs": 1, "cost_usd": 0.25, "tokens": 120}


def test_a_schedule_is_shown_in_words() -> None:
    beat = Beat(name="api", workspace="/w", file="/w/H", schedule=Interval(5400.0))
    assert answers.schedule_text(beat) == "every 1h30m"
    assert answers.schedule_text(replace(beat, schedule=Cron("0 9 * * *"))) == "cron 0 9 * * *"


def test_a_run_is_found_by_the_end_of_its_id_if_only_one_has_it() -> None:
    beat = Beat(name="api", workspace="/w", file="/w/H", schedule=Interval(60.0))
    one, two = (
        Run(id=run, file="", beat="api", workspace="/w", agent="claude", why="hand", spec=beat, queued_at=0.0)
        for run in ("01AX", "01BX")
    )
    assert answers.only_run([one], "AX") is one
    with pytest.raises(AgentError, match="there is no run"):
        answers.only_run([], "Z")
    with pytest.raises(AgentError) as several:
        answers.only_run([one, two], "X")
    assert several.value.valid_values == ["01AX", "01BX"]
