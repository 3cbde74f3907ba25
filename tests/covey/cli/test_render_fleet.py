from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.cli import render_fleet
from covey.cli.cells import width
from covey.cli.text import Paint
from covey.fleet.answers import view
from covey.fleet.answers.view import Filters, Row, TargetStatus
from covey.fleet.answers.why import why
from covey.fleet.state.judge import Rules, judge
from covey.kernel.http.answer import encode
from tests.covey.cli.answers import NARROW, WIDE, answer
from tests.covey.fleet.fleets import NOW, ROWS, TARGETS, row, sketch


def test_the_first_screen_at_80_columns() -> None:
    assert render_fleet.panes(answer(sketch()), NARROW).split("\n") == [
        "  STATE             AGENT    WHERE         FOR  WHAT",
        '▲ waiting_input     codex    vm1/web:1.0   4m   "Which of the two migrations sh…',
        "▲ waiting_approval  claude   host/api:2.1  1m   Bash: rm -rf build/ (cwd ~/src/…",
        "● running           claude   host/web:1.1  12s  Edit src/routes.ts",
        "● running           gemini   vm1/docs:0.0  2m   Shell: npm run build",
        "○ idle              claude   host/api:1.0  31m",
        "? unknown           copilot  vm3/web:1.0   6m   target unreachable",
        "",
        "6 agents on 3 targets · 2 need you · vm3 is down           covey why vm1/web:1.0",
    ]


def test_several_broken_targets_leave_room_for_the_next_step() -> None:
    broken = [
        TargetStatus(target=f"build-server-{number}", health="down", reason="ssh timed out") for number in range(3)
    ]
    line = render_fleet.panes(answer(sketch(), targets=[*TARGETS[:2], *broken]), NARROW).split("\n")[-1]
    assert line == "6 agents on 3 targets · 2 need you · 3 targets not ok      covey why vm1/web:1.0"


def test_wider_terminals_show_more_of_what_is_waited_for() -> None:
    shown = render_fleet.panes(answer(sketch()), WIDE)
    assert '"Which of the two migrations should I keep?"\n' in shown
    assert "Bash: rm -rf build/ (cwd ~/src/api)\n" in shown


def test_the_next_step_names_the_first_agent_as_shortly_as_can_be() -> None:
    line = render_fleet.panes(answer(sketch()[1:3]), NARROW).split("\n")[-1]
    assert line.endswith("  covey why host/api:2.1")
    assert len(line) == 80
    assert render_fleet.panes(answer(sketch()[1:3]), WIDE).endswith("  covey why %14")


def test_the_next_step_is_about_one_that_waits_whatever_the_order() -> None:
    result = json.loads(encode(view.panes(sketch(), TARGETS, Filters(), NOW, sort="age")))
    assert result["items"][0]["state"] == "idle"
    assert render_fleet.panes(result, NARROW).endswith("covey why vm1/web:1.0")


def test_one_agent_that_needs_nobody_is_summed_up_in_the_singular() -> None:
    assert render_fleet.panes(answer([row()], targets=TARGETS[:1]), NARROW).split("\n")[-1] == "1 agent"
    assert "1 needs you" in render_fleet.panes(answer([row(state="error")]), NARROW)


def test_colours_have_meaning_and_are_only_added() -> None:
    rows = [*sketch(), row("host/x:0.0", "%60", "error"), row("host/x:0.1", "%61", "completed")]
    coloured, plain = render_fleet.panes(answer(rows), Paint(80, colour=True)), render_fleet.panes(answer(rows), NARROW)
    assert re.sub(r"\x1b\[[0-9]*m", "", coloured) == plain
    lines = {line.split()[1]: line for line in coloured.split("\n") if line.startswith("\x1b") and "STATE" not in line}
    assert lines["\x1b[33mwaiting_input"].startswith("\x1b[33m▲\x1b[0m ")
    assert lines["\x1b[94mrunning"].startswith("\x1b[94m●")
    assert lines["\x1b[31merror"].startswith("\x1b[31m✗")
    assert lines["\x1b[2midle"].startswith("\x1b[2m○")
    assert "\x1b" not in plain


def test_wide_characters_stay_aligned() -> None:
    rows = [
        row("host/プロジェクト:1.0", "%1", "waiting_input", detail="どちらの移行を残しますか? 🚀 " * 5),
        row("host/api:1.0", "%2", "running", detail="Edit"),
    ]
    head, first, second, *_ = render_fleet.panes(answer(rows), NARROW).split("\n")
    what = head.index("WHAT")
    assert width(first[: first.index("どちら")]) == what
    assert second.index("Edit") == what
    assert width(first) <= 80


