"""What is asked about the beats, and the answers as the contract has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from covey.beats import intervals, money, planner
from covey.beats.beat import Budget, Interval
from covey.kernel.clock import timestamp
from murli import not_found, user_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.beats.beat import Beat
    from covey.beats.book import Entry
    from covey.beats.ledger import Run, Standing
    from covey.beats.service import Beats


async def listed(beats: Beats, now: float) -> dict[str, Any]:
    """All beats, those that cannot run too."""
    late = beats.late()
    return {
        "items": [await shown(beats, entry, now, late) for entry in beats.book.entries],
        "problems": [{"file": entry.file, "message": complaint} for entry in beats.book.entries for complaint in entry.complaints],
        "running": len(beats.running),
        "limit": beats.limit,
    }


async def shown(beats: Beats, entry: Entry, now: float, late: Mapping[str, float]) -> dict[str, Any]:
    """One beat and how it stands. `late`: those that are, with the seconds."""
    beat, standing, last = entry.beat, beats.standings.get(entry.file), beats.latest.get(entry.file)
    state, reason = _state(beats, entry, standing, now)
    today, month = await beats.treasury.spent(beat, now) if beat else (money.Spent(), money.Spent())
    due = planner.due(beat, standing.plan, now) if beat and standing else None
    return {
        "name": entry.name,
        "workspace": entry.workspace,
        "file": entry.file,
        "agent": beat.agent if beat else "",
        "model": beat.model if beat else "",
        "schedule": rhythm(beat) if beat else "",
        "tz": beat.tz if beat else "",
        "state": state,
        "reason": reason,
        "next_at": timestamp(max(due, now)) if due is not None else None,
        "late_s": late.get(entry.name) if beat else None,
        "streak": standing.streak if standing else 0,
        "skipped": standing.skipped if standing else 0,
        "last": last.as_dict() if last else None,
        "today": asdict(today),
        "month": asdict(month),
        "budget": _budget(beat),
    }


def _state(beats: Beats, entry: Entry, standing: Standing | None, now: float) -> tuple[str, str]:
    if entry.problems:
        return "broken", "; ".join(str(problem) for problem in entry.problems)
    if any(run.file == entry.file for run in beats.running.values()):
        return "running", ""
    if any(run.file == entry.file for run in beats.queued):
        return "queued", f"{beats.limit} run already"
    return _rests(entry.beat, standing, now) if entry.beat and standing else ("scheduled", "")


def _rests(beat: Beat, standing: Standing, now: float) -> tuple[str, str]:
    """How a beat stands that does not run at the moment."""
    plan = standing.plan
    if plan.paused:
        return "paused", standing.reason
    if plan.parked_until is not None and plan.parked_until > now:
        return ("paused" if money.stops(standing.reason) else "parked"), standing.reason
    if planner.due(beat, plan, now) is None:
        return "paused", "it never runs: all its times are in its quiet hours"
    return "scheduled", ""


def rhythm(beat: Beat) -> str:
    """When it runs, in words."""
    return f"every {intervals.shown(beat.schedule.seconds)}" if isinstance(beat.schedule, Interval) else f"cron {beat.schedule.expression}"


async def cost(beats: Beats, now: float, limits: dict[str, float]) -> dict[str, Any]:
    """What each beat has cost, and all of them."""
    items = []
    for entry in beats.book.entries:
        today, month = await beats.treasury.spent(entry.beat, now) if entry.beat else (money.Spent(), money.Spent())
        total = await beats.ledger.spent(0.0, entry.file)
        items.append({"name": entry.name, "today": asdict(today), "month": asdict(month), "total": asdict(total), "budget": _budget(entry.beat)})
    today, month = await beats.treasury.spent_by_all(now)
    return {"items": items, "today": asdict(today), "month": asdict(month), "total": asdict(await beats.ledger.spent(0.0)), "limits": limits}


def summary(beats: Beats, now: float) -> dict[str, Any]:
    """The beats' part of `covey status`."""
    states = [_state(beats, entry, beats.standings.get(entry.file), now) for entry in beats.book.entries]
    due = [
        (moment, beat.name)
        for beat in beats.book.beats.values()
        if (standing := beats.standings.get(beat.file)) and (moment := planner.due(beat, standing.plan, now)) is not None
    ]
    soonest = min(due, default=None)
    return {
        "total": len(states),
        "by_state": {state: sum(one == state for one, _ in states) for state in dict.fromkeys(state for state, _ in states)},
        "reasons": list(dict.fromkeys(reason for state, reason in states if state in {"paused", "parked"} and reason)),
        "next": {"name": soonest[1], "at": timestamp(max(soonest[0], now))} if soonest else None,
    }


def _budget(beat: Beat | None) -> dict[str, Any]:
    return asdict(beat.budget if beat else Budget())


def one_of(found: list[Run], asked: str) -> Run:
    """The run that was meant."""
    if not found:
        raise not_found(f"there is no run {asked}", "See `covey beats history`.", field="run")
    if len(found) > 1:
        raise user_error(f"{asked} is the end of several runs", "Give more of its id.", field="run", valid_values=[run.run for run in found])
    return found[0]
