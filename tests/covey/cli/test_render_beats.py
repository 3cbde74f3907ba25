"""Beats for a person."""

from __future__ import annotations

from typing import Any

import pytest

from covey.cli import render_beats, render_runs
from covey.cli.cells import width
from covey.cli.text import Paint
from covey.contract.beats import BEAT
from covey.kernel.clock import timestamp
from tests.covey.cli.beat_answers import NARROW, NO_BUDGET, NOTHING, NOW, SPENT, TURNS, run


def beat(name: str, **fields: Any) -> dict[str, Any]:
    known = {
        "name": name,
        "workspace": f"/src/{name}",
        "file": f"/src/{name}/HEARTBEAT.md",
        "agent": "claude",
        "model": "",
        "schedule": "every 30m",
        "tz": "",
        "state": "scheduled",
        "reason": "",
        "next_at": timestamp(NOW + 250),
        "late_s": None,
        "streak": 0,
        "skipped": 0,
        "last": None,
        "today": NOTHING,
        "month": NOTHING,
        "budget": NO_BUDGET,
        **fields,
    }
    assert sorted(known) == sorted(BEAT["properties"])
    return known


TOTALS = {"next": {"name": "api", "at": timestamp(NOW + 250)}, "today": SPENT, "month": SPENT}


def listed(*items: dict[str, Any], problems: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "items": list(items),
        "problems": [{"file": "", "message": message} for message in problems],
        "running": 0,
        "limit": 4,
        "count": len(items),
        **TOTALS,
    }


ALL = listed(
    beat("api", streak=41, last=run(), today=SPENT, month=SPENT),
    beat("web", streak=3, last=run(outcome="attention", summary="2 tests fail"), next_at=timestamp(NOW + 7300)),
    beat(
        "docs",
        state="paused",
        reason="daily budget reached: $2 of $2",
        next_at=None,
        last=run(outcome="error", error_kind="timeout", error="late"),
    ),
    beat("new", state="broken", reason="line 2: interval: 5 has no unit", next_at=None),
    problems=("/src/new/HEARTBEAT.md, line 2: interval: 5 has no unit",),
)


def test_the_list_says_what_comes_next_and_what_was_last() -> None:
    assert render_beats.beats(ALL, NARROW, NOW).split("\n") == [
        "  STATE      NAME  NEXT   LAST           STREAK  TODAY  WHAT",
        "✓ scheduled  api   in 4m  ok 11m         41      $0.12",
        "▲ scheduled  web   in 2h  attention 11m  3       -      2 tests fail",
        "▲ paused     docs  -      error 11m      -       -      daily budget reached: $…",
        "✗ broken     new   -      -              -       -      see below",
        "",
        "✗ /src/new/HEARTBEAT.md, line 2: interval: 5 has no unit",
        "",
        "4 beats · next api in 4m · $0.12 today, $0.12 this month",
    ]


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_nothing_is_wider_than_the_terminal_and_colours_take_no_room(columns: int) -> None:
    long = listed(
        *(beat("a-rather-long-name-" * 3, last=run(outcome="attention", summary="很长" * 100)) for _ in range(2)),
        problems=("x " * 200,),
    )
    history = {
        "items": [
            run(outcome="attention", beat="b" * 40, summary="y" * 300),
            run(state="running", outcome=None, duration_ms=None),
        ]
    }
    shown = {**run(outcome="error", error_kind="crash", error="z " * 200, denials=["Bash(sudo ls)"]), "turns": TURNS}
    for text in (
        render_beats.beats(long, Paint(columns, colour=False), NOW),
        render_runs.history(history, Paint(columns, colour=False)),
        render_runs.show(shown, Paint(columns, colour=False)),
        render_runs.result_line(shown, Paint(columns, colour=False)),
    ):
        assert max(width(line) for line in text.split("\n")) <= columns
    plain, coloured = (render_beats.beats(ALL, Paint(columns, colour=on), NOW) for on in (False, True))
    assert "\x1b[" not in plain
    assert "\x1b[31m✗\x1b[0m" in coloured


def test_the_totals_do_not_depend_on_what_is_left_of_the_list() -> None:
    text = render_beats.beats({**ALL, "items": ALL["items"][:1]}, NARROW, NOW)
    assert text.endswith("4 beats · next api in 4m · $0.12 today, $0.12 this month")


