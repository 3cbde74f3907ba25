"""Lengths of time as people write them: `30m`, `1h30m`, `90s`, `1d`."""

from __future__ import annotations

import re

SHORTEST_S = 10.0
LONGEST_S = 366 * 86_400.0
_SECONDS = {"d": 86_400, "h": 3600, "m": 60, "s": 1}
_PARTS = re.compile(r"(?:([0-9]{1,9})d)?\s*(?:([0-9]{1,9})h)?\s*(?:([0-9]{1,9})m)?\s*(?:([0-9]{1,9})s)?")


def seconds(text: str, shortest: float = SHORTEST_S, longest: float = LONGEST_S) -> float:
    """How many seconds are meant. Raises `ValueError` with a sentence that says what to write."""
    written = text.strip()
    parts = _PARTS.fullmatch(written)
    if parts is None or not any(parts.groups()):
        if written.isdecimal():
            raise ValueError(f"{_cut(written)} has no unit: write {_cut(written)}s, {_cut(written)}m, {_cut(written)}h or {_cut(written)}d")
        raise ValueError(f"{_cut(text)!r} is no length of time: write whole numbers with their units, longest first, such as 30m, 1h30m, 90s or 1d")
    total = float(sum(int(part or 0) * size for part, size in zip(parts.groups(), _SECONDS.values(), strict=True)))
    if total < shortest:
        raise ValueError(f"{written} is too short: the shortest is {shown(shortest)}")
    if total > longest:
        raise ValueError(f"{_cut(written)} is too long: the longest is {shown(longest)}")
    return total


def shown(length: float) -> str:
    """A length of whole seconds, as `seconds` reads it."""
    left, text = int(length), ""
    for unit, size in _SECONDS.items():
        if left >= size:
            text += f"{left // size}{unit}"
            left %= size
    return text or "0s"


def _cut(text: str) -> str:
    return text if len(text) <= 40 else text[:40] + "…"  # noqa: PLR2004 - enough to find it again
