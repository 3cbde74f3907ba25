"""Builds the results of the beats operations as the contract describes them."""

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
    from covey.beats.budgets import Budgets
    from covey.beats.catalog import BeatCatalog, CatalogEntry
    from covey.beats.queries import Queries
    from covey.beats.records import BeatRecord, Run


class RecordsByFile(Protocol):
    """Looks up the record of a beat."""

    def get(self, file: str, /) -> BeatRecord | None:
        """Return the record of a file, or None."""
        ...


class Beats(Protocol):
    """What answers are built from: the scheduler of a daemon, or what it has left on the disk."""

    @property
    def catalog(self) -> BeatCatalog: ...
    @property
    def queries(self) -> Queries: ...
    @property
    def budgets(self) -> Budgets: ...
    @property
    def records(self) -> RecordsByFile: ...
    @property
    def running(self) -> Mapping[str, Run]: ...
    @property
    def queued(self) -> Sequence[Run]: ...
    @property
    def latest(self) -> Mapping[str, Run]: ...
    @property
    def limit(self) -> int: ...
    def late(self) -> Mapping[str, float]: ...


async def beat_list(beats: Beats, now: float) -> dict[str, Any]:
    """Return all beats, including those that cannot run, and totals over all of them."""
    late = beats.late()
    today, month = await beats.budgets.spent_by_all(now)
    return {
        "items": [await one_beat(beats, entry, now, late) for entry in beats.catalog.entries],
        "problems": [
            {"file": entry.file, "message": line} for entry in beats.catalog.entries for line in entry.problem_lines
        ],
        "running": len(beats.running),
        "limit": beats.limit,
        "count": len(beats.catalog.entries),
        "next": _next(beats, now),
        "today": asdict(today),
        "month": asdict(month),
    }


async def one_beat(beats: Beats, entry: CatalogEntry, now: float, late: Mapping[str, float]) -> dict[str, Any]:
    """Return one beat with its state. `late`: the late beats by name, with the seconds."""
    beat = entry.beat
    record = beats.records.get(entry.file)
    last = beats.latest.get(entry.file)
    state, reason = _state(beats, entry, record, now)
    today, month = await beats.budgets.spent(beat, now) if beat else (money.Spent(), money.Spent())
    due = planner.due(beat, record.plan, now) if beat and record else None
    return {
        "name": entry.name,
        "workspace": entry.workspace,
        "file": entry.file,
        "agent": beat.agent if beat else "",
        "model": beat.model if beat else "",
        "schedule": schedule_text(beat) if beat else "",
        "tz": beat.tz if beat else "",
        "state": state,
        "reason": reason,
        "next_at": timestamp(max(due, now)) if due is not None else None,
        "late_s": late.get(entry.name) if beat else None,
        "streak": record.streak if record else 0,
        "skipped": record.skipped if record else 0,
        "last": last.as_dict() if last else None,
        "today": asdict(today),
        "month": asdict(month),
        "budget": _budget(beat),
    }


def _state(beats: Beats, entry: CatalogEntry, record: BeatRecord | None, now: float) -> tuple[str, str]:
    """Return the state of a beat and the reason for it."""
    if entry.problems:
        return "broken", "; ".join(str(problem) for problem in entry.problems)
    if any(run.file == entry.file for run in beats.running.values()):
        return "running", ""
    if any(run.file == entry.file for run in beats.queued):
        return "queued", f"{beats.limit} run already"
    if entry.beat and record:
        return _idle_state(entry.beat, record, now)
    return "scheduled", ""


def is_stopped(beats: Beats, entry: CatalogEntry, now: float) -> bool:
    """Tell whether a beat is paused or parked, so that `resume` would let it run again."""
    record = beats.records.get(entry.file)
    return record is not None and record.plan.is_stopped(now)