def test_an_agent_cannot_write_on_the_terminal() -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\x1b[31mrm -rf /\r\nall is well\x9b2K"
    rows = [
        row(
            "host/a\x1b[1mb:1.0",
            "%1",
            "waiting_approval",
            detail=evil,
            agent="cl\x07aude",
            title=evil,
            window_name=evil,
            cwd=evil,
        )
    ]
    for shown in (
        render_fleet.panes(answer(rows), NARROW),
        render_fleet.windows(
            json.loads(encode(view.windows(rows, TARGETS, Filters(), NOW, with_agent_status=True))), NARROW
        ),
        render_fleet.sessions(
            json.loads(encode(view.sessions(rows, TARGETS, Filters(), NOW, agent_summary=True))), NARROW
        ),
        render_fleet.why(json.loads(encode(why(rows[0], judge([], NOW, Rules()), NOW))), NARROW),
    ):
        assert not any(letter < " " and letter != "\n" for letter in shown)
        assert "\x9b" not in shown
        assert "owned" not in shown
    assert "rm -rf / all is well" in render_fleet.panes(answer(rows), WIDE)


def test_long_names_give_way_to_what_is_waited_for() -> None:
    rows = [row(f"host/{'a-very-long-session-name' * 4}:1.0", "%1", "waiting_input", detail="Which of the two?")]
    head, line, *_ = render_fleet.panes(answer(rows), NARROW).split("\n")
    assert width(line) <= 80
    assert "…" in line
    assert line[head.index("WHAT") :].startswith("Which of the")


@settings(deadline=None)
@given(ROWS, st.integers(40, 200), st.booleans(), st.text(max_size=80))
def test_nothing_ever_wraps(rows: list[Row], columns: int, colour: bool, detail: str) -> None:  # noqa: FBT001
    rows = [
        *rows,
        row(
            "host/x:0.0", "%99", "waiting_input", detail=detail.encode("utf-8", "replace").decode(), runtime_id="f" * 16
        ),
    ]
    paint = Paint(columns, colour=colour)
    for shown in (
        render_fleet.panes(answer(rows), paint),
        render_fleet.windows(
            json.loads(encode(view.windows(rows, TARGETS, Filters(), NOW, with_agent_status=True))), paint
        ),
        render_fleet.sessions(
            json.loads(encode(view.sessions(rows, TARGETS, Filters(), NOW, group_by="session-name"))), paint
        ),
    ):
        for line in shown.split("\n"):
            assert width(re.sub(r"\x1b\[[0-9]*m", "", line)) <= max(columns, 64), line


def test_without_a_target_it_is_said_how_to_have_one() -> None:
    assert render_fleet.panes(answer([], targets=[]), NARROW).split("\n") == [
        "No machine is watched",
        "  this one  covey target add host --kind local",
        "  another   covey target add NAME --kind ssh",
    ]


def test_no_agents_says_where_we_looked_and_how_to_start_one() -> None:
    assert render_fleet.panes(answer([]), NARROW).split("\n") == [
        "No agents yet",
        "  looked at  host: /tmp/tmux-1000/default",
        "  looked at  vm1: no tmux server found",
        "  looked at  vm3 (down: ssh timed out): no tmux server found",
        "  start one  tmux new-session -s work claude",
        "  then       covey ps",
        "  not found  servers of tmux -S elsewhere: covey config set fleet.sockets PATH",
        "  not seen   agents behind ssh in a pane: covey target add NAME --kind ssh",
    ]


@pytest.mark.parametrize("columns", [48, 58])
def test_hints_are_broken_between_words_on_a_narrow_terminal(columns: int) -> None:
    wide = render_fleet.panes(answer([]), NARROW)
    narrow = render_fleet.panes(answer([]), Paint(columns, colour=False))
    assert all(width(line) <= columns for line in narrow.split("\n"))
    assert narrow.split() == wide.split()


def test_no_match_says_what_was_asked_for() -> None:
    filters = Filters(session="api", state=("idle", "running"), needs_action=True)
    assert render_fleet.panes(answer([], filters), NARROW) == (
        "No agent matches --session api, --state idle running, --needs-action\n  covey ps  shows all of them"
    )


def test_windows_at_80_columns() -> None:
    result = json.loads(encode(view.windows(sketch()[:4], TARGETS, Filters(), NOW, with_agent_status=True)))
    assert render_fleet.windows(result, NARROW).split("\n") == [
        "  STATE             WINDOW            FOR  AGENTS  WAITING  RUNNING",
        "▲ waiting_approval  host/api:2  work  1m   1       1        -",
        "  waiting_approval    %14 claude      1m",
        "● running           host/web:1  work  12s  1       -        1",
        "  running             %9 claude       12s",
        "● running           vm1/docs:0  work  2m   1       -        1",
        "  running             %1 gemini       2m",
        "○ idle              host/api:1  work  31m  1       -        -",
        "  idle                %7 claude       31m",
        "",
        "4 agents on 2 targets · 1 needs you · vm3 is down",
    ]


def test_merged_sessions_show_their_targets() -> None:
    result = json.loads(encode(view.sessions(sketch(), TARGETS, Filters(), NOW, group_by="session-name")))
    assert render_fleet.sessions(result, NARROW).split("\n") == [
        "  STATE             SESSION  FOR  AGENTS  WAITING  RUNNING",
        "▲ waiting_input     web      4m   3       1        1",
        "  running             host   12s  1       -        1",
        "  waiting_input       vm1    4m   1       1        -",
        "  unknown             vm3    6m   1       -        -",
        "▲ waiting_approval  api      1m   2       1        -",
        "  waiting_approval    host   1m   2       1        -",
        "● running           docs     2m   1       -        1",
        "  running             vm1    2m   1       -        1",
        "",
        "6 agents on 3 targets · 2 need you · vm3 is down",
    ]


@pytest.mark.parametrize("columns", [50, 60, 70])
def test_a_state_is_not_cut_on_a_narrow_terminal(columns: int) -> None:
    narrow = Paint(columns, colour=False)
    assert "waiting_approval " in render_fleet.panes(answer(sketch()), narrow)
    assert "waiting_approval " in render_fleet.windows(
        json.loads(encode(view.windows(sketch(), TARGETS, Filters(), NOW))), narrow
    )
    assert "waiting_approval " in render_fleet.sessions(
        json.loads(encode(view.sessions(sketch(), TARGETS, Filters(), NOW))), narrow
    )
