"""Times and durations as text."""

from __future__ import annotations

import re

import pytest

from covey.cli import agents_table, render_fleet


def test_a_time_of_another_day_has_its_date() -> None:
    assert re.fullmatch(r"20(25-12-31|26-01-01) \d\d:\d\d:\d\d", render_fleet.clock_of("2025-12-31T23:58:55.888Z"))


@pytest.mark.parametrize(
    ("milliseconds", "age", "ago"),
    [
        (0, "0s", "0.0s ago"),
        (300, "0s", "0.3s ago"),
        (64_112, "1m", "1m 4s ago"),
        (3_700_000, "1h", "1h 1m ago"),
        (90_000_000, "1d", "1d 1h ago"),
    ],
)
def test_ages_are_short(milliseconds: int, age: str, ago: str) -> None:
    assert (agents_table.age(milliseconds), render_fleet.ago(milliseconds)) == (age, ago)
