"""`covey events`: what has happened, and with --follow what happens, resumed by itself when the connection breaks."""

from __future__ import annotations

import time

from covey.cli.render import columns, cut
from covey.kernel.client import Client
from murli import writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home


def events(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Print every event once, in order."""
    out, count, last = writer(), 0, params["since"]
    client = Client(home.socket)
    for message in client.stream(operation, params):
        if message.get("event") == "covey.gap":
            out.log(f"events up to cursor {message['data']['until']} are no longer kept", "warning")
            continue
        event = message["data"]
        if out.is_tty:
            print(readable(event), flush=True)  # noqa: T201 - the command line prints
        else:
            out.event(event)
        count, last = count + 1, event["cursor"]
    out.success("" if count else "Nothing has happened yet", {"events": count, "cursor": last})
    return 0


def readable(event: dict[str, Any]) -> str:
    """One line for a person."""
    moment = time.strftime("%H:%M:%S", time.localtime(event["time"]))
    data = " ".join(f"{key}={', '.join(map(str, value)) if isinstance(value, list) else value}" for key, value in event["data"].items())
    return cut(f"{event['cursor']:>6}  {moment}  {event['kind']:<20} {event['subject']:<16} {data}".rstrip(), columns())
