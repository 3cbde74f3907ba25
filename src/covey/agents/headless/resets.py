"""When a provider says that it will serve again, in the words of the agents that pass it on."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PIECE = r"(\d+(?:\.\d+)?) ?(ms|[dhms])(?:[a-z]*)"
_AFTER = re.compile(rf"(?:retry|try again) (?:in|after) ((?:{_PIECE}[ ,]*)+)", re.IGNORECASE)
_AT = re.compile(r"try again at (?:([A-Z][a-z]{2}) (\d{1,2})[a-z]{2}, (\d{4}) )?(\d{1,2}):(\d\d) ([AP]M)")
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def told(said: str, began: float, now: float) -> float | None:
    """The moment, in a message of a run that began at `began` and is read at `now`; None if it names none. A time of day is on the clock of this machine."""
    if after := _AFTER.search(said):
        return now + sum(
            float(count) * _UNITS[unit.lower()] for count, unit in re.findall(_PIECE, after[1], re.IGNORECASE)
        )
    if (at := _AT.search(said)) is None:
        return None
    try:
        start = datetime.fromtimestamp(began).astimezone()
        day = start if at[1] is None else start.replace(year=int(at[3]), month=_MONTHS.index(at[1]) + 1, day=int(at[2]))
        moment = day.replace(
            hour=int(at[4]) % 12 + (12 if at[6] == "PM" else 0), minute=int(at[5]), second=0, microsecond=0, tzinfo=None
        )
        if at[1] is None and moment < start.replace(tzinfo=None) - timedelta(minutes=1):  # minutes are all that is told
            moment += timedelta(days=1)
        return moment.timestamp()
    except (ValueError, OverflowError, OSError):
        return None
