"""Texts with wildcards: `*` stands for any characters, `?` for one; everything else stands for itself."""

from __future__ import annotations

import re
from typing import NamedTuple

from covey.kernel.composed import composed

UNKNOWN = "\0"
"""In a text that is compared: characters that are not known, any number of them."""
LONGEST_UNKNOWN = 2000
"""Characters; a longer text with unknown parts may match anything."""


class _Piece(NamedTuple):
    """What stands between two `*`."""

    length: int
    pattern: re.Pattern[str]


class Wildcard:
    """A pattern. However hostile a text is, it is searched once for each piece between two `*`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._pieces = [_piece(part) for part in text.split("*")]

    def matches(self, text: str) -> bool:
        """Return whether the pattern matches the whole text, whatever its `UNKNOWN` parts are."""
        first, *rest = self._pieces
        if not rest:
            return first.pattern.fullmatch(text) is not None
        *middle, last = rest
        if first.pattern.match(text) is None:
            return False
        at = first.length
        for piece in middle:  # the first place is the best: it leaves the most to what follows
            found = piece.pattern.search(text, at)
            if found is None:
                return False
            at = found.end()
        begin = len(text) - last.length
        return begin >= at and last.pattern.fullmatch(text, begin) is not None

    def may_match(self, text: str) -> bool:
        """Return whether the pattern could match a text with `UNKNOWN` parts."""
        if UNKNOWN not in text:
            return self.matches(text)
        return len(text) > LONGEST_UNKNOWN or _meet(self.text, text)


def folded(text: str) -> str:
    """Return a text as it is compared where case is not to matter: some file systems do not distinguish it."""
    return composed(text).casefold()


def _piece(part: str) -> _Piece:
    expression = "".join(f"[^{UNKNOWN}]" if letter == "?" else re.escape(letter) for letter in part)
    return _Piece(len(part), re.compile(expression))


def _meet(pattern: str, text: str) -> bool:
    """Return whether some text fits both: a pattern with wildcards, and a text with unknown parts."""
    reached = _over_unknown({0}, text)  # the places in the text that the pattern can have come to
    for letter in pattern:
        if letter == "*":
            reached = set(range(min(reached), len(text) + 1))
            continue
        following = set()
        for at in reached:
            if at < len(text) and text[at] == UNKNOWN:
                following.add(at)
            elif at < len(text) and letter in ("?", text[at]):
                following.add(at + 1)
        reached = _over_unknown(following, text)
        if not reached:
            return False
    return len(text) in reached


def _over_unknown(places: set[int], text: str) -> set[int]:
    """Return the places, and those behind unknown parts that begin there: they may be empty."""
    found = set(places)
    for place in places:
        at = place
        while at < len(text) and text[at] == UNKNOWN:
            at += 1
            found.add(at)
    return found
