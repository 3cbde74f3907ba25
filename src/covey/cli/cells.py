"""Text on a terminal: how many cells it takes, cut and padded by cells, and without anything that would act on the terminal."""

from __future__ import annotations

import re
import unicodedata

_ESCAPES = re.compile(
    r"(?:\x1b\]|\x9d).*?(?:\x07|\x1b\\|\x9c|$)"  # titles, links, clipboard: up to their end, or all
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f]).*?(?:\x1b\\|\x9c|$)"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?",
    re.DOTALL,
)
_JOINER = "\u200d"


def clean(text: str) -> str:
    """One line of what can be seen: no escape sequences, no control or direction characters. Agents, models and file names choose this text, not we."""
    if text.isascii() and text.isprintable():
        return text.strip()
    text = _ESCAPES.sub("", text)
    return " ".join("".join(_shown(letter) for letter in text).split())


def width(text: str) -> int:
    """How many cells a cleaned text takes."""
    return len(text) if text.isascii() else sum(_cells(letter) for letter in text)


def cut(text: str, cells: int) -> str:
    """As much of a text as fits, with a sign that there was more."""
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
    """As much of the beginning of a text as `head` cells hold, and as much of its end as fits behind the sign that there was more."""
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
    """The lines of a text, broken between words; a word that is longer than a line is broken too, for nothing may be lost."""
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
    """A text that takes exactly so many cells."""
    text = cut(text, cells)
    return text + " " * (cells - width(text))


def hanging(label: str, text: str, cells: int) -> list[str]:
    """A label, and behind it a text on as many lines as it needs, broken between words and aligned."""
    lines = wrapped(text, max(cells - width(label) - 1, 16))
    margin = " " * width(label)
    return [cut(f"{label if not number else margin} {line}", cells) for number, line in enumerate(lines)]


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
