"""`covey events`: what has happened, and with --follow what happens, resumed by itself when the connection breaks."""

from __future__ import annotations

import time

from covey.cli.cells import clean, cut
from covey.cli.following import LOST, following
from covey.cli.render import columns
from murli import AgentError, writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home
    from murli import Writer

LAST = 50
"""How many are shown to who does not say how many: a journal may have 256 MB."""
FIRST = (
    "name",
    "beat",
    "outcome",
    "state",
    "reason",
    "title",
    "target",
    "agent",
    "message",
    "text",
    "summary",
    "error",
)
"""What matters most in an event, in this order; the rest follows as it comes."""
MOMENTS = ("slot", "since", "at", "time", "began", "until")
"""Names under which events keep a time in seconds since 1970; also whatever ends with `_at`."""
YEAR_2001, LAST_MOMENT = 1e9, 2.5e11


def events(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Print every event once, in order. A broken connection is resumed where it broke, also over a restart of the daemon."""
    asked = dict(params)
    chosen = bool(asked["since"]) or asked["limit"] is not None
    if not chosen:
        asked["limit"] = LAST
    out, count, first, last = writer(), 0, 0, 0
    for event in _read(home, operation, asked, out):
        _show(event, out)
        count, last = count + 1, event["cursor"]
        first = first or last
    earlier = not chosen and count >= LAST and first > 1
    hint = f"These are the last {LAST}. More: covey events -n 500, or --since 1h; all: --since 0" if earlier else ""
    out.success(hint if count else "Nothing has happened yet", {"events": count, "cursor": last, "earlier": earlier})
    return 0


def _read(home: Home, operation: Operation, asked: dict[str, Any], out: Writer) -> Iterator[dict[str, Any]]:
    """The events, from one connection after the other if need be. A journal that has begun anew is read from its beginning."""
    seen, params = False, asked.copy
    while True:
        try:
            for message in following(home.node.socket, operation, params, endless=asked["follow"], connected=seen):
                if message.get("event") == LOST:
                    continue
                if message.get("event") == "covey.gap":
                    out.log(f"events up to cursor {message['data']['until']} are no longer kept", "warning")
                    continue
                yield message["data"]
                seen = True
                asked |= {"since": str(message["data"]["cursor"]), "limit": None}
        except AgentError as error:
            if not (seen and error.field == "since"):
                raise
            out.log("the journal has begun anew: the database was replaced", "warning")
            asked |= {"since": "0"}
        else:
            return


def _show(event: dict[str, Any], out: Writer) -> None:
    if out.is_tty:
        out.line(cut(readable(event), columns()))
    else:
        out.event(event)


def readable(event: dict[str, Any]) -> str:
    """One line for a person: what matters first, no value twice."""
    data, subject = event["data"], event["subject"]
    names = [*(name for name in FIRST if name in data), *(name for name in data if name not in FIRST)]
    told, parts = {subject}, []
    for name in names:
        value = _value(name, data[name])
        if value and value not in told:
            told.add(value)
            parts.append(value if name in ("name", "beat", "outcome", "state") else f"{name}={value}")
    return (
        clean(f"{event['cursor']:>6}")
        + f"  {_moment(event['time'])}  {clean(event['kind']):<20} {clean(' '.join([*parts, subject]))}".rstrip()
    )


def _value(name: str, value: Any) -> str:
    if isinstance(value, (int, float)) and value > YEAR_2001 and (name in MOMENTS or name.endswith("_at")):
        return _moment(value)
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    return "" if value is None else str(value)


def _moment(seconds: float) -> str:
    """2026-01-31T14:05:11 in the reader's own time zone."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(min(max(seconds, 0.0), LAST_MOMENT)))
