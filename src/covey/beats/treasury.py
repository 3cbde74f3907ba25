"""Who may still spend: budgets against what the ledger says was spent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.beats import money

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from covey.beats.beat import Beat
    from covey.beats.records import Records, Standing


class Treasury:
    """Over one ledger. `setting` gives the limits for all beats together."""

    def __init__(self, ledger: Records, setting: Callable[[str], Any]) -> None:
        self._ledger = ledger
        self._setting = setting

    async def stop(self, beat: Beat, standing: Standing, now: float) -> money.Stop | None:
        """Why a beat may spend nothing any more, and until when; None if it may."""
        since = (
            standing.budget_from if standing.budget_from <= now else 0.0
        )  # in the future: the clock was set back since
        today, this_month = await self.spent(beat, now, since)
        return money.used_up(beat.budget, today, this_month, now, beat.tz) or await self._all(now, since)

    async def spent(self, beat: Beat, now: float, since: float = 0.0) -> tuple[money.Spent, money.Spent]:
        """What a beat has spent today and this month, on the calendar of its zone; nothing from before `since`."""
        day, month = money.day(now, beat.tz)[0], money.month(now, beat.tz)[0]
        return await self._ledger.spent(max(day, since), beat.file), await self._ledger.spent(
            max(month, since), beat.file
        )

    async def spent_by_all(self, now: float, since: float = 0.0) -> tuple[money.Spent, money.Spent]:
        """What all beats have spent today and this month, on the machine's calendar; nothing from before `since`."""
        day, month = money.day(now, "")[0], money.month(now, "")[0]
        return await self._ledger.spent(max(day, since)), await self._ledger.spent(max(month, since))

    async def spent_by_others(self, now: float, files: Sequence[str]) -> tuple[money.Spent, money.Spent, money.Spent]:
        """What runs of other beats than these have spent today, this month and in all, on the machine's calendar."""
        moments = money.day(now, "")[0], money.month(now, "")[0], 0.0
        today, month, total = [await self._ledger.spent_by_others(moment, files) for moment in moments]
        return today, month, total

    async def _all(self, now: float, since: float) -> money.Stop | None:
        limits = money.limits(self._setting("beats.day_usd"), self._setting("beats.month_usd"))
        if limits is None:
            return None
        stop = money.used_up(limits, *await self.spent_by_all(now, since), now, "")
        return stop and stop._replace(reason=money.ALL + stop.reason)
