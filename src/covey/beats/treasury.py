"""Who may still spend: budgets against what the ledger says was spent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.beats import money

if TYPE_CHECKING:
    from collections.abc import Callable

    from covey.beats.beat import Beat
    from covey.beats.ledger import Ledger, Standing


class Treasury:
    """Over one ledger. `setting` gives the limits for all beats together."""

    def __init__(self, ledger: Ledger, setting: Callable[[str], Any]) -> None:
        self._ledger = ledger
        self._setting = setting

    async def stop(self, beat: Beat, standing: Standing, now: float) -> money.Stop | None:
        """Why a beat may spend nothing any more, and until when; None if it may."""
        today, this_month = await self.spent(beat, now, standing.budget_from)
        return money.used_up(beat.budget, today, this_month, now, beat.tz) or await self._all(now)

    async def spent(self, beat: Beat, now: float, since: float = 0.0) -> tuple[money.Spent, money.Spent]:
        """What a beat has spent today and this month, on the calendar of its zone; nothing from before `since`."""
        day, month = money.day(now, beat.tz)[0], money.month(now, beat.tz)[0]
        return await self._ledger.spent(max(day, since), beat.file), await self._ledger.spent(max(month, since), beat.file)

    async def spent_by_all(self, now: float) -> tuple[money.Spent, money.Spent]:
        """What all beats have spent today and this month, on the machine's calendar."""
        return await self._ledger.spent(money.day(now, "")[0]), await self._ledger.spent(money.month(now, "")[0])

    async def _all(self, now: float) -> money.Stop | None:
        limits = money.limits(self._setting("beats.day_usd"), self._setting("beats.month_usd"))
        if limits is None:
            return None
        stop = money.used_up(limits, *await self.spent_by_all(now), now, "")
        return stop and stop._replace(reason=money.ALL + stop.reason)
