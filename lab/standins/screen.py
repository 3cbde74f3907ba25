"""A terminal in the normal buffer, for programs that leave their history to the terminal."""

from __future__ import annotations

import os


class Screen:
    """Lines move up into the history; below them a live part is redrawn."""

    def __init__(self) -> None:
        self._live: list[str] = []

    def width(self) -> int:
        return os.get_terminal_size(1).columns

    def draw(self, rows: list[str], said: list[str]) -> None:
        if not said and rows == self._live:
            return
        up = f"\x1b[{len(self._live) - 1}A" if len(self._live) > 1 else ""
        text = "\r\n".join([*said, *rows])
        self._live = rows
        self.write(f"{up}\r\x1b[J{text}")

    def write(self, text: str) -> None:
        data = text.encode()
        while data:
            data = data[os.write(1, data) :]


def fold(text: str, width: int) -> list[str]:
    """Return lines of at most that width. The last keeps its trailing space, so more text can be added to it."""
    lines = []
    for paragraph in text.split("\n"):
        line = paragraph
        while len(line) > width:
            cut = line.rfind(" ", 1, width + 1)
            cut = cut if cut > 0 else width
            lines.append(line[:cut])
            line = line[cut:].lstrip(" ")
        lines.append(line)
    return lines
