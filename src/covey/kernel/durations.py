"""Durations as people write them, everywhere the same: `90`, `30s`, `5m`, `1h30m`, `1.5h`, `1d`, `250ms`."""

from __future__ import annotations

import re

LONGEST_S = 366 * 86_400.0
_SECONDS = {"d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_NUMBER = r"[0-9]{1,9}(?:\.[0-9]{1,3})?"
_PARTS = re.compile(r"\s*+".join(rf"(?:(?P<{unit}>{_NUMBER}){unit})?" for unit in _SECONDS), re.ASCII)
_BARE = re.compile(_NUMBER, re.ASCII)


def parse_duration(text: str) -> float | None:
    """Return the seconds of a duration; None if the text is not a duration.

    A duration is numbers with their units, the longest unit first, or one number without a unit, in seconds.
    """
    written = text.strip()
    if is_bare(written):
        return float(written)
    parts = _PARTS.fullmatch(written)
    if parts is None or not any(parts.groups()):
        return None
    return sum(float(number) * _SECONDS[unit] for unit, number in parts.groupdict().items() if number)


def seconds_text(length: float) -> str:
    """Return a number of seconds as people read it, such as `2.5 s`: in tenths, below one second in hundredths."""
    return f"{round(length, 1 if length >= 1 else 2):g} s"


def is_bare(text: str) -> bool:
    """Return whether a text is a number without a unit."""
    return _BARE.fullmatch(text.strip()) is not None


def format_duration(length: float) -> str:
    """Return a number of whole seconds as `parse_duration` reads it, such as `1h30m`."""
    left = int(length)
    text = ""
    for unit in ("d", "h", "m", "s"):
        size = int(_SECONDS[unit])
        if left >= size:
            text += f"{left // size}{unit}"
            left %= size
    return text or "0s"
