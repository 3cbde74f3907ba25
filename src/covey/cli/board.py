"""The screen of `covey watch`, and what its keys change. Pure: pictures and keys in, lines out."""

from __future__ import annotations

from covey.cli.agents_table import Names, what
from covey.cli.cells import cut, hanging, width
from covey.cli.handlers import renderer_of
from covey.cli.render_fleet import agents, nobody, total
from covey.cli.text import DIM, YELLOW, Paint, clock_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

KEYS = ("enter why · n needs you · f state · ? help · q quit", "? help · q quit", "q quit")
"""Texts for the keys on the last line, the longest first; the first one only if agents are listed."""
HELP = [
    "q, Ctrl-C      quit",
    "j k, arrows    choose an agent; g and G the first and the last",
    "enter          why the chosen agent is shown in its state",
    "n              only agents that need you, or all",
    "f              only agents of one state; again for the next state, then all",
    "escape         nothing chosen, no filter",
    "?              this page",
    "",
    "any key goes back",
]
LOST = "The daemon does not answer; this is how things were"
PAGE = 10


class Board:
    """A picture of the fleet, with a selected agent, filters, and a page that may cover it.

    `explain` is called with a runtime reference and returns the text that the enter key shows.
    """

    def __init__(self, explain: Callable[[str, Paint], str], *, colour: bool) -> None:
        self.closed = False
        """Whether a key has asked to quit."""
        self._explain = explain
        self._colour = colour
        self._picture: dict[str, Any] | None = None
        self._chosen = ""
        self._needs_action = False
        self._state = ""
        self._page: Callable[[Paint], list[str]] | None = None

    def show(self, picture: dict[str, Any]) -> None:
        """Replace the picture: the answer of `list panes`, `list windows` or `list sessions`, with its scope.

        A picture with `lost` is out of date, because the daemon does not answer.
        """
        self._picture = picture

    def press(self, key: str) -> None:
        """Handle a key."""
        if key in {"q", "\x03"}:
            self.closed = True
        elif self._page is not None:
            self._page = None
        elif key == "?":
            self._page = lambda _: HELP
        elif key == "escape":
            self._chosen, self._needs_action, self._state = "", False, ""
        elif self._picture is not None and self._picture["scope"] == "panes":
            self._press_on_agents(key)

    def lines(self, columns: int, rows: int) -> list[str]:
        """Return the lines of the screen, at most `rows`."""
        paint = Paint(columns, colour=self._colour)
        if self._page is not None:
            return [cut(line, columns) if "\x1b" not in line else line for line in self._page(paint)][:rows]
        if self._picture is None:
            return ["Looking …"]
        if self._picture["scope"] != "panes":
            body = renderer_of(f"list.{self._picture['scope']}")(self._picture, paint).split("\n")
            return [*_fitting(body[:-2], max(rows - 2, 1)), body[-1], self._status(paint)][-rows:]
        return self._agents(paint, rows)

    def _agents(self, paint: Paint, rows: int) -> list[str]:
        shown = self._shown()
        if not shown["items"]:
            hint = "No agent matches; escape shows all of them" if self._filtered else nobody(shown, paint.columns)
            return [*hint.split("\n"), "", self._status(paint)][:rows]
        head, *body = agents(shown, paint)
        names = [item["runtime_id"] for item in shown["items"]]
        place = names.index(self._chosen) if self._chosen in names else None
        if place is not None:
            body[place] = body[place].replace(" ", ">", 1)
        room = max(rows - 3, 1)  # for the rows of the table: without its head and the two lines at the end
        more = [] if len(body) > room else _full_texts(shown, body, paint)[: max(room - len(body) - 2, 0)]
        if len(body) > room:
            body = _window(body, place or 0, room)
        ends = [total(shown, paint, hint=not self._filtered), self._status(paint)]
        gap = [""] if len(body) + len(more) < room else []
        return [head, *body, *([""] if more else []), *more, *gap, *ends][:rows]

    def _press_on_agents(self, key: str) -> None:
        items = self._shown()["items"]
        names = [item["runtime_id"] for item in items]
        place = names.index(self._chosen) if self._chosen in names else -1
        steps = {
            "up": max(place - 1, 0),
            "down": place + 1,
            "page up": max(place - PAGE, 0),
            "page down": place + PAGE,
            "home": 0,
            "end": len(names),
        }
        if key in steps:
            self._chosen = names[min(steps[key], len(names) - 1)] if names else ""
        elif key == "n":
            self._needs_action = not self._needs_action
        elif key == "f":
            self._state = self._next_state()
        elif key == "enter" and names:
            self._chosen = names[max(place, 0)]
            reference = f"runtime:{self._chosen}"
            self._page = lambda paint: [
                *self._explain(reference, paint).split("\n"),
                "",
                paint("any key goes back", DIM),
            ]

    def _shown(self) -> dict[str, Any]:
        """Return the picture with the agents that pass the filters."""
        assert self._picture is not None
        items = [
            item
            for item in self._picture["items"]
            if (item["needs_action"] or not self._needs_action) and (not self._state or item["state"] == self._state)
        ]
        return {**self._picture, "items": items}

    @property
    def _filtered(self) -> bool:
        return self._needs_action or bool(self._state)

    def _next_state(self) -> str:
        """Return the next state to filter by, among those that agents have; an empty string after the last."""
        assert self._picture is not None
        there = [state for state, count in self._picture["summary"]["by_state"].items() if count]
        later = there[there.index(self._state) + 1 :] if self._state in there else there
        return later[0] if later else ""

    def _status(self, paint: Paint) -> str:
        """Return the last line: the time of the picture, the filters, and the keys."""
        assert self._picture is not None
        if self._picture.get("lost"):
            return paint(cut(LOST, paint.columns), YELLOW)
        filters = ["those that need you"] if self._needs_action else []
        filters += [self._state] if self._state else []
        left = f"as of {clock_of(self._picture['generated_at'])}" + (
            f" · only {' and '.join(filters)}" if filters else ""
        )
        offered = KEYS if self._picture["scope"] == "panes" else KEYS[1:]
        keys = next((keys for keys in offered if width(left) + 2 + width(keys) <= paint.columns), "")
        return paint(
            cut(f"{left}{' ' * (paint.columns - width(left) - width(keys))}{keys}".rstrip(), paint.columns), DIM
        )


def _full_texts(shown: dict[str, Any], body: list[str], paint: Paint) -> list[str]:
    """Return in full what agents that need a person wait for, if the table had to cut it."""
    names = Names(shown)
    return [
        line
        for item, row in zip(shown["items"], body, strict=True)
        if item["needs_action"] and what(item) not in row
        for line in hanging(f"{names.pane(item)} ", what(item), paint.columns)
    ]


def _window(body: list[str], place: int, room: int) -> list[str]:
    """Return as many rows as there is room for, the selected one among them, and how many are hidden."""
    if room == 1:
        return body[place : place + 1]
    first = min(max(place - room + 2, 0), len(body) - room + 1)
    hidden = len(body) - room + 1
    return [*body[first : first + room - 1], f"  … {hidden} more" + (f", {first} of them above" if first else "")]


def _fitting(lines: list[str], rows: int) -> list[str]:
    """Return the lines that fit; the end of a long table is left out."""
    return lines if len(lines) <= rows else [*lines[: rows - 1], f"  … {len(lines) - rows + 1} more"]
