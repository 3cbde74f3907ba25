"""Slots: of intervals and cron expressions, through clock changes and quiet hours."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import datetime
from itertools import pairwise
from math import inf, nextafter
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim
from hypothesis import example, given, settings
from hypothesis import strategies as st

from covey.beats.beat import Beat, Cron, Interval, Quiet
from covey.beats.schedule import MISSED_LIMIT, end_of_quiet, latest_slot, next_slot, offset, period
from tests.covey.beats.wall_clock import beat, local, moments, utc, wanted

patient = settings(deadline=None)
"""A busy machine is no defect."""
ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe")
YEAR = utc(2026, 1, 1), utc(2027, 1, 1)
CRONS = (
    wanted("*/15", "*"),
    wanted("30", "*"),
    wanted("0", "*"),
    wanted("10", "*/2"),
    wanted("*/30", "2"),
    wanted("*/7", "1,2,3"),
    wanted("15", "2"),
    wanted("30", "1"),
    wanted("30", "2"),
    wanted("0", "2,3"),
    wanted("0,30", "1,2,3"),
    wanted("45", "1", "0"),
)


def walked(one: Beat, start: float, end: float, *, shift: float = 0.0) -> list[float]:
    """The slots in [start, end), one after the other."""
    found: list[float] = []
    slot = next_slot(one, start, shift, -inf)
    while slot is not None and slot < end:
        found.append(slot)
        slot = next_slot(one, start, shift, slot)
    return found


@pytest.mark.parametrize("zone", ZONES)
def test_a_year_of_cron_has_each_moment_of_the_wall_clock_once(zone: str) -> None:
    for cron in CRONS:
        expected = moments(cron, zone, *YEAR)
        found = walked(beat(cron.expression, tz=zone), *YEAR)
        assert found == expected, cron.expression
        assert all(one < other for one, other in pairwise(found))


@pytest.mark.parametrize("zone", ZONES[:2])
@pytest.mark.parametrize(
    "expression",
    [
        "*/15 * * * *",
        "30 2 * * *",
        "0,30 1-3 * * 1-5",
        "0 9 L * *",
        "0 0 29 2 *",
        "5 4 * * SUN#2",
        "20,40 30 1 * * *",
        "1 2 3 4 5",
    ],
)
def test_where_clocks_move_by_an_hour_the_moments_are_those_of_cronsim(zone: str, expression: str) -> None:
    start, end = utc(2026, 1, 1), utc(2029, 1, 1) if "*/15" not in expression else utc(2026, 12, 1)
    theirs = []
    for moment in CronSim(expression, datetime.fromtimestamp(start - 1, ZoneInfo(zone))):
        if moment.timestamp() >= end:
            break
        theirs.append(moment.timestamp())
    assert walked(beat(expression, tz=zone), start, end) == theirs


@pytest.mark.parametrize(
    ("zone", "expression", "gap", "repeat"),
    [  # how many on the day on which clocks go forward, and on which they go back
        ("Europe/Berlin", "* * * * *", 23 * 60, 25 * 60),
        ("Europe/Berlin", "0 * * * *", 23, 25),
        ("Europe/Berlin", "30 2 * * *", 1, 1),
        ("Europe/Berlin", "*/30 2 * * *", 0, 4),
        ("Europe/Berlin", "0 2,3 * * *", 1, 2),
        ("Australia/Lord_Howe", "* * * * *", 1410, 1470),
        ("Australia/Lord_Howe", "30 * * * *", 24, 25),
        ("Australia/Lord_Howe", "0 * * * *", 23, 24),
        ("Australia/Lord_Howe", "45 1 * * *", 1, 1),
        ("Australia/Lord_Howe", "15 2 * * *", 1, 1),
        ("America/Santiago", "30 0 * * *", 1, 1),
        ("America/Nuuk", "30 23 * * *", 1, 1),
    ],
)
def test_the_days_on_which_clocks_change_have_as_many_as_debian_would_run(
    zone: str, expression: str, gap: int, repeat: int
) -> None:
    days = {
        "Europe/Berlin": ((2026, 3, 29), (2026, 10, 25)),
        "Australia/Lord_Howe": ((2026, 10, 4), (2026, 4, 5)),
        "America/Santiago": ((2026, 9, 6), (2026, 4, 4)),
        "America/Nuuk": ((2026, 3, 28), (2026, 10, 24)),
    }[zone]
    for (year, month, day), count in zip(days, (gap, repeat), strict=True):
        start, end = local(zone, year, month, day), local(zone, year, month, day + 1)
        one = beat(expression, tz=zone)
        found = walked(
            one, start, end if zone != "America/Nuuk" else end + 60
        )  # where the gap ends at midnight, and the moment lies there
        assert len(found) == count
        assert latest_slot(one, start, 0.0, -inf, found[-1] if found else end - 1) == (
            (found[-1], min(count - 1, MISSED_LIMIT)) if found else None
        )


def test_a_skipped_time_comes_when_the_gap_ends_and_a_repeated_one_only_the_first_time() -> None:
    one = beat("30 2 * * *", tz="Europe/Berlin")
    assert next_slot(one, 0, 0.0, local("Europe/Berlin", 2026, 3, 29, 1)) == local("Europe/Berlin", 2026, 3, 29, 3)
    first = local("Europe/Berlin", 2026, 10, 25, 2, 30)
    assert next_slot(one, 0, 0.0, first - 1) == first
    for after in (
        first,
        first + 1800,
        local("Europe/Berlin", 2026, 10, 25, 2, 15, fold=1),
        local("Europe/Berlin", 2026, 10, 25, 2, 45, fold=1),
    ):
        assert next_slot(one, 0, 0.0, after) == local("Europe/Berlin", 2026, 10, 26, 2, 30)
        assert latest_slot(one, 0, 0.0, first - 90_000, after) == (first, 1)


def test_an_interval_never_drifts_and_begins_at_its_anchor() -> None:
    one, anchor, shift = beat(1800.0), 1_767_225_600.123, 12.5
    assert next_slot(one, anchor, shift, -inf) == anchor + shift
    assert next_slot(one, anchor, shift, anchor + shift) == anchor + shift + 1800
    far = anchor + shift + 1_000_000 * 1800
    assert next_slot(one, anchor, shift, far - 0.001) == far
    assert next_slot(one, anchor, shift, far) == far + 1800


def test_intervals_that_binary_fractions_cannot_hold_do_not_repeat_a_slot() -> None:
    found = walked(beat(0.1), 1_767_225_600.7, 1_767_225_700.7)
    assert len(found) in (1000, 1001)
    assert all(0.05 < other - one < 0.15 for one, other in pairwise(found))


@patient
@given(seconds=st.floats(0.01, 1e5), anchor=st.floats(1e9, 2e9), count=st.integers(0, 10_000))
@example(seconds=78848.3959217908, anchor=1000000000.6029661, count=10_000)
def test_a_slot_is_due_at_its_own_moment_however_the_division_rounds(seconds: float, anchor: float, count: int) -> None:
    slot = anchor + count * seconds
    one = beat(seconds)
    assert latest_slot(one, anchor, 0.0, -inf, slot) == (slot, min(count, MISSED_LIMIT))
    assert next_slot(one, anchor, 0.0, slot) == anchor + (count + 1) * seconds
    assert latest_slot(one, anchor, 0.0, -inf, nextafter(slot, 0)) == (
        (anchor + (count - 1) * seconds, min(count - 1, MISSED_LIMIT)) if count else None
    )


def test_a_cron_slot_before_the_anchor_does_not_count_even_if_its_offset_passes_it() -> None:
    one, nine = beat("0 9 * * *"), utc(2026, 1, 5, 9)
    assert next_slot(one, nine, 40.0, -inf) == nine + 40
    assert next_slot(one, nine + 10, 40.0, -inf) == nine + 86_400 + 40


@patient
@given(
    name=st.text(max_size=20),
    limit=st.floats(0, 7200),
    schedule=st.one_of(
        st.builds(Interval, st.floats(1, 1e6)),
        st.sampled_from([Cron("* * * * *"), Cron("0 9 * * *"), Cron("*/5 8-18 * * 1-5"), Cron("20,50 0 9 * * *")]),
    ),
)
def test_an_offset_stays_below_its_limits_and_is_always_the_same(
    name: str, limit: float, schedule: Interval | Cron
) -> None:
    shift = offset(name, schedule, limit)
    assert shift == offset(name, schedule, limit)
    assert 0 <= shift <= limit
    assert shift <= period(schedule) / 10
    if isinstance(schedule, Cron):
        moment = next_slot(Beat(name="b", workspace="/w", file="/w/f", schedule=schedule, tz="UTC"), 0, 0.0, 1e9)
        assert moment is not None
        assert (moment + shift) // 60 == moment // 60


def test_offsets_spread_beats_that_are_due_together() -> None:
    shifts = [offset(f"beat-{number}", Cron("0 9 * * *"), 60) for number in range(200)]
    assert len(set(shifts)) > 190
    assert max(sum(low <= shift < low + 6 for shift in shifts) for low in range(0, 60, 6)) < 40
    assert max(offset(f"beat-{number}", Cron("* * * * *"), 60) for number in range(200)) < 6


def test_slots_that_were_slept_through_are_counted_exactly_up_to_the_limit() -> None:
    start, month = utc(2026, 3, 1), 31 * 86_400
    assert latest_slot(beat("0 * * * *", tz="Europe/Berlin"), start, 0.0, start, start + month) == (
        start + month,
        31 * 24 - 1,
    )
    assert latest_slot(beat("* * * * *", tz="Europe/Berlin"), start, 3.0, start, start + month + 30) == (
        start + month + 3,
        MISSED_LIMIT,
    )
    assert latest_slot(beat(1.0), start, 0.0, start, start + month) == (start + month, MISSED_LIMIT)
    assert latest_slot(beat("30 2 * * *", tz="Europe/Berlin"), start, 0.0, -inf, start + month) == (
        local("Europe/Berlin", 2026, 3, 31, 2, 30),
        30,
    )
    ten_years = start + 3652 * 86_400
    slot, missed = latest_slot(beat("0 0 29 2 *"), start, 0.0, start, ten_years) or (0, 0)
    assert (slot, missed) == (utc(2036, 2, 29), 2)
    assert latest_slot(beat("0 0 29 2 *"), start, 0.0, start, start + month) is None


SCHEDULES = st.one_of(
    st.sampled_from([cron.expression for cron in CRONS]), st.sampled_from([600.0, 1800.0, 3600.0, 5400.0, 86_400.0])
)
QUIETS = st.one_of(st.none(), st.builds(Quiet, st.integers(0, 1439), st.integers(0, 1439)))


@patient
@given(
    schedule=SCHEDULES,
    zone=st.sampled_from(ZONES),
    quiet=QUIETS,
    start=st.integers(utc(2026, 3, 25), utc(2026, 4, 8)),
    length=st.integers(0, 3 * 86_400),
    shift=st.sampled_from([0.0, 1.5]),
)
def test_the_latest_slot_is_the_last_of_the_walk_and_counts_the_rest_of_it(
    schedule: str | float, zone: str, quiet: Quiet | None, start: int, length: int, shift: float
) -> None:
    one = beat(schedule, tz=zone, quiet=quiet)
    found = walked(one, start, start + length + 1, shift=shift)
    found = [slot for slot in found if slot <= start + length]
    assert latest_slot(one, start, shift, -inf, start + length) == ((found[-1], len(found) - 1) if found else None)
    for slot in found:
        assert quiet is None or not is_quiet(quiet, zone, slot)


def test_quiet_hours_that_come_twice_in_a_night_leave_the_slots_between_them() -> None:
    one = beat(300.0, tz="Europe/Berlin", quiet=Quiet(110, 140))
    start = local("Europe/Berlin", 2026, 10, 25)
    for end in range(start, local("Europe/Berlin", 2026, 10, 25, 4), 60):
        found = walked(one, start, end + 1)
        assert latest_slot(one, start, 0.0, -inf, end) == (found[-1], len(found) - 1)
    # Four hours and the repeated one make 60 slots and the first; quiet are 01:50 to 02:15, and 02:00 to 02:15 again.
    assert len(found) == 60 - 6 - 4


@patient
@given(
    schedule=SCHEDULES, zone=st.sampled_from(ZONES), quiet=QUIETS, start=st.integers(utc(2026, 3, 25), utc(2026, 4, 8))
)
def test_quiet_hours_take_away_what_the_wall_clock_shows_in_them_and_nothing_else(
    schedule: str | float, zone: str, quiet: Quiet | None, start: int
) -> None:
    everything = walked(beat(schedule, tz=zone), start, start + 2 * 86_400)
    left = [slot for slot in everything if quiet is None or not is_quiet(quiet, zone, slot)]
    kept = walked(beat(schedule, tz=zone, quiet=quiet), start, start + 2 * 86_400)
    # A job whose only times are quiet is silent also when a clock change would move one of them out.
    assert kept == left or (kept == [] and isinstance(schedule, str) and len(left) <= 1)


@patient
@given(
    zone=st.sampled_from(ZONES),
    quiet=st.builds(Quiet, st.integers(0, 1439), st.integers(0, 1439)),
    moment=st.floats(utc(2026, 3, 25), utc(2026, 4, 8)),
)
def test_the_end_of_quiet_is_the_first_moment_outside_the_quiet_hours(zone: str, quiet: Quiet, moment: float) -> None:
    free = end_of_quiet(beat(60.0, tz=zone, quiet=quiet), moment)
    assert not is_quiet(quiet, zone, free)
    assert free == moment or all(
        is_quiet(quiet, zone, minute) for minute in (moment, *range(int(moment // 60 + 1) * 60, int(free), 60))
    )


def is_quiet(quiet: Quiet, zone: str, moment: float) -> bool:
    at = datetime.fromtimestamp(moment, ZoneInfo(zone))
    minute = at.hour * 60 + at.minute
    if quiet.start <= quiet.end:
        return quiet.start <= minute < quiet.end
    return not quiet.end <= minute < quiet.start


def test_a_beat_whose_times_are_all_quiet_has_no_slot() -> None:
    night = Quiet(22 * 60, 7 * 60)
    assert next_slot(beat("0 3 * * *", quiet=night), 0, 0.0, 0) is None
    assert next_slot(beat(86_400.0, quiet=night), utc(2026, 1, 1, 3), 0.0, 0) is None
    assert latest_slot(beat("0 3 * * *", quiet=night), 0, 0.0, 0, 1e9) is None


def test_quiet_hours_go_over_midnight_and_end_when_they_say() -> None:
    one = beat("0 * * * *", tz="Europe/Berlin", quiet=Quiet(22 * 60, 7 * 60))
    assert next_slot(one, 0, 0.0, local("Europe/Berlin", 2026, 3, 28, 21)) == local("Europe/Berlin", 2026, 3, 29, 7)
    assert end_of_quiet(one, local("Europe/Berlin", 2026, 3, 28, 22)) == local("Europe/Berlin", 2026, 3, 29, 7)
    assert end_of_quiet(beat(60.0, quiet=Quiet(300, 300)), utc(2026, 1, 1, 5)) == utc(2026, 1, 1, 5)


def test_without_a_zone_the_clock_of_the_machine_counts() -> None:
    code = (
        "import sys; from covey.beats.schedule import next_slot; from covey.beats.beat import Beat, Cron;"
        "beat = Beat(name='b', workspace='/w', file='/w/f', schedule=Cron('30 2 * * *'));"
        "print(next_slot(beat, 0.0, 0.0, float(sys.argv[1])))"
    )
    for after, expected in (
        (local("Europe/Berlin", 2026, 3, 29, 1), local("Europe/Berlin", 2026, 3, 29, 3)),
        (local("Europe/Berlin", 2026, 10, 25, 2, 15, fold=1), local("Europe/Berlin", 2026, 10, 26, 2, 30)),
    ):
        said = subprocess.run(
            [sys.executable, "-c", code, str(after)],
            env={**os.environ, "TZ": "Europe/Berlin"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert float(said.stdout) == expected
