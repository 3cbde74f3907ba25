"""`covey watch`: a table that stays up to date on a terminal, one JSON object a line for programs."""

from __future__ import annotations

from covey.cli.following import LOST, following
from murli import writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home
    from murli import Writer

REDRAWN_EVERY = "2s"
"""Ages grow, and a target may go down, although no agent does anything."""


def watch(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """How things are, then what changes, until interrupted. A restart of the daemon is waited out, and nothing is missed."""
    out = writer()
    if (params["format"] or ("table" if out.is_tty else "jsonl")) == "jsonl":
        return _lines(home, operation, params, out)
    params = {**params, "interval": params["interval"] or REDRAWN_EVERY}
    pictures = _pictures(following(home.socket, operation, lambda: params, endless=not params["once"]))
    if params["once"] or not out.is_tty:
        for picture in pictures:
            out.raw("\n".join(drawn(picture, _columns(), colour=out.colour)) + "\n")
        return 0
    return _live(pictures, out)


def drawn(picture: dict[str, Any], columns: int, *, colour: bool) -> list[str]:
    """The table of a whole picture, line by line."""
    from covey.cli.render_fleet import RENDERERS, Paint

    lines = RENDERERS[f"list.{picture['scope']}"](picture, Paint(columns, colour=colour)).split("\n")
    return [*lines[:-1], "The daemon does not answer; this is how things were"] if picture.get("lost") else lines


def fitting(lines: list[str], rows: int) -> list[str]:
    """Lines that fit the screen: of a long table the end gives way, never the line that sums it up."""
    if len(lines) <= rows:
        return lines
    kept = max(rows - 3, 1)
    return [*lines[:kept], f"  … {len(lines) - 2 - kept} more", *lines[-2:]][:rows]


def _lines(home: Home, operation: Operation, params: dict[str, Any], out: Writer) -> int:
    last = count = 0

    def resumed() -> dict[str, Any]:
        return {**params, "since": f"cursor:{last}"} if last else params

    for message in following(home.socket, operation, resumed, endless=not params["once"]):
        line = message["data"]
        if message.get("event") == "covey.gap":
            out.log(f"changes up to cursor {line['until']} are no longer kept", "warning")
        if "cursor" not in line:  # about the stream, not about the fleet
            continue
        count, last = count + 1, line["cursor"]
        if out.is_tty:
            import json

            print(json.dumps(line), flush=True)  # noqa: T201 - the command line prints
        else:
            out.event(line)
    out.success("", {"events": count, "cursor": last})
    return 0


def _pictures(messages: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The whole picture after every message: a snapshot, or the last one with a change worked in."""
    picture: dict[str, Any] | None = None
    for message in messages:
        line = message["data"]
        if message.get("event") == "snapshot":
            picture = line
        elif message.get("event") == LOST and picture is not None:
            picture = {**picture, "lost": True}
        elif picture is None or "items" not in line:  # what was before the first picture, or is about the stream
            continue
        else:
            picture = changed(picture, line)
        yield picture


def changed(picture: dict[str, Any], line: dict[str, Any]) -> dict[str, Any]:
    """A picture with the items of a change in place of the old ones. Until the next snapshot they stay where they are; who needs a person comes to the top."""
    news = {_key(item): item for item in line["items"]}
    kept = [news.pop(_key(item), item) for item in picture["items"]]
    items = [*kept, *news.values()]
    if line["event"] in {"agent.ended", "gone"}:
        gone = {_key(item) for item in line["items"]}
        items = [item for item in items if _key(item) not in gone]
    items.sort(key=lambda item: not item["needs_action"])
    return {**picture, "items": items, "summary": line["summary"] or picture["summary"], "targets": line["targets"] or picture["targets"]}


def _live(pictures: Iterator[dict[str, Any]], out: Writer) -> int:
    from covey.cli.screen import Screen

    shown: list[dict[str, Any]] = []

    def draw(columns: int, rows: int) -> list[str]:
        return fitting(drawn(shown[-1], columns, colour=out.colour), rows) if shown else ["Looking …"]

    first = next(pictures)  # what is wrong is said before the screen is taken
    try:
        with Screen(draw) as screen:
            shown.append(first)
            screen.draw()
            for picture in pictures:
                shown[:] = [picture]
                screen.draw()
    except KeyboardInterrupt:  # how one leaves a table
        pass
    out.success("", None)
    return 0


def _key(item: dict[str, Any]) -> tuple[Any, ...]:
    return (item.get("runtime_id"), item.get("socket"), *item["identity"].values())


def _columns() -> int:
    from covey.cli.render import columns

    return columns()
