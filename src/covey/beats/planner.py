"""Decides what to do now: which beat starts, which slot is skipped, and when to look again. Pure, for a given time.

A `Plan` is what the past of a beat means for its future. The scheduler stores it, and changes it with these functions:

    plan_for ──► Plan ──► decide ──► Start or Skip ──► after_decision ──► Plan ──► after_run ──► Plan
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, json
from msgspec.structs import replace

from covey.beats.beat import Interval
from covey.beats.schedule import end_of_quiet, latest_slot, next_slot, offset, period

if TYPE_CHECKING:
    from collections.abc import Iterable

    from covey.agents.headless.report import Failure
    from covey.beats.beat import Beat, Cron

SPREAD_S = 60.0
"""Beats that are due at the same moment start within this many seconds."""
WAKE_S = 10.0
"""The longest time between two looks: a clock that is set or a file that is edited sends no notice."""
BACKOFF_S = 6 * 3600.0
"""The longest wait after errors that repeat."""
LEAST_TOLERANCE_S, MOST_TOLERANCE_S = 60.0, 3600.0
DOUBLINGS = 20
"""The most doublings of a wait: more would change nothing."""


class Plan(Struct, frozen=True, kw_only=True):
    """Where a beat is in its schedule."""

    rhythm: str
    """The schedule to which the anchor belongs."""
    anchor: float
    """No moment of the schedule before this counts; the moments of an interval are counted from here."""
    offset: float
    last_slot: float | None = None
    """The newest slot that was decided on. No slot up to this one is considered again."""
    running: int = 0
    paused: bool = False
    """Somebody paused it, or a run of it went over its budget."""
    parked_until: float | None = None
    """It is not to run before this moment."""
    failures: int = 0
    """The number of errors since it last ran without one."""

    def is_parked(self, now: float) -> bool:
        """Tell whether the beat has to wait until a moment in the future."""
        return self.parked_until is not None and self.parked_until > now

    def is_stopped(self, now: float) -> bool:
        """Tell whether the beat is paused, or parked."""
        return self.paused or self.is_parked(now)


class Start(Struct, frozen=True, kw_only=True):
    """The beat is to run now."""

    slot: float
    missed: int
    """The number of earlier slots that this run makes up for; MISSED_LIMIT means that many or more."""


class Skip(Struct, frozen=True, kw_only=True):
    """The slot passes without a run."""

    slot: float
    why: Literal["overlap"]
    missed: int


def plan_for(beat: Beat, plan: Plan | None, now: float, spread_s: float = SPREAD_S) -> Plan:
    """Return the plan of a beat as its file is now; the same object if nothing has changed. Call it after each scan.

    A new interval is counted from now, or from the last run if the next is not due yet; a new cron expression begins
    now. A last slot in the future comes from a clock that has been set back. If it lies further ahead than `tolerance`
    it is dropped, and so is a park: otherwise the beat would be silent until then.
    """
    rhythm = json.encode((beat.schedule, beat.tz, spread_s)).decode()
    every = beat.schedule.seconds if isinstance(beat.schedule, Interval) else 0.0
    if plan is None:
        shift = offset(beat.name, beat.schedule, spread_s)
        return Plan(rhythm=rhythm, anchor=_anchor(every, beat.last_run, now), offset=shift)
    before = None if plan.last_slot is None else plan.last_slot - plan.offset
    is_same = plan.rhythm == rhythm
    latest = now + tolerance(beat.schedule)
    is_ahead = (before is not None and before > latest) or (is_same and plan.anchor - every > latest)
    if is_same and not is_ahead:
        return plan
    shift = offset(beat.name, beat.schedule, spread_s)
    if is_ahead:
        return replace(plan, rhythm=rhythm, anchor=now + every, offset=shift, last_slot=None, parked_until=None)
    return replace(plan, rhythm=rhythm, anchor=_anchor(every, before, now), offset=shift)


def tolerance(schedule: Interval | Cron) -> float:
    """Return by how many seconds a clock may be set back without a slot coming twice: a period, a minute to an hour.

    A beat is silent for that long after the clock was set back, so it must be short; a small correction by NTP must not
    run a nightly beat a second time.
    """
    return min(max(period(schedule), LEAST_TOLERANCE_S), MOST_TOLERANCE_S)


def decide(beat: Beat, plan: Plan, now: float) -> Start | Skip | None:
    """Return what to do about the beat now. Missed slots become one start; no slot is decided on twice.

    A beat that may not start for now keeps its slot: while it is parked, in quiet hours, and with `queue` while it
    runs.
    """
    moment = due(beat, plan, now)
    if moment is None or moment > now:
        return None
    found = latest_slot(beat, plan.anchor, plan.offset, _after(plan), now)
    assert found is not None, "something is due"
    slot, missed = found
    if plan.running and beat.overlap == "skip":
        return Skip(slot=slot, why="overlap", missed=missed)
    return Start(slot=slot, missed=missed)


def after_decision(plan: Plan, decision: Start | Skip) -> Plan:
    """Return the plan once a decision is carried out.

    Store it in the same transaction as the run's row, before the process starts.
    """
    if isinstance(decision, Start):
        return replace(plan, last_slot=decision.slot, running=plan.running + 1)
    return replace(plan, last_slot=decision.slot)


def after_run(beat: Beat, plan: Plan, failure: Failure | None, now: float) -> Plan:
    """Return the plan once a run has ended. A park is never shortened.

    A run that was interrupted or withdrawn says nothing about the beat.
    """
    running = max(0, plan.running - 1)
    if failure is None:
        return replace(plan, running=running, failures=0)
    if failure.kind in {"interrupted", "withdrawn"}:
        return replace(plan, running=running)
    failures = plan.failures + 1
    parks = (plan.parked_until, park_until(failure, failures, beat.schedule, now))
    until = max((moment for moment in parks if moment is not None), default=None)
    return replace(plan, running=running, failures=failures, parked_until=until)


def after_resume(beat: Beat, plan: Plan, now: float) -> Plan:
    """Return the plan, neither paused nor parked. Slots that passed meanwhile are not made up for."""
    found = latest_slot(beat, plan.anchor, plan.offset, _after(plan), now)
    last_slot = found[0] if found else plan.last_slot
    return replace(plan, paused=False, parked_until=None, failures=0, last_slot=last_slot)


def due(beat: Beat, plan: Plan, now: float) -> float | None:
    """Return when something is to be decided about the beat: in the future, or in the past if it is overdue.

    None means that it depends on something else: the beat is paused, or `queue` waits for its run. Beats that were
    parked until the same moment come back one after the other, each by its offset.
    """
    if plan.paused or (plan.running and beat.overlap == "queue"):
        return None
    slot = next_slot(beat, plan.anchor, plan.offset, _after(plan))
    if slot is None:
        return None
    if plan.parked_until is not None:
        slot = max(slot, plan.parked_until + plan.offset)
    free = end_of_quiet(beat, max(slot, now))
    return free if free > now else slot


def next_wake(beats: Iterable[tuple[Beat, Plan]], now: float, most_s: float = WAKE_S) -> float:
    """Return when to look again, once everything that is due at `now` was decided on with this very `now`."""
    soonest = now + most_s
    for beat, plan in beats:
        moment = due(beat, plan, now)
        if moment is not None and now < moment < soonest:
            soonest = moment
    return soonest


def lateness(beat: Beat, plan: Plan, now: float) -> float | None:
    """Return for how many seconds the beat should have been running, or None if it is on time, runs or may not start.

    Call it after everything that is due was started.
    """
    if plan.running and beat.overlap != "parallel":
        return None
    moment = due(beat, plan, now)
    return now - moment if moment is not None and moment < now else None


def backoff(failures: int, schedule: Interval | Cron) -> float:
    """Return how many seconds to wait after this many errors in a row.

    Zero after the first: the next slot is soon enough. Then two periods, four, eight, up to BACKOFF_S. A beat that runs
    more rarely than that never waits for longer than to its next slot.
    """
    every = period(schedule)
    if failures < 2 or every >= BACKOFF_S:  # noqa: PLR2004 - the second one
        return 0.0
    return min(every * 2.0 ** min(failures - 1, DOUBLINGS), BACKOFF_S)


def park_until(failure: Failure, failures: int, schedule: Interval | Cron, now: float) -> float | None:
    """Return until when a beat waits that has failed `failures` times in a row, or None if it need not wait.

    It waits until the provider serves again if the provider said when, which is never guessed. Otherwise it waits for
    the back-off, which after a rate limit begins with the first error.
    """
    if failure.retry_at is not None and failure.retry_at > now:
        return failure.retry_at
    steps = failures + 1 if failure.kind == "rate_limit" else failures
    wait = backoff(steps, schedule)
    return now + wait if wait else None


def _anchor(every: float, before: float | None, now: float) -> float:
    """Return where to count from after the moment `before`: at most one interval ahead, wherever the clock was."""
    return now if before is None else min(max(now, before + every), now + every)


def _after(plan: Plan) -> float:
    return -inf if plan.last_slot is None else plan.last_slot
