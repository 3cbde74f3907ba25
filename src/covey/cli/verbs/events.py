"""`covey events`: what has happened, and with --follow what happens, also over a connection that breaks."""

from __future__ import annotations

import time

from covey.cli.cells import clean, cut
from covey.cli.following import GAP, LOST, RESET, following
from covey.cli.text import Paint, columns
from murli import writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home
    from covey.kernel.seat import Seat
    from murli import Writer

LAST = 50
"""How many are shown unless the caller says how many: a journal may have 256 MB."""
RECENT = 500
"""How many of the last events are read to find out which kinds there are."""
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
"""Fields of an event that are shown first, in this order; the others follow in their own order."""
MOMENTS = ("slot", "since", "at", "time", "began", "until")
"""Names under which events keep a time in seconds since 1970; also whatever ends with `_at`."""
YEAR_2001, LAST_MOMENT = 1e9, 2.5e11


def events(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Print every event once, in order, also over a restart of the daemon."""
    return events_of(home.node, operation, params)


def events_of(
    seat: Seat,
    operation: Operation,
    params: dict[str, Any],
    *,
    token: str = "",
    line_of: Callable[[dict[str, Any], Paint], str] | None = None,
) -> int:
    """Print the events of any daemon; for a person, each as `line_of` has it."""
    source = {"path": seat.socket, "seat": None if seat.kind == "node" else seat, "token": token}
    asked = dict(params)
    chosen = bool(asked["since"]) or asked["limit"] is not None
    if not chosen:
        asked["limit"] = LAST
    out = writer()
    count = first = last = 0
    for event in _read(source, operation, asked, out):
        _show(event, out, line_of or _line)
        count += 1
        last = event["cursor"]
        first = first or last
    earlier = not chosen and count >= LAST and first > 1
    more = seat.command("events")
    text = f"These are the last {LAST}. More: {more} -n 500, or --since 1h; all: --since 0" if earlier else ""
    if not count:
        text = _nothing(source, operation, params)
        if params["kind"] and not out.is_tty:
            out.log(text)
    out.success(text, {"events": count, "cursor": last, "earlier": earlier})
    return 0


def _read(source: dict[str, Any], operation: Operation, asked: dict[str, Any], out: Writer) -> Iterator[dict[str, Any]]:
    """Yield the events, and change `asked` to what comes after each, for a connection that is made again."""
    following_of = {"operation": operation, "params": asked.copy, "endless": asked["follow"], "resettable": True}
    for message in following(**source, **following_of):
        event, data = message.get("event"), message["data"]
        if event == RESET:
            out.log("the journal has begun anew: the database was replaced", "warning")
            asked |= {"since": "0"}
        elif event == GAP:
            out.log(f"events up to cursor {data['until']} are no longer kept", "warning")
        elif event != LOST:
            asked |= {"since": str(data["cursor"]), "limit": None}
            yield data


def _nothing(source: dict[str, Any], operation: Operation, params: dict[str, Any]) -> str:
    """Return why there is no event to show; for kinds that nothing has, the kinds that there are."""
    if params["limit"] == 0:
        return ""
    if not params["kind"]:
        return "Nothing has happened yet" if not params["since"] else "Nothing has happened since then"
    recent = {**params, "since": None, "kind": None, "follow": False, "limit": RECENT}
    messages = following(**source, operation=operation, params=lambda: recent, endless=False)
    kinds = sorted({message["data"]["kind"] for message in messages if "kind" in message["data"]})
    wanted = clean(", ".join(params["kind"]))
    there = f"Recent kinds: {', '.join(kinds)}" if kinds else "Nothing has happened yet"
    return f"No event of the kind {wanted}; a kind is a whole name or a prefix such as agent.*\n{there}"


def _show(event: dict[str, Any], out: Writer, line_of: Callable[[dict[str, Any], Paint], str]) -> None:
    if out.is_tty:
        out.line(line_of(event, Paint(columns(), colour=out.colour)))
    else:
        out.event(event)


def _line(event: dict[str, Any], paint: Paint) -> str:
    return cut(readable(event), paint.columns)


def readable(event: dict[str, Any]) -> str:
    """Return an event on one line for a person: the most important fields first, no value twice."""
    data, subject = event["data"], event["subject"]
    names = [*(name for name in FIRST if name in data), *(name for name in data if name not in FIRST)]
    shown, parts = {subject}, []
    for name in names:
        value = _value(name, data[name])
        if value and value not in shown:
            shown.add(value)
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
    """Return a time such as 2026-01-31T14:05:11, in the reader's own time zone."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(min(max(seconds, 0.0), LAST_MOMENT)))
