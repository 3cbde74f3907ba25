"""The slots of a beat: the moments at which it is due, each a moment of its schedule plus the beat's own offset. Pure.

Interval: moments are anchor + k * seconds, computed and never added up, so that nothing drifts.

Cron: cronsim reads the expression, and the moments are laid out here day by day on the beat's wall clock, as Debian's
cron has them: a job at fixed times runs once a day, at the end of the gap if its time is skipped and the first time if
its time comes twice; a job whose minute or hour begins with `*` follows the wall clock through gaps and repeats.
cronsim's own iteration is not used: asked from within a repeated hour it returns a moment that is past, where clocks
move by half an hour it loses some, and it cannot count a month without walking through it.

Quiet hours take slots away by the wall clock. Those of a cron expression are judged without the offset, which never
leaves the minute.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from hashlib import blake2b
from math import floor
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from cronsim import CronSim
from msgspec import Struct

from covey.beats.beat import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from covey.beats.beat import Beat, Cron, Quiet

MISSED_LIMIT = 1000
"""Missed slots are counted up to this; a count that has reached it means that many or more."""
MINUTE_S = 60
DAY_S = 86_400
DAY_MINUTES = 1440
SEARCH_DAYS = 50 * 366
"""A cron expression that matches no day among this many matches none."""
SEARCH_S = 400 * DAY_S
"""An interval whose slots are all quiet for this long has none."""
TICK = 1024
"""Offsets are multiples of one second divided by this power of two, so that sums of slots are exact."""


class CronTimes(Struct, frozen=True, kw_only=True):
    """A parsed cron expression."""

    days: CronSim
    """Knows which days match."""
    seconds: tuple[int, ...]
    """Times of day, in seconds after midnight."""
    fixed: bool
    """It runs at given times, not whenever the wall clock matches: only such moments are moved when clocks change."""


def offset(name: str, schedule: Interval | Cron, limit_s: float) -> float:
    """Return the beat's own shift in seconds, so that beats which are due together do not start together.

    It depends on the name, the schedule and the limit only. It is below the limit and below a tenth of `period`; for a
    cron expression it also stays within the minute that the expression names.
    """
    room = min(limit_s, period(schedule) / 10)
    if not isinstance(schedule, Interval):
        room = min(room, MINUTE_S - max(_times(schedule.expression).days.seconds))
    share = int.from_bytes(blake2b(name.encode(), digest_size=4).digest(), "big") / 2**32
    return floor(share * room * TICK) / TICK


def period(schedule: Interval | Cron) -> float:
    """Return the seconds between two slots; for a cron expression, the fewest between two of its times of day."""
    if isinstance(schedule, Interval):
        return schedule.seconds
    seconds = _times(schedule.expression).seconds
    return min(later - earlier for earlier, later in zip(seconds, (*seconds[1:], seconds[0] + DAY_S), strict=True))


def next_slot(beat: Beat, anchor: float, shift: float, after: float) -> float | None:
    """Return the first slot after `after` whose moment is not before the anchor, or None if there is none.

    There is none when all are in quiet hours, for example. `shift` is the beat's offset.
    """
    if isinstance(beat.schedule, Interval):
        return _next_interval(beat, beat.schedule.seconds, anchor + shift, after)
    return _next_cron(beat, beat.schedule.expression, anchor, shift, after)


def latest_slot(beat: Beat, anchor: float, shift: float, after: float, now: float) -> tuple[float, int] | None:
    """Return the last slot after `after` and up to `now`, and how many slots come before it after `after`.

    None means that no slot is due. The count is exact up to MISSED_LIMIT, which means that many or more.
    """
    first = next_slot(beat, anchor, shift, after)
    if first is None or first > now:
        return None
    if isinstance(beat.schedule, Interval):
        slot, missed = _latest_interval(beat, beat.schedule.seconds, anchor + shift, first, now)
    else:
        slot, missed = _latest_cron(beat, beat.schedule.expression, shift, first, now)
    return slot, min(missed, MISSED_LIMIT)


def end_of_quiet(beat: Beat, moment: float) -> float:
    """Return the first moment from this one on that is outside the beat's quiet hours.

    Quiet hours that begin where they end are empty.
    """
    if (quiet := beat.quiet) is None:
        return moment
    minute = moment - moment % MINUTE_S
    wall = _wall(beat.tz, minute)
    if not _is_quiet(quiet, wall):
        return moment
    end = minute + (quiet.end - _minute_of_day(wall)) % DAY_MINUTES * MINUTE_S
    if _wall(beat.tz, end) - wall == timedelta(seconds=end - minute):
        return end
    while _is_quiet(quiet, _wall(beat.tz, minute)):  # clocks change on the way: the hours may end and begin again
        minute += MINUTE_S
    return minute


def _next_interval(beat: Beat, seconds: float, first: float, after: float) -> float | None:
    slot = first if after < first else first + (_index(first, seconds, after) + 1) * seconds
    horizon = slot + SEARCH_S
    while slot < horizon:
        clear = end_of_quiet(beat, slot)
        if clear == slot:
            return slot
        index = _index(first, seconds, clear)
        slot = first + index * seconds
        if slot < clear:
            slot = first + (index + 1) * seconds
    return None


def _latest_interval(beat: Beat, seconds: float, base: float, first: float, now: float) -> tuple[float, int]:
    """Return what `latest_slot` does; `first` is the first slot, and it is due."""
    lowest, index = _index(base, seconds, first), _index(base, seconds, now)
    if beat.quiet is None:
        return base + index * seconds, index - lowest
    slot, missed = first, -1
    while index >= lowest and missed < MISSED_LIMIT:
        moment = base + index * seconds
        minute = moment - moment % MINUTE_S
        wall = _wall(beat.tz, minute)
        if not _is_quiet(beat.quiet, wall):
            slot, missed = max(slot, moment), missed + 1
            index -= 1
            continue
        began = minute - (_minute_of_day(wall) - beat.quiet.start) % DAY_MINUTES * MINUTE_S
        if wall - _wall(beat.tz, began) != timedelta(seconds=minute - began):
            began = minute  # clocks change on the way: go back minute by minute
        index = min(index, _index(base, seconds, began) + 1) - 1
    return slot, missed


def _index(first: float, seconds: float, moment: float) -> int:
    """Return the index of the last slot that is not after the moment."""
    index = floor((moment - first) / seconds)
    # Quotient and sum are rounded: the moment may seem to lie one slot too early or too late.
    if first + index * seconds > moment:
        return index - 1
    return index + 1 if first + (index + 1) * seconds <= moment else index


def _next_cron(beat: Beat, expression: str, anchor: float, shift: float, after: float) -> float | None:
    if not _times_outside_quiet(expression, beat.quiet):
        return None
    day = _day_of(beat.tz, max(anchor, after - shift))
    while (found := _matching_day(expression, day)) is not None:
        start, moments = _moments(beat, expression, found)
        place = max(bisect_right(moments, after - shift - start), bisect_left(moments, anchor - start))
        if place < len(moments):
            return start + moments[place] + shift
        day = found + 1
    return None


def _latest_cron(beat: Beat, expression: str, shift: float, first: float, now: float) -> tuple[float, int]:
    """Return what `latest_slot` does; `first` is the first slot, and it is due."""
    slot, missed = first, -1
    match = _times(expression).days
    # One day more: where a gap ends at midnight, a moment of the evening lies in the next day.
    day, lowest = _day_of(beat.tz, now - shift), _day_of(beat.tz, first - shift) - 1
    while day >= lowest and missed < MISSED_LIMIT:
        date = datetime.fromordinal(day)
        if date.month in match.months and match.match_day(date):
            start, moments = _moments(beat, expression, day)
            low, high = bisect_left(moments, first - shift - start), bisect_right(moments, now - shift - start)
            if low < high:
                slot, missed = max(slot, start + moments[high - 1] + shift), missed + high - low
        day -= 1
    return slot, missed


def _moments(beat: Beat, expression: str, day: int) -> tuple[float, Sequence[float]]:
    """Return the moments of a day that matches: a start, and seconds after it, in order."""
    start, end = _midnight(beat.tz, day), _midnight(beat.tz, day + 1)
    if end - start == DAY_S:
        return start, _times_outside_quiet(expression, beat.quiet)
    return 0.0, _moments_on_clock_change(expression, beat.quiet, beat.tz, day, start, end)


@lru_cache(maxsize=256)
def _moments_on_clock_change(
    expression: str, quiet: Quiet | None, tz: str, day: int, start: float, end: float
) -> tuple[float, ...]:
    """Return the moments of a day on which clocks change."""
    times = _times(expression)
    if times.fixed:
        midnight = datetime.fromordinal(day)
        moments = {_moment(tz, midnight + timedelta(seconds=second)) for second in times.seconds}
    else:
        wanted = frozenset(times.seconds)
        moments = set()
        for minute in range(int(start), int(end), MINUTE_S):
            second = _minute_of_day(_wall(tz, minute)) * MINUTE_S
            moments.update(float(minute + extra) for extra in times.days.seconds if second + extra in wanted)
    return tuple(sorted(moment for moment in moments if quiet is None or not _is_quiet(quiet, _wall(tz, moment))))


def _moment(tz: str, wall: datetime) -> float:
    """Return when the wall clock shows this for the first time or, if it skips it, when the gap ends."""
    while True:
        moment = wall.replace(tzinfo=_zone(tz)).timestamp()
        if _wall(tz, moment) == wall:
            return moment
        wall = wall.replace(second=0) + timedelta(minutes=1)


@lru_cache(maxsize=1024)
def _times(expression: str) -> CronTimes:
    # Any zone but UTC: cronsim then says whether it would move the expression's moments when clocks change.
    days = CronSim(expression, datetime(2000, 1, 1, tzinfo=timezone(timedelta(hours=1))))
    seconds = tuple(
        hour * 3600 + minute * 60 + second
        for hour in sorted(days.hours)
        for minute in sorted(days.minutes)
        for second in sorted(days.seconds)
    )
    return CronTimes(days=days, seconds=seconds, fixed=days.fixup_tz is not None)


@lru_cache(maxsize=1024)
def _times_outside_quiet(expression: str, quiet: Quiet | None) -> tuple[int, ...]:
    """Return the expression's times of day outside the quiet hours."""
    midnight = datetime.fromordinal(1)
    return tuple(
        second
        for second in _times(expression).seconds
        if quiet is None or not _is_quiet(quiet, midnight + timedelta(seconds=second))
    )


