"""What is decided about beats: over a simulated month, through sleep, clocks that are set, errors and limits."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import pairwise
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from covey.agents.headless.report import ErrorKind, Failure
from covey.beats.beat import Beat, Cron, Interval, Overlap, Quiet
from covey.beats.planner import (
    BACKOFF_S,
    WAKE_S,
    Plan,
    Skip,
    Start,
    after_decision,
    after_resume,
    after_run,
    backoff,
    decide,
    due,
    lateness,
    next_wake,
    park_until,
    plan_for,
)
from covey.beats.schedule import MISSED_LIMIT, next_slot, offset
from tests.covey.beats.wall_clock import Wanted, beat, local, moments, utc, wanted

DAY = 86_400.0
patient = settings(deadline=None)
"""A busy machine is no defect."""
ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC")
INTERVALS = (300.0, 900.0, 1800.0, 3600.0, 5400.0, 14_400.0, 86_400.0)
CRONS = (
    wanted("*/5", "*"),
    wanted("7", "*"),
    wanted("0,30", "1,2,3"),
    wanted("30", "2"),
    wanted("*/20", "2,9"),
    wanted("0", "9", "1,2,3,4,5"),
    wanted("15", "*/3"),
    wanted("45", "1", "0"),
)
START, END = utc(2026, 10, 3), utc(2026, 11, 3)
"""Clocks change on 4 October on Lord Howe, on 25 October in Berlin, on 1 November in New York."""


def failure(kind: ErrorKind = "api", retry_at: float | None = None) -> Failure:
    return Failure(kind=kind, message="no", retry_at=retry_at)


def begun(one: Beat, plan: Plan, now: float) -> Plan:
    """Decide that it starts, and start it."""
    decision = decide(one, plan, now)
    assert isinstance(decision, Start)
    return after_decision(plan, decision)


def done(one: Beat, plan: Plan, now: float) -> Plan:
    """Start it and end it well."""
    return after_run(one, begun(one, plan, now), None, now)


def mixed() -> list[tuple[Beat, Wanted | None]]:
    """200 beats: every second one a cron expression, in all zones."""
    made: list[tuple[Beat, Wanted | None]] = []
    for number in range(200):
        name, zone = f"beat-{number}", ZONES[number // 2 % len(ZONES)]
        if number % 2:
            cron = CRONS[number // 2 % len(CRONS)]
            made.append((beat(cron.expression, name=name, tz=zone), cron))
        else:
            made.append((beat(INTERVALS[number // 2 % len(INTERVALS)], name=name, tz=zone), None))
    return made


def test_a_month_of_beats_has_exact_counts_and_no_drift() -> None:
    beats = mixed()[:60]  # every expression in every zone; `bench/beats.py` plays all 200
    records = [plan_for(one, None, START) for one, _ in beats]
    starts: list[list[float]] = [[] for _ in beats]
    agenda = [(float(START), number) for number in range(len(beats))]
    heapify(agenda)
    while agenda:
        now, number = heappop(agenda)
        if now >= END:
            continue
        one, plan = beats[number][0], records[number]
        decision = decide(one, plan, now)
        if isinstance(decision, Start):
            assert (decision.slot, decision.missed) == (now, 0)  # looked at when it is due, not a moment later
            starts[number].append(now)
            plan = records[number] = after_run(one, after_decision(plan, decision), None, now)
        heappush(agenda, (next_wake([(one, plan)], now, most_s=inf), number))
    for (one, cron), plan, found in zip(beats, records, starts, strict=True):
        if isinstance(one.schedule, Interval):
            expected = [
                START + step * one.schedule.seconds for step in range(int((END - START) / one.schedule.seconds) + 1)
            ]
        else:
            assert cron is not None
            expected = [float(moment) for moment in moments(cron, one.tz, START, END)]
        assert found == [moment + plan.offset for moment in expected if moment + plan.offset < END], one
        assert plan.offset == offset(one.name, one.schedule, 60.0)


def test_a_tick_loop_that_looks_at_all_beats_finds_every_slot() -> None:
    beats = [one for one, _ in mixed()[:40]]
    records = {one.name: plan_for(one, None, START) for one in beats}
    now, found = float(START), 0
    while now < START + DAY / 4:
        for one in beats:
            decision = decide(one, records[one.name], now)
            if decision is not None:
                assert decision.missed == 0
                found += 1
                records[one.name] = after_run(one, after_decision(records[one.name], decision), None, now)
        following = next_wake([(one, records[one.name]) for one in beats], now)
        assert now < following <= now + WAKE_S
        now = following
    slots = 0
    for one in beats:
        plan = plan_for(one, None, START)
        slot = next_slot(one, START, plan.offset, -inf)
        while slot is not None and slot < START + DAY / 4:
            slots += 1
            slot = next_slot(one, START, plan.offset, slot)
    assert found == slots


def test_days_asleep_collapse_into_one_start() -> None:
    for schedule, missed in ((3600.0, 3 * 24 - 1), ("0 * * * *", 3 * 24 - 1), (60.0, MISSED_LIMIT), ("30 2 * * *", 2)):
        one = beat(schedule, tz="Europe/Berlin")
        plan = done(one, plan_for(one, None, START), next_due(one, plan_for(one, None, START), START))
        woken = (plan.last_slot or 0) + 3 * DAY
        decision = decide(one, plan, woken)
        assert decision == Start(slot=woken, missed=missed)
        assert decide(one, after_decision(plan, decision), woken) is None


def next_due(one: Beat, plan: Plan, now: float) -> float:
    moment = due(one, plan, now)
    assert moment is not None
    return moment


def test_a_clock_that_goes_back_repeats_nothing_and_one_that_goes_on_collapses() -> None:
    one = beat(600.0)
    plan = plan_for(one, None, START)
    now = next_due(one, plan, START)
    plan = done(one, plan, now)
    back = now - 500
    assert decide(one, plan, back) is None
    assert next_wake([(one, plan)], back) == back + WAKE_S
    assert plan_for(one, plan, back) is plan
    assert decide(one, plan, now + 599) is None
    assert decide(one, plan, now + 600) == Start(slot=now + 600, missed=0)
    assert decide(one, plan, now + 6000) == Start(slot=now + 6000, missed=9)


@pytest.mark.parametrize("ahead", [3600.0, DAY, DAY + 5, 365 * DAY])
@pytest.mark.parametrize("schedule", [600.0, "*/10 * * * *"])
def test_a_clock_that_was_ahead_does_not_silence_a_beat(schedule: str | float, ahead: float) -> None:
    one = beat(schedule)
    far = START + ahead
    plan = plan_for(one, None, far)
    ran = replace(done(one, plan, next_due(one, plan, far)), parked_until=far + 9)
    for before in (plan, ran, replace(ran, anchor=START - DAY)):
        mended = plan_for(one, before, START)
        assert START <= next_due(one, mended, START) <= START + 2 * 600


def test_a_clock_that_was_a_day_ahead_does_not_silence_a_short_interval() -> None:
    one = beat(10.0)
    far = START + DAY
    plan = plan_for(one, None, far)
    plan = done(one, plan, next_due(one, plan, far))
    mended = plan_for(one, plan, START + 30)
    assert START + 30 <= next_due(one, mended, START + 30) <= START + 30 + 2 * 10
    assert plan_for(one, mended, START + 31) is mended, "it is mended once"


@pytest.mark.parametrize(("back", "again"), [(60.0, False), (1800.0, False), (7200.0, True)])
def test_a_nightly_beat_comes_twice_only_if_the_clock_was_set_back_by_hours(back: float, again: bool) -> None:  # noqa: FBT001 - a parameter of the test
    one = beat("0 9 * * *", tz="UTC")
    start = utc(2026, 10, 5, 8)
    plan = plan_for(one, None, start)
    now = next_due(one, plan, start)
    plan = done(one, plan, now)
    plan = plan_for(one, plan, now - back)
    assert (next_due(one, plan, now - back) == now) == again


def test_what_is_due_but_has_to_wait_for_a_place_does_not_make_the_loop_spin() -> None:
    one = beat(600.0)
    plan = plan_for(one, None, START)
    now = next_due(one, plan, START)
    assert isinstance(decide(one, plan, now), Start)
    assert next_wake([(one, plan)], now) == now + WAKE_S
    assert next_wake([(one, plan)], now + 1) == now + 1 + WAKE_S


def test_overlap_skip_lets_the_slot_pass() -> None:
    one = beat(60.0, overlap="skip")
    first = next_due(one, plan_for(one, None, START), START)
    plan = begun(one, plan_for(one, None, START), first)
    skip = decide(one, plan, first + 60)
    assert skip == Skip(slot=first + 60, why="overlap", missed=0)
    plan = after_decision(plan, skip)
    assert plan.running == 1
    assert decide(one, after_run(one, plan, None, first + 61), first + 61) is None
    assert isinstance(decide(one, after_run(one, plan, None, first + 61), first + 120), Start)


def test_overlap_queue_keeps_one_start_for_the_end_of_the_run() -> None:
    one = beat(60.0, overlap="queue")
    first = next_due(one, plan_for(one, None, START), START)
    plan = begun(one, plan_for(one, None, START), first)
    assert decide(one, plan, first + 300) is None
    assert due(one, plan, first + 300) is None
    plan = after_run(one, plan, None, first + 301)
    decision = decide(one, plan, first + 301)
    assert decision == Start(slot=first + 300, missed=4)
    assert decide(one, after_decision(plan, decision), first + 302) is None


def test_overlap_parallel_starts_beside_itself() -> None:
    one = beat(60.0, overlap="parallel")
    first = next_due(one, plan_for(one, None, START), START)
    plan = begun(one, plan_for(one, None, START), first)
    assert begun(one, plan, first + 60).running == 2


def test_a_paused_beat_waits_and_makes_up_for_nothing_when_resumed() -> None:
    one = beat(60.0)
    first = next_due(one, plan_for(one, None, START), START)
    plan = replace(done(one, plan_for(one, None, START), first), paused=True, failures=3)
    assert decide(one, plan, first + DAY) is None
    assert lateness(one, plan, first + DAY) is None
    assert next_wake([(one, plan)], first + 55) == first + 55 + WAKE_S
    plan = after_resume(one, plan, first + DAY + 1)
    assert (plan.paused, plan.failures) == (False, 0)
    assert decide(one, plan, first + DAY + 1) is None
    assert decide(one, plan, first + DAY + 60) == Start(slot=first + DAY + 60, missed=0)


def test_a_parked_beat_starts_once_when_the_park_ends_by_its_own_offset() -> None:
    one = beat(600.0, name="parked")
    now = next_due(one, plan_for(one, None, START), START)
    plan = after_run(one, begun(one, plan_for(one, None, START), now), failure("rate_limit", now + 3600), now + 5)
    assert (plan.running, plan.failures, plan.parked_until) == (0, 1, now + 3600)
    free = now + 3600 + plan.offset
    assert plan.offset > 0
    assert decide(one, plan, free - 0.01) is None
    assert lateness(one, plan, free - 0.01) is None
    assert next_wake([(one, plan)], free - 1) == free
    assert decide(one, plan, free) == Start(slot=now + 3600, missed=5)


def test_beats_that_were_parked_until_the_same_moment_do_not_come_back_together() -> None:
    beats = [beat(3600.0, name=f"beat-{number}") for number in range(50)]
    records = [replace(plan_for(one, None, START), parked_until=START + 4 * 3600.0) for one in beats]
    moments = {next_due(one, plan, START) for one, plan in zip(beats, records, strict=True)}
    assert len(moments) > 45
    assert all(START + 4 * 3600 <= moment < START + 4 * 3600 + 60 for moment in moments)


def test_nothing_starts_in_quiet_hours_and_what_was_missed_before_starts_after_them() -> None:
    one = beat("0 15 * * *", tz="Europe/Berlin", quiet=Quiet(22 * 60, 7 * 60))
    plan = plan_for(one, None, local("Europe/Berlin", 2026, 10, 24, 12))
    awake, morning = local("Europe/Berlin", 2026, 10, 24, 23), local("Europe/Berlin", 2026, 10, 25, 7)
    assert decide(one, plan, awake) is None
    assert lateness(one, plan, awake) is None
    assert next_due(one, plan, awake) == morning
    assert next_wake([(one, plan)], morning - 3) == morning
    assert decide(one, plan, morning) == Start(slot=local("Europe/Berlin", 2026, 10, 24, 15) + plan.offset, missed=0)


def test_a_beat_is_late_from_its_first_slot_on_until_it_runs() -> None:
    one = beat(600.0)
    plan = plan_for(one, None, START)
    first = next_due(one, plan, START)
    assert lateness(one, plan, first) is None
    assert lateness(one, plan, first + 1500) == 1500
    running = begun(one, plan, first + 1500)
    assert lateness(one, running, first + 9000) is None
    assert lateness(replace(one, overlap="parallel"), running, first + 1900) == 100


def test_a_new_beat_starts_at_once_and_one_that_ran_before_when_its_interval_is_over() -> None:
    one = beat(3600.0)
    assert START <= next_due(one, plan_for(one, None, START), START) < START + 60
    for last_run, expected in ((START - 600, START + 3000), (START - 99_999, START), (START + 99_999, START + 3600)):
        plan = plan_for(beat(3600.0, last_run=last_run), None, START)
        assert next_due(one, plan, START) == expected + plan.offset


def test_an_edited_schedule_is_counted_from_the_last_run_and_misses_nothing_of_the_past() -> None:
    old = beat(DAY)
    now = next_due(old, plan_for(old, None, START), START)
    plan = done(old, plan_for(old, None, START), now)
    assert plan_for(old, plan, now + 5) is plan
    faster = plan_for(beat(300.0), plan, now + 36_000)
    assert decide(beat(300.0), faster, now + 36_060) == Start(slot=now + 36_000 + faster.offset, missed=0)
    slower = plan_for(beat(2 * DAY), plan, now + 36_000)
    assert next_due(beat(2 * DAY), slower, now + 36_000) == now - plan.offset + 2 * DAY + slower.offset
    cron = plan_for(beat("0 * * * *"), plan, now + 36_000)
    assert decide(beat("0 * * * *"), cron, now + 36_001) is None


def test_another_spread_does_not_run_the_same_cron_moment_twice() -> None:
    one, nine = beat("0 9 * * *", name="spread"), utc(2026, 10, 5, 9)
    plan = done(one, plan_for(one, None, nine - 60, spread_s=1.0), nine + 1)
    changed = plan_for(one, plan, nine + 2, spread_s=60.0)
    assert changed.offset > plan.offset
    assert next_due(one, changed, nine + 2) == nine + DAY + changed.offset


def test_errors_that_repeat_wait_twice_as_long_each_time() -> None:
    assert [backoff(count, Interval(60.0)) for count in range(5)] == [0, 0, 120, 240, 480]
    assert backoff(10_000, Interval(60.0)) == BACKOFF_S
    assert backoff(3, Cron("*/5 9-17 * * *")) == 1200
    assert backoff(9, Interval(DAY)) == 0


def test_a_park_lasts_until_the_provider_serves_again_and_no_reset_is_invented() -> None:
    often = Interval(60.0)
    assert park_until(failure("rate_limit", 5000.0), 1, often, 1000.0) == 5000
    assert park_until(failure("api", 5000.0), 1, often, 1000.0) == 5000
    assert park_until(failure("rate_limit"), 1, often, 1000.0) == 1120
    assert park_until(failure("rate_limit", 900.0), 1, often, 1000.0) == 1120
    assert park_until(failure("crash"), 1, often, 1000.0) is None
    assert park_until(failure("crash"), 2, often, 1000.0) == 1120
    assert park_until(failure("crash"), 9, Cron("0 9 * * *"), 1000.0) is None


def test_a_park_is_not_shortened_an_interruption_is_no_error_and_success_forgets_errors() -> None:
    one = beat(60.0)
    plan = replace(plan_for(one, None, START), running=3, failures=1, parked_until=START + 9000.0)
    assert after_run(one, plan, failure("crash"), START).parked_until == START + 9000
    assert after_run(one, plan, failure("interrupted"), START) == replace(plan, running=2)
    assert after_run(one, plan, None, START) == replace(plan, running=2, failures=0)
    assert after_run(one, replace(plan, running=0), None, START).running == 0


STEPS = st.lists(
    st.tuples(
        st.one_of(st.floats(0, 90), st.floats(0, 2 * DAY), st.floats(-DAY / 2, 0)),  # how far the clock moves
        st.sampled_from(["look", "look", "end", "fail", "limit", "pause", "resume"]),
    ),
    max_size=60,
)


@patient
@given(
    schedule=st.sampled_from([7.0, 60.0, 3600.0, "* * * * *", "*/5 2 * * *", "30 2 * * *"]),
    overlap=st.sampled_from(["skip", "queue", "parallel"]),
    quiet=st.sampled_from([None, Quiet(22 * 60, 7 * 60), Quiet(150, 210)]),
    start=st.integers(utc(2026, 10, 23), utc(2026, 10, 26)),
    steps=STEPS,
)
def test_whatever_happens_no_slot_repeats_and_policies_hold(
    schedule: str | float, overlap: Overlap, quiet: Quiet | None, start: int, steps: list[tuple[float, str]]
) -> None:
    one = beat(schedule, tz="Europe/Berlin", overlap=overlap, quiet=quiet)
    plan, now, slots = plan_for(one, None, start), float(start), list[float]()
    for passed, deed in steps:
        now += passed
        if deed in {"end", "fail", "limit"} and plan.running:
            why = {"end": None, "fail": failure(), "limit": failure("rate_limit", now + 1000)}[deed]
            plan = after_run(one, plan, why, now)
        elif deed == "pause":
            plan = replace(plan, paused=True)
        elif deed == "resume":
            plan = after_resume(one, plan, now)
        decision = decide(one, plan, now)
        moment = due(one, plan, now)
        assert (decision is not None) == (moment is not None and moment <= now)
        if decision is None:
            assert lateness(one, plan, now) is None
            continue
        assert decision.slot <= now
        assert not plan.paused
        assert now >= (plan.parked_until or 0)
        assert isinstance(decision, Skip) == (plan.running > 0 and overlap == "skip")
        slots.append(decision.slot)
        plan = after_decision(plan, decision)
        assert overlap == "parallel" or plan.running == 1
        assert decide(one, plan, now) is None
    assert all(earlier < later for earlier, later in pairwise(slots))


@patient
@given(
    schedules=st.lists(
        st.sampled_from([7.0, 60.0, 3600.0, "* * * * *", "*/5 2 * * *", "30 2 * * *"]), min_size=1, max_size=5
    ),
    quiet=st.sampled_from([None, Quiet(22 * 60, 7 * 60), Quiet(150, 210)]),
    start=st.integers(utc(2026, 10, 23), utc(2026, 10, 26)),
    passed=st.floats(0, 2 * DAY),
    parked=st.one_of(st.none(), st.floats(0, 2 * DAY)),
)
def test_nobody_sleeps_past_a_slot(
    schedules: list[str | float], quiet: Quiet | None, start: int, passed: float, parked: float | None
) -> None:
    now = start + passed
    beats = []
    for number, schedule in enumerate(schedules):
        one = beat(schedule, name=f"beat-{number}", tz="Europe/Berlin", quiet=quiet)
        plan = replace(plan_for(one, None, start), parked_until=None if parked is None else start + parked)
        decision = decide(one, plan, now)
        beats.append((one, after_run(one, after_decision(plan, decision), None, now) if decision else plan))
    following = next_wake(beats, now)
    assert now < following <= now + WAKE_S
    just_before = following - 2**-20
    assert all(decide(one, plan, just_before) is None for one, plan in beats)
    assert following == now + WAKE_S or any(decide(one, plan, following) for one, plan in beats)