def _idle_state(beat: Beat, record: BeatRecord, now: float) -> tuple[str, str]:
    """Return the state of a beat without a run, and the reason for it."""
    plan = record.plan
    if plan.paused:
        return "paused", record.reason
    if plan.is_parked(now):
        return ("paused" if money.is_budget_reason(record.reason) else "parked"), record.reason
    if planner.due(beat, plan, now) is None:
        return "paused", "it never runs: all its times are in its quiet hours"
    return "scheduled", ""


def schedule_text(beat: Beat) -> str:
    """Return in words when a beat runs."""
    if isinstance(beat.schedule, Interval):
        return f"every {format_duration(beat.schedule.seconds)}"
    return f"cron {beat.schedule.expression}"


async def cost(beats: Beats, now: float, limits: dict[str, float]) -> dict[str, Any]:
    """Return what each beat, all runs of folders that are not scheduled, and all together have cost."""
    items = []
    for entry in beats.catalog.entries:
        today, month = await beats.budgets.spent(entry.beat, now) if entry.beat else (money.Spent(), money.Spent())
        total = await beats.queries.spent(0.0, entry.file)
        items.append(
            {
                "name": entry.name,
                "today": asdict(today),
                "month": asdict(month),
                "total": asdict(total),
                "budget": _budget(entry.beat),
            }
        )
    today, month = await beats.budgets.spent_by_all(now)
    others = await beats.budgets.spent_by_others(now, [entry.file for entry in beats.catalog.entries])
    return {
        "items": items,
        "others": {name: asdict(spent) for name, spent in zip(("today", "month", "total"), others, strict=True)},
        "today": asdict(today),
        "month": asdict(month),
        "total": asdict(await beats.queries.spent(0.0)),
        "limits": limits,
    }


def _next(beats: Beats, now: float) -> dict[str, str] | None:
    """Return which beat runs next, and when; None if none does."""
    due = [
        (moment, beat.name)
        for beat in beats.catalog.beats.values()
        if (record := beats.records.get(beat.file)) and (moment := planner.due(beat, record.plan, now)) is not None
    ]
    soonest = min(due, default=None)
    return {"name": soonest[1], "at": timestamp(max(soonest[0], now))} if soonest else None


def summary(beats: Beats, now: float) -> dict[str, Any]:
    """Return the beats' part of `covey status`."""
    states = [_state(beats, entry, beats.records.get(entry.file), now) for entry in beats.catalog.entries]
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
    """Return what all beats together may spend, by the settings; 0 means no limit."""
    return {key: float(setting(f"beats.{key}")) for key in ("day_usd", "month_usd")}


async def history(beats: Beats, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return past runs, newest first. Raises `AgentError` if the named beat is unknown and has no run."""
    name = params["name"]
    runs = await beats.queries.history(name=name, outcome=params["outcome"], limit=params["limit"])
    is_listed = any(entry.name == name for entry in beats.catalog.entries)
    if name and not runs and not is_listed and not await beats.queries.history(name=name, limit=1):
        raise unknown_beat(name, beats.catalog)
    return {"items": [run.as_dict() for run in runs]}


def unknown_beat(name: str, catalog: BeatCatalog) -> AgentError:
    """Return the error that there is no beat of this name, with the names that exist."""
    error = not_found(f"there is no beat {name}", "See `covey beats list`.", field="name")
    error.valid_values = [entry.name for entry in catalog.entries]
    return error


async def one_run(queries: Queries, id_end: str) -> dict[str, Any]:
    """Return the run whose id ends with `id_end`, with its turns. Raises `AgentError` if there is none, or several."""
    run = only_run(await queries.find(id_end), id_end)
    return {**run.as_dict(), "turns": await queries.turns(run.id)}


def only_run(found: list[Run], id_end: str) -> Run:
    """Return the only run that was found. Raises `AgentError` if there is none, or several."""
    if not found:
        raise not_found(f"there is no run {id_end}", "See `covey beats history`.", field="run")
    if len(found) > 1:
        raise user_error(
            f"{id_end} is the end of several runs",
            "Give more of its id.",
            field="run",
            valid_values=[run.id for run in found],
        )
    return found[0]
