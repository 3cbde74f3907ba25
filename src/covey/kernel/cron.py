"""The times of a cron expression on the wall clock of a time zone, and what is wrong with one."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

FIELDS = 5
MISSED_LIMIT = 1000
"""Times that were missed are counted up to this; a count that has reached it means that many or more."""
WINDOWS_S = (120.0, 7200.0, 2 * 86_400.0, 62 * 86_400.0, 800 * 86_400.0)
"""How far back the last time of an expression is searched for."""
NEVER = float("inf")


def next_time(expression: str, timezone: str, after: float) -> float:
    """Return the first time of a schedule after a moment; infinity if there is none. Both are seconds since 1970."""
    zone = ZoneInfo(timezone) if timezone else None
    for found in CronSim(expression, datetime.fromtimestamp(after, zone)):  # without a zone: the machine's own
        if found.timestamp() > after:  # from within an hour that comes twice, cronsim goes back
            return found.timestamp()
    return NEVER


def latest_time(expression: str, timezone: str, after: float, now: float) -> tuple[float, int] | None:
    """Return the last time after a moment and up to now, and how many come before it; None if none has come.

    The count is exact up to MISSED_LIMIT.
    """
    first = next_time(expression, timezone, after)
    if first > now:
        return None
    found = [first]
    while len(found) <= MISSED_LIMIT and (following := next_time(expression, timezone, found[-1])) <= now:
        found.append(following)
    if len(found) <= MISSED_LIMIT:
        return found[-1], len(found) - 1
    latest = found[-1]
    for window in WINDOWS_S:
        moment = next_time(expression, timezone, max(now - window, latest))
        if moment <= now:
            while moment <= now:
                latest, moment = moment, next_time(expression, timezone, moment)
            break
    return latest, MISSED_LIMIT


def cron_problem(expression: str) -> str:
    """Return what is wrong with an expression, as the end of a sentence; empty if nothing is."""
    if len(expression.split()) != FIELDS:
        return "has to have five fields: minute, hour, day, month, weekday"
    try:
        if next(CronSim(expression, datetime(2026, 1, 1, tzinfo=UTC)), None) is None:
            return "never comes"
    except (CronSimError, ValueError, AssertionError) as error:
        return f"is not a cron expression: {str(error)[:100]}"
    return ""


def timezone_problem(timezone: str) -> str:
    """Return what is wrong with the name of a time zone; empty if nothing is, or it is empty."""
    try:
        if timezone:
            ZoneInfo(timezone)
    except (KeyError, ValueError, OSError):
        return f"timezone {timezone[:40]!r} is not known: use a name such as Europe/Berlin"
    return ""
