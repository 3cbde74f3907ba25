"""JSON for a command that asks one question: `loads` without importing the `json` package, which imports `re`.

It uses the scanner of CPython that `json` itself uses; a test compares them.
"""

from __future__ import annotations

from _json import make_scanner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WHITE_SPACE = " \t\n\r"


class _Options:
    """What the scanner wants to know; the same as `json.loads` tells it."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}.__getitem__


_scan = make_scanner(_Options())  # type: ignore[arg-type]  # typeshed wants a scanner, which has the same options


def loads(data: bytes | str) -> Any:
    """Return the value of a JSON document. Raises ValueError, or RecursionError if it is nested too deeply."""
    text = data if isinstance(data, str) else data.decode()
    try:
        value, end = _scan(text, len(text) - len(text.lstrip(WHITE_SPACE)))
    except (StopIteration, SystemError):  # it cannot say what is wrong as long as `json` is not loaded
        end = -1
    if end == len(text.rstrip(WHITE_SPACE)):
        return value
    import json

    return json.loads(text)  # raises what is wrong


def dumps(value: object, *, ensure_ascii: bool = True) -> str:
    """Return a value as JSON, as `json.dumps` does."""
    import json  # few questions have a body

    return json.dumps(value, ensure_ascii=ensure_ascii)
