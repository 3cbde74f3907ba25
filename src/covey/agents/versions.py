"""Version numbers of agents, and the ranges for which patterns were written."""

from __future__ import annotations

import re
from itertools import zip_longest

from msgspec import Struct

Version = tuple[int, ...]

_NUMBERS = re.compile(r"\d+(?:\.\d+)*")
_TERM = re.compile(r"(>=|<=|==|>|<)\s*(\d+(?:\.\d+)*)\Z")


def version(text: str) -> Version:
    """The first dotted number in a text such as `v2.1.325` or `codex-cli 0.166.0`; nothing when there is none."""
    found = _NUMBERS.search(text)
    return tuple(int(number) for number in found[0].split(".")) if found else ()


def compare(one: Version, other: Version) -> int:
    """Negative, zero or positive; missing places count as zero, so that 2.1 equals 2.1.0."""
    for left, right in zip_longest(one, other, fillvalue=0):
        if left != right:
            return left - right
    return 0


class Range(Struct, frozen=True):
    """Terms that a version must all satisfy; no term: every version."""

    text: str
    terms: tuple[tuple[str, Version], ...] = ()

    def __contains__(self, wanted: Version) -> bool:
        return all(_holds(operator, compare(wanted, limit)) for operator, limit in self.terms)

    @property
    def start(self) -> Version:
        """The lowest limit, by which ranges are put in order."""
        return next((limit for operator, limit in self.terms if operator in {">=", ">", "=="}), ())


EVERY = Range("")
FUTURE: Version = (1 << 30,)
"""Newer than every version there is."""


def text(version: Version) -> str:
    """A version as people write it: `2.1.325`."""
    return ".".join(map(str, version))


def parse(text: str) -> Range:
    """Read `>=2.1` or `>=1.0, <2.1`; ValueError says what is wrong."""
    terms = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        found = _TERM.match(part)
        if not found:
            msg = f"{part!r} is no version range; write for example '>=2.1' or '>=1.0, <2.1'"
            raise ValueError(msg)
        terms.append((found[1], version(found[2])))
    return Range(text, tuple(terms))


def _holds(operator: str, order: int) -> bool:
    match operator:
        case ">=":
            return order >= 0
        case "<=":
            return order <= 0
        case ">":
            return order > 0
        case "<":
            return order < 0
    return order == 0