def test_a_name_is_not_cut_where_other_columns_can_be_left_out() -> None:
    name = "my-project/dependencies"
    shown = render_beats.beats(listed(beat(name, skipped=114, last=run(probe="unchanged"))), NARROW, NOW).split("\n")
    assert f"  {name}  " in shown[1]
    assert "STREAK" not in shown[0]


def test_a_list_without_beats_teaches() -> None:
    text = render_beats.beats(listed(), NARROW, NOW)
    assert text.startswith("No beats yet\n  covey init  ")
    assert "covey beats add" in text


def test_a_beat_that_should_have_run_says_so() -> None:
    late = listed(beat("api", late_s=240.0, next_at=timestamp(NOW), last=run()))
    line = render_beats.beats(late, NARROW, NOW).split("\n")[1]
    assert line.startswith("▲ scheduled")
    assert line.endswith("should have run 4m ago")


def test_the_status_line_is_the_one_of_the_sketch() -> None:
    summary = {
        "total": 6,
        "by_state": {"scheduled": 5, "paused": 1},
        "reasons": ["daily budget reached: $2 of $2"],
        "next": {"name": "api-health", "at": timestamp(NOW + 250)},
    }
    assert (
        render_beats.status(summary, 80, NOW)
        == "beats      5 scheduled · next api-health in 4m · 1 paused (daily budget reached)"
    )
    assert render_beats.status({**summary, "total": 0}, 80, NOW) == "beats      none · covey init  begins one"
    assert len(render_beats.status(summary, 40, NOW)) == 40


def test_costs_are_told_with_their_budgets() -> None:
    items = [
        {"name": "cheap", "today": NOTHING, "month": NOTHING, "total": NOTHING, "budget": NO_BUDGET},
        {
            "name": "dear",
            "today": SPENT,
            "month": SPENT,
            "total": SPENT,
            "budget": {**NO_BUDGET, "day_usd": 2.0, "run_tokens": 50_000},
        },
    ]
    others = {"today": NOTHING, "month": NOTHING, "total": {**NOTHING, "runs": 1}}
    result = {
        "items": items,
        "others": others,
        "today": SPENT,
        "month": SPENT,
        "total": SPENT,
        "limits": {"day_usd": 5.0, "month_usd": 0.0},
    }
    assert [line.rstrip() for line in render_beats.cost(result, NARROW).split("\n")] == [
        "  BEAT           TODAY  MONTH  IN ALL  RUNS  BUDGET",
        "  dear           $0.12  $0.12  $0.12   12    $2 a day, 50k tokens a run",
        "  cheap          -      -      -       0     none",
        "  not scheduled  -      -      -       1     none",
        "  all beats      $0.12  $0.12  $0.12   12    $5 a day",
    ]


def test_after_init_the_next_steps_are_told() -> None:
    result = {"workspace": "/src/api", "file": "/src/api/HEARTBEAT.md", "config": "/c/config.toml", "scheduled": False}
    text = render_beats.begun(result, NARROW)
    assert text.split("\n")[0] == "Wrote /src/api/HEARTBEAT.md"
    assert text.endswith("covey beats add")
    assert text.split("\n")[2] == "  To run it on its schedule: covey beats add"
    agree = render_beats.begun({**result, "scheduled": True}, NARROW).split("\n")[2]
    assert agree == "  To agree to its options, so that it runs: covey beats add"


def test_a_folder_that_was_on_the_schedule_is_said_to_have_been() -> None:
    agreed = [{"name": "api", "file": "/src/api/HEARTBEAT.md", "options": ["interval: 1h", "probe: a\nb"]}]
    result = {"workspace": "/src/api", "config": "/c/config.toml", "added": True, "agreed": agreed}
    lines = render_beats.added(result, NARROW).split("\n")
    assert lines[:2] == ["On the schedule: /src/api", r"  api may run with: interval: 1h · probe: a\x0ab"]
    assert render_beats.added({**result, "added": False}, NARROW).startswith("On the schedule already: ")


def test_an_import_tells_what_is_new_what_was_there_and_what_was_left_out() -> None:
    result = {
        "source": "/x",
        "file": "/c/config.toml",
        "imported": ["/a"],
        "present": ["/b"],
        "problems": ["workspace 3 has no path; it was left out"],
    }
    assert render_beats.imported(result, NARROW).split("\n") == [
        "Took over 1 workspace into /c/config.toml",
        "  /a",
        "  /b was there already",
        "  ▲ workspace 3 has no path; it was left out",
        "  covey beats list  shows their states",
    ]
