"""From the end of a run to what is written down about it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from covey.agents.headless.report import ErrorKind, Failure, Report, Turn, Usage
from covey.beats import planner
from covey.beats.beat import Beat, Budget, Interval
from covey.beats.conclusion import TURNS_BYTES, conclude, log_line, record_after, turns_to_json
from covey.beats.execution import Finished
from covey.beats.records import BeatRecord, Run
from covey.kernel.events.event import DATA_BYTES, encode

NOW = 1_800_000_000.0
BEAT = Beat(
    name="api", workspace="/src/api", file="/src/api/HEARTBEAT.md", schedule=Interval(60.0), budget=Budget(run_usd=0.5)
)
RUN = Run(
    id="01A",
    file=BEAT.file,
    beat="api",
    workspace=BEAT.workspace,
    agent="claude",
    why="schedule",
    spec=BEAT,
    queued_at=NOW,
    state="running",
)
RECORD = BeatRecord(
    file=BEAT.file,
    plan=planner.Plan(rhythm="", anchor=NOW, offset=0.0, running=1),
    outcome="ok",
    streak=3,
    probe_digest="old",
)


def over(text: str = "HEARTBEAT_OK", kind: ErrorKind | None = None, means: str = "", **failure: Any) -> Finished:
    report = Report(
        text=text,
        usage=Usage(cost_usd=0.25, tokens=10),
        failure=Failure(kind=kind, message="why", **failure) if kind else None,
    )
    probe = {"means": means, "digest": "new", "code": 1, "said": ""} if means else None
    return Finished(report=report, began=NOW, seconds=1.5, probe=probe)


def after(finished: Finished, record: BeatRecord = RECORD) -> BeatRecord:
    return record_after(BEAT, record, conclude(RUN, finished), finished, NOW + 2)


def test_a_run_is_written_down_with_all_that_is_known() -> None:
    done = conclude(RUN, over("ATTENTION: it rains"))
    assert (done.state, done.outcome, done.summary, done.duration_ms, done.cost_usd) == (
        "done",
        "attention",
        "it rains",
        1500,
        0.25,
    )
    assert log_line(done, [{"role": "result"}]) == {
        "ts": "2027-01-15T08:00:00.000Z",
        "workspace": "/src/api",
        "outcome": "attention",
        "durationMs": 1500,
        "run": "01A",
        "beat": "api",
        "agent": "claude",
        "summary": "it rains",
        "costUsd": 0.25,
        "tokens": 10,
    }
    assert log_line(replace(done, verbose=True), [{"role": "result"}])["turns"] == [{"role": "result"}]


@pytest.mark.parametrize(("means", "digest", "streak"), [("ok", "", 4), ("unchanged", "new", 4), ("needed", "new", 4)])
def test_a_probe_that_found_nothing_is_ok_and_counts_for_the_streak(means: str, digest: str, streak: int) -> None:
    finished = over("" if means != "needed" else "HEARTBEAT_OK", means=means)
    assert (conclude(RUN, finished).outcome, conclude(RUN, finished).probe) == ("ok", means)
    assert (after(finished).probe_digest, after(finished).streak) == (digest, streak)


def test_what_a_probe_said_is_not_remembered_if_no_model_could_look() -> None:
    assert after(over(kind="api", means="needed")).probe_digest == "old"


def test_an_interruption_says_nothing_about_the_beat() -> None:
    stood = after(over(kind="interrupted"))
    assert (stood.outcome, stood.streak, stood.plan.failures, stood.plan.running) == ("ok", 3, 0, 0)


def test_a_rate_limit_parks_the_beat_until_the_provider_serves_again() -> None:
    stood = after(over(kind="rate_limit", retry_at=NOW + 3600))
    assert stood.plan.parked_until == NOW + 3600
    assert stood.reason == "rate limit: why"
    assert (stood.outcome, stood.streak) == ("error", 1)


def test_errors_that_repeat_are_backed_off_from() -> None:
    first = after(over(kind="crash"))
    assert first.plan.parked_until is None
    second = after(over(kind="crash"), first)
    third = after(over(kind="crash"), second)
    assert NOW < (second.plan.parked_until or 0) < (third.plan.parked_until or 0)


def test_a_run_over_its_budget_pauses_the_beat() -> None:
    stood = after(over(kind="budget"))
    assert stood.plan.paused
    assert stood.reason == "a run went over its budget ($0.5)"


@given(
    message=st.text(st.characters(codec=None, categories=["L", "C", "Zs", "Zl"]), max_size=50).map(
        lambda text: text * 200
    ),
    denials=st.lists(st.text(max_size=20).map(lambda text: text * 100), max_size=5).map(lambda some: some * 60),
)
def test_whatever_an_agent_says_can_be_written_down_and_told(message: str, denials: list[str]) -> None:
    report = Report(failure=Failure(kind="api", message=message), denials=tuple(denials))
    done = conclude(RUN, Finished(report=report, began=NOW, seconds=0.0))
    done.error.encode()
    assert len(encode(done.as_dict())) < DATA_BYTES
    assert all(character.isprintable() or character == "\n" for character in done.error)


def test_of_a_long_conversation_the_end_is_kept() -> None:
    turns = tuple(Turn(role="assistant", text=f"{number} {'x' * 1000}") for number in range(1000))
    kept = turns_to_json(turns)
    assert len(json.dumps(kept)) < TURNS_BYTES * 1.1
    assert kept[0] == {"role": "assistant", "text": "(what was said before is not kept)"}
    assert kept[-1]["text"].startswith("999 ")
    assert turns_to_json(turns[:3]) == [{"role": "assistant", "text": turn.text} for turn in turns[:3]]
