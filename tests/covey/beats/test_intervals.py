"""Lengths of time as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.beats.intervals import SHORTEST_S, seconds
from covey.kernel.durations import LONGEST_S, format_duration


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("30m", 1800), ("1h", 3600), ("15m", 900), ("90s", 90), ("1d", 86_400), ("1h30m", 5400), ("1h 30m", 5400),
        (" 10s\n", 10), ("1d1h1m1s", 90_061), ("0h30m", 1800), ("1.5h", 5400),
    ],
)  # fmt: skip
def test_a_duration_is_read_as_seconds(text: str, length: float) -> None:
    assert seconds(text) == length


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("30", "30 has no unit: write 30s, 30m, 30h or 30d"),
        ("5s", "5s is too short: the shortest is 10s"),
        ("0m", "0m is too short: the shortest is 10s"),
        ("400d", "400d is too long: the longest is 366d"),
        ("", "'' is not a duration: write numbers with their units, longest first, such as 30m, 1h30m, 90s or 1d"),
        ("1,5h", "'1,5h' is not a duration"),
        ("30m1h", "'30m1h' is not a duration"),
        ("30M", "'30M' is not a duration"),
        ("-30m", "'-30m' is not a duration"),
        ("٣m", "'٣m' is not a duration"),
        ("9" * 5000 + "m", "'" + "9" * 40 + "…' is not a duration"),
    ],
)
def test_anything_else_is_refused_with_what_to_write(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        seconds(text)
    assert str(caught.value).startswith(said)
    assert len(str(caught.value)) < 250


@given(st.integers(int(SHORTEST_S), int(LONGEST_S)))
def test_what_is_shown_is_read_back_as_the_same(length: int) -> None:
    assert seconds(format_duration(length)) == length


@given(st.text(alphabet="0123456789smhd .-+", max_size=20) | st.text(max_size=20))
def test_any_text_is_a_duration_within_the_limits_or_refused(text: str) -> None:
    try:
        length = seconds(text)
    except ValueError:
        return
    assert SHORTEST_S <= length <= LONGEST_S
