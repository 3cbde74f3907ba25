"""`covey events`: what has happened, and with --follow what happens, resumed by itself when the connection breaks."""

from __future__ import annotations

import time

from covey.cli.render import columns, cut
from covey.kernel.client import Client, Interrupted, NotRunning
from murli import writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home
    from murli import Writer

PATIENCE_S = 30.0
"""How long a follower waits for a daemon that has gone to come back."""
PAUSE_S = 0.25


def events(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Print every event once, in order. A broken connection is resumed where it broke, also over a restart of the daemon."""
    out, count, last = writer(), 0, params["since"]
    broken_at = None
    while True:
        try:
            for message in Client(home.socket).stream(operation, {**params, "since": last}):
                broken_at = None
                if message.get("event") == "covey.slow":
                    break
                if message.get("event") == "covey.gap":
                    out.log(f"events up to cursor {message['data']['until']} are no longer kept", "warning")
                    continue
                _show(message["data"], out)
                count, last = count + 1, message["data"]["cursor"]
            else:
                break
        except (Interrupted, NotRunning):
            if not params["follow"] or (broken_at is None and not count):
                raise
            broken_at = broken_at or time.monotonic()
            if time.monotonic() - broken_at > PATIENCE_S:
                raise
            time.sleep(PAUSE_S)
    out.success("" if count else "Nothing has happened yet", {"events": count, "cursor": last})
    return 0


def _show(event: dict[str, Any], out: Writer) -> None:
    if out.is_tty:
        print(readable(event), flush=True)  # noqa: T201 - the command line prints
    else:
        out.event(event)


def readable(event: dict[str, Any]) -> str:
    """One line for a person."""
    moment = time.strftime("%H:%M:%S", time.localtime(event["time"]))
    data = " ".join(f"{key}={', '.join(map(str, value)) if isinstance(value, list) else value}" for key, value in event["data"].items())
    return cut(f"{event['cursor']:>6}  {moment}  {event['kind']:<20} {event['subject']:<16} {data}".rstrip(), columns())
