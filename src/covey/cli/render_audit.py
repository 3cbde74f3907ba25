"""Who did what, for people: one line for each call."""

from __future__ import annotations

from covey.cli.cells import clean
from covey.cli.table import table
from covey.cli.text import DIM, RED, YELLOW, clock_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.cli.text import Paint

SIGNS = {
    "done": ("○", DIM),
    "refused": ("▲", YELLOW),
    "failed": ("✗", RED),
    "cut_off": ("✗", RED),
    "under_way": ("●", DIM),
}


def calls(result: dict[str, Any], paint: Paint) -> str:
    """One line for each call, the newest last."""
    items = result["items"]
    if not items:
        return "Nothing was done in that time"
    rows = [
        [
            clock_of(item["at"]),
            _who(item["who"]),
            item["operation"],
            clean(item["about"]),
            _outcome(item),
        ]
        for item in items
    ]
    lines = table(["TIME", "WHO", "WHAT", "ABOUT", "OUTCOME"], rows, [SIGNS[item["status"]] for item in items], paint)
    if result["earlier"] is not None:
        lines.append(f"Earlier: covey audit --before {result['earlier']}")
    return "\n".join(lines)


def _who(who: dict[str, Any]) -> str:
    """The program and its process id; the subsystem of a call inside the daemon; else the way that it came."""
    if who["subsystem"]:
        return clean(who["subsystem"])
    name = "mcp" if who["surface"] == "mcp" else who["program"]
    return clean(f"{name} {who['pid']}") if who["pid"] else clean(who["transport"])


def _outcome(item: dict[str, Any]) -> str:
    if item["error"]:
        return clean(f"{item['status']}: {item['error']}")
    return clean(item["outcome"]) or item["status"].replace("_", " ")
