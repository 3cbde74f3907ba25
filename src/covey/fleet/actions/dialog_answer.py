"""The dialog on a screen: what it asks, its options, and the keys that choose one. Pure.

screen lines ─► `find_dialog`: Dialog ─► `choose`: Option ─► `next_keys`
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from covey.agents.dialogs import DialogShape  # noqa: TC001 - a Struct reads its annotations
from covey.agents.screens.adapter import READING_S
from covey.fleet.actions.refusal import (
    CHOICE_NOT_OFFERED,
    DIALOG_NOT_APPROVAL,
    DIALOG_NOT_UNDERSTOOD,
    DIALOG_NOT_WHOLE,
    Refusal,
)
from covey.kernel.time_limit import TooLongError, limited

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ALLOWING = frozenset({"once", "always"})
WORDS = ("once", "always", "deny")
"""Choices that are the same for every approval of every agent."""
FREE = "free"
LAST_DIGIT = 9
_FRAME = " │┃"
_RULE = re.compile(r"[\s─╌━═▔╭╮╰╯│┃▲▼]*")
_SCROLLED = re.compile(r"\s*[↑▲]\s*")
"""A row above options, of which some are out of sight."""
_SGR = re.compile(r"\x1b\[([0-9;:]*)m")
_OTHER_ESCAPE = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-9;:?]*[A-Za-ln-z]|\x1b[()][0-9A-Za-z]|[\x0e\x0f]"
)


class Option(Struct, frozen=True, kw_only=True):
    """One of the answers that a dialog offers."""

    number: int
    label: str
    means: str
    """`once`, `always`, `deny`, `free` (for words of one's own) or nothing of these."""
    marked: bool
    """Whether Enter would choose it."""


class Dialog(Struct, frozen=True, kw_only=True):
    """A dialog as it stands on a screen."""

    shape: DialogShape
    text: tuple[str, ...]
    """What is asked, row by row, without the frame."""
    options: tuple[Option, ...]
    content: str
    """All of its rows as one text without blanks, in which a text that was typed into it is found."""
    placed: tuple[tuple[int, str], ...]
    """Its rows, by which tmux recognises it: where each stands first on the screen."""

    @property
    def fingerprint(self) -> str:
        """What is asked and offered, as a short number. The mark does not change it."""
        parts = [*self.shape.rules, *self.text, *(f"{one.number}. {one.label}" for one in self.options)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]

    @property
    def hides(self) -> str:
        """The row that says that a part of what is asked is hidden; empty if there is none."""
        if not self.shape.hides:
            return ""
        return next((row for row in self.text if re.search(self.shape.hides, row)), "")

    @property
    def marked(self) -> int:
        """The place of the marked option among the options."""
        return next(at for at, one in enumerate(self.options) if one.marked)

    def follows(self, other: Dialog) -> bool:
        """Return whether it asks the same; a mark may have moved, and words may have been typed into it."""
        return self.text == other.text and len(self.options) == len(other.options)


class Choice(NamedTuple):
    """What a caller wants: `once`, `always`, `deny`, or an option by number or label; a text for an option that is
    for words of one's own."""

    wanted: str
    text: str = ""


def find_dialog(shape: DialogShape, lines: Sequence[str], coloured: Sequence[str]) -> Dialog:
    """Return the dialog of this shape. `coloured` are the same lines with their escape sequences.

    Raises Refusal if it is not drawn as the shape says, or not as a whole.
    """
    try:
        with limited(READING_S):
            return _found_dialog(shape, lines, coloured)
    except TooLongError:
        raise _unreadable("reading it takes too long", "Answer it in its pane.") from None


def _found_dialog(shape: DialogShape, lines: Sequence[str], coloured: Sequence[str]) -> Dialog:
    end = _end(shape, lines)
    begin, inner = _region(shape, lines, end)
    if shape.several and re.search(shape.several, "\n".join(lines[begin : end + 1]), re.MULTILINE):
        raise _unreadable("it takes several options at once", "Answer it in its pane.")
    first, options = _options_in_row(shape, inner, coloured[begin:]) if shape.in_row else _options(shape, inner)
    shows_mark = shape.in_row or "mark" in _compiled(shape.option).groupindex
    if shows_mark and sum(one.marked for one in options) != 1:
        raise _unreadable("it is not clear which option is marked", "Answer it in its pane.")
    return Dialog(
        shape=shape,
        text=tuple(row.strip(_FRAME) for row in inner[:first] if not _RULE.fullmatch(row)),
        options=tuple(options),
        content=re.sub(r"\s+", "", "".join(inner)),
        placed=_placed(lines, begin, end),
    )


def choose(dialog: Dialog, choice: Choice, *, approval: bool) -> Option:
    """Return the option that a choice means. Raises Refusal if the dialog does not offer it."""
    wanted = choice.wanted.strip()
    if wanted in WORDS:
        if not approval:
            raise Refusal(
                DIALOG_NOT_APPROVAL,
                f"it asks a question, and {wanted!r} is the answer to an approval; nothing was typed",
                f"Choose an option by its number or its text: {_offered(dialog)}",
            )
        found = [one for one in dialog.options if one.means == wanted]
    elif wanted.isdecimal():
        found = [one for one in dialog.options if one.number == int(wanted)]
    elif approval:
        found = []
    elif choice.text and not wanted:
        found = [one for one in dialog.options if one.means == FREE]
    else:
        found = [one for one in dialog.options if one.label.casefold() == wanted.casefold()]
    if not found:
        what = repr(wanted) if wanted else "an option for words of one's own"
        raise Refusal(
            CHOICE_NOT_OFFERED,
            f"the dialog does not offer {what}; nothing was typed",
            f"Choose one of: {_offered(dialog)}",
        )
    option = found[0]  # of several that allow it from now on, the first is the narrowest
    if option.means in ALLOWING and dialog.hides:
        raise Refusal(
            DIALOG_NOT_WHOLE,
            f"its screen hides a part of what it asks ({dialog.hides}); nothing was typed",
            "Look at all of it in its pane, and answer there: covey attach. Denying it works from here.",
        )
    return _checked(dialog, option, choice)


def _checked(dialog: Dialog, option: Option, choice: Choice) -> Option:
    """Return an option if it can be chosen in this way. Raises Refusal if it cannot."""
    if (option.means == FREE) is not bool(choice.text):
        raise Refusal(
            CHOICE_NOT_OFFERED,
            f"{option.label!r} needs a text" if option.means == FREE else f"{option.label!r} takes no text",
            "Give --text with the option for words of one's own, and with no other.",
        )
    if dialog.shape.digits and option.number > LAST_DIGIT:
        raise Refusal(CHOICE_NOT_OFFERED, f"option {option.number} has no digit", "Choose it in its pane.")
    return option


class Keys(NamedTuple):
    """Keys to press next, by their tmux names, and whether they choose the option or only bring it nearer."""

    keys: tuple[str, ...]
    final: bool


def next_keys(dialog: Dialog, option: Option) -> Keys:
    """Return the keys to press next for an option."""
    shape = dialog.shape
    if option.means == "deny" and shape.deny_keys:
        return Keys(shape.deny_keys, final=True)
    if shape.digits and not (option.means == FREE and shape.free_marked):
        return Keys((str(option.number),), final=True)
    place = next(at for at, one in enumerate(dialog.options) if one.number == option.number)
    if place == dialog.marked:
        return Keys(("Enter",), final=True)
    if shape.in_row:
        return Keys(("Right" if place > dialog.marked else "Left",), final=False)
    return Keys(("Down" if place > dialog.marked else "Up",), final=False)


def all_keys(dialog: Dialog, option: Option) -> tuple[str, ...]:
    """Return all the keys that choose an option of this dialog, in order."""
    nearest = next_keys(dialog, option)
    if nearest.final:
        return nearest.keys
    places = [one.number for one in dialog.options]
    return nearest.keys * abs(places.index(option.number) - dialog.marked) + ("Enter",)


def _end(shape: DialogShape, lines: Sequence[str]) -> int:
    """Return the last row; -1 if it is not there."""
    last = next((at for at in range(len(lines) - 1, -1, -1) if lines[at].strip()), -1)
    if not shape.ends:
        return last
    return next((at for at in range(last, -1, -1) if re.fullmatch(shape.ends, lines[at].strip())), -1)


def _region(shape: DialogShape, lines: Sequence[str], end: int) -> tuple[int, list[str]]:
    """Return the first row, and the rows from there without their frame. Raises Refusal if it is out of sight."""
    text = "\n".join(lines[: end + 1])
    for pattern in shape.begins:
        places = [_place(text, found) for found in re.finditer(pattern, text, re.MULTILINE)]
        if places and (inner := _inner(shape, lines[places[-1] : end + 1])) is not None:
            return places[-1], inner
    raise _unreadable("its beginning is out of sight", "Make its pane larger, or answer it there.")


def _place(text: str, found: re.Match[str]) -> int:
    """Return the row that a match begins with; the next one if it ends with a line break."""
    return text.count("\n", 0, found.end() if found[0].endswith("\n") else found.start())


def _inner(shape: DialogShape, rows: Sequence[str]) -> list[str] | None:
    """Return the rows without their frame; None if one of them has none."""
    found = [_compiled(shape.row).fullmatch(row) for row in rows]
    framed = all(one or _RULE.fullmatch(row) for one, row in zip(found, rows, strict=True))
    return [one["text"] if one else "" for one in found] if framed and rows else None


def _options(shape: DialogShape, inner: Sequence[str]) -> tuple[int, list[Option]]:
    """Return the row of the first option, and the options, which stand below each other.

    They are looked for from the bottom, so that a text above them that looks like options is not taken for them.
    """
    rows: list[tuple[int, re.Match[str]]] = []
    numbered = "number" in _compiled(shape.option).groupindex
    for at in range(len(inner) - 1, -1, -1):
        found = _compiled(shape.option).fullmatch(inner[at].rstrip())
        if found and (not rows or not numbered or int(found["number"]) == int(rows[-1][1]["number"]) - 1):
            rows.append((at, found))
            if numbered and int(found["number"]) == 1:
                break
        elif rows and (not numbered or _SCROLLED.fullmatch(inner[at]) or not "".join(inner[at : at + 2]).strip()):
            break
    rows.reverse()
    if len(rows) < 2 or (numbered and rows[0][1]["number"] != "1"):  # noqa: PLR2004 - a choice has at least two
        raise _unreadable("its options are not all recognised", "Make its pane larger, or answer it there.")
    options = []
    for place, (at, found) in enumerate(rows):
        until = rows[place + 1][0] if place + 1 < len(rows) else len(inner)
        more = () if shape.described else _continued(inner[at + 1 : until], found.start("label"))
        label = " ".join([found["label"], *more])
        number = int(found["number"]) if numbered else place + 1
        marked = bool((found.groupdict().get("mark") or "").strip())
        options.append(Option(number=number, label=label, means=_meaning(shape, label), marked=marked))
    return rows[0][0], options


def _continued(rows: Sequence[str], column: int) -> Iterator[str]:
    """Yield the further rows of a label that was wrapped."""
    for row in rows:
        shift = len(row) - len(row.lstrip()) - column
        if _RULE.fullmatch(row) or abs(shift) > 3:  # noqa: PLR2004 - boxes that wrap shift by a few columns
            return
        yield row.strip()


def _options_in_row(shape: DialogShape, inner: Sequence[str], coloured: Sequence[str]) -> tuple[int, list[Option]]:
    """Return the row of the options, and the options, which stand beside each other."""
    for at in range(len(inner) - 1, -1, -1):
        found = list(_compiled(shape.option).finditer(inner[at]))
        if len(found) > 1:
            marked = _marked(coloured[at], [one["label"] for one in found])
            return at, [
                Option(number=place + 1, label=one["label"], means=_meaning(shape, one["label"]), marked=marked[place])
                for place, one in enumerate(found)
            ]
    raise _unreadable("its options are out of sight", "Make its pane larger, or answer it there.")


def _marked(coloured: str, labels: Sequence[str]) -> list[bool]:
    """Return for each of the labels in a row whether it has another background than most of the row."""
    plain, backgrounds, background = "", [], ""
    for piece in re.split(r"(\x1b\[[0-9;:]*m)", _OTHER_ESCAPE.sub("", coloured)):
        if found := _SGR.fullmatch(piece):
            background = _background(found[1], background)
        else:
            plain += piece
            backgrounds += [background] * len(piece)
    usual = max(backgrounds, key=backgrounds.count, default="")
    result, at = [], 0
    for label in labels:
        at = plain.index(label, at)
        result.append(backgrounds[at] != usual)
        at += len(label)
    return result


def _background(codes: str, background: str) -> str:
    """Return the background after a colour sequence."""
    numbers = iter(codes.split(";"))
    for number in numbers:
        if number in {"38", "48", "58"}:  # a colour follows: 5;n or 2;r;g;b
            kind = next(numbers, "")
            colour = ";".join(next(numbers, "") for _ in range(1 if kind == "5" else 3))
            background = colour if number == "48" else background
        elif number in {"", "0", "49"}:
            background = ""
        elif re.fullmatch(r"4[0-7]|10[0-7]", number):
            background = number
    return background


def _meaning(shape: DialogShape, label: str) -> str:
    means = {"once": shape.once, "always": shape.always, "deny": shape.deny, FREE: shape.free}
    return next((name for name, pattern in means.items() if pattern and _compiled(pattern).fullmatch(label)), "")


def _placed(lines: Sequence[str], begin: int, end: int) -> tuple[tuple[int, str], ...]:
    """Return the rows of a dialog with the first place at which each stands on the screen."""
    rows = dict.fromkeys(line.rstrip(" ") for line in lines[begin : end + 1] if line.strip())
    first: dict[str, int] = {}
    for at, line in enumerate(lines):
        first.setdefault(line.rstrip(" "), at)
    return tuple((first[row], row) for row in rows)


def _offered(dialog: Dialog) -> str:
    return ", ".join(
        f"{one.number} {one.label[:40]!r}" + (f" ({one.means})" if one.means in WORDS else "") for one in dialog.options
    )


def _unreadable(why: str, suggestion: str) -> Refusal:
    return Refusal(DIALOG_NOT_UNDERSTOOD, f"the dialog on the screen is not understood: {why}", suggestion)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
