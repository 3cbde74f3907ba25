"""Lines out of a text that grows."""

from __future__ import annotations

import re

_EMPTY_LINES = re.compile(rb"\n{2,}")


class LineBuffer:
    """Cuts bytes into lines as they come. Empty lines, and one of more than `limit` bytes, are left out."""

    def __init__(self, limit: int, *, inside_line: bool = False) -> None:
        """With `inside_line` the first bytes are the rest of a line whose beginning is not known, and are left out."""
        self._limit = limit
        self._unfinished = b""
        self._skipping = inside_line

    def feed(self, data: bytes) -> list[bytes]:
        """Take more bytes and return the lines that they finish."""
        *lines, self._unfinished = (self._unfinished + _EMPTY_LINES.sub(b"\n", data)).split(b"\n")
        if self._skipping and lines:
            lines = lines[1:]
            self._skipping = False
        if len(self._unfinished) > self._limit:
            self._skipping = True
        if self._skipping:
            self._unfinished = b""
        return [line for line in lines if line]

    def flush(self) -> bytes:
        """Return the last line, which no line break has finished; empty if there is none."""
        rest, self._unfinished = self._unfinished, b""
        return rest
