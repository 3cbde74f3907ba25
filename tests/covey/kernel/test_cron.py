"""Times of cron expressions that have passed, and expressions that cannot be."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from covey.kernel.cron import MISSED_LIMIT, cron_problem, latest_time, next_time, timezone_problem


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("expression", "timezone", "after", "now", "latest", "missed"),
    [
        ("0 9 * * *", "UTC", "2026-03-01T09:00", "2026-03-04T09:00", "2026-03-04T09:00", 2),
        ("0 9 * * *", "UTC", "2026-03-01T08:59:59", "2026-03-01T09:00", "2026-03-01T09:00", 0),
        ("0 9 * * *", "Europe/Berlin", "2026-03-27T12:00", "2026-03-30T12:00", "2026-03-30T07:00", 2),
        ("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00", "2026-03-29T12:00", "2026-03-29T01:00", 0),
        ("* * * * *", "UTC", "2026-01-01T00:00", "2026-03-01T00:00:30", "2026-03-01T00:00", MISSED_LIMIT),
        ("0 * * * *", "UTC", "2024-01-01T00:00", "2026-03-01T00:30", "2026-03-01T00:00", MISSED_LIMIT),
        ("0 0 * * *", "UTC", "2020-01-01T00:00", "2026-03-01T00:30", "2026-03-01T00:00", MISSED_LIMIT),
    ],
)
def test_the_last_time_that_has_come_is_told_with_those_before_it(
    expression: str, timezone: str, after: str, now: str, latest: str, missed: int
) -> None:
    assert latest_time(expression, timezone, at(after), at(now)) == (at(latest), missed)


def test_nothing_has_come_before_the_first_time() -> None:
    assert latest_time("0 9 * * *", "UTC", at("2026-03-01T09:00"), at("2026-03-02T08:59")) is None
    assert next_time("0 0 29 2 *", "UTC", at("2026-03-01T00:00")) == at("2028-02-29T00:00")


@pytest.mark.parametrize("expression", ["", "* * * *", "60 * * * *", "0 0 31 2 *", "* * * * * *", "soon"])
def test_an_expression_that_cannot_be_is_told(expression: str) -> None:
    assert cron_problem(expression)


def test_a_zone_has_a_name() -> None:
    assert timezone_problem("Europe/Nowhere")
    assert timezone_problem("../../etc/passwd")
    assert not timezone_problem("Europe/Berlin")
    assert not cron_problem("0 9 * * 1-5")
