"""Text that a column of SQLite can hold, whatever somebody wrote."""

from __future__ import annotations


def storable(text: str) -> str:
    """Return the text; halves of surrogate pairs, which are not characters, are replaced by U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
