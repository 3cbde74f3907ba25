"""Wall clocks read minute by minute: slow, and too simple to be wrong.

What a cron expression means is counted here a second time, without cronsim and without Covey.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from functools import cache
from itertools import product
from typing import NamedTuple
from zoneinfo import ZoneInfo

from covey.beats.beat import Beat, Cron, Interval, Overlap, Quiet


class Reading(NamedTuple):
    """What a clock shows at a moment."""

    moment: int
    day: date
    hour: int
    minute: int


class Wanted(NamedTuple):
    """A cron expression in plain sets; `fixed` if neither its minute nor its hour begins with a star."""

    expression: str
    minutes: frozenset[int]
    hours: frozenset[int]
    weekdays: frozenset[int]
    fixed: bool


ALL_DAYS = frozenset(range(7))


def wanted(minute: str, hour: str, weekdays: str = "*") -> Wanted:
    """Made from the little that is needed here: stars, steps of a star, and lists. Sunday is 0."""
    return Wanted(
        f"{minute} {hour} * * {weekdays}",
        _set(minute, 60),
        _set(hour, 24),
        ALL_DAYS if weekdays == "*" else _set(weekdays, 7),
        fixed=not minute.startswith("*") and not hour.startswith("*"),
    )


def _set(field: str, size: int) -> frozenset[int]:
    if field.startswith("*"):
        return frozenset(range(0, size, int(field[2:] or 1)))
    return frozenset(int(part) for part in field.split(","))


@cache
def readings(zone: str, start: int, end: int) -> list[Reading]:
    """One for each minute."""
    clock = ZoneInfo(zone)
    shown = [(moment, datetime.fromtimestamp(moment, clock)) for moment in range(start, end, 60)]
    return [Reading(moment, at.date(), at.hour, at.minute) for moment, at in shown]


@cache
def moments(cron: Wanted, zone: str, start: int, end: int) -> list[int]:
    """Those of the expression between two moments, as Debian's cron has them."""
    shown = readings(zone, start, end)
    if not cron.fixed:
        return [
            at.moment
            for at in shown
            if at.minute in cron.minutes and at.hour in cron.hours and at.day.isoweekday() % 7 in cron.weekdays
        ]
    days: dict[date, dict[tuple[int, int], int]] = {}
    for at in shown:
        days.setdefault(at.day, {}).setdefault((at.hour, at.minute), at.moment)
    found = set()
    for day, first in days.items():
        for time in product(cron.hours, cron.minutes) if day.isoweekday() % 7 in cron.weekdays else ():
            if time in first:
                found.add(first[time])
            elif day not in (shown[0].day, shown[-1].day):  # skipped: what the clock shows next
                found.add(min(moment for other, moment in first.items() if other > time))
    return sorted(found)


def utc(*when: int) -> int:
    """Year, month, day, hour, minute as seconds since 1970."""
    return int(datetime(*when, tzinfo=UTC).timestamp())  # type: ignore[arg-type,misc]


def local(zone: str, *when: int, fold: int = 0) -> int:
    """The same on a wall clock."""
    return int(datetime(*when, tzinfo=ZoneInfo(zone), fold=fold).timestamp())  # type: ignore[arg-type,misc]


def beat(
    schedule: str | float,
    *,
    name: str = "b",
    tz: str = "UTC",
    quiet: Quiet | None = None,
    overlap: Overlap = "skip",
    last_run: float | None = None,
) -> Beat:
    """Text is a cron expression, a number an interval."""
    when = Cron(schedule) if isinstance(schedule, str) else Interval(schedule)
    return Beat(
        name=name,
        workspace="/w",
        file="/w/HEARTBEAT.md",
        schedule=when,
        tz=tz,
        quiet=quiet,
        overlap=overlap,
        last_run=last_run,
    )
