"""What the leases of a mesh look like to a person."""

from __future__ import annotations

from covey.cli.cells import clean, hint
from covey.cli.table import table
from covey.cli.text import BLUE, GREEN, YELLOW, clock_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.cli.text import Paint


def acquired(result: dict[str, Any], paint: Paint) -> str:
    """What the caller has now, and until when."""
    return f"{paint('✓', GREEN)} {clean(result['name'])} is yours until {clock_of(result['until'])}"


def released(result: dict[str, Any], _: Paint) -> str:
    """What was given back."""
    return f"{clean(result['name'])} is free"


def listed(result: dict[str, Any], paint: Paint) -> str:
    """Every lease on a line."""
    if not result["items"]:
        return "\n".join(
            ["No leases", *hint("covey mesh lease acquire --path src/app.py", "takes one on a file", paint.columns)]
        )
    rows = [
        [clean(item["name"]), clean(item["holder"]["label"]), clock_of(item["until"]), clean(item["note"])]
        for item in result["items"]
    ]
    signs = [("●", YELLOW if item["holder"]["yours"] else BLUE) for item in result["items"]]
    lines = table(["NAME", "WHO", "UNTIL", "NOTE"], rows, signs, paint)
    if result["next"] is not None:
        lines += hint(f"covey mesh leases --after {result['next']}", "shows more", paint.columns)
    return "\n".join(lines)
