"""What is to be done now: which beat starts, which is skipped, and when to look again. Pure, over values and a given time.

A `Standing` is what the past of a beat means for its future; the service keeps it in its database and changes it only with the functions here:

    take_up ──► Standing ──► decide ──► Start or Skip ──► taken ──► Standing ──► ended ──► Standing
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, json
from msgspec.structs import replace

from covey.beats.beat import Interval
from covey.beats.schedule import latest_slot, loud, next_slot, offset, period

if TYPE_CHECKING:
    from collections.abc import Iterable

    from covey.agents.headless.report import Failure
    from covey.beats.beat import Beat, Cron

SPREAD_S = 60.0
"""Beats that are due at the same moment start within so many seconds."""
WAKE_S = 10.0
"""Look at least so often: nobody tells us when the clock is set or a file is edited."""
BACKOFF_S = 6 * 3600.0
"""The longest wait after errors that repeat."""
LEAST_TOLERANCE_S, MOST_TOLERANCE_S = 60.0, 3600.0
DOUBLINGS = 20
"""More of them change nothing."""


class Standing(Struct, frozen=True, kw_only=True):
    """What decisions need to know of a beat's past."""

    rhythm: str
    """The schedule that the anchor belongs to."""
    anchor: float
    """No moment of the schedule before this counts; those of an interval are counted from here."""
    offset: float
    last_slot: float | None = None
    """The newest slot that was decided on. No slot up to here is ever looked at again."""
    running: int = 0
    paused: bool = False
    """Somebody said that it is not to run."""
    parked_until: float | None = None
    """It would run, but cannot or should not before this."""
    failures: int = 0
    """Errors since it last ran without one."""


class Start(Struct, frozen=True, kw_only=True):
    """The beat is to run now."""

    slot: float
    missed: int
    """Slots before this one that it stands for as well; MISSED_LIMIT means so many or more."""


class Skip(Struct, frozen=True, kw_only=True):
    """The slot passes without a run."""

    slot: float
    why: Literal["overlap"]
    missed: int


def take_up(beat: Beat, standing: Standing | None, now: float, spread_s: float = SPREAD_S) -> Standing:
    """The standing of a beat as it is written now; the same object if nothing has changed. To be called whenever the beats are read.

    A new interval is counted from now, or from the last run if the next is not due yet; a new cron expression begins now.
    A last slot in the future comes from a clock that has been set back. If it lies further ahead than `tolerance` it is
    forgotten, and so is a park: otherwise the beat would be silent until then.
    """
    rhythm = json.encode((beat.schedule, beat.tz, spread_s)).decode()
    every = beat.schedule.seconds if isinstance(beat.schedule, Interval) else 0.0
    if standing is None:
        return Standing(
            rhythm=rhythm, anchor=_anchor(every, beat.last_run, now), offset=offset(beat.name, beat.schedule, spread_s)
        )
    before = None if standing.last_slot is None else standing.last_slot - standing.offset
    same = standing.rhythm == rhythm
    latest = now + tolerance(beat.schedule)
    ahead = (before is not None and before > latest) or (same and standing.anchor - every > latest)
    if same and not ahead:
        return standing
    fresh = replace(
        standing, rhythm=rhythm, anchor=_anchor(every, before, now), offset=offset(beat.name, beat.schedule, spread_s)
    )
    return replace(fresh, anchor=now + every, last_slot=None, parked_until=None) if ahead else fresh


def tolerance(schedule: Interval | Cron) -> float:
    """By how many seconds a clock may be set back without a slot coming twice: one period, between a minute and an hour.

    A beat is silent for so long after the clock was set back, so it must be short; a small correction by NTP must not run
    a nightly beat a second time.
    """
    return min(max(period(schedule), LEAST_TOLERANCE_S), MOST_TOLERANCE_S)


def decide(beat: Beat, standing: Standing, now: float) -> Start | Skip | None:
    """What is to be done about the beat now. What was missed collapses into one start; no slot is decided on twice, whatever the clock does.

    A beat that may not start for now keeps its slot: while it is parked, in quiet hours, and with `queue` while it runs.
    """
    moment = due(beat, standing, now)
    if moment is None or moment > now:
        return None
    found = latest_slot(beat, standing.anchor, standing.offset, _after(standing), now)
    assert found is not None, "something is due"
    slot, missed = found
    if standing.running and beat.overlap == "skip":
        return Skip(slot=slot, why="overlap", missed=missed)
    return Start(slot=slot, missed=missed)


