"""Ordinary commands of agents: our own, those that the policy was fitted to, and those that it was not.

Each line is a command, with ⏎ for a line break. In `seen.txt` and `unseen.txt` a class and a tab stand in front of it:
`-`, or why a question about it is right.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

_FOLDER = Path(__file__).parent
CLASSES = {
    "inline": "an interpreter is given a program in the text, which is not read",
    "written": "the text runs a program that it has written",
    "download": "a shell runs what a server sends",
    "variable": "which file it opens depends on a variable that the text does not set",
    "named": "the text names the denied program or folder elsewhere",
}
"""Why a question about an ordinary command is right."""


class Ordinary(NamedTuple):
    """A command. `asked`: why a policy may ask about it, in one word; empty if it has no reason to."""

    text: str
    asked: str


def ordinary(name: str) -> list[Ordinary]:
    """Return the commands of a list: `ours`, `seen` or `unseen`."""
    found = []
    for line in (_FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        asked, tab, text = line.partition("\t")
        is_marked = bool(tab) and asked in {"-", *CLASSES}
        found.append(Ordinary((text if is_marked else line).replace("⏎", "\n"), asked.strip("-") if is_marked else ""))
    return found


def ordinary_commands() -> list[str]:
    """Return the commands of all lists."""
    return [one.text for name in ("ours", "seen", "unseen") for one in ordinary(name)]
