"""JSON that agents write, read without trusting its form. Every function returns a value of its type; none raises."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, TypeGuard

from covey.kernel.json_size import has_too_many_values

MOST_VALUES = 20_000
"""In one JSON text of an agent; no agent writes more."""
_LARGEST = 1e15
"""Beyond this, floats lose milliseconds, and no agent counts so far."""
_LARGEST_AMOUNT = 1e9


def parse_object(line: str) -> dict[str, Any]:
    """Parse a JSON object; empty if the text is anything else, was cut, or has more than MOST_VALUES values."""
    if has_too_many_values(line, MOST_VALUES):
        return {}
    try:
        return json_object(json.loads(line))
    except (ValueError, RecursionError):
        return {}


def json_object(value: object) -> dict[str, Any]:
    """Return a value that should be an object; empty if it is not."""
    return value if isinstance(value, dict) else {}


def json_list(value: object) -> list[Any]:
    """Return a value that should be a list; empty if it is not."""
    return value if isinstance(value, list) else []


def json_objects(value: object) -> list[dict[str, Any]]:
    """Return the objects in a value that should be a list of objects."""
    return [item for item in json_list(value) if isinstance(item, dict)]


def string(value: object) -> str:
    """Return a value that should be a string; empty if it is not."""
    return value if isinstance(value, str) else ""


def text_of(value: object) -> str:
    """Return a value as text: a string as it is, nothing for null, anything else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def content_text(content: object) -> str:
    """Return the text of a message's content: the content itself, or the text of its first part."""
    if isinstance(content, str):
        return content
    parts = json_objects(json_list(content)[:1])
    return string(parts[0].get("text")) if parts else ""


def whole_number(value: object) -> int:
    """Return a value that should be a count; 0 if it is not."""
    if not _is_number(value) or not abs(value) < _LARGEST:  # also false for nan
        return 0
    return int(value)


def amount(value: object) -> float | None:
    """Return a value that should be an amount of money; None if it is not."""
    if not _is_number(value) or not 0 <= value < _LARGEST_AMOUNT:
        return None
    return float(value)


def timestamp(value: object) -> float | None:
    """Return the seconds since 1970 of a time in ISO 8601 or in milliseconds; None if it is neither."""
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value).timestamp()
        except (ValueError, OverflowError, OSError):
            return None
    if _is_number(value) and 0 < value < _LARGEST:
        return value / 1000
    return None


def milliseconds_between(began: object, ended: object) -> int | None:
    """Return the milliseconds from one written time to another; None if one of them is not a time."""
    first, last = timestamp(began), timestamp(ended)
    return None if first is None or last is None else round((last - first) * 1000)


def canonical(value: object) -> bytes:
    """Return the same bytes for the same value."""
    try:
        return json.dumps(value, sort_keys=True, default=str).encode()
    except (ValueError, TypeError, RecursionError):  # not JSON, or too deep to be an agent's
        return repr(type(value)).encode()


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
