"""What beats spend, and when it is too much."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.agents.headless.report import Usage
from covey.beats import money
from covey.beats.beat import Budget
from covey.beats.money import Spent

ZONES = [
    "Europe/Berlin",
    "America/Santiago",
    "America/Havana",
    "Asia/Beirut",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "UTC",
]
"""Some change their clocks at midnight, or by half an hour, or have left out a day."""


def at(text: str, zone: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


@pytest.fixture
def in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    os.environ.pop("TZ")
    time.tzset()


def test_a_day_is_one_of_the_beats_zone() -> None:
    now = at("2026-03-29T12:00", "Europe/Berlin")
    began, ends = money.day(now, "Europe/Berlin")
    assert ends - began == 23 * 3600, "the clocks go forward"
    assert money.day(now, "UTC") != (began, ends)
    assert money.month(now, "Europe/Berlin") == (
        at("2026-03-01T00:00", "Europe/Berlin"),
        at("2026-04-01T00:00", "Europe/Berlin"),
    )


@pytest.mark.usefixtures("in_berlin")
def test_without_a_zone_it_is_one_of_the_machine() -> None:
    now = at("2026-10-25T12:00", "Europe/Berlin")
    assert money.day(now, "") == money.day(now, "Europe/Berlin")
    assert money.month(now, "") == money.month(now, "Europe/Berlin")


def test_a_midnight_that_comes_twice_begins_the_day_once() -> None:
    midnight = at("2024-11-03T00:00", "America/Havana")  # in the past: newer tables of time zones change the future
    again = midnight + 3600 + 60
    assert datetime.fromtimestamp(again, ZoneInfo("America/Havana")).hour == 0
    assert money.day(again, "America/Havana")[0] == midnight


@given(st.integers(1_500_000_000, 2_000_000_000), st.sampled_from(ZONES))
def test_every_moment_is_in_its_day_and_month_and_the_next_ones_follow(now: int, zone: str) -> None:
    for span, least, most in ((money.day, 22, 26), (money.month, 27 * 24, 31 * 24 + 2)):
        began, ends = span(now, zone)
        assert began <= now < ends
        assert timedelta(hours=least) <= timedelta(seconds=ends - began) <= timedelta(hours=most)
        assert span(ends, zone)[0] == ends


def test_a_budget_is_used_up_when_it_is_reached() -> None:
    noon = at("2026-05-05T12:00", "UTC")
    budget = Budget(day_usd=1.0, month_usd=10.0, day_tokens=1000)
    assert money.exceeded(budget, Spent(3, 0.99, 999), Spent(30, 9.99, 0), noon, "UTC") is None
    assert money.exceeded(budget, Spent(3, 1.0, 0), Spent(), noon, "UTC") == (
        "daily budget reached: $1 of $1",
        at("2026-05-06T00:00", "UTC"),
    )
    assert money.exceeded(budget, Spent(3, 0.5, 1000), Spent(), noon, "UTC") == (
        "daily budget reached: 1,000 tokens of 1,000 tokens",
        at("2026-05-06T00:00", "UTC"),
    )
    stop = money.exceeded(budget, Spent(3, 1.0, 1000), Spent(30, 10.5, 0), noon, "UTC")
    assert stop == ("monthly budget reached: $10.5 of $10", at("2026-06-01T00:00", "UTC")), (
        "the longer stop is the one that holds"
    )
    assert money.is_budget_reason(stop.reason)


def test_what_was_not_measured_does_not_count() -> None:
    assert not money.run_over_budget(Budget(run_usd=0.1, run_tokens=10), Usage())
    assert money.run_over_budget(Budget(run_tokens=10), Usage(tokens=11))
    assert not money.run_over_budget(Budget(run_usd=0.1), Usage(cost_usd=0.1, tokens=11))
    assert money.run_over_budget(Budget(run_usd=0.1), Usage(cost_usd=0.11))


@pytest.mark.parametrize(
    ("usage", "prices", "timed_out", "cost"),
    [
        (Usage(tokens=1000, list_usd=0.5), money.Prices(usd_per_token=0.001, usd_per_run=9.0), True, 1.0),
        (Usage(tokens=1000, list_usd=0.5), money.Prices(), False, 0.5),
        (Usage(tokens=1000), money.Prices(), True, None),
        (Usage(), money.Prices(usd_per_token=0.001, usd_per_run=0.3), True, 0.3),
        (Usage(), money.Prices(), True, 0.2),
        (Usage(), money.Prices(usd_per_run=0.3), False, None),
    ],
)
def test_a_cost_that_was_not_reported_is_estimated(
    usage: Usage, prices: money.Prices, timed_out: object, cost: float | None
) -> None:
    assert money.estimated(usage, prices, Budget(run_usd=0.2), timed_out=bool(timed_out)) == cost


def test_no_limit_for_all_is_none() -> None:
    assert money.limits(0.0, 0.0) is None
    assert money.limits(1.5, 0.0) == Budget(day_usd=1.5)


def test_only_a_budget_is_a_reason_about_budgets() -> None:
    assert money.is_budget_reason("a run went over its budget ($1)")
    assert not money.is_budget_reason("rate limit: mind your budget")
