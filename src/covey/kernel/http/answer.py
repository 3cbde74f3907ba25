"""Results, errors and refusals as HTTP responses, with the headers that every response of the API has."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

import msgspec

from covey import __version__
from covey.contract import API_VERSION

if TYPE_CHECKING:
    from covey.kernel.http.exchange import Send
    from murli import AgentError

STATUS = {1: 400, 2: 500, 3: 500, 4: 504, 5: 404, 6: 403, 7: 409, 8: 429, 9: 503}
"""HTTP status by exit code; a refusal in the prologue has its own."""

HEADERS = [
    (b"covey-version", __version__.encode()),
    (b"covey-api", API_VERSION.encode()),
    (b"x-content-type-options", b"nosniff"),
]

encode = msgspec.json.Encoder().encode


class Refusal(Exception):  # noqa: N818 - a verdict, not a failure
    """A request that is not served, with the HTTP status that says so."""

    def __init__(self, status: int, error: AgentError, **headers: str) -> None:
        super().__init__(error.message)
        self.status = status
        self.error = error
        self.headers = headers


def status_of(error: AgentError) -> int:
    """The HTTP status that goes with an error."""
    return STATUS.get(error.code, 500)


def raw_refusal(status: int, error: AgentError) -> bytes:
    """Return a whole response for a request that no application answers; the connection must be closed after it."""
    body = encode(error.envelope(__version__))
    headers = [
        *HEADERS,
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", b"no-store"),
        (b"connection", b"close"),
    ]
    return (
        b"HTTP/1.1 %d %s\r\n" % (status, HTTPStatus(status).phrase.encode())
        + b"".join(b"%s: %s\r\n" % header for header in headers)
        + b"\r\n"
        + body
    )


async def respond(send: Send, status: int, error: AgentError, **extra: str) -> None:
    await respond_raw(send, status, encode(error.envelope(__version__)), "application/json", **extra)


async def respond_raw(send: Send, status: int, body: bytes, media: str, **extra: str) -> None:
    headers = [
        *HEADERS,
        (b"content-type", media.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    headers += [(name.encode(), value.encode("latin-1", "replace")) for name, value in extra.items()]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
