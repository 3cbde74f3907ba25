"""What the graph of a mesh looks like to a person."""

from __future__ import annotations

from covey.cli.cells import clean, hint
from covey.cli.render_mesh_connection import missing_connection
from covey.cli.table import table
from covey.cli.text import DIM
from covey.kernel import quick_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.cli.text import Paint

NODE = {"id", "labels", "properties"}
RELATION = {"id", "type", "start", "end", "properties"}
NAMES = {
    "nodes_created": "nodes created",
    "nodes_deleted": "nodes deleted",
    "relationships_created": "relationships created",
    "relationships_deleted": "relationships deleted",
    "properties_set": "properties set",
    "labels_added": "labels added",
}


def answered(result: dict[str, Any], paint: Paint) -> str:
    """The rows, and what was changed."""
    lines: list[str] = []
    rows = result["rows"]
    if rows:
        columns = list(rows[0])
        cells = [[clean(_text(row.get(name))) for name in columns] for row in rows]
        lines += table([clean(name) for name in columns], cells, [("●", DIM)] * len(cells), paint)
    if result["truncated"]:
        lines.append(f"More rows than {len(rows)}: see --limit")
    if result["wrote"]:
        lines.append(_changed(result))
    elif not rows:
        lines.append("No rows")
    if result["connection"]["connected"] and not result["caught_up"]:
        lines.append("It is not certain that this peer has applied all that the others have written")
    lines += missing_connection(result["connection"], paint)
    return "\n".join(lines)


def status(result: dict[str, Any], paint: Paint) -> str:
    """How large the graph is, and how far it is."""
    where = ""
    if result["connection"]["connected"]:
        where = ": all that was written" if result["caught_up"] else ": not all that was written"
    lines = [
        f"{result['nodes']} nodes, {result['relationships']} relationships",
        f"applied up to {result['sequence']}{where}",
        *missing_connection(result["connection"], paint),
        f"hash {result['digest']}",
    ]
    if result["problem"]:
        lines.append(f"problem: {clean(result['problem'])}")
    lines += [
        f"not applied: {one['sequence']}, {one['outcome']}: {clean(one['reason'])}" for one in result["not_applied"]
    ]
    if not result["entries"]:
        lines += hint("covey mesh graph query \"CREATE (:Task {title: 'try it'})\"", "writes", paint.columns)
    return "\n".join(lines)


def _changed(result: dict[str, Any]) -> str:
    if not result["applied"]:
        return "Stored in the log, and not applied here yet"
    counters = result["counters"] or {}
    found = [f"{counters[name]} {words}" for name, words in NAMES.items() if counters.get(name)]
    return ", ".join(found) or "Nothing changed"


def _text(value: Any) -> str:
    """Return a value in a short form: nodes and relations much as Cypher writes them."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and value.keys() == NODE:
        labels = "".join(f":{label}" for label in value["labels"])
        return f"({labels} {_properties(value['properties'])})".replace(" )", ")")
    if isinstance(value, dict) and value.keys() == RELATION:
        return f"[:{value['type']} {_properties(value['properties'])}]".replace(" ]", "]")
    return quick_json.dumps(value)


def _properties(value: Any) -> str:
    return quick_json.dumps(value) if value else ""
