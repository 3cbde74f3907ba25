"""Lengths of time in a HEARTBEAT.md: within limits, and never without a unit."""

from __future__ import annotations

from covey.kernel.durations import LONGEST_S, format_duration, is_bare, parse_duration

SHORTEST_S = 10.0


def seconds(text: str, shortest: float = SHORTEST_S, longest: float = LONGEST_S) -> float:
    """How many seconds are meant. Raises `ValueError` with a sentence that says what to write."""
    written = text.strip()
    if is_bare(written):
        raise ValueError(
            f"{_cut(written)} has no unit: write {_cut(written)}s, {_cut(written)}m, {_cut(written)}h or {_cut(written)}d"
        )
    total = parse_duration(written)
    if total is None:
        raise ValueError(
            f"{_cut(text)!r} is no length of time: write numbers with their units, longest first, such as 30m, 1h30m, 90s or 1d"
        )
    if total < shortest:
        raise ValueError(f"{written} is too short: the shortest is {format_duration(shortest)}")
    if total > longest:
        raise ValueError(f"{_cut(written)} is too long: the longest is {format_duration(longest)}")
    return total


def _cut(text: str) -> str:
    return text if len(text) <= 40 else text[:40] + "…"  # noqa: PLR2004 - enough to find it again
