"""A screen, cut into the zones that patterns look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from covey.agents.screens.composer import ABSENT, Composer

if TYPE_CHECKING:
    import re

    from covey.agents.screens.composer import ComposerShape

LONGEST = 400
"""Rows and columns beyond this are not looked at: no terminal shows them, and time stays bounded."""


class Rows(Struct, frozen=True):
    """A screen's rows without the blanks behind and below them, as lines and as one text."""

    lines: list[str]
    text: str
    starts: list[int]
    """Where each line begins in the text."""


class View(Struct, frozen=True):
    rows: Rows
    composer: Composer
    title: str

    def zone(self, name: str, lines: int) -> tuple[int, int] | None:
        """Return the beginning and end, in the text, of the last `lines` rows of a zone that are not blank.

        None without the composer that the zone is next to.
        """
        rows = self.rows
        first, end = 0, len(rows.lines)
        if name in {"above", "footer"}:
            if self.composer.state == "absent":
                return None
            first, end = (0, self.composer.top) if name == "above" else (self.composer.footer, end)
            while end > first and not rows.lines[end - 1]:
                end -= 1
        if first >= end:
            return len(rows.text), len(rows.text)
        start = end
        while start > first and lines:
            start -= 1
            lines -= bool(rows.lines[start])
        first = start
        return rows.starts[first], rows.starts[end - 1] + len(rows.lines[end - 1])


def look(
    screen: str, escapes: str, title: str, shape: ComposerShape | None, sidebar: re.Pattern[str] | None = None
) -> View:
    """Cut a screen into its parts. A sidebar is left out: it begins at the column at which its pattern matches."""
    lines = [line[:LONGEST].rstrip() for line in screen.rstrip().split("\n")]
    if sidebar and (column := max((found.start() for line in lines if (found := sidebar.search(line))), default=0)):
        lines = [line[:column].rstrip() for line in lines]
    if beyond := max(0, len(lines) - LONGEST):
        lines, escapes = lines[beyond:], "\n".join(escapes.split("\n")[beyond:])
    starts, start = [], 0
    for line in lines:
        starts.append(start)
        start += len(line) + 1
    rows = Rows(lines, "\n".join(lines), starts)
    return View(rows, shape.find(rows, escapes) if shape else ABSENT, title)
