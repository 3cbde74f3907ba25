"""Attention items about beats that do not run though they should.

Each is asked about once, and settled when all is well again. Open alerts are in the database, so that a later
daemon settles what an earlier one asked about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from covey.beats import money
from covey.beats.schedule import period

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from covey.beats.beat import Beat
    from covey.beats.catalog import BeatCatalog
    from covey.beats.ledger import Ledger
    from covey.beats.record_cache import RecordCache

LATE_S = 300.0
"""A beat that is late by this much, or by one period if that is longer, is a matter for a person."""
LONGEST_LATE_S = 3600.0
"""A beat that is late by this much is one, however rarely it runs."""
HOW_TO_SPEND_MORE = (
    "To allow more: covey config set beats.day_usd DOLLARS (or beats.month_usd); then they go on by themselves."
    " To let them run on for now: covey beats resume --all"
)


class Alert(NamedTuple):
    """The text of an attention item."""

    title: str
    detail: str

    @property
    def command(self) -> str:
        """The command that helps: the one at the end of the detail, if there is one."""
        last = self.detail.rpartition(": ")[2]
        return last if last.startswith("covey ") else "covey beats list"


class Alerts:
    """The alerts that are open, by key."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._open: dict[str, Alert] | None = None

    async def update(self, alerts: Mapping[str, Alert]) -> None:
        """Make `alerts` the open ones: ask about those that are new or different, settle those that are gone."""
        if self._open is None:
            self._open = await self._ledger.open_alerts()
        for key, alert in alerts.items():
            if self._open.get(key) != alert:
                await self._ledger.open_alert(key, alert)
                self._open[key] = alert
        for key in self._open.keys() - alerts.keys():
            await self._ledger.settle_alert(key, "it is well again")
            del self._open[key]


def current_alerts(
    catalog: BeatCatalog, records: RecordCache, late: Iterable[tuple[Beat, float]], now: float
) -> dict[str, Alert]:
    """Return an alert for each beat that is broken, late or out of budget, by key. `late`: beats with their seconds."""
    alerts = {
        f"beat-broken:{entry.file}": Alert(f"{entry.name} cannot run", "; ".join(entry.problem_lines))
        for entry in catalog.entries
        if entry.problems
    }
    for beat, seconds in late:
        if seconds > max(LATE_S, min(period(beat.schedule), LONGEST_LATE_S)):
            alerts[f"beat-late:{beat.file}"] = Alert(
                f"{beat.name} should have run and has not",
                "Too many run at once, or the machine is too busy: covey beats list",
            )
    for beat in catalog.beats.values():
        record = records.get(beat.file)
        if record is None or not record.plan.is_stopped(now) or not money.is_budget_reason(record.reason):
            continue
        if record.reason.startswith(money.ALL):
            alerts["beats-budget"] = Alert(record.reason, HOW_TO_SPEND_MORE)
        else:
            alerts[f"beat-budget:{beat.file}"] = Alert(
                f"{beat.name}: {record.reason}", f"To let it run on: covey beats resume {beat.name}"
            )
    return alerts
