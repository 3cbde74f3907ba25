"""Beats are cheap: an unchanged probe makes no call to the model, and a budget stops at the right run. Real Claude."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from lab.headless import Headless, headless
from tests.covey.beats.living import living
from tests.covey.beats.real import PROMPT, needs, real

pytestmark = needs("claude")

COST = 0.0006
"""Of one answer of the scripted model, as Claude reckons."""


def workspace(lab: Headless, head: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace whose agent finds its scripted model in the environment."""
    place, environment = lab.setup(real("claude"), "it", {PROMPT: ["say HEARTBEAT_OK"]})
    (place.project / "HEARTBEAT.md").write_text(f"---\ninterval: 10s\n{head}\n---\nLook.\n")
    for variable in os.environ:
        monkeypatch.delenv(variable)
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    return place.project


@pytest.mark.parametrize("probe", ["{command: cat state, when: changed}", '"cat state; test ! -s state"'])
async def test_twenty_unchanged_intervals_make_no_call_to_the_model(
    probe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with headless(tmp_path / "lab") as lab:
        folder = workspace(lab, f"probe: {probe}", monkeypatch)
        (folder / "state").write_text("two things are broken\n")
        async with living(tmp_path, folder) as node:
            await node.rest()
            assert len(lab.requests("it")) == 1, "the first time there is something to look at"
            for _ in range(20):
                await node.advance(10)
            assert len(lab.requests("it")) == 1, "then there is not"
            (folder / "state").write_text("three things are broken\n")
            await node.advance(10)
            assert len(lab.requests("it")) == 2, "until something changes"
            runs = await node.runs()
            assert [(run.outcome, run.probe) for run in runs] == [
                ("ok", "needed"),
                *[("ok", "unchanged")] * 20,
                ("ok", "needed"),
            ]
            assert sum(run.cost_usd or 0 for run in runs) == pytest.approx(2 * COST)


async def test_a_probe_that_succeeds_makes_no_call_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with headless(tmp_path / "lab") as lab:
        folder = workspace(lab, "probe: test -d .", monkeypatch)
        async with living(tmp_path, folder) as node:
            await node.rest()
            for _ in range(3):
                await node.advance(10)
            assert lab.requests("it") == []
            lines = [json.loads(line) for line in node.log.path.read_text().splitlines()]
            assert [(line["outcome"], line["probe"]) for line in lines] == [("ok", "ok")] * 4


async def test_a_daily_budget_stops_at_the_right_run_and_the_next_day_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with headless(tmp_path / "lab") as lab:
        folder = workspace(lab, "tz: UTC\nbudget: {day: 0.002}", monkeypatch)
        async with living(tmp_path, folder) as node:
            await node.rest()
            for _ in range(6):
                await node.advance(10)
            # Three runs cost 0.0018 and are below 0.002; the fourth goes over it, and there is no fifth.
            assert len(lab.requests("it")) == 4
            asked = await node.published("attention.asked")
            assert [event.data["title"] for event in asked] == ["project: daily budget reached: $0.0024 of $0.002"]
            record = node.beats.records[str(folder / "HEARTBEAT.md")]
            assert (record.plan.parked_until or 0) - node.clock.time() <= 86_400
            await node.advance(86_400)
            assert len(lab.requests("it")) == 5


async def test_all_beats_together_have_a_budget_and_a_person_may_let_one_run_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with headless(tmp_path / "lab") as lab:
        folder = workspace(lab, "", monkeypatch)
        async with living(tmp_path, folder, day_usd=1.5 * COST) as node:
            await node.rest()
            for _ in range(4):
                await node.advance(10)
            assert len(lab.requests("it")) == 2
            (asked,) = await node.published("attention.asked")
            assert asked.data["title"] == "all beats together: daily budget reached: $0.0012 of $0.0009"
            node.settings["beats.day_usd"] = 0.0
            await node.beats.resume(node.beats.catalog.beats["project"])
            await node.advance(10)
            assert len(lab.requests("it")) == 3


async def test_a_run_that_goes_over_its_budget_is_ended_and_pauses_the_beat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with headless(tmp_path / "lab") as lab:
        folder = workspace(lab, "budget: {run: 0.001}", monkeypatch)
        lab.script(real("claude"), "it", {PROMPT: ["shell echo 1", "shell echo 2", "say HEARTBEAT_OK"]})
        async with living(tmp_path, folder) as node:
            await node.rest()
            (run,) = await node.runs()
            assert (run.outcome, run.error_kind) == ("error", "budget")
            await node.advance(100)
            assert len(await node.runs()) == 1
            assert node.beats.records[run.file].reason == "a run went over its budget ($0.001)"
