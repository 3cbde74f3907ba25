"""What `covey watch` shows and what its keys do, without a terminal."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.cli.board import Board
from covey.cli.cells import width
from covey.fleet.answers import view
from covey.fleet.answers.view import Filters, Row
from covey.kernel.http.answer import encode
from tests.covey.fleet.fleets import NOW, ROWS, TARGETS, row, sketch

KEYS = ["up", "down", "page up", "page down", "home", "end", "enter", "n", "f", "?", "escape", "x", "ü"]
LONG = "Bash: " + " ".join(f"step-{number}" for number in range(40))


def picture(rows: list[Row], scope: str = "panes") -> dict[str, Any]:
    answer = getattr(view, scope)(rows, TARGETS, Filters(), NOW)
    return {**json.loads(encode(answer)), "scope": scope}


def board(rows: list[Row], scope: str = "panes") -> Board:
    asked = Board(lambda reference, _: f"because of {reference}", colour=False)
    asked.show(picture(rows, scope))
    return asked


def pressed(asked: Board, *keys: str, columns: int = 80, rows: int = 24) -> list[str]:
    for key in keys:
        asked.press(key)
    return asked.lines(columns, rows)


def states(lines: list[str]) -> list[str]:
    return [line[2:].split()[0] for line in lines[1:] if line[:1] in set("✗▲●○?") and line[1:2] in {" ", ">"}]


def test_the_last_line_says_as_of_when_and_how_to_leave() -> None:
    last = board(sketch()).lines(80, 24)[-1]
    assert last.startswith("as of ")
    assert last.endswith("? help · q quit")
    assert board(sketch()).lines(40, 24)[-1].endswith("q quit")


def test_q_closes_and_so_does_ctrl_c() -> None:
    for key in ("q", "\x03"):
        asked = board(sketch())
        asked.press(key)
        assert asked.closed
    asked = board(sketch())
    pressed(asked, "?", "q")
    assert asked.closed


def test_a_choice_stays_with_its_agent_when_the_order_changes() -> None:
    asked = board(sketch())
    chosen = next(line for line in pressed(asked, "down", "down") if line[1:2] == ">")
    assert chosen.startswith("▲>waiting_approval")
    asked.show(picture([*sketch(), row("host/new:0.0", "%80", "error", age=9000)]))
    assert next(line for line in asked.lines(80, 24) if line[1:2] == ">").split()[:2] == chosen.split()[:2]
    assert not [line for line in pressed(asked, "escape") if line[1:2] == ">"]


def test_the_choice_is_always_on_the_screen_and_the_ends_hold() -> None:
    rows = [row(f"host/s{number}:0.0", f"%{number}") for number in range(40)]
    asked = board(rows)
    for key, count in (("down", 45), ("up", 45), ("page down", 5), ("home", 1), ("end", 1)):
        for _ in range(count):
            lines = pressed(asked, key, rows=10)
            assert len(lines) == 10
            assert sum(line[1:2] == ">" for line in lines) == 1
    assert any("31 of them above" in line or "more" in line for line in lines)


def test_filters_by_need_and_by_state() -> None:
    asked = board(sketch())
    assert states(pressed(asked, "n")) == ["waiting_input", "waiting_approval"]
    assert "only those that need you" in asked.lines(80, 24)[-1]
    assert states(pressed(asked, "n", "f")) == ["waiting_approval"]
    assert states(pressed(asked, "f", "f")) == ["running", "running"]
    assert "only running" in asked.lines(80, 24)[-1]
    assert len(states(pressed(asked, "f", "f", "f"))) == 6
    assert pressed(asked, "f", "n", "f", "f")[0].startswith("No agent matches")
    assert len(states(pressed(asked, "escape"))) == 6


def test_enter_says_why_and_any_key_goes_back() -> None:
    asked = board(sketch())
    first = picture(sketch())["items"][0]["runtime_id"]
    assert pressed(asked, "enter")[0] == f"because of runtime:{first}"
    assert states(pressed(asked, "x"))
    assert "quit" in pressed(asked, "?")[0]


def test_what_is_waited_for_stands_below_in_full() -> None:
    lines = board(
        [row("host/api:2.1", "%14", "waiting_approval", detail=LONG), row("host/web:0.0", "%2", detail=LONG)]
    ).lines(80, 24)
    below = " ".join(" ".join(lines[4:]).split())
    assert LONG in below
    assert below.count("step-39") == 1


def test_a_lost_daemon_is_said() -> None:
    asked = board([])
    asked.show({**picture(sketch()), "lost": True})
    assert asked.lines(80, 24)[-1] == "The daemon does not answer; this is how things were"


@pytest.mark.parametrize("scope", ["windows", "sessions"])
def test_other_scopes_are_tables_that_can_be_left(scope: str) -> None:
    asked = board(sketch(), scope)
    assert pressed(asked, "down", "enter", "n", "f")[-1].endswith("? help · q quit")
    assert len(asked.lines(80, 5)) <= 5


def test_nobody_is_told_how_to_begin() -> None:
    assert board([]).lines(80, 24)[0] == "No agents yet"


@settings(deadline=None)
@given(
    ROWS,
    st.lists(st.sampled_from(KEYS), max_size=12),
    st.integers(40, 200),
    st.integers(3, 40),
    st.sampled_from(["panes", "windows", "sessions"]),
)
def test_nothing_wraps_or_runs_over_whatever_is_typed(
    rows: list[Row], typed: list[str], columns: int, height: int, scope: str
) -> None:
    asked = board([*rows, row("host/x:0.0", "%99", "waiting_input", detail=LONG)], scope)
    lines = pressed(asked, *typed, columns=columns, rows=height)
    assert len(lines) <= height
    assert all(width(line) <= max(columns, 64) for line in lines)
