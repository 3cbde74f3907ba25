"""What the reminders of a mesh look like to a person."""

from __future__ import annotations

from covey.cli.cells import clean, hint
from covey.cli.table import table
from covey.cli.text import BLUE, DIM, clock_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.cli.text import Paint


def made(result: dict[str, Any], paint: Paint) -> str:
    """When a new reminder comes, and to whom."""
    when = clock_of(result["next_at"]) if result["next_at"] else "at once"
    whom = "you" if result["private"] else "everybody" if result["to"] == "*" else clean(result["to"])
    return f"{paint('○', BLUE)} {result['id']} reminds {whom}: {when}"


def cancelled(result: dict[str, Any], _: Paint) -> str:
    """What does not come any more."""
    return f"{result['id']} is cancelled"


def listed(result: dict[str, Any], paint: Paint) -> str:
    """Every reminder on a line, the next one first."""
    if not result["items"]:
        return "\n".join(["No reminders", *hint("covey mesh remind 'stand up' --in 1h", "makes one", paint.columns)])
    rows = [
        [
            item["id"],
            clock_of(item["next_at"]),
            clean(f"{item['cron']} {item['tz']}" if item["cron"] else ""),
            "you" if item["private"] else clean(item["to"]),
            clean(item["message"]),
        ]
        for item in result["items"]
    ]
    signs = [("○", BLUE if item["created_by"]["yours"] else DIM) for item in result["items"]]
    return "\n".join(table(["ID", "NEXT", "CRON", "TO", "MESSAGE"], rows, signs, paint))
