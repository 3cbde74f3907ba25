"""Parameters that are times: durations, and moments as RFC 3339 timestamps or as a duration before now."""

from __future__ import annotations

from datetime import UTC, datetime

from covey.kernel.clock import timestamp
from covey.kernel.durations import LONGEST_S, parse_duration
from murli import AgentError, user_error


def seconds(text: str, field: str, *, least: float = 0.0) -> float:
    """Return the seconds of a duration of at most a year. Raises `AgentError` if the text is not such a duration."""
    length = parse_duration(text)
    if length is None or not least <= length <= LONGEST_S:
        floor = f" of at least {least:g}s" if least else ""
        raise _not_understood(text, field, f"a duration{floor}, at most 366d: 90, 30s, 5m, 1h30m", "30s")
    return length


def moment(text: str, field: str, now: float) -> float:
    """Return a point in time: an RFC 3339 timestamp (in UTC if it has no zone), or a duration before `now`.

    Raises `AgentError` if the text is neither.
    """
    if parse_duration(text) is not None:
        return now - seconds(text, field)
    try:
        parsed = datetime.fromisoformat(text.strip())
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise _not_understood(
            text, field, "a time such as 2026-01-31T14:05:00Z, or how long ago: 10m", "10m", timestamp(now - 600)
        ) from None


def _not_understood(text: str, field: str, expected: str, *examples: str) -> AgentError:
    passed = ", or ".join(f"--{field.replace('_', '-')} {example}" for example in examples)
    return user_error(
        f"invalid value {text[:60]!r} for {field!r}: expected {expected}",
        f"Pass {passed}.",
        error="argument_error",
        field=field,
    )
