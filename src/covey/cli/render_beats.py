"""Beats for a person: which there are, when they run next, their state, and what they cost."""

from __future__ import annotations

import time

from covey.cli.cells import clean, cut, hanging, hint, visible_line, width
from covey.cli.render_runs import SIGNS, labelled, outcome, price, since, what
from covey.cli.table import GAP, table
from covey.cli.text import BLUE, DIM, RED, YELLOW, Paint, age, duration, many, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STATES = {
    "running": ("●", BLUE),
    "queued": ("●", BLUE),
    "paused": ("▲", YELLOW),
    "parked": ("▲", YELLOW),
    "broken": ("✗", RED),
}
"""Signs of states; a beat that is scheduled has the sign of its last outcome."""
NAME_CELLS = 24
"""A name of this length is shown in full if there is room for it at all."""
WHAT_CELLS = 16
"""Cells that the column WHAT keeps."""
BUDGETS = {"run": "a run", "day": "a day", "month": "a month"}
EMPTY = """\
No beats yet
  covey init       writes a HEARTBEAT.md into this folder
  covey beat       tries it
  covey beats add  puts it on the schedule"""


def beats(result: dict[str, Any], paint: Paint, now: float | None = None) -> str:
    """The table of beats, the problems of those that cannot run, and a line that sums it up."""
    now = time.time() if now is None else now
    items = result["items"]
    if not items:
        return EMPTY
    columns = _fitting([_row(item, now) for item in items], paint.columns)
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    lines = table(list(columns), rows, [_sign(item) for item in items], paint)
    for problem in result["problems"]:
        lines += ["", *labelled("✗", RED, clean(short(problem["message"])), paint)]
    return "\n".join([*lines, "", total(result, paint, now)])


def total(result: dict[str, Any], paint: Paint, now: float) -> str:
    """Return a summary such as `5 beats · next api-health in 4m · $0.42 today`."""
    parts = [many(result["count"], "beat")]
    if result["running"]:
        parts.append(f"{result['running']} running")
    if soonest := result["next"]:
        parts.append(f"next {clean(soonest['name'])} {coming(soonest['at'], now)}")
    if spent := price(result["month"]):
        parts.append(f"{price(result['today']) or 'nothing'} today, {spent} this month")
    return cut(" · ".join(parts), paint.columns)


def _row(item: dict[str, Any], now: float) -> dict[str, str]:
    last = item["last"]
    return {
        "STATE": item["state"],
        "NAME": clean(item["name"]),
        "NEXT": coming(item["next_at"], now) if item["next_at"] else "-",
        "LAST": f"{outcome(last)} {age(since(last['ended_at'] or last['queued_at'], now))}" if last else "-",
        "STREAK": str(item["streak"] or "-"),
        "TODAY": price(item["today"]) or "-",
        "WHAT": _what(item),
    }


def _fitting(rows: list[dict[str, str]], columns: int) -> dict[str, list[str]]:
    """Return the columns of the table for a terminal of this width.

    `pause` and `resume` need the name: other columns are left out, and WHAT is cut, before it is.
    """
    table_of = {name: [row[name] for row in rows] for name in rows[0]}

    def room() -> int:
        """Return the cells that are left for WHAT, with names of a usual length."""
        sizes = {name: max(map(width, (name, *cells))) for name, cells in table_of.items() if name != "WHAT"}
        return columns - 2 - sum(sizes.values()) - len(GAP) * len(sizes) + max(sizes["NAME"] - NAME_CELLS, 0)

    for name in ("STREAK", "TODAY", "NEXT"):
        if room() < WHAT_CELLS:
            del table_of[name]
    table_of["WHAT"] = [cut(text, max(room(), WHAT_CELLS)) for text in table_of["WHAT"]]
    return table_of


def _what(item: dict[str, Any]) -> str:
    """Return the most important fact about a beat."""
    if item["state"] == "broken":
        return "see below"
    if item["state"] in {"paused", "parked", "queued"}:
        return clean(item["reason"])
    if item["late_s"]:
        return f"should have run {duration(item['late_s'])} ago"
    text = what(item["last"]) if item["last"] else ""
    if not text and item["skipped"]:
        return f"skipped {many(item['skipped'], 'time')}: it was still running"
    return text


def _sign(item: dict[str, Any]) -> tuple[str, str]:
    if item["state"] != "scheduled":
        return STATES[item["state"]]
    if item["late_s"]:
        return "▲", YELLOW
    return SIGNS[item["last"]["outcome"]] if item["last"] else ("○", DIM)


def coming(stamp: str, now: float) -> str:
    """Return when something will be, such as `in 4m`, `in 2h` or `now`."""
    left = -since(stamp, now)
    return "now" if left <= 0 else f"in {age(left)}"


