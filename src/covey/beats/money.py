"""What beats spend, and when it is too much. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo

from msgspec import Struct

from covey.beats.beat import Budget

if TYPE_CHECKING:
    from covey.agents.headless.report import Usage


ALL = "all beats together: "
"""Before the reason, if it is not the beat's own budget."""


class Spent(Struct, frozen=True):
    """Over some time."""

    runs: int = 0
    cost_usd: float = 0.0
    tokens: int = 0


class Prices(Struct, frozen=True, kw_only=True):
    """What earlier runs of a beat have cost; None where it has none that told."""

    usd_per_token: float | None = None
    usd_per_run: float | None = None


class Stop(NamedTuple):
    """A budget is used up."""

    reason: str
    until: float
    """When the next day or month begins."""


def day(now: float, zone: str) -> tuple[float, float]:
    """When the day began, and when the next one begins, on the calendar of a zone."""
    local = _at_midnight(_local(now, zone))
    return local.timestamp(), _at_midnight(local + timedelta(days=1, hours=12)).timestamp()


def month(now: float, zone: str) -> tuple[float, float]:
    """Likewise for the month."""
    local = _at_midnight(_local(now, zone).replace(day=1))
    return local.timestamp(), _at_midnight((local + timedelta(days=32)).replace(day=1)).timestamp()


def used_up(budget: Budget, today: Spent, this_month: Spent, now: float, zone: str) -> Stop | None:
    """Whether nothing may be spent any more, and until when. What cannot be measured is not counted: who reports no cost has a budget in tokens."""
    for limit, spent, unit, name, span in (
        (budget.month_usd, this_month.cost_usd, "USD", "monthly", month),
        (budget.month_tokens, this_month.tokens, "tokens", "monthly", month),
        (budget.day_usd, today.cost_usd, "USD", "daily", day),
        (budget.day_tokens, today.tokens, "tokens", "daily", day),
    ):
        if limit is not None and spent >= limit:
            return Stop(f"{name} budget reached: {amount(spent, unit)} of {amount(limit, unit)}", span(now, zone)[1])
    return None


def stops(reason: str) -> bool:
    """Whether it is for its money that a beat does not run."""
    return "budget reached: " in reason or "went over its budget" in reason


def limits(day_usd: float, month_usd: float) -> Budget | None:
    """What all beats together may spend; None if there is no limit."""
    return Budget(day_usd=day_usd or None, month_usd=month_usd or None) if day_usd or month_usd else None


def estimated(usage: Usage, prices: Prices, budget: Budget, *, timed_out: bool) -> float | None:
    """What a run has cost whose agent ended before it told its cost; None if there is nothing to estimate it from.

    The tokens that were told count at the price of the beat's earlier runs, or at the list price where there is none. An
    agent that hung without telling any tokens was asked nevertheless: it counts as much as an earlier run, or as much as
    one run may cost.
    """
    if usage.tokens:
        return usage.tokens * prices.usd_per_token if prices.usd_per_token is not None else usage.list_usd
    return (prices.usd_per_run if prices.usd_per_run is not None else budget.run_usd) if timed_out else None


def overspent(budget: Budget, usage: Usage) -> bool:
    """Whether a run has gone over what one run may spend."""
    return (budget.run_usd is not None and (usage.cost_usd or 0.0) > budget.run_usd) or (
        budget.run_tokens is not None and (usage.tokens or 0) > budget.run_tokens
    )


def amount(value: float, unit: str) -> str:
    """For people: $1.25, 12,000 tokens."""
    if unit != "USD":
        return f"{value:,.0f} {unit}"
    return f"${value:.{2 if value >= 0.1 else 4}f}".rstrip("0").rstrip(".")  # noqa: PLR2004 - as the command line shows prices


def _local(now: float, zone: str) -> datetime:
    place: tzinfo | None = ZoneInfo(zone) if zone else None
    return datetime.fromtimestamp(now, place) if place else datetime.fromtimestamp(now).astimezone()


def _at_midnight(moment: datetime) -> datetime:
    """The day's beginning, with the offset from UTC that holds then."""
    there = moment.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    return there if isinstance(there.tzinfo, ZoneInfo) else there.replace(tzinfo=None).astimezone()
