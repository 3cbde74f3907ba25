"""When a provider will serve again, read from the messages in which agents pass it on."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from collections.abc import Callable

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = r"(\d+(?:\.\d+)?) ?(ms|[dhms])(?:[a-z]*)"
_WAIT = re.compile(rf"(?:retry|try again) (?:in|after) ((?:{_DURATION}[ ,]*)+)", re.IGNORECASE)
_TIME = re.compile(r"try again at (?:([A-Z][a-z]{2}) (\d{1,2})[a-z]{2}, (\d{4}) )?(\d{1,2}):(\d\d) ([AP]M)")
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_EPOCH = re.compile(r"\|(\d{10})\b")
_RESET = re.compile(r"resets (?:at )?(\d{1,2})(?::(\d\d))?\s*(am|pm)(?: \(([A-Za-z_/+-]+)\))?", re.IGNORECASE)


def retry_time(message: str, began: float, now: float) -> float | None:
    """Return the time that a message names; None if it names none. Nothing is guessed.

    The run began at `began`, and the message is read at `now`. A time of day without a zone is on this machine's clock.
    """
    if epoch := _EPOCH.search(message):
        return float(epoch[1])
    if wait := _WAIT.search(message):
        durations = re.findall(_DURATION, wait[1], re.IGNORECASE)
        return now + sum(float(count) * _UNITS[unit.lower()] for count, unit in durations)
    for pattern, read, since in ((_TIME, _time, began), (_RESET, _reset, now)):
        if found := pattern.search(message):
            return _or_none(read, found, since)
    return None


def names_reset(message: str) -> bool:
    """Return whether a message says when a usage limit is reset."""
    return bool(_EPOCH.search(message) or _RESET.search(message))


def _or_none(read: Callable[[re.Match[str], float], float], found: re.Match[str], since: float) -> float | None:
    """Return the time that was found; None if there is no such time or zone."""
    try:
        return read(found, since)
    except (ValueError, LookupError, OverflowError, OSError):
        return None


def _time(found: re.Match[str], began: float) -> float:
    """Return the time of `try again at [Feb 3rd, 2026 ]1:00 PM`; without a date, the next such time since `began`."""
    month, day, year, hour, minute, half = found.groups()
    start = datetime.fromtimestamp(began).astimezone()
    date = start
    if month is not None:
        date = start.replace(year=int(year), month=_MONTHS.index(month) + 1, day=int(day))
    moment = date.replace(hour=_hour(hour, half), minute=int(minute), second=0, microsecond=0, tzinfo=None)
    if month is None and moment < start.replace(tzinfo=None) - timedelta(minutes=1):  # seconds are not named
        moment += timedelta(days=1)
    return moment.timestamp()


def _reset(found: re.Match[str], now: float) -> float:
    """Return the time of `resets 3pm (Europe/Berlin)`: the next such time since `now`."""
    hour, minute, half, zone = found.groups()
    local = datetime.fromtimestamp(now, ZoneInfo(zone)) if zone else datetime.fromtimestamp(now).astimezone()
    moment = local.replace(hour=_hour(hour, half), minute=int(minute or 0), second=0, microsecond=0)
    return (moment if moment > local else moment + timedelta(days=1)).timestamp()


def _hour(twelve: str, half: str) -> int:
    return int(twelve) % 12 + (12 if half.lower() == "pm" else 0)
