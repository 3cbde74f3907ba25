"""The bytes of one response: status line, headers and a body whose end the client can find."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_STATUS_LINES = {status.value: b"HTTP/1.1 %d %s\r\n" % (status, status.phrase.encode()) for status in HTTPStatus}
_WITHOUT_BODY = (204, 304)
LAST_CHUNK = b"0\r\n\r\n"
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FORBIDDEN = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
"""Characters that would end a header's value, and so let it add headers or a second response."""


class ResponseError(RuntimeError):
    """An application has sent something that is not a response."""


class Response:
    """Encodes one response. It does not write; `start` and `body` return the bytes to be written."""

    def __init__(self, method: str, version: str, *, keep_alive: bool) -> None:
        self.keep_alive = keep_alive
        """Whether the connection can be used after this response; false makes the head say so."""
        self.started = False
        self.complete = False
        self._head_only = method == "HEAD"
        self._may_chunk = version == "1.1"
        self._chunked = False
        self._remaining: int | None = None
        """How much of the announced length is still to come."""

    def start(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
        """Return the status line and the headers. Raises ResponseError for a header that cannot be sent."""
        if self.started:
            raise ResponseError("the response has been started already")
        parts = [_STATUS_LINES.get(status) or b"HTTP/1.1 %d \r\n" % status]
        says_close = False
        self._remaining = None
        for name, value in headers:
            lower = name.lower()
            if not _NAME.fullmatch(lower) or _FORBIDDEN.search(value):
                raise ResponseError(f"the header {name!r} has characters that cannot be sent")
            if lower == b"content-length":
                self._remaining = int(value)
            elif lower == b"transfer-encoding":
                continue  # framing is decided here
            elif lower == b"connection" and b"close" in value.lower():
                says_close = True
            parts += (lower, b": ", value, b"\r\n")
        parts += (self._persistence(says_close=says_close), self._framing(status), b"\r\n")
        self.started = True
        return b"".join(parts)

    def body(self, data: bytes, *, more: bool) -> bytes:
        """Return a part of the body in its framing. Raises ResponseError if it does not fit what was announced."""
        if not self.started or self.complete:
            raise ResponseError("a body was sent before the response was started or after it was complete")
        self.complete = not more
        if self._head_only:
            return b""
        if self._chunked:
            chunk = b"%x\r\n%b\r\n" % (len(data), data) if data else b""
            return chunk if more else chunk + LAST_CHUNK
        if self._remaining is None:
            return data  # HTTP/1.0 knows no chunks: the body ends with the connection
        self._remaining -= len(data)
        if self._remaining < 0 or (self._remaining and not more):
            self.complete = False
            raise ResponseError("the body does not have the length that the response has announced")
        return data

    def _persistence(self, *, says_close: bool) -> bytes:
        """Return the header that is still needed to say whether the connection stays open."""
        if says_close:
            self.keep_alive = False
        return b"" if says_close or self.keep_alive else b"connection: close\r\n"

    def _framing(self, status: int) -> bytes:
        """Decide how the body is delimited; return the header that is still needed to say so."""
        self._head_only = self._head_only or status in _WITHOUT_BODY
        self._chunked = self._may_chunk and self._remaining is None and not self._head_only
        return b"transfer-encoding: chunked\r\n" if self._chunked else b""
