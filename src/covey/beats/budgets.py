"""Checks budgets against the spending that the database has recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.beats import money

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from covey.beats.beat import Beat
    from covey.beats.queries import Queries
    from covey.beats.records import BeatRecord


class Budgets:
    """The budgets of each beat and of all beats together. `setting` returns the limits for all."""

    def __init__(self, queries: Queries, setting: Callable[[str], Any]) -> None:
        self._queries = queries
        self._setting = setting

    async def check(self, beat: Beat, record: BeatRecord, now: float) -> money.BudgetExceeded | None:
        """Return which budget the beat has used up and until when, or None if it may still spend."""
        since = record.budget_from
        if since > now:  # the clock was set back since
            since = 0.0
        today, this_month = await self.spent(beat, now, since)
        return money.exceeded(beat.budget, today, this_month, now, beat.tz) or await self._check_all(now, since)

    async def spent(self, beat: Beat, now: float, since: float = 0.0) -> tuple[money.Spent, money.Spent]:
        """Return what a beat has spent today and this month, by the calendar of its zone; nothing before `since`."""
        today, _ = money.day(now, beat.tz)
        this_month, _ = money.month(now, beat.tz)
        return (
            await self._queries.spent(max(today, since), beat.file),
            await self._queries.spent(max(this_month, since), beat.file),
        )

    async def spent_by_all(self, now: float, since: float = 0.0) -> tuple[money.Spent, money.Spent]:
        """Return what all beats have spent today and this month, by the machine's calendar; nothing before `since`."""
        today, _ = money.day(now, "")
        this_month, _ = money.month(now, "")
        return await self._queries.spent(max(today, since)), await self._queries.spent(max(this_month, since))

    async def spent_by_others(self, now: float, files: Sequence[str]) -> tuple[money.Spent, money.Spent, money.Spent]:
        """Return what all beats but these have spent today, this month and in all, by the machine's calendar."""
        today, _ = money.day(now, "")
        this_month, _ = money.month(now, "")
        return (
            await self._queries.spent_by_others(today, files),
            await self._queries.spent_by_others(this_month, files),
            await self._queries.spent_by_others(0.0, files),
        )

    async def _check_all(self, now: float, since: float) -> money.BudgetExceeded | None:
        limits = money.limits(self._setting("beats.day_usd"), self._setting("beats.month_usd"))
        if limits is None:
            return None
        today, this_month = await self.spent_by_all(now, since)
        stop = money.exceeded(limits, today, this_month, now, "")
        return stop and stop._replace(reason=money.ALL + stop.reason)
