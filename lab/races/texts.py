"""Random texts for races: of several lines, with characters that mean something to shells and to tmux."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

WORDS = (
    "run the tests and fix what fails; then 'quote' \"this\" #{pid} %H $HOME ~/x `id` -- -t $(id) 漢字 grün naïve 😀 "
    "semi; a\\b {x} [y] (z) <t> & | * ? = + , . : again"
).split()
LONG, LONGEST = 0.05, 3000
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def message(token: str, chance: Random) -> str:
    """Return a message that begins with a token."""
    lines = [_line(chance) for _ in range(chance.choice((1, 1, 1, 2, 3)))]
    if chance.random() < LONG:
        lines.append("long " * (chance.randrange(LONGEST) // 5) + "end")
    return f"{token} " + "\n".join(lines)


def commands(token: str, folder: Path, chance: Random) -> str:
    """Return a text of which a shell would run every line: each leaves a file in a folder."""
    return "\n".join(f"touch {folder}/{token}-{line} # {token}" for line in range(chance.randrange(1, 4)))


def end_of_paste(token: str, folder: Path, chance: Random) -> tuple[str, str]:
    """Return a text that would end the paste and press Enter in the middle, and the text that must arrive."""
    break_out = chance.choice(("\x1b[201~", "\x1b[201~\r", "\x9b201~", "\x1b\x1b[201~\x03", "\x1b[201~\x04\x15"))
    text = f"{token} before {break_out}touch {folder}/{token}{chance.choice(('', chr(13), chr(27)))} after"
    return text, _CONTROLS.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def _line(chance: Random) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(chance.randrange(1, 12))) + " end"
