"""Values to bytes: the one place where JSON is written."""

from __future__ import annotations

import codecs

from murli._core.errors import SCHEMA_VERSION, tool_error
from murli._core.json_text import indented

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

PROTOCOL_VERSION = "0.2"
OUTPUT_FORMATS = ("json", "ndjson", "text")


def encode(value: object, *, minified: bool = False) -> bytes:
    """Return one JSON document and a newline in UTF-8, nothing HTML-escaped.

    A lone surrogate (a file name that is not UTF-8) becomes its JSON escape, and so does what would act on a terminal.
    A value that has no JSON form is an error that names it, never a partial or empty document.
    """
    try:
        text = _minified(value) if minified else indented(value, _convert)
    except (TypeError, ValueError, RecursionError) as error:
        raise tool_error(
            f"the result cannot be written as JSON: {error}",
            "This is a defect of the tool: its result holds a value that JSON has no form for.",
            error="marshal_error",
        ) from error
    if not text.isascii() or "\x7f" in text:
        from murli._core.terminal import json_safe  # most documents need it not

        text = json_safe(text)
    return (text + "\n").encode("utf-8", "backslashreplace")


def _minified(value: object) -> str:
    import json  # only streams pay for it

    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_convert)


SIMILAR = "murli.similar"
"""Name of a codec error handler.

A character that the encoding lacks becomes one ASCII character, so that no line of a table grows.
"""
ASCII_SIGNS = {"✗": "x", "✓": "+", "▲": "!", "●": "*", "○": "o", "…": "~", "·": "-", "→": ">"}


def _similar(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_ascii(letter) for letter in error.object[error.start : error.end]), error.end


def _ascii(letter: str) -> str:
    """Return a character in ASCII.

    A lone surrogate, as in a file name that is not UTF-8, becomes its escape: it is what tells the file.
    """
    return ASCII_SIGNS.get(letter) or (f"\\u{ord(letter):04x}" if "\ud800" <= letter <= "\udfff" else "?")


codecs.register_error(SIMILAR, _similar)


def send(stream: TextIO, data: bytes) -> None:
    """Write all of it, or raise OSError or ValueError; an unbuffered stream may take less than it is given."""
    stream.flush()
    binary = getattr(stream, "buffer", None)
    if binary is None:
        stream.write(data.decode("utf-8"))
    else:
        left = memoryview(data)
        while left:
            taken = binary.write(left)
            if not taken:
                raise BlockingIOError(11, "the stream takes no more")
            left = left[taken:]
    stream.flush()


def print_similar(stream: TextIO | None) -> None:
    """Make `print` and help pages behave like `spelt` on a stream whose encoding lacks characters.

    Without it they would fail at the first such character.
    """
    if (
        getattr(stream, "errors", None) == "strict"
        and str(getattr(stream, "encoding", "utf-8")).lower().replace("-", "") != "utf8"
    ):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=SIMILAR)


def spelt(text: str, stream: TextIO) -> bytes:
    """Text for a person, in the encoding of the stream; what would act on a terminal becomes an escape."""
    if not text.replace("\n", "").isprintable():
        from murli._core.terminal import terminal_safe  # most texts need it not

        text = terminal_safe(text)
    return encoded(text, stream)


def encoded(text: str, stream: TextIO) -> bytes:
    """Text in the encoding of the stream; what it cannot spell becomes an ASCII character."""
    encoding = getattr(stream, "encoding", None) if hasattr(stream, "buffer") else None
    return text.encode(encoding or "utf-8", SIMILAR)


def as_json_value(value: object) -> Any:
    """Return the value as a reader of its JSON will see it."""
    import json  # only --fields and --limit pay for it

    return json.loads(encode(value, minified=True))


def envelope(status: str, result: object, *, tool_version: str = "", total: int | None = None) -> dict[str, Any]:
    """A success or plan envelope, keys in alphabetical order."""
    body: dict[str, Any] = {"result": result, "schema_version": SCHEMA_VERSION, "status": status}
    if tool_version:
        body["tool_version"] = tool_version
    if total is not None:
        body["total"] = total
    return body


def _convert(value: object) -> object:
    """What `json` does not know by itself: records, dataclasses, enums, dates, paths and sets."""
    as_dict = getattr(value, "as_dict", None)
    if callable(as_dict):
        return as_dict()
    if hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        return {name: getattr(value, name) for name in value.__dataclass_fields__}
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    for convert in ("isoformat", "__fspath__"):
        method = getattr(value, convert, None)
        if callable(method):
            return method()
    if hasattr(value, "value") and hasattr(type(value), "__members__"):
        return value.value
    msg = f"{type(value).__module__}.{type(value).__qualname__} has no JSON form"
    raise TypeError(msg)
