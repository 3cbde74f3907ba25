"""`covey logs`: the daemon's log, readable, also when the daemon is down."""

from __future__ import annotations

from covey.kernel.logs.view import follow, last_lines, render
from murli import writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home
    from covey.kernel.seat import Seat


def logs(home: Home, _: Operation, params: dict[str, Any]) -> int:
    """Print the last lines, and with --follow new ones as they come."""
    return logs_of(home.node, params)


def logs_of(seat: Seat, params: dict[str, Any]) -> int:
    """Print the log of any daemon."""
    out = writer()
    if params["follow"]:
        for line in follow(seat.log_file, last=params["lines"]):
            if out.is_tty:
                out.line(render(line, colour=out.colour))
            else:
                out.event(_entry(line))
        return 0
    lines = last_lines(seat.log_file, params["lines"])
    text = "\n".join(render(line, colour=out.colour) for line in lines) if out.is_tty else ""
    out.success(text or ("The log is empty" if params["lines"] else ""), [_entry(line) for line in lines])
    return 0


def _entry(line: str) -> Any:
    """Return a line of the log as an object; a damaged one with its text."""
    import json

    try:
        entry = json.loads(line)
    except ValueError:
        entry = None
    return entry if isinstance(entry, dict) else {"level": "unknown", "msg": line}
