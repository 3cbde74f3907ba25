from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.kernel.clock import timestamp
from covey.kernel.moments import moment, seconds
from murli import AgentError
from tests.covey.fleet.fleets import NOW


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90", 90),
        ("30s", 30),
        ("5m", 300),
        ("2h", 7200),
        ("1d", 86400),
        ("250ms", 0.25),
        ("1.5m", 90),
        ("1h30m", 5400),
        ("1h 30m", 5400),
    ],
)
def test_durations_are_read_as_people_write_them(text: str, expected: float) -> None:
    assert seconds(text, "timeout") == pytest.approx(expected)


@pytest.mark.parametrize("text", ["", "soon", "-5", "5 m", "1e3", "٣s", "999999999d", "nan", "5mm"])
def test_a_text_that_is_not_a_duration_is_refused_by_its_field(text: str) -> None:
    with pytest.raises(AgentError, match="expected a duration") as caught:
        seconds(text, "timeout")
    assert caught.value.field == "timeout"


def test_a_duration_can_be_too_short() -> None:
    assert seconds("100ms", "interval", least=0.1) == pytest.approx(0.1)
    with pytest.raises(AgentError, match=r"at least 0\.1s"):
        seconds("50ms", "interval", least=0.1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10m", NOW - 600),
        ("2026-01-01T00:00:00Z", NOW),
        ("2026-01-01T01:00:00+01:00", NOW),
        ("2026-01-01T00:00:00", NOW),
        ("2026-01-01", NOW),
    ],
)
def test_a_moment_is_a_time_or_how_long_ago(text: str, expected: float) -> None:
    assert moment(text, "since", NOW) == expected


@given(st.text(max_size=40))
def test_no_text_breaks_it(text: str) -> None:
    try:
        assert isinstance(moment(text, "since", NOW), float)
    except AgentError as error:
        assert error.field == "since"  # noqa: PT017 - it may be a moment


@given(st.integers(0, 4_000_000_000_000))
def test_our_own_timestamps_are_read_back(milliseconds: int) -> None:
    assert moment(timestamp(milliseconds / 1000), "since", NOW) == pytest.approx(milliseconds / 1000, abs=0.001)
