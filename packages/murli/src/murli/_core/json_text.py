"""Indented JSON, written without the `json` package.

`json` imports `re`, which is a third of the start of a small command that answers once. The text is the same as that of
`json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)`; a test compares them.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

try:
    from _json import encode_basestring as quoted  # what `json` itself uses
except ImportError:  # not CPython
    from json.encoder import encode_basestring as quoted

INDENT = "  "


def indented(value: object, convert: Callable[[object], object]) -> str:
    """Return a value as indented JSON; `convert` is called for what JSON has no form for.

    Raises TypeError or ValueError if a value has no JSON form, RecursionError if values are nested too deeply or hold
    themselves.
    """
    parts: list[str] = []
    _write(value, "\n", parts, convert)
    return "".join(parts)


def _write(value: object, margin: str, parts: list[str], convert: Callable[[object], object]) -> None:
    if isinstance(value, dict):
        _write_object(value, margin, parts, convert)
    elif isinstance(value, (list, tuple)):
        _write_array(value, margin, parts, convert)
    else:
        text = _scalar(value)
        if text is None:
            _write(convert(value), margin, parts, convert)
        else:
            parts.append(text)


def _write_object(
    value: dict[object, object], margin: str, parts: list[str], convert: Callable[[object], object]
) -> None:
    if not value:
        parts.append("{}")
        return
    inner, before = margin + INDENT, "{"
    for key, item in value.items():
        parts += (before, inner, _key(key), ": ")
        _write(item, inner, parts, convert)
        before = ","
    parts += (margin, "}")


def _write_array(
    value: list[object] | tuple[object, ...], margin: str, parts: list[str], convert: Callable[[object], object]
) -> None:
    if not value:
        parts.append("[]")
        return
    inner, before = margin + INDENT, "["
    for item in value:
        parts += (before, inner)
        _write(item, inner, parts, convert)
        before = ","
    parts += (margin, "]")


def _scalar(value: object) -> str | None:
    """Return the JSON of a string, a number, a boolean or null; None for anything else."""
    if isinstance(value, str):
        return quoted(value)
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, int):
        return int.__repr__(value)
    return _number(value) if isinstance(value, float) else None


def _number(value: float) -> str:
    if value != value or value in (float("inf"), float("-inf")):  # noqa: PLR0124 - NaN is the one that differs from itself
        msg = f"Out of range float values are not JSON compliant: {value!r}"
        raise ValueError(msg)
    return float.__repr__(value)


def _key(key: object) -> str:
    text = _scalar(key)
    if text is None:
        msg = f"keys must be str, int, float, bool or None, not {type(key).__name__}"
        raise TypeError(msg)
    return text if isinstance(key, str) else f'"{text}"'
