"""Numbers of bytes as people read them, everywhere in the same units: 1 kB is 1,000 bytes, 1 MB is 1,000 kB."""

from __future__ import annotations

MB = 1_000_000
STEP = 1000
UNITS = ("B", "kB", "MB", "GB", "TB")


def size_text(size: int) -> str:
    """Return a number of bytes as people write it, such as `12 B` or `3.4 MB`."""
    value, unit = float(size), 0
    while value >= STEP and unit < len(UNITS) - 1:
        value, unit = value / STEP, unit + 1
    return f"{size} B" if not unit else f"{value:.1f} {UNITS[unit]}"


def compared_sizes(size: int, limit: int) -> tuple[str, str]:
    """Return two numbers of bytes as texts that differ if the numbers do: all digits where a rounded number would not.

    So a sentence that says that a size is over a limit can be believed.
    """
    if size != limit and size_text(size) == size_text(limit):
        return f"{size:,} bytes", f"{limit:,} bytes"
    return size_text(size), size_text(limit)
