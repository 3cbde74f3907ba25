"""When a limit is lifted, read from what agents say."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.agents.headless.retry_time import retry_time

NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("Please try again in 1.5s.", 1.5),
        ("Please try again in 250ms.", 0.25),
        ("Please retry in 17h3m5.5s.", 61385.5),
        ("try again in 2 days 3 hours 4 minutes.", 183840.0),
        ("Suggested retry after 3600s.", 3600.0),
    ],
)
def test_a_wait_is_counted_from_now(said: str, seconds: float) -> None:
    assert retry_time(said, 0.0, 1000.0) == pytest.approx(1000.0 + seconds)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "Too Many Requests",
        "try again later",
        "try again at Foo 3rd, 2026 1:00 PM",
        "try again at Feb 31st, 2026 1:00 PM",
        "retry after lunch",
    ],
)
def test_nothing_is_guessed(said: str) -> None:
    assert retry_time(said, 0.0, 1000.0) is None


@given(st.integers(0, 4_000_000_000), st.integers(1, 12), st.integers(0, 59), st.sampled_from(["AM", "PM"]))
def test_a_time_of_day_is_the_next_such_time(began: int, hour: int, minute: int, half: str) -> None:
    moment = retry_time(f"try again at {hour}:{minute:02} {half}.", float(began), float(began))
    assert moment is not None
    assert began - 3660 <= moment <= began + 25 * 3600 + 60  # an hour more or less where the clocks change


@pytest.mark.parametrize(
    ("said", "moment"),
    [
        ("Claude AI usage limit reached|1794747600", 1794747600.0),
        ("You've hit your limit · resets 3pm (UTC)", NOON + 3 * 3600),
        ("limit reached ∙ resets 11:30am (Europe/Berlin)", NOON + 22.5 * 3600),
        ("resets 3pm (No/Such_Zone)", None),
        ("resets 3:99pm (UTC)", None),
        ("try again later", None),
    ],
)
def test_the_moment_of_a_reset_is_read_from_words(said: str, moment: float | None) -> None:
    assert retry_time(said, NOON, NOON) == moment
