"""The box in which a person writes to an agent: where it is on the screen, and whether somebody's words stand in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from covey.agents.screens.view import Rows

_SGR = re.compile(r"\x1b\[([0-9;:]*)m")
_OTHER_ESCAPE = re.compile(
    r"\x1b\](?:[^\x07\x1b]|\x1b(?!\\))*(?:\x07|\x1b\\)|\x1b\[[0-9;:?]*[A-Za-ln-z]|\x1b[()][0-9A-Za-z]|[\x0e\x0f]"
)


class Composer(Struct, frozen=True, kw_only=True):
    """`empty`; `suggestion`: text that the agent proposes; `draft`: text that somebody typed; `absent`: no composer."""

    state: str
    text: str = ""
    top: int = -1
    """The row at which its frame begins, from 0; -1 when it is absent."""
    first: int = -1
    """The first row of its text."""
    last: int = -1
    footer: int = -1
    """The row at which what is below its frame begins."""

    @property
    def free(self) -> bool:
        """Whether it can be written into without touching anybody's words."""
        return self.state in {"empty", "suggestion"}


ABSENT = Composer(state="absent")


class ComposerShape(Struct, frozen=True, kw_only=True):
    """How an agent draws its composer.

    Every pattern but `above` and `footer` is matched from the beginning of a row.
    """

    prompt: re.Pattern[str]
    """The first row; its group `text` is what stands in it."""
    above: re.Pattern[str] | None = None
    """The row above it, which belongs to its frame."""
    row: re.Pattern[str] | None = None
    """Every further row, whose group `text` goes on."""
    below: re.Pattern[str] | None = None
    """What follows the last row, which may be several rows."""
    placeholders: tuple[re.Pattern[str], ...] = ()
    """Texts that the agent writes into an empty composer."""
    reach: int = 30
    """So many rows from the bottom it is looked for."""

    def find(self, rows: Rows, escapes: str) -> Composer:
        """The lowest place that has this shape."""
        for first in range(len(rows.lines) - 1, max(-1, len(rows.lines) - 1 - self.reach), -1):
            found = self.prompt.match(rows.text, rows.starts[first])
            if not found or not self._framed(rows, first):
                continue
            last, footer = self._end(rows, first)
            more = self._more(rows.lines[first + 1 : last + 1]) if last >= 0 else None
            if more is not None:
                return self._read([found["text"] or "", *more], first, last, footer, escapes)
        return ABSENT

    def _framed(self, rows: Rows, first: int) -> bool:
        return self.above is None or (first > 0 and self.above.match(rows.lines[first - 1]) is not None)

    def _end(self, rows: Rows, first: int) -> tuple[int, int]:
        """The last row of the text and the first row below the frame; (-1, -1) when the frame is not closed."""
        if self.below is None:
            last = next((at for at in range(first + 1, len(rows.lines)) if not rows.lines[at]), len(rows.lines)) - 1
            return last, last + 1
        for at in range(first + 1, len(rows.lines)):
            if found := self.below.match(rows.text, rows.starts[at]):
                return at - 1, at + found[0].rstrip("\n").count("\n") + 1
        return -1, -1

    def _more(self, lines: list[str]) -> list[str] | None:
        """What further rows hold; None when one of them cannot be part of it."""
        if self.row is None:
            return lines
        found = [self.row.match(line) for line in lines]
        return [one["text"] or "" for one in found if one] if all(found) else None

    def _read(self, parts: list[str], first: int, last: int, footer: int, escapes: str) -> Composer:
        text = "\n".join(part.strip() for part in parts).strip()
        state = "draft"
        if not text or any(pattern.match(text) for pattern in self.placeholders):
            state, text = "empty", ""
        elif escapes and _is_faint(escapes, first, last, text):
            state = "suggestion"
        return Composer(
            state=state, text=text, top=first - (self.above is not None), first=first, last=last, footer=footer
        )


def _is_faint(escapes: str, first: int, last: int, text: str) -> bool:
    """Whether all of the text is faint, but for the character under the cursor, which is drawn inverse."""
    lines = escapes.split("\n")
    faint, inverse = _attributes("\n".join(lines[:first]), faint=False, inverse=False)
    cells: list[tuple[str, bool, bool]] = []
    for piece in re.split(r"(\x1b\[[0-9;:]*m)", _OTHER_ESCAPE.sub("", "\n".join(lines[first : last + 1]))):
        if piece.startswith("\x1b"):
            faint, inverse = _attributes(piece, faint=faint, inverse=inverse)
        else:
            cells += [(character, faint, inverse) for character in piece if not character.isspace()]
    wanted = [character for character in text if not character.isspace()]
    start = "".join(cell[0] for cell in cells).find("".join(wanted))
    own = cells[start : start + len(wanted)] if start >= 0 else []
    bright = [cell for cell in own if not cell[1]]
    return any(cell[1] for cell in own) and len(bright) <= 1 and all(cell[2] for cell in bright)


def _attributes(text: str, *, faint: bool, inverse: bool) -> tuple[bool, bool]:
    """What is faint and inverse after all the colour sequences in a text."""
    for found in _SGR.finditer(text):
        numbers = iter(found[1].split(";"))
        for number in numbers:
            match number:
                case "" | "0":
                    faint = inverse = False
                case "2":
                    faint = True
                case "22":
                    faint = False
                case "7":
                    inverse = True
                case "27":
                    inverse = False
                case "38" | "48" | "58":  # a colour follows: 5;n or 2;r;g;b, whose numbers mean nothing by themselves
                    for _ in range(1 if next(numbers, "") == "5" else 3):
                        next(numbers, "")
    return faint, inverse
