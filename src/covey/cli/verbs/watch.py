"""`covey watch`: on a terminal a table that stays up to date, for programs one JSON object a line."""

from __future__ import annotations

import os

from covey.cli.following import GAP, LOST, following
from covey.contract.fleet_events import AGENT_ENDED
from murli import writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from covey.cli.text import Paint
    from covey.contract import Operation
    from covey.kernel.home import Home
    from murli import Writer

REDRAWN_EVERY = "2s"
"""Ages grow and targets may go down while no agent changes."""


def watch(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Show the fleet and then every change, until interrupted; no change is missed over a restart of the daemon."""
    out = writer()
    if (params["format"] or ("table" if out.is_tty else "jsonl")) == "jsonl":
        return _lines(home, operation, params, out)
    asked = {**params, "interval": params["interval"] or REDRAWN_EVERY}
    pictures = _pictures(following(home.node.socket, operation, lambda: asked, endless=not params["once"]))
    if params["once"] or not out.is_tty or os.environ.get("TERM", "dumb") == "dumb":
        for picture in pictures if params["interval"] else different(pictures):
            out.raw("\n".join(drawn(picture, _columns(), colour=out.colour)) + "\n")
        return 0
    return _live(pictures, home, out)


def drawn(picture: dict[str, Any], columns: int, *, colour: bool) -> list[str]:
    """Return the lines of the table of a picture."""
    from covey.cli.handlers import renderer_of
    from covey.cli.text import Paint

    lines = renderer_of(f"list.{picture['scope']}")(picture, Paint(columns, colour=colour)).split("\n")
    return [*lines[:-1], "The daemon does not answer; this is how things were"] if picture.get("lost") else lines


def different(pictures: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the pictures that differ from the one before in more than ages; they are printed below each other."""
    before = None
    for picture in pictures:
        items = [
            {name: value for name, value in item.items() if name not in {"age_ms", "as_of", "evidence"}}
            for item in picture["items"]
        ]
        shown = [items, [target["health"] for target in picture["targets"]], picture.get("lost")]
        if shown != before:
            before = shown
            yield picture


def _lines(home: Home, operation: Operation, params: dict[str, Any], out: Writer) -> int:
    last = count = 0

    def resumed() -> dict[str, Any]:
        return {**params, "since": f"cursor:{last}"} if last else params

    for message in following(home.node.socket, operation, resumed, endless=not params["once"]):
        line = message["data"]
        if message.get("event") == GAP:
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
    """Yield the whole picture after every message: a snapshot, or the last picture with a change applied."""
    picture: dict[str, Any] | None = None
    for message in messages:
        line = message["data"]
        if message.get("event") == "snapshot":
            picture = line
        elif message.get("event") == LOST and picture is not None:
            picture = {**picture, "lost": True}
        elif picture is None or "items" not in line:  # before the first picture, or about the stream
            continue
        else:
            picture = changed(picture, line)
        yield picture


def changed(picture: dict[str, Any], line: dict[str, Any]) -> dict[str, Any]:
    """Return a picture with the items of a change instead of the old ones.

    Until the next snapshot they keep their order, but agents that need a person come first.
    """
    news = {_key(item): item for item in line["items"]}
    kept = [news.pop(_key(item), item) for item in picture["items"]]
    items = [item for item in [*kept, *news.values()] if _wanted(item, picture["filters"])]
    if line["event"] in {AGENT_ENDED, "gone"}:
        gone = {_key(item) for item in line["items"]}
        items = [item for item in items if _key(item) not in gone]
    items.sort(key=lambda item: not item["needs_action"])
    kept_from = {name: line[name] or picture[name] for name in ("summary", "targets")}
    return {**picture, **kept_from, "items": items, "generated_at": line["generated_at"]}


def _wanted(item: dict[str, Any], filters: dict[str, Any]) -> bool:
    """Return whether an agent that has changed still passes the filters. The daemon counts windows and sessions."""
    if "state" not in item:
        return True
    return (not filters.get("state") or item["state"] in filters["state"]) and (
        item["needs_action"] or not filters.get("needs_action")
    )


def _live(pictures: Iterator[dict[str, Any]], home: Home, out: Writer) -> int:
    """Show the table on the whole screen, until a key or a signal ends it."""
    import select

    from covey.cli.board import Board
    from covey.cli.keys import keys
    from covey.cli.screen import Screen

    board = Board(lambda reference, paint: _why(home, reference, paint), colour=out.colour)
    board.show(next(pictures))  # an error is shown before the screen is taken
    feed = Feed(pictures)
    try:
        with Screen(board.lines) as screen:
            screen.draw()
            listened = [feed.ready, screen.signals, *([] if screen.keyboard is None else [screen.keyboard])]
            while not board.closed:
                for ready in select.select(listened, [], [])[0]:
                    if ready == feed.ready:
                        board.show(feed.newest())
                        continue
                    if ready == screen.signals:
                        os.read(ready, 1024)
                        continue
                    typed = os.read(ready, 1024)
                    if not typed:  # the keyboard is gone
                        listened.remove(ready)
                    for key in keys(typed):
                        board.press(key)
                screen.draw()
    except KeyboardInterrupt:  # Ctrl-C is one way to leave
        pass
    out.success("", None)
    return 0


class Feed:
    """Reads pictures in a thread, so that the main thread can wait for keys at the same time."""

    def __init__(self, pictures: Iterator[dict[str, Any]]) -> None:
        import threading

        self.ready, self._wake = os.pipe()
        """A descriptor that is readable when there is a new picture."""
        self._pictures = pictures
        self._newest: dict[str, Any] = {}
        self._error: BaseException | None = None
        threading.Thread(target=self._read, daemon=True).start()

    def newest(self) -> dict[str, Any]:
        """Return the last picture. Raises what ended the stream."""
        os.read(self.ready, 4096)
        if self._error is not None:
            raise self._error
        return self._newest

    def _read(self) -> None:
        try:
            for picture in self._pictures:
                self._newest = picture
                os.write(self._wake, b".")
            self._error = KeyboardInterrupt()  # the stream has ended in order
        except BaseException as error:  # noqa: BLE001 - it is raised in the main thread
            self._error = error
        os.write(self._wake, b".")


def _why(home: Home, reference: str, paint: Paint) -> str:
    """Return the text of `covey why`, or of its error."""
    from covey.cli.render_fleet import why
    from covey.contract import OPERATIONS
    from covey.kernel.client import Client
    from murli import AgentError

    operation = next(operation for operation in OPERATIONS if operation.name == "why")
    try:
        return why(Client(home.node.socket).call(operation, {"ref": reference}), paint)
    except AgentError as error:
        return f"{error.message}\n{error.suggestion}"


def _key(item: dict[str, Any]) -> tuple[Any, ...]:
    return (item.get("runtime_id"), item.get("socket"), *item["identity"].values())


def _columns() -> int:
    from covey.cli.text import columns

    return columns()
