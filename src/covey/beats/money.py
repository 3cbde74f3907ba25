"""What beats spend, and when it is too much. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo

from msgspec import Struct

from covey.beats.beat import Budget

if TYPE_CHECKING:
    from covey.agents.headless.report import Usage


ALL = "all beats together: "
"""The beginning of a reason that is not the beat's own budget."""


class Spent(Struct, frozen=True):
    """What was spent over some time."""

    runs: int = 0
    cost_usd: float = 0.0
    tokens: int = 0


class Prices(Struct, frozen=True, kw_only=True):
    """What earlier runs of a beat have cost; None where no run reported it."""

    usd_per_token: float | None = None
    usd_per_run: float | None = None


class BudgetExceeded(NamedTuple):
    """A budget is used up."""

    reason: str
    until: float
    """When the next day or month begins."""


def day(now: float, zone: str) -> tuple[float, float]:
    """Return when the day began, and when the next one begins, by the calendar of a zone."""
    local = _at_midnight(_local(now, zone))
    return local.timestamp(), _at_midnight(local + timedelta(days=1, hours=12)).timestamp()


def month(now: float, zone: str) -> tuple[float, float]:
    """Return when the month began, and when the next one begins, by the calendar of a zone."""
    local = _at_midnight(_local(now, zone).replace(day=1))
    return local.timestamp(), _at_midnight((local + timedelta(days=32)).replace(day=1)).timestamp()


def exceeded(budget: Budget, today: Spent, this_month: Spent, now: float, zone: str) -> BudgetExceeded | None:
    """Return which budget is used up and until when, or None.

    An agent that reports no cost counts as zero dollars: it needs a budget in tokens.
    """
    for limit, spent, unit, name, span in (
        (budget.month_usd, this_month.cost_usd, "USD", "monthly", month),
        (budget.month_tokens, this_month.tokens, "tokens", "monthly", month),
        (budget.day_usd, today.cost_usd, "USD", "daily", day),
        (budget.day_tokens, today.tokens, "tokens", "daily", day),
    ):
        if limit is not None and spent >= limit:
            reason = f"{name} budget reached: {amount(spent, unit)} of {amount(limit, unit)}"
            return BudgetExceeded(reason, until=span(now, zone)[1])
    return None


def is_budget_reason(reason: str) -> bool:
    """Tell whether the reason why a beat does not run is a budget."""
    return "budget reached: " in reason or "went over its budget" in reason


def limits(day_usd: float, month_usd: float) -> Budget | None:
    """Return what all beats together may spend, or None if there is no limit."""
    return Budget(day_usd=day_usd or None, month_usd=month_usd or None) if day_usd or month_usd else None


def estimated(usage: Usage, prices: Prices, budget: Budget, *, timed_out: bool) -> float | None:
    """Return the estimated cost of a run whose agent ended before it reported one, or None without a basis.

    Reported tokens count at the price of the beat's earlier runs, or at the list price where there is none. An agent
    that hung without reporting tokens may have used some: it counts as much as an earlier run, or as its budget for one
    run.
    """
    if usage.tokens and prices.usd_per_token is not None:
        return usage.tokens * prices.usd_per_token
    if usage.tokens:
        return usage.list_usd
    if not timed_out:
        return None
    return budget.run_usd if prices.usd_per_run is None else prices.usd_per_run


def run_over_budget(budget: Budget, usage: Usage) -> bool:
    """Tell whether a run has spent more than one run may."""
    return (budget.run_usd is not None and (usage.cost_usd or 0.0) > budget.run_usd) or (
        budget.run_tokens is not None and (usage.tokens or 0) > budget.run_tokens
    )


def amount(value: float, unit: str) -> str:
    """Return an amount for people: $1.25, 12,000 tokens."""
    if unit != "USD":
        return f"{value:,.0f} {unit}"
    return f"${value:.{2 if value >= 0.1 else 4}f}".rstrip("0").rstrip(".")  # noqa: PLR2004 - as the command line shows prices


def _local(now: float, zone: str) -> datetime:
    if zone:
        return datetime.fromtimestamp(now, ZoneInfo(zone))
    return datetime.fromtimestamp(now).astimezone()


def _at_midnight(moment: datetime) -> datetime:
    """Return the beginning of the day, with the offset from UTC that is valid then."""
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    return midnight if isinstance(midnight.tzinfo, ZoneInfo) else midnight.replace(tzinfo=None).astimezone()
