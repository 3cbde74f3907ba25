"""Runs of beats for a person."""

from __future__ import annotations

import time

from covey.cli import render_runs
from covey.kernel.clock import timestamp
from tests.covey.cli.beat_answers import NARROW, NOW, TURNS, run


def test_an_agent_that_tells_no_cost_is_counted_in_tokens() -> None:
    assert render_runs.price({"cost_usd": None, "tokens": 1_234_567}) == "1.23M tokens"
    assert render_runs.price({"cost_usd": 0.0, "tokens": 220}) == "220 tokens"
    assert render_runs.price({"cost_usd": 3.456}) == "$3.46"


def test_a_conversation_shows_tools_and_answers_and_nothing_twice() -> None:
    assert list(render_runs.conversation(TURNS, NARROW)) == [
        "  1  I look.",
        "     [tool] Bash(seq 5)  1.2s",
        "       1",
        "       2",
        "       3",
        "       … 2 more lines",
        '  2  [tool] TodoWrite({"todos": ["x"]})',
        "  3  ATTENTION: broken",
    ]


def test_a_run_is_shown_with_when_where_and_for_how_much() -> None:
    shown = {
        **run(
            why="schedule",
            slot=timestamp(NOW - 720),
            missed=3,
            denials=["Bash(sudo ls)"],
            outcome="attention",
            summary="look",
        ),
        "turns": [],
    }
    lines = render_runs.show(shown, NARROW).split("\n")
    assert lines[0] == "▲ attention  api: look"
    assert lines[1].startswith("  beat     api · claude · due at ")
    assert "  cost     $0.0012 · 220 tokens · 2 turns" in lines
    assert "  missed   3 earlier runs could not start in time, and this one replaces them" in lines
    assert lines[-1] == "  refused  Bash(sudo ls)"


def test_a_result_is_one_line_when_all_is_well() -> None:
    assert render_runs.result_line(run(), NARROW) == "✓ ok  api  8.2s · $0.0012 · 2 turns"
    probed = run(probe="unchanged", cost_usd=None, tokens=None, num_turns=None)
    assert (
        render_runs.result_line(probed, NARROW).split("\n")[0]
        == "✓ ok (probe)  api: the probe found nothing new; no model was asked"
    )


def test_a_probe_that_still_fails_is_not_shown_as_ok() -> None:
    still = run(probe="unchanged", outcome="attention", summary="2 tests fail", looked_at=timestamp(time.time() - 1810))
    assert (
        render_runs.result_line(still, NARROW).split("\n")[0]
        == "▲ attention  api: still the same, found 30m ago: 2 tests fail"
    )


def test_a_run_that_was_withdrawn_is_no_error() -> None:
    gone = run(
        state="done",
        outcome=None,
        began_at=None,
        ended_at=None,
        duration_ms=None,
        error_kind="withdrawn",
        error="it was not begun: it was paused",
    )
    line = render_runs.history({"items": [gone]}, NARROW).split("\n")[1]
    assert line.startswith("○ withdrawn")
    assert "error" not in line


def test_history_names_every_run_so_that_it_can_be_shown() -> None:
    text = render_runs.history({"items": [run(outcome="error", error_kind="rate_limit", error="try later")]}, NARROW)
    assert "8PW7T3  rate limit: try later" in text
    assert text.endswith("covey beats show 8PW7T3  shows what was said and done")
    assert render_runs.history({"items": []}, NARROW).startswith("No runs yet\n  covey beat")