def taken(standing: Standing, decision: Start | Skip) -> Standing:
    """The standing once a decision is carried out. It belongs into the same transaction as the run's row, before the process starts."""
    return replace(standing, last_slot=decision.slot, running=standing.running + isinstance(decision, Start))


def ended(beat: Beat, standing: Standing, failure: Failure | None, now: float) -> Standing:
    """The standing once a run has ended. Being interrupted or withdrawn says nothing about the beat. A park is never shortened."""
    running = max(0, standing.running - 1)
    if failure is None:
        return replace(standing, running=running, failures=0)
    if failure.kind in {"interrupted", "withdrawn"}:
        return replace(standing, running=running)
    failures = standing.failures + 1
    until = max(
        (
            moment
            for moment in (standing.parked_until, park(failure, failures, beat.schedule, now))
            if moment is not None
        ),
        default=None,
    )
    return replace(standing, running=running, failures=failures, parked_until=until)


def resumed(beat: Beat, standing: Standing, now: float) -> Standing:
    """Neither paused nor parked any more. Slots that passed meanwhile are not made up for: somebody wanted it so."""
    found = latest_slot(beat, standing.anchor, standing.offset, _after(standing), now)
    return replace(
        standing, paused=False, parked_until=None, failures=0, last_slot=found[0] if found else standing.last_slot
    )


def due(beat: Beat, standing: Standing, now: float) -> float | None:
    """When something is to be decided about the beat: the future, or the past if it should have been by now. None if that depends on somebody else.

    Beats that were parked until the same moment come back one after the other, each by its offset.
    """
    if standing.paused or (standing.running and beat.overlap == "queue"):
        return None
    slot = next_slot(beat, standing.anchor, standing.offset, _after(standing))
    if slot is None:
        return None
    if standing.parked_until is not None:
        slot = max(slot, standing.parked_until + standing.offset)
    free = loud(beat, max(slot, now))
    return free if free > now else slot


def wake(beats: Iterable[tuple[Beat, Standing]], now: float, most_s: float = WAKE_S) -> float:
    """When to look again, given that everything which is due `now` was decided on with this very `now`. What had to be left waiting does not count."""
    soonest = now + most_s
    for beat, standing in beats:
        moment = due(beat, standing, now)
        if moment is not None and now < moment < soonest:
            soonest = moment
    return soonest


def late(beat: Beat, standing: Standing, now: float) -> float | None:
    """For how many seconds the beat should have been running. None if it is on time, runs, or may not start. Ask after what is due was started."""
    if standing.running and beat.overlap != "parallel":
        return None
    moment = due(beat, standing, now)
    return now - moment if moment is not None and moment < now else None


def backoff(failures: int, schedule: Interval | Cron) -> float:
    """How long to wait after so many errors in a row.

    Not at all after the first: the next slot is soon enough. Then two periods, four, eight, up to BACKOFF_S. A beat that runs more rarely than that never waits
    for longer than to its next slot.
    """
    every = period(schedule)
    if failures < 2 or every >= BACKOFF_S:  # noqa: PLR2004
        return 0.0
    return min(every * 2.0 ** min(failures - 1, DOUBLINGS), BACKOFF_S)


def park(failure: Failure, failures: int, schedule: Interval | Cron, now: float) -> float | None:
    """Until when a beat that has failed, now for the `failures`th time in a row, stays away.

    Until the provider serves again if it said when, which is never guessed. Otherwise the back-off; a rate limit begins with it at once.
    """
    if failure.retry_at is not None and failure.retry_at > now:
        return failure.retry_at
    wait = backoff(failures + (failure.kind == "rate_limit"), schedule)
    return now + wait if wait else None


def _anchor(every: float, before: float | None, now: float) -> float:
    """Where to count from, after a moment that is done. Never further away than one interval, wherever the clock was."""
    return now if before is None else min(max(now, before + every), now + every)


def _after(standing: Standing) -> float:
    return -inf if standing.last_slot is None else standing.last_slot
