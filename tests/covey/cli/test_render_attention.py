"""What needs a person, as that person reads it."""

from __future__ import annotations

from typing import Any

import pytest

from covey.cli.cells import width
from covey.cli.render_attention import done, listed
from covey.cli.render_attention import status as status_lines
from covey.cli.render_daemon import status
from covey.cli.text import Paint


def item(number: int = 1, **changes: Any) -> dict[str, Any]:
    return {
        "id": f"01M7FRA9HHAMGWZVYVZ6PW{number:04}",
        "key": "beat:/x",
        "title": f"nightly: {number} tests fail",
        "detail": "",
        "kind": "other",
        "command": "covey attention done x",
        "data": {},
        "times": 1,
        "age_ms": 240_000,
        "closed_at": None,
        "closed_why": "",
        **changes,
    }


def lines(items: list[dict[str, Any]], columns: int = 80, count: int | None = None) -> list[str]:
    return listed(
        {"items": items, "open": len(items) if count is None else count}, Paint(columns, colour=False)
    ).splitlines()


def test_nothing_is_said_to_be_nothing() -> None:
    assert lines([]) == ["Nothing needs you", "  covey needs --all  shows what did"]


def test_the_list_shows_what_it_is_since_when_how_often_and_how_to_be_done_with_it() -> None:
    assert lines([item(), item(2, times=3, detail="src/a.py\nand others", age_ms=90_000_000)]) == [
        "  ID      FOR      WHAT",
        "▲ PW0001  4m       nightly: 1 tests fail",
        "▲ PW0002  1d   3x  nightly: 2 tests fail",
        "    src/a.py · and others",
        "",
        "2 things need you",
        "  covey attention done PW0001  puts one away",
    ]


def test_only_an_item_that_can_be_put_away_is_recommended_for_that() -> None:
    agent = item(data={"settled_by": "asker"})
    assert lines([agent, item(2)])[-1] == "  covey attention done PW0002  puts one away"
    assert lines([agent])[-1] == "1 thing needs you"
    assert lines([agent, item(2, closed_at="x", closed_why="done by hand")], count=1)[-1] == "1 thing needs you"


def test_closed_ones_are_marked_and_say_why() -> None:
    shown = lines([item(closed_at="2026-01-01T00:00:00.000Z", closed_why="the last run was ok")], count=0)
    assert shown == [
        "  ID      FOR    WHAT",
        "○ PW0001  4m     nightly: 1 tests fail",
        "    the last run was ok",
        "",
        "Nothing needs you",
    ]


def test_what_a_limit_hides_is_told() -> None:
    assert lines([item()], count=51)[-3:] == [
        "51 things need you",
        "  covey attention done PW0001  puts one away",
        "  covey needs --limit 51  shows all of them",
    ]
    assert lines([item()], count=5000)[-1] == "  covey needs --limit 1000  shows more of them"
    assert lines([item()])[-2] == "1 thing needs you"


@pytest.mark.parametrize("columns", [58, 80])
def test_what_is_to_be_approved_and_what_to_type_are_never_cut(columns: int) -> None:
    command = (
        "Shell: rm -rf build/output/intermediate && git commit --all --message 'clean up' "
        "&& git push --force origin main"
    )
    folder = "/srv/" + "long-folder-name/" * 6
    asked = item(
        title=f"codex host/api:0.0 asks for approval: {command}", detail=f"{command}\nin {folder}\ncovey why %3"
    )
    shown = lines([asked], columns)
    assert all(width(line) <= columns for line in shown)
    assert "…" not in "".join(shown)
    assert " ".join(" ".join(shown).split()).count(command) == 1, "it is in the title, and not repeated below it"
    assert "".join(folder.split()) in "".join("".join(shown).split())
    assert "    covey why %3" in shown


@pytest.mark.parametrize("columns", [60, 80])
def test_nothing_wraps_and_nothing_acts_on_the_terminal(columns: int) -> None:
    wild = item(title="\x1b[2J日本語" * 30, detail="\x1b]0;title\x07" + "word " * 100, times=12_345, age_ms=10**12)
    shown = lines([wild, item(2, closed_at="x", closed_why="w" * 300)], columns, count=123_456)
    assert all(width(line) <= columns for line in shown), shown
    assert not any("\x1b" in line or "\x07" in line for line in shown)
    assert width(done(wild, Paint(columns, colour=False))) <= columns
    said = status_lines(
        {"open": 3, "titles": ["\x1b[31m日本語 " * 20] * 3, "notify_problem": "x\x1b[1m" * 200}, columns
    )
    assert [width(line) <= columns and "\x1b" not in line for line in said] == [True, True]


def test_done_says_what_and_that_it_was_so_before() -> None:
    paint = Paint(80, colour=False)
    assert done(item(closed_why="done by hand"), paint) == "Done: nightly: 1 tests fail"
    assert done(item(closed_why="the last run was ok"), paint) == "Done: nightly: 1 tests fail (the last run was ok)"


def test_the_status_has_a_line_only_if_there_is_something_to_say() -> None:
    result: dict[str, Any] = {
        "version": "1",
        "pid": 1,
        "uptime_s": 1.0,
        "rss_bytes": 1,
        "cpu_seconds": 0.1,
        "home": "/h",
        "tcp_port": None,
        "events": {"cursor": 1, "subscribers": 0},
        "config": {"generation": 1, "problems": []},
        "children": [],
        "fleet": None,
        "beats": None,
        "attention": {"open": 0, "titles": [], "notify_problem": ""},
    }
    assert "attention" not in status(result, Paint(80, colour=False))
    result["attention"] = {"open": 2, "titles": ["rain", "wind"], "notify_problem": "x ended with code 1"}
    assert "attention  2 things need you: rain · wind\nnotify     x ended with code 1" in status(
        result, Paint(80, colour=False)
    )