def cost(result: dict[str, Any], paint: Paint) -> str:
    """What each beat has cost and may cost, the most expensive first; then all of them together."""
    items = sorted(
        result["items"], key=lambda item: (-item["month"]["cost_usd"], -item["month"]["tokens"], item["name"])
    )
    limits = {f"{span}_usd": result["limits"][f"{span}_usd"] or None for span in ("day", "month")}
    rows = [_costs(clean(item["name"]), item, item["budget"]) for item in items]
    if result["others"]["total"]["runs"]:
        rows.append(_costs("not scheduled", result["others"], {}))
    rows.append(_costs("all beats", result, limits))
    return "\n".join(
        table(["BEAT", "TODAY", "MONTH", "IN ALL", "RUNS", "BUDGET"], rows, [(" ", "")] * len(rows), paint)
    )


def _costs(name: str, spent: dict[str, Any], limits: dict[str, Any]) -> list[str]:
    return [
        name,
        *(price(spent[span]) or "-" for span in ("today", "month", "total")),
        str(spent["total"]["runs"]),
        budget(limits),
    ]


def budget(limits: dict[str, Any]) -> str:
    """Return limits such as `$2 a day, 50k tokens a run`."""
    parts = []
    for name, limit in limits.items():
        span, _, unit = name.partition("_")
        if limit is not None:
            parts.append(f"{f'${limit:g}' if unit == 'usd' else price({'tokens': limit})} {BUDGETS[span]}")
    return ", ".join(parts) or "none"


def paused(result: dict[str, Any], paint: Paint) -> str:
    """After `covey beats pause`: what it means, and how to resume."""
    name = clean(result["name"])
    still = "; the run that is going on ends by itself" if result["state"] == "running" else ""
    lines = labelled("▲", YELLOW, f"{name} is paused{still}", paint)
    return "\n".join([*lines, *hint(f"covey beats resume {name}", "lets it run again", paint.columns)])


def resumed(result: dict[str, Any], paint: Paint) -> str:
    """After `covey beats resume`: a line for each beat."""
    return "\n".join(_resumed(item, paint) for item in result["items"]) or "No beat is paused or parked"


def _resumed(result: dict[str, Any], paint: Paint) -> str:
    sign, colour = STATES.get(result["state"], ("○", DIM))
    follows = f", next {coming(result['next_at'], time.time())}" if result["next_at"] else ""
    return f"{paint(sign, colour)} {clean(result['name'])} is {result['state']}{follows}"


def status(result: dict[str, Any], columns: int, now: float | None = None) -> str:
    """Return the line of `covey status` about beats."""
    now = time.time() if now is None else now
    if not result["total"]:
        return "beats      none · covey init  begins one"
    counts, soonest = result["by_state"], result["next"]
    reasons = [clean(reason.partition(":")[0].removeprefix("paused ")) for reason in result["reasons"]]
    parts = [f"{counts[state]} {state}" for state in ("scheduled", "running", "queued") if counts.get(state)]
    parts += [f"next {clean(soonest['name'])} {coming(soonest['at'], now)}"] if soonest else []
    stopped = [f"{counts[state]} {state}" for state in ("paused", "parked") if counts.get(state)]
    if stopped and reasons:
        stopped[-1] += f" ({', '.join(dict.fromkeys(reasons))})"
    parts += [*stopped, *([f"{counts['broken']} broken"] if counts.get("broken") else [])]
    return cut(f"beats      {' · '.join(parts)}", columns)


def begun(result: dict[str, Any], paint: Paint) -> str:
    """After `covey init`: the file, and what comes next."""
    lines = hanging("Wrote", short(clean(result["file"])), paint.columns)
    lines += ["  Say in it what to look after, then try it: covey beat"]
    runs = "  To agree to its options, so that it runs" if result["scheduled"] else "  To run it on its schedule"
    lines += [f"{runs}: covey beats add"]
    return "\n".join(lines)


def added(result: dict[str, Any], paint: Paint) -> str:
    """After `covey beats add`: the folder, what was agreed to, and what comes next."""
    label = "On the schedule:" if result["added"] else "On the schedule already:"
    lines = hanging(label, short(clean(result["workspace"])), paint.columns)
    for one in result["agreed"]:
        options = " · ".join(map(visible_line, one["options"])) or "no options of its own"
        lines += hanging(f"  {visible_line(one['name'])} may run with:", options, paint.columns)
    lines += hint("covey up", "starts the daemon, which runs it, if it does not run yet", paint.columns)
    return "\n".join([*lines, *hint("covey beats list", "shows when it runs next", paint.columns)])


def imported(result: dict[str, Any], paint: Paint) -> str:
    """After `covey beats import`: the folders that were taken over, and problems."""
    count = len(result["imported"])
    lines = [
        f"Took over {many(count, 'workspace')} into {short(clean(result['file']))}" if count else "Nothing to take over"
    ]
    lines += [cut(f"  {short(clean(path))}", paint.columns) for path in result["imported"]]
    lines += [cut(f"  {short(clean(path))} was there already", paint.columns) for path in result["present"]]
    for problem in result["problems"]:
        lines += labelled("  ▲", YELLOW, clean(problem), paint)
    return "\n".join([*lines, *(hint("covey beats list", "shows their states", paint.columns) if count else [])])
