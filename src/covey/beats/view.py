"""What is asked about the beats, and the answers as the contract has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from msgspec.structs import asdict

from covey.beats import money, planner
from covey.beats.beat import Budget, Interval
from covey.kernel.clock import timestamp
from covey.kernel.durations import format_duration
from murli import AgentError, not_found, user_error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from covey.beats.beat import Beat
    from covey.beats.book import Book, Entry
    from covey.beats.records import Records, Run, Standing
    from covey.beats.treasury import Treasury


class StandingsByFile(Protocol):
    """How each beat stands."""

    def get(self, file: str, /) -> Standing | None:
        """That of a file; None if it has none yet."""
        ...


class Beats(Protocol):
    """What is asked of the beats, be they those of a daemon or what one has left on the disk."""

    @property
    def book(self) -> Book: ...
    @property
    def ledger(self) -> Records: ...
    @property
    def treasury(self) -> Treasury: ...
    @property
    def standings(self) -> StandingsByFile: ...
    @property
    def running(self) -> Mapping[str, Run]: ...
    @property
    def queued(self) -> Sequence[Run]: ...
    @property
    def latest(self) -> Mapping[str, Run]: ...
    @property
    def limit(self) -> int: ...
    def late(self) -> Mapping[str, float]: ...


async def listed(beats: Beats, now: float) -> dict[str, Any]:
    """All beats, those that cannot run too; and the totals, which stay the same whatever part of the list is shown."""
    late = beats.late()
    today, month = await beats.treasury.spent_by_all(now)
    return {
        "items": [await shown(beats, entry, now, late) for entry in beats.book.entries],
        "problems": [
            {"file": entry.file, "message": complaint} for entry in beats.book.entries for complaint in entry.complaints
        ],
        "running": len(beats.running),
        "limit": beats.limit,
        "count": len(beats.book.entries),
        "next": _next(beats, now),
        "today": asdict(today),
        "month": asdict(month),
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


def is_stopped(beats: Beats, entry: Entry, now: float) -> bool:
    """Whether `resume` would have a beat run again: it is paused, or parked for now."""
    standing = beats.standings.get(entry.file)
    return standing is not None and (standing.plan.paused or (standing.plan.parked_until or 0.0) > now)


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
    return (
        f"every {format_duration(beat.schedule.seconds)}"
        if isinstance(beat.schedule, Interval)
        else f"cron {beat.schedule.expression}"
    )


async def cost(beats: Beats, now: float, limits: dict[str, float]) -> dict[str, Any]:
    """What each beat has cost, what runs of folders that are not on the schedule have cost, and all together."""
    items = []
    for entry in beats.book.entries:
        today, month = await beats.treasury.spent(entry.beat, now) if entry.beat else (money.Spent(), money.Spent())
        total = await beats.ledger.spent(0.0, entry.file)
        items.append(
            {
                "name": entry.name,
                "today": asdict(today),
                "month": asdict(month),
                "total": asdict(total),
                "budget": _budget(entry.beat),
            }
        )
    today, month = await beats.treasury.spent_by_all(now)
    others = await beats.treasury.spent_by_others(now, [entry.file for entry in beats.book.entries])
    return {
        "items": items,
        "others": {name: asdict(spent) for name, spent in zip(("today", "month", "total"), others, strict=True)},
        "today": asdict(today),
        "month": asdict(month),
        "total": asdict(await beats.ledger.spent(0.0)),
        "limits": limits,
    }


def _next(beats: Beats, now: float) -> dict[str, str] | None:
    """Which beat runs next, and when."""
    due = [
        (moment, beat.name)
        for beat in beats.book.beats.values()
        if (standing := beats.standings.get(beat.file))
        and (moment := planner.due(beat, standing.plan, now)) is not None
    ]
    soonest = min(due, default=None)
    return {"name": soonest[1], "at": timestamp(max(soonest[0], now))} if soonest else None


def summary(beats: Beats, now: float) -> dict[str, Any]:
    """The beats' part of `covey status`."""
    states = [_state(beats, entry, beats.standings.get(entry.file), now) for entry in beats.book.entries]
    return {
        "total": len(states),
        "by_state": {
            state: sum(one == state for one, _ in states) for state in dict.fromkeys(state for state, _ in states)
        },
        "reasons": list(dict.fromkeys(reason for state, reason in states if state in {"paused", "parked"} and reason)),
        "next": _next(beats, now),
    }


def _budget(beat: Beat | None) -> dict[str, Any]:
    return asdict(beat.budget if beat else Budget())


def limits(setting: Callable[[str], Any]) -> dict[str, float]:
    """What all beats together may spend, by the settings; 0 if there is no limit."""
    return {key: float(setting(f"beats.{key}")) for key in ("day_usd", "month_usd")}


async def history(beats: Beats, params: Mapping[str, Any]) -> dict[str, Any]:
    """Past runs, newest first. Raises `AgentError` if a beat is named that there is not and of which no run is known."""
    name = params["name"]
    runs = await beats.ledger.history(name=name, outcome=params["outcome"], limit=params["limit"])
    if (
        name
        and not runs
        and all(entry.name != name for entry in beats.book.entries)
        and not await beats.ledger.history(name=name, limit=1)
    ):
        raise unknown_beat(name, beats.book)
    return {"items": [run.as_dict() for run in runs]}


def unknown_beat(name: str, book: Book) -> AgentError:
    """The error that there is no beat of this name, with the names that there are."""
    error = not_found(f"there is no beat {name}", "See `covey beats list`.", field="name")
    error.valid_values = [entry.name for entry in book.entries]
    return error


async def one_run(ledger: Records, asked: str) -> dict[str, Any]:
    """A run with what was said in it. Raises `AgentError` if none is meant, or several may be."""
    run = one_of(await ledger.find(asked), asked)
    return {**run.as_dict(), "turns": await ledger.turns(run.run)}


def one_of(found: list[Run], asked: str) -> Run:
    """The run that was meant."""
    if not found:
        raise not_found(f"there is no run {asked}", "See `covey beats history`.", field="run")
    if len(found) > 1:
        raise user_error(
            f"{asked} is the end of several runs",
            "Give more of its id.",
            field="run",
            valid_values=[run.run for run in found],
        )
    return found[0]