@lru_cache(maxsize=4096)
def _matching_day(expression: str, day: int) -> int | None:
    """Return the first day from this one on that the expression matches, or None."""
    match = _times(expression).days
    for candidate in range(day, day + SEARCH_DAYS):
        date = datetime.fromordinal(candidate)
        if date.month in match.months and match.match_day(date):
            return candidate
    return None


def _is_quiet(quiet: Quiet, wall: datetime) -> bool:
    minute = _minute_of_day(wall)
    if quiet.start <= quiet.end:
        return quiet.start <= minute < quiet.end
    return minute >= quiet.start or minute < quiet.end


def _minute_of_day(wall: datetime) -> int:
    return wall.hour * 60 + wall.minute


def _wall(tz: str, moment: float) -> datetime:
    """Return what the wall clock shows, as a date and time without a zone."""
    return datetime.fromtimestamp(moment, _zone(tz)).replace(tzinfo=None, fold=0)


def _day_of(tz: str, moment: float) -> int:
    return datetime.fromtimestamp(moment, _zone(tz)).toordinal()


def _midnight(tz: str, day: int) -> float:
    # The machine's own zone may change while we run, if its owner travels; a named one does not.
    return _named_midnight(tz, day) if tz else datetime.fromordinal(day).timestamp()


@lru_cache(maxsize=4096)
def _named_midnight(tz: str, day: int) -> float:
    return datetime.fromordinal(day).replace(tzinfo=_zone(tz)).timestamp()


def _zone(tz: str) -> ZoneInfo | None:
    """Return the zone; None is the machine's own zone to `datetime`."""
    return ZoneInfo(tz) if tz else None
