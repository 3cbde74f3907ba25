"""Times and durations as text."""

from __future__ import annotations

import re

import pytest

from covey.cli import text


def test_a_time_of_another_day_has_its_date() -> None:
    assert re.fullmatch(r"20(25-12-31|26-01-01) \d\d:\d\d:\d\d", text.clock_of("2025-12-31T23:58:55.888Z"))


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
    assert (text.age(milliseconds), text.ago(milliseconds)) == (age, ago)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (True, "yes"),
        (False, "no"),
        (None, ""),
        ("é", "é"),
        (1.5, "1.5"),
        ([1, "é"], '[1, "é"]'),
        ({"a": None}, '{"a": null}'),
    ],
)
def test_any_value_is_one_line_of_text(value: object, shown: str) -> None:
    assert text.value_text(value) == shown
