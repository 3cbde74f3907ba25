"""Durations, times, paths and colours as text for a person.

Every renderer uses it; it imports no other module of Covey.
"""

from __future__ import annotations

import os

RED, YELLOW, GREEN, BLUE = "\x1b[31m", "\x1b[33m", "\x1b[32m", "\x1b[94m"
"""Bright blue: the normal one cannot be read on black."""
DIM, RESET = "\x1b[2m", "\x1b[0m"
TENTHS_BELOW_MS = 10_000
"""A shorter age is shown with tenths of a second."""


class Paint:
    """The width and the colours of the output; with `wide`, tables have every column, not only those that fit.

    A call returns a text in a colour, or as it is where colours are not wanted.
    """

    def __init__(self, columns: int, *, colour: bool, wide: bool = False) -> None:
        self.columns = columns
        self.colour = colour
        self.wide = wide

    def __call__(self, text: str, colour: str) -> str:
        return f"{colour}{text}{RESET}" if self.colour and colour and text else text


def columns() -> int:
    """Return the width of the terminal, 80 if standard output is not one."""
    try:
        return max(os.get_terminal_size(1).columns or 80, 40)
    except OSError:
        return 80


def duration(seconds: float) -> str:
    """Return a duration in its two largest units, such as `3d 4h` or `4m 5s`."""
    left = int(seconds)
    parts: list[str] = []
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m"), (1, "s")):
        if left >= size or (unit == "s" and not parts):
            parts.append(f"{left // size}{unit}")
            left %= size
    return " ".join(parts[:2])


def age(milliseconds: int) -> str:
    """Return a duration in its largest unit, such as `12s`, `4m`, `3h` or `2d`."""
    return duration(milliseconds / 1000).partition(" ")[0]


def ago(milliseconds: int) -> str:
    """Return how long ago something was, such as `0.3s ago` or `1m 4s ago`."""
    seconds = milliseconds / 1000
    return f"{seconds:.1f}s ago" if milliseconds < TENTHS_BELOW_MS else f"{duration(seconds)} ago"


def clock_of(stamp: str) -> str:
    """Return a timestamp in local time, such as `14:05:11`; with the date if it is not today."""
    import time
    from calendar import timegm

    return clock_at(timegm(time.strptime(stamp[:19], "%Y-%m-%dT%H:%M:%S")))


def clock_at(seconds: float) -> str:
    """Return a time in seconds since 1970 as `clock_of` does."""
    import time

    local = time.localtime(seconds)
    is_today = local[:3] == time.localtime()[:3]
    return time.strftime("%H:%M:%S" if is_today else "%Y-%m-%d %H:%M:%S", local)


def short(path: str) -> str:
    """Return a path with the home folder as a tilde."""
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if path == home or path.startswith(home + os.sep) else path


def many(count: int, noun: str) -> str:
    """Return a number with its noun, such as `1 agent` or `3 agents`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def value_text(value: object) -> str:
    """Return any JSON value on one line: `yes` and `no` for booleans, nothing for null, JSON for lists and objects."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (dict, list)):
        import json

        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)
