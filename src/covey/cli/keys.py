"""The names of keys, from the bytes that a terminal sends in non-canonical mode."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = {
    "\x1b[A": "up",
    "\x1bOA": "up",
    "\x1b[B": "down",
    "\x1bOB": "down",
    "\x1b[5~": "page up",
    "\x1b[6~": "page down",
    "\x1b[H": "home",
    "\x1bOH": "home",
    "\x1b[F": "end",
    "\x1bOF": "end",
    "\r": "enter",
    "\n": "enter",
    "\x1b": "escape",
    "k": "up",
    "j": "down",
    "g": "home",
    "G": "end",
}


def keys(data: bytes) -> Iterator[str]:
    """Yield the names of the keys in one read from the terminal: `up`, `enter`, or the character itself.

    Unknown escape sequences are left out.
    """
    text = data.decode("utf-8", "ignore")
    place = 0
    while place < len(text):
        sequence = text[place] if text[place] != "\x1b" else _sequence(text, place)
        place += len(sequence)
        if sequence in NAMES:
            yield NAMES[sequence]
        elif not sequence.startswith("\x1b"):
            yield sequence


def _sequence(text: str, place: int) -> str:
    """Return the escape sequence that begins at an index; an escape character alone is the key of that name."""
    end = place + 1
    if text[end : end + 1] not in {"[", "O"}:
        return text[place:end]
    end += 1
    while end < len(text) and not text[end].isalpha() and text[end] != "~":
        end += 1
    return text[place : end + 1]
