"""`covey watch`: a table that stays up to date on a terminal, one JSON object a line for programs."""

from __future__ import annotations

import os

from covey.cli.following import LOST, following
from murli import writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from covey.cli.render_fleet import Paint
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
    asked = {**params, "interval": params["interval"] or REDRAWN_EVERY}
    pictures = _pictures(following(home.node.socket, operation, lambda: asked, endless=not params["once"]))
    if params["once"] or not out.is_tty or os.environ.get("TERM", "dumb") == "dumb":
        for picture in pictures if params["interval"] else different(pictures):
            out.raw("\n".join(drawn(picture, _columns(), colour=out.colour)) + "\n")
        return 0
    return _live(pictures, home, out)


def drawn(picture: dict[str, Any], columns: int, *, colour: bool) -> list[str]:
    """The table of a whole picture, line by line."""
    from covey.cli.render_fleet import RENDERERS, Paint

    lines = RENDERERS[f"list.{picture['scope']}"](picture, Paint(columns, colour=colour)).split("\n")
    return [*lines[:-1], "The daemon does not answer; this is how things were"] if picture.get("lost") else lines


def different(pictures: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Pictures without those that show what the one before showed, but for ages: they are printed one below the other."""
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
    items = [item for item in [*kept, *news.values()] if _wanted(item, picture["filters"])]
    if line["event"] in {"agent.ended", "gone"}:
        gone = {_key(item) for item in line["items"]}
        items = [item for item in items if _key(item) not in gone]
    items.sort(key=lambda item: not item["needs_action"])
    kept_from = {name: line[name] or picture[name] for name in ("summary", "targets")}
    return {**picture, **kept_from, "items": items, "generated_at": line["generated_at"]}


def _wanted(item: dict[str, Any], filters: dict[str, Any]) -> bool:
    """Whether an agent still is in a state that was asked for after it has changed. Windows and sessions are counted by the daemon."""
    if "state" not in item:
        return True
    return (not filters.get("state") or item["state"] in filters["state"]) and (
        item["needs_action"] or not filters.get("needs_action")
    )


def _live(pictures: Iterator[dict[str, Any]], home: Home, out: Writer) -> int:
    """The table on the whole screen, until a key or a signal ends it."""
    import select

    from covey.cli.board import Board
    from covey.cli.keys import keys
    from covey.cli.screen import Screen

    board = Board(lambda reference, paint: _why(home, reference, paint), colour=out.colour)
    board.show(next(pictures))  # what is wrong is said before the screen is taken
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
    """Pictures read by a thread of its own, so that keys can be waited for at the same time."""

    def __init__(self, pictures: Iterator[dict[str, Any]]) -> None:
        import threading

        self.ready, self._wake = os.pipe()
        """A descriptor that can be read when there is news."""
        self._pictures = pictures
        self._newest: dict[str, Any] = {}
        self._error: BaseException | None = None
        threading.Thread(target=self._read, daemon=True).start()

    def newest(self) -> dict[str, Any]:
        """The last picture. Raises what ended the stream."""
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
    """The answer of `covey why`, or what is wrong."""
    from covey.cli.render_fleet import RENDERERS
    from covey.contract import OPERATIONS
    from covey.kernel.client import Client
    from murli import AgentError

    operation = next(operation for operation in OPERATIONS if operation.name == "why")
    try:
        return RENDERERS["why"](Client(home.node.socket).call(operation, {"ref": reference}), paint)
    except AgentError as error:
        return f"{error.message}\n{error.suggestion}"


def _key(item: dict[str, Any]) -> tuple[Any, ...]:
    return (item.get("runtime_id"), item.get("socket"), *item["identity"].values())


def _columns() -> int:
    from covey.cli.render import columns

    return columns()
