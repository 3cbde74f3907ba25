"""Which items a channel tells of, and when; and what is wrong with a channel."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.attention.channel import from_tables, problems
from covey.attention.rules import Hours, Rules
from tests.covey.attention.test_notify import item

MINUTES = st.integers(0, 24 * 60 - 1)


def at(clock: str) -> float:
    """A moment of today at this local time."""
    return time.mktime(time.strptime(time.strftime("%Y-%m-%d ") + clock, "%Y-%m-%d %H:%M"))


@pytest.mark.parametrize(
    ("hours", "quiet", "loud"),
    [
        ("22:00-07:00", ["22:00", "23:59", "00:00", "06:59"], ["07:00", "12:00", "21:59"]),
        ("09:30 - 10:00", ["09:30", "09:59"], ["09:29", "10:00", "00:00"]),
    ],
)
def test_quiet_hours_go_over_midnight(hours: str, quiet: list[str], loud: list[str]) -> None:
    parsed = Hours.parse(hours)
    assert parsed is not None
    assert [parsed.has(at(clock)) for clock in quiet] == [True] * len(quiet)
    assert [parsed.has(at(clock)) for clock in loud] == [False] * len(loud)


@given(MINUTES, MINUTES, MINUTES)
def test_hours_and_the_rest_of_the_day_are_opposites(start: int, end: int, minute: int) -> None:
    if start != end:
        moment = at(f"{minute // 60:02}:{minute % 60:02}")
        if time.localtime(moment)[3:5] == divmod(minute, 60):  # not an hour that the clocks leave out
            assert Hours(start, end).has(moment) is not Hours(end, start).has(moment)


@pytest.mark.parametrize("text", ["", "22-7", "22:00", "24:00-07:00", "22:00-07:60", "22:00-22:00", "٢٢:00-07:00"])
def test_what_is_not_hours_is_not_taken_for_some(text: str) -> None:
    assert Hours.parse(text) is None


def test_a_rate_counts_from_the_last_notification_and_a_clock_that_is_set_back_delays_nobody() -> None:
    rules = Rules(every_s=600.0)
    assert rules.wait_s(10_000.0, 0.0) == 0.0
    assert rules.wait_s(10_000.0, 9_900.0) == 500.0
    assert rules.wait_s(10_000.0, 99_999.0) == 600.0
    assert Rules().wait_s(10_000.0, 10_000.0) == 0.0


def test_kinds_and_agents_are_chosen() -> None:
    approval = item(data={"kind": "approval", "agent": "claude"})
    beat = item(2, data={"kind": "beat"})
    assert Rules().match(approval)
    assert Rules(only=("approval", "error")).match(approval)
    assert not Rules(only=("approval", "error")).match(beat)
    assert Rules(agents=("claude",)).match(approval)
    assert not Rules(agents=("codex",)).match(approval)
    assert not Rules(agents=("claude",)).match(beat)
    assert item(3, data={"kind": "nonsense"}).kind == "other"


@pytest.mark.parametrize(
    ("table", "name"),
    [
        ({"kind": "smoke"}, "kind"),
        ({"kind": "command"}, ""),
        ({"kind": "command", "command": ["./here"]}, "command"),
        ({"kind": "command", "command": ["sh", 3]}, "command"),
        ({"kind": "bell", "command": ["sh"]}, "command"),
        ({"kind": "apprise"}, ""),
        ({"kind": "tmux", "urls": "json://secret"}, "urls"),
        ({"kind": "bell", "name": "notify"}, "name"),
        ({"kind": "bell", "name": "a b"}, "name"),
        ({"kind": "bell", "only": "everything"}, "only"),
        ({"kind": "bell", "quiet": "at night"}, "quiet"),
        ({"kind": "bell", "every": "sometimes"}, "every"),
    ],
)
def test_a_channel_that_cannot_be_is_refused_by_name(table: dict[str, Any], name: str) -> None:
    found = list(problems([{"kind": "bell", "name": "fine"}, table]))
    assert [(index, where) for index, where, _ in found] == [(1, name)]
    assert "secret" not in found[0][2]


def test_two_channels_have_two_names() -> None:
    assert [where for _, where, _ in problems([{"kind": "bell"}, {"kind": "bell"}])] == ["name"]
    tables: list[dict[str, Any]] = [
        {"kind": "bell", "only": "approval", "every": 60},
        {"kind": "apprise", "urls": ["a", "b"], "quiet": "22:00-07:00", "every": "10m"},
    ]
    assert list(problems(tables)) == []
    bell, apprise = from_tables(tables)
    assert (bell.name, bell.rules) == ("bell", Rules(only=("approval",), every_s=60.0))
    assert (apprise.urls, apprise.rules) == (("a", "b"), Rules(quiet=Hours(1320, 420), every_s=600.0))
