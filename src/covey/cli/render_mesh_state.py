"""What the shared state of a mesh looks like to a person."""

from __future__ import annotations

from covey.cli.cells import clean, clean_lines, cut, cut_middle, hint, width
from covey.cli.render_mesh_connection import missing_connection
from covey.cli.table import GAP, lines_of, sizes_of, table
from covey.cli.text import DIM, clock_of, many
from covey.kernel import quick_json
from covey.kernel.byte_sizes import size_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.cli.text import Paint

PRIVATE = " (private)"
AUTHOR_CELLS, VALUE_CELLS, KEY_CELLS = 24, 7, 16
"""The most that an author takes, and the least that values and keys are cut to."""


def entry(result: dict[str, Any], _: Paint) -> str:
    """The value alone; text as it is, but for control characters, anything else as JSON."""
    return clean_lines(value_text(result["value"]))


def was_set(result: dict[str, Any], _: Paint) -> str:
    """What was set."""
    return f"{clean(result['key'])} is set, revision {result['revision']}"


def deleted(result: dict[str, Any], _: Paint) -> str:
    """What was deleted."""
    return f"{clean(result['key'])} is deleted"


def listed(result: dict[str, Any], paint: Paint) -> str:
    """Every key with its value."""
    if not result["items"]:
        return "\n".join(["No values", *hint("covey mesh state set build/web green", "sets one", paint.columns)])
    rows = [
        [
            clean(item["key"]),
            clean(value_text(item["value"])),
            _author(item),
            clock_of(item["at"]),
        ]
        for item in result["items"]
    ]
    lines = _entries(rows, paint)
    if result["next"] is not None:
        lines += hint(f"covey mesh state list --after {result['next']}", "shows more", paint.columns)
    return "\n".join(lines)


def _author(item: dict[str, Any]) -> str:
    """Return who has set a value, cut so that the mark of a private one is there."""
    mark = PRIVATE if item["scope"] == "member" else ""
    return cut(clean(item["author_name"]), AUTHOR_CELLS - len(mark)) + mark


def _entries(rows: list[list[str]], paint: Paint) -> list[str]:
    """Return a table in which keys and values give way to who has set them, and when."""
    head = ["KEY", "VALUE", "BY", "AT"]
    by, at = (max(width(row[column]) for row in [head, *rows]) for column in (2, 3))
    room = max(paint.columns - 2 - 3 * len(GAP) - VALUE_CELLS - by - at, KEY_CELLS)
    rows = [[cut_middle(row[0], room, room // 2), *row[1:]] for row in rows]
    sizes = sizes_of(head, rows, paint.columns, least=at, shortest={"BY": by, "VALUE": VALUE_CELLS})
    return lines_of(head, rows, [("●", DIM)] * len(rows), paint, sizes)


def value_text(value: Any) -> str:
    """Return a value as text."""
    return value if isinstance(value, str) else quick_json.dumps(value)


def services(result: dict[str, Any], paint: Paint) -> str:
    """What each service keeps, and whether the replica is complete."""
    rows = [[item["name"], str(item["documents"]), size_text(item["bytes"])] for item in result["items"]]
    lines = (
        table(["SERVICE", "DOCUMENTS", "SEALED"], rows, [("●", DIM)] * len(rows), paint) if rows else ["Nothing yet"]
    )
    if not result["connection"]["connected"]:
        state = "as it was then"
    else:
        state = "complete" if result["caught_up"] else "being brought up to date"
    lines += ["", *missing_connection(result["connection"], paint)]
    lines.append(f"this replica is {state}; its digest is {result['digest']}")
    if result["refused"]:
        lines.append(f"{many(result['refused'], 'message')} refused: see covey mesh logs")
    return "\n".join(lines)


def exported(result: dict[str, Any], _: Paint) -> str:
    """What was written to a file."""
    return f"{many(result['documents'], 'document')} written to {clean(result['path'])}, in the clear"


def imported(result: dict[str, Any], _: Paint) -> str:
    """What was taken from a file."""
    left = f", {result['left']} left as they are (--replace replaces them)" if result["left"] else ""
    skipped = f", {result['skipped']} skipped: they make no sense in this mesh" if result["skipped"] else ""
    return f"{many(result['written'], 'document')} written, {result['same']} there already{left}{skipped}"
