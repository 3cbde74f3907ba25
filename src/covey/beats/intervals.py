"""Durations in a HEARTBEAT.md: within limits, and never without a unit."""

from __future__ import annotations

from covey.kernel.durations import LONGEST_S, format_duration, is_bare, parse_duration

SHORTEST_S = 10.0


def seconds(text: str, shortest: float = SHORTEST_S, longest: float = LONGEST_S) -> float:
    """Return a duration in seconds. Raises `ValueError` with a sentence that says what to write."""
    written = text.strip()
    if is_bare(written):
        number = _cut(written)
        raise ValueError(f"{number} has no unit: write {number}s, {number}m, {number}h or {number}d")
    total = parse_duration(written)
    if total is None:
        raise ValueError(
            f"{_cut(text)!r} is not a duration: write numbers with their units, longest first,"
            " such as 30m, 1h30m, 90s or 1d"
        )
    if total < shortest:
        raise ValueError(f"{written} is too short: the shortest is {format_duration(shortest)}")
    if total > longest:
        raise ValueError(f"{_cut(written)} is too long: the longest is {format_duration(longest)}")
    return total


def _cut(text: str) -> str:
    return text if len(text) <= 40 else text[:40] + "…"  # noqa: PLR2004 - enough to find it again
