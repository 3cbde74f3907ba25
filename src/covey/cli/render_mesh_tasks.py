"""What the tasks of a mesh look like to a person."""

from __future__ import annotations

from covey.cli.cells import clean, clean_lines, cut, hint, wrapped
from covey.cli.table import table
from covey.cli.text import BLUE, DIM, GREEN, RED, YELLOW, clock_of, many, value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.cli.text import Paint

SIGNS = {"open": ("○", BLUE), "claimed": ("●", YELLOW), "completed": ("✓", GREEN), "failed": ("✗", RED)}


def created(result: dict[str, Any], paint: Paint) -> str:
    """The new task, and for whom it is."""
    whom = f" for {clean(result['assignee'])}" if result["assignee"] else ""
    lines = [f"{paint('○', BLUE)} {result['id']} is created{whom}"]
    if result["blocked_by"]:
        lines.append(f"  It waits for {', '.join(result['blocked_by'])}")
    return "\n".join(lines)


def task(result: dict[str, Any], paint: Paint) -> str:
    """A task with everything that is known of it."""
    sign, colour = SIGNS[result["status"]]
    lines = [cut(f"{paint(sign, colour)} {result['id']}  {clean(result['title'])}", _room(paint, colour))]
    facts = {
        "status": _status(result),
        "priority": result["priority"],
        "for": clean(result["assignee"] or "anybody"),
        "tags": clean(", ".join(result["tags"])),
        "waits for": ", ".join(result["blocked_by"]),
        "created": f"by {clean(result['created_by']['label'])}, {clock_of(result['created_at'])}",
        "result": clean(value_text(result["result"])),
        "reason": clean(result["reason"]),
    }
    lines += [cut(f"  {name:<9} {text}", paint.columns) for name, text in facts.items() if text]
    for line in clean_lines(result["description"]).split("\n") if result["description"] else []:
        lines += [f"    {part}" for part in wrapped(line, max(paint.columns - 4, 16))]
    return "\n".join(lines)


def taken(result: dict[str, Any], paint: Paint) -> str:
    """The task that was taken, and what to do when it is done; or why there is none."""
    if result["task"] is None:
        others = [
            f"{result[name]} {words}"
            for name, words in (("open", "open for others"), ("blocked", "waiting"), ("claimed", "claimed"))
            if result[name]
        ]
        lines = [f"No task for you now{'; there are others: ' if others else ''}{', '.join(others)}"]
        return "\n".join([*lines, *hint("covey mesh task take --wait 10m", "waits for one", paint.columns)])
    lines = [task(result["task"], paint)]
    return "\n".join(
        [*lines, *hint(f"covey mesh task complete {result['task']['id']} TEXT", "when it is done", paint.columns)]
    )


def listed(result: dict[str, Any], paint: Paint) -> str:
    """Every task on a line."""
    if not result["items"]:
        return "\n".join(["No tasks", *hint("covey mesh task create 'review the parser'", "adds one", paint.columns)])
    rows = [
        [
            item["id"],
            "waits" if item["blocked_by"] else item["status"],
            item["priority"],
            clean(_whom(item)),
            clean(item["title"]),
        ]
        for item in result["items"]
    ]
    signs = [("◌", DIM) if item["blocked_by"] else SIGNS[item["status"]] for item in result["items"]]
    lines = table(["ID", "STATUS", "PRIORITY", "WHO", "TITLE"], rows, signs, paint)
    if result["next"] is not None:
        lines += hint(f"covey mesh task list --after {result['next']}", "shows more", paint.columns)
    return "\n".join(lines)


def _whom(item: dict[str, Any]) -> str:
    """Return who has a task or has ended it; else for whom it is."""
    holder = item["ended_by"] or item["claimed_by"]
    return str(holder["label"]) if holder else f"for {item['assignee']}" if item["assignee"] else ""


def _status(item: dict[str, Any]) -> str:
    if item["claimed_by"]:
        return f"claimed by {clean(item['claimed_by']['label'])} until {clock_of(item['until'])}"
    if item["ended_by"]:
        return f"{item['status']} by {clean(item['ended_by']['label'])}, {clock_of(item['ended_at'])}"
    again = f", claimed {many(item['claims'], 'time')} before" if item["claims"] else ""
    return f"{item['status']}{again}"


def _room(paint: Paint, colour: str) -> int:
    """Return the cells of a line that begins with a painted sign: its colours take none."""
    return paint.columns + len(paint("x", colour)) - 1
