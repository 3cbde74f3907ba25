"""Text in the cells of a terminal: its width, cut and padded by cells, and without escape sequences."""

from __future__ import annotations

import unicodedata

_ESCAPES = (
    r"(?:\x1b\]|\x9d).*?(?:\x07|\x1b\\|\x9c|$)"  # titles, links, clipboard: up to their end, or all
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f]).*?(?:\x1b\\|\x9c|$)"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
)
HINT_CELLS = 20
"""Cells beside a command that are enough for what it does; with fewer, that is below it."""
_JOINER = "\u200d"


def clean(text: str) -> str:
    """Return a text on one line, without escape sequences, control characters and direction marks.

    Texts of agents, models and file names are not ours, and could act on the terminal.
    """
    if text.isascii() and text.isprintable():
        return text.strip()
    import re  # most texts do not need it, and it is slow to import

    text = re.sub(_ESCAPES, "", text, flags=re.DOTALL)
    return " ".join("".join(_shown(letter) for letter in text).split())


def clean_lines(text: str) -> str:
    """Return a text of several lines as `clean` does, with its lines and their blanks."""
    import re

    lines = re.sub(_ESCAPES, "", text, flags=re.DOTALL).expandtabs(4).split("\n")
    return "\n".join("".join(map(_shown, line)).rstrip() for line in lines)


def visible(text: str) -> str:
    """Return a text of several lines in which what a terminal would hide or obey is spelt out, such as `\\x1b`.

    For what a person agrees to: nothing of it may be left out.
    """
    return "".join(map(_spelt, text.replace("\t", "    ")))


def _spelt(letter: str) -> str:
    if letter == "\n" or unicodedata.category(letter) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}:
        return letter
    code = ord(letter)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"  # noqa: PLR2004 - as Python does


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


def _shown(letter: str) -> str:
    category = unicodedata.category(letter)
    if category == "Cs":  # half a character, as broken file names have them
        return "\ufffd"
    if category == "Cf":
        return letter if letter == _JOINER else ""
    return " " if category in {"Cc", "Zl", "Zp"} else letter


def _cells(letter: str) -> int:
    if letter == _JOINER or unicodedata.category(letter) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(letter) in {"W", "F"} else 1
