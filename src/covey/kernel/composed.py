"""Unicode's composed forms in linear time.

Bringing accents into their order takes a time that grows with the square of their number, so thousands of them behind
one letter would keep the daemon from everything else.
"""

from __future__ import annotations

import unicodedata
from typing import Literal

PIECE = 128
"""Characters that are composed together, if a letter at which the text can be cut comes after no more than that."""
_JAMO = range(0x1160, 0x1200)
"""Letters that join the letter before them without being marks."""


def composed(text: str, form: Literal["NFC", "NFKC"] = "NFC") -> str:
    """Return a text in a composed form. A letter with more than PIECE marks is composed in pieces."""
    if text.isascii():
        return text
    if len(text) <= PIECE:
        return unicodedata.normalize(form, text)
    pieces, begin = [], 0
    while begin < len(text):
        end = _end(text, begin)
        pieces.append(unicodedata.normalize(form, text[begin:end]))
        begin = end
    return "".join(pieces)


def _end(text: str, begin: int) -> int:
    """Return where a piece ends: in front of the last letter that joins nothing before it, if there is one."""
    longest = begin + PIECE
    if longest >= len(text):
        return len(text)
    return next((at for at in range(longest, begin, -1) if _begins(text[at])), longest)


def _begins(character: str) -> bool:
    return character.isascii() or (unicodedata.category(character)[0] not in "MC" and ord(character) not in _JAMO)
