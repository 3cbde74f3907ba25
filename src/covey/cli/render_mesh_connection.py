"""What a person reads where an answer comes from a peer that has no connection to the broker."""

from __future__ import annotations

from covey.cli.cells import clean, hanging
from covey.cli.text import YELLOW, clock_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.cli.text import Paint


def missing_connection(connection: dict[str, Any], paint: Paint) -> list[str]:
    """Return since when there is no connection, why, and what that means; no lines where there is one."""
    if connection["connected"]:
        return []
    since, why = clock_of(connection["since"]), clean(connection["reason"])
    first, *more = [
        *hanging("▲", f"no connection to the broker since {since}: {why}", paint.columns),
        *hanging(" ", "what others have written since then is not here", paint.columns),
    ]
    return [first.replace("▲", paint("▲", YELLOW), 1), *more]
