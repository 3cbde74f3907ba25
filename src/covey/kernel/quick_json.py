"""JSON for a command that asks one question: `loads` without importing the `json` package, which imports `re`.

It uses the scanner of CPython that `json` itself uses.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

try:
    from _json import make_scanner
except ImportError:  # not CPython
    from json.scanner import py_make_scanner as make_scanner

WHITE_SPACE = " \t\n\r"


class _Options:
    """What the scanner wants to know; the same as `json.loads` tells it."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}.__getitem__
    memo: dict[str, str] = {}  # noqa: RUF012 - an option of the scanner, never changed here


_scan = make_scanner(_Options())


def loads(data: bytes | str) -> Any:
    """Return the value of a JSON document. Raises ValueError, or RecursionError if it is nested too deeply."""
    text = data if isinstance(data, str) else data.decode()
    try:
        value, end = _scan(text, len(text) - len(text.lstrip(WHITE_SPACE)))
    except StopIteration as error:
        msg = f"expected a value at character {error.value}"
        raise ValueError(msg) from None
    if text[end:].strip(WHITE_SPACE):
        msg = f"there is more after the value, at character {end}"
        raise ValueError(msg)
    return value


def dumps(value: object, *, ensure_ascii: bool = True) -> str:
    """Return a value as JSON, as `json.dumps` does."""
    import json  # few questions have a body

    return json.dumps(value, ensure_ascii=ensure_ascii)
