"""What the verbs `watch` of the services of a mesh show a person: a line for each change, what has changed first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from covey.cli.cells import clean, cut, cut_middle, width
from covey.cli.render_mesh_state import value_text as json_text
from covey.cli.text import BLUE, DIM, GREEN, RED, YELLOW, clock_at, clock_of, value_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from covey.cli.text import Paint

NAME_CELLS = 24
"""A name that is longer is cut, so that what was done stays on the line."""
SUBJECT_CELLS = 16
"""What has changed is not cut to less than this."""
USUAL_PRIORITY = "next"


class Change(NamedTuple):
    """One change: what has changed, what has happened to it and by whom, and what else is known."""

    sign: str
    colour: str
    subject: str
    done: str
    rest: list[str]


def change_line(event: dict[str, Any], paint: Paint) -> str:
    """Return the line of an event: what has changed, what has happened, who did it, then when, and the rest.

    What has changed is cut in the middle, because keys begin alike; the rest is cut at the end.
    """
    change = CHANGES[event["kind"]](event["data"])
    done = f"{change.done}  {clock_at(event['time'])}"
    room = max(paint.columns - width(done) - 4, SUBJECT_CELLS)
    subject = cut_middle(change.subject, room, room // 2)
    line = "  ".join([subject, done, *filter(None, change.rest)])
    return f"{paint(change.sign, change.colour)} {cut(line, paint.columns - 2)}"


def _state(data: dict[str, Any]) -> Change:
    key, who = clean(data["key"]), _named(data["author_name"])
    private = ["(private)"] if data["scope"] == "member" else []
    if data["deleted"]:
        return Change("✗", RED, key, f"deleted by {who}", private)
    return Change("●", GREEN, key, f"set by {who}", [*private, clean(json_text(data["value"]))])


def _memory(data: dict[str, Any]) -> Change:
    tags = [clean(", ".join(data["tags"]))]
    return _text(data, data["id"], "forgotten" if data["deleted"] else "remembered", tags)


def _vector(data: dict[str, Any]) -> Change:
    return _text(data, f"{data['collection']} {data['id']}", "deleted" if data["deleted"] else "stored", [])


def _text(data: dict[str, Any], subject: str, done: str, more: list[str]) -> Change:
    sign, colour = ("✗", RED) if data["deleted"] else ("●", GREEN)
    rest = [*more, clean(data["excerpt"])]
    return Change(sign, colour, clean(subject), f"{done} by {_named(data['author_name'])}", rest)


def _task_created(data: dict[str, Any]) -> Change:
    return _task(data, "○", BLUE, f"created by {_named(data['by']['label'])}", _facts(data))


def _task_assigned(data: dict[str, Any]) -> Change:
    whom = _named(data["assignee"] or "anybody")
    return _task(data, "○", BLUE, f"for {whom}, by {_named(data['by']['label'])}", _facts({**data, "assignee": None}))


def _task_claimed(data: dict[str, Any]) -> Change:
    until = f"until {clock_of(data['until'])}"
    return _task(data, "●", YELLOW, f"claimed by {_named(data['by']['label'])}", [until])


def _task_completed(data: dict[str, Any]) -> Change:
    result = clean(value_text(data["result"]))
    return _task(data, "✓", GREEN, f"completed by {_named(data['by']['label'])}", [result])


def _task_failed(data: dict[str, Any]) -> Change:
    return _task(data, "✗", RED, f"failed by {_named(data['by']['label'])}", [clean(data["reason"])])


def _task_released(data: dict[str, Any]) -> Change:
    return _task(data, "○", BLUE, f"released by {_named(data['by']['label'])}", [])


def _task(data: dict[str, Any], sign: str, colour: str, done: str, rest: list[str]) -> Change:
    return Change(sign, colour, f"{clean(data['id'])}  {clean(data['title'])}", done, rest)


def _facts(data: dict[str, Any]) -> list[str]:
    """Return what a person wants to know of a task that is not begun."""
    whom = f"for {clean(data['assignee'])}" if data["assignee"] else ""
    priority = data["priority"] if data["priority"] != USUAL_PRIORITY else ""
    return [whom, priority, clean(", ".join(data["tags"]))]


def _lease_acquired(data: dict[str, Any]) -> Change:
    rest = [f"until {clock_of(data['until'])}", clean(data["note"])]
    return Change("●", YELLOW, clean(data["name"]), f"acquired by {_named(data['holder']['label'])}", rest)


def _lease_released(data: dict[str, Any]) -> Change:
    done = f"released by {_named(data['holder']['label'])}"
    return Change("○", DIM, clean(data["name"]), done, [clean(data["note"])])


def _named(name: str) -> str:
    return cut(clean(name), NAME_CELLS)


CHANGES: dict[str, Callable[[dict[str, Any]], Change]] = {
    "lease_acquired": _lease_acquired,
    "lease_released": _lease_released,
    "memory_changed": _memory,
    "state_changed": _state,
    "task_assigned": _task_assigned,
    "task_claimed": _task_claimed,
    "task_completed": _task_completed,
    "task_created": _task_created,
    "task_failed": _task_failed,
    "task_released": _task_released,
    "vector_changed": _vector,
}
"""What each kind of event means for a person."""
