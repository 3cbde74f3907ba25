"""What one connection may cost: bytes, headers, waiting requests and seconds."""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """Limits for every connection of an HTTP server."""

    header_seconds: float = 10.0
    """Time for the request line and the headers, and for the rest of a body that was answered before its end."""
    idle_seconds: float = 60.0
    """Time between the end of one response and the first byte of the next request."""
    write_seconds: float = 60.0
    """Time for which a client may leave a full write buffer untouched."""
    head_bytes: int = 64 * 1024
    """Size of the request line and the headers; also what a chunked body may cost beyond eight times its size."""
    headers: int = 100
    """Number of headers of one request."""
    pipelined: int = 16
    """Number of requests that may wait on one connection while another is answered."""
    body_bytes: int = 64 * 1024
    """Bytes of a body that are held before the application has asked for them; then reading stops."""


DEFAULT_LIMITS = Limits()
