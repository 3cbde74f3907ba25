"""Text in the cells of a terminal: its width, cut and padded by cells."""

from __future__ import annotations

import unicodedata

from covey.kernel.visible_text import shown, visible, visible_line

__all__ = ["clean", "clean_lines", "visible", "visible_line"]

HINT_CELLS = 20
"""Cells beside a command that are enough for what it does; with fewer, that is below it."""
_JOINER = "\u200d"


def clean(text: str) -> str:
    """Return a text that a person only reads, on one line.

    Texts of agents, models and file names are not ours, and could act on the terminal.
    """
    if text.isascii() and text.isprintable():
        return text.strip()
    return " ".join(shown(text).split())


def clean_lines(text: str) -> str:
    """Return a text that a person only reads, with its lines and their blanks."""
    return "\n".join(line.rstrip() for line in shown(text.expandtabs(4)).split("\n"))


def width(text: str) -> int:
    """Return how many cells a cleaned text takes."""
    return len(text) if text.isascii() else sum(_cells(letter) for letter in text)


def cut(text: str, cells: int) -> str:
    """Return as much of a text as fits, with `…` if there was more."""
    if width(text) <= cells:
        return text
    if cells <= 0:
        return ""
    taken, room = "", cells - 1
    for letter in text:
        room -= _cells(letter)
        if room < 0:
            break
        taken += letter
    return taken.rstrip() + "…"


def cut_middle(text: str, cells: int, head: int) -> str:
    """Return a text without its middle: `head` cells of its beginning, `…`, and as much of its end as fits."""
    if width(text) <= cells:
        return text
    start = cut(text, head + 1)
    room, end = cells - width(start), ""
    for letter in reversed(text):
        room -= _cells(letter)
        if room < 0:
            break
        end = letter + end
    return start + end


def wrapped(text: str, cells: int) -> list[str]:
    """Return the lines of a text, broken between words; a word that is longer than a line is broken too."""
    lines = [""]
    for word in text.split():
        if lines[-1] and width(lines[-1]) + 1 + width(word) > cells:
            lines.append("")
        if lines[-1]:
            lines[-1] += " "
        for letter in word if width(word) > cells else [word]:
            if lines[-1] and width(lines[-1]) + width(letter) > cells:
                lines.append("")
            lines[-1] += letter
    return lines


def broken(text: str, cells: int) -> list[str]:
    """Return a line in pieces that each fit, broken wherever it has to be: nothing is changed or left out."""
    pieces, room = [""], cells
    for letter in text:
        taken = _cells(letter)
        if taken > room and pieces[-1]:
            pieces.append("")
            room = cells
        pieces[-1] += letter
        room -= taken
    return pieces


def padded(text: str, cells: int) -> str:
    """Return a text that takes exactly so many cells."""
    text = cut(text, cells)
    return text + " " * (cells - width(text))


def hanging(label: str, text: str, cells: int) -> list[str]:
    """Return a label and after it a text, on as many lines as it needs, broken between words and aligned."""
    lines = wrapped(text, max(cells - width(label) - 1, 16))
    margin = " " * width(label)
    return [cut(f"{label if not number else margin} {line}", cells) for number, line in enumerate(lines)]


def hint(command: str, text: str, cells: int) -> list[str]:
    """Return a command and what it does, such as `  covey ps  shows all of them`, broken between words."""
    label = f"  {command} "
    if width(label) + 1 + HINT_CELLS <= cells or width(label) + 1 + width(text) <= cells:
        return hanging(label, text, cells)
    return [f"  {command}", *(f"    {line}" for line in wrapped(text, max(cells - 4, 1)))]


def _cells(letter: str) -> int:
    if letter == _JOINER or unicodedata.category(letter) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(letter) in {"W", "F"} else 1
