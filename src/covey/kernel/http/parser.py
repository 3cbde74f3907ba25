"""Requests read from the bytes of a connection, with httptools as the parser."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import httptools

from murli import rate_limited, user_error

if TYPE_CHECKING:
    from covey.kernel.http.limits import Limits
    from murli import AgentError

VERSIONS = ("1.1", "1.0")


class BadRequest(Exception):  # noqa: N818 - a verdict, not a failure
    """A request that cannot be served, and after which the connection cannot be read any further."""

    def __init__(self, status: int, error: AgentError) -> None:
        super().__init__(error.message)
        self.status = status
        self.error = error


def malformed() -> BadRequest:
    return BadRequest(
        400,
        user_error(
            "this is not HTTP/1.1",
            "Check the request line, the headers and the framing of the body.",
            error="malformed_request",
        ),
    )


def not_a_path() -> BadRequest:
    error = user_error(
        "the address must be a path", "Send the path only, such as GET /v1/status.", error="malformed_request"
    )
    return BadRequest(400, error)


def too_large() -> BadRequest:
    return BadRequest(
        431, user_error("the request line and headers are too large", "Send less.", error="malformed_request")
    )


def too_many_requests() -> BadRequest:
    error = rate_limited(
        "too many requests wait on this connection", 1000, "Read the answers before you send more requests."
    )
    return BadRequest(429, error)


class RequestHead(NamedTuple):
    """The request line and the headers of one request. Names of headers are in lower case."""

    method: str
    path: bytes
    """As it was sent, percent-encoding included."""
    query: bytes
    headers: list[tuple[bytes, bytes]]
    version: str
    keep_alive: bool
    expects_continue: bool


class Receiver(Protocol):
    """What a parser reports to. Each method may raise BadRequest."""

    def request_begun(self, head: RequestHead) -> None:
        """A head is complete; its body follows."""
        ...

    def body_received(self, data: bytes) -> None:
        """A part of the body has arrived."""
        ...

    def request_received(self) -> None:
        """The request is complete, with its body."""
        ...


class RequestParser:
    """Reports the requests of one connection to a receiver.

    Methods whose names begin with `on_` are the callbacks of httptools.
    """

    def __init__(self, receiver: Receiver, limits: Limits) -> None:
        self._receiver = receiver
        self._limits = limits
        self._parser = httptools.HttpRequestParser(self)
        self._finished = False
        """Whether the last request that this connection may send has been received."""
        self._overhead = 0
        """Bytes since the beginning of the request, less nine times the bytes of its body."""
        self._in_body = False
        self._keep_alive = True
        self._target = b""
        self._headers: list[tuple[bytes, bytes]] = []

    def feed(self, data: bytes) -> None:
        """Parse the bytes that have come next. Raises BadRequest; nothing may be fed after that."""
        if not self._finished:
            self._overhead += len(data)
            self._parse(data)

    def close(self) -> None:
        """Release the parser of httptools, which refers back to this object. Nothing may be fed after that."""
        del self._parser

    def on_message_begin(self) -> None:
        if self._finished:
            raise malformed()
        self._overhead = 0
        self._in_body = False
        self._target = b""
        self._headers = []

    def on_url(self, part: bytes) -> None:
        self._target += part

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_body:
            return  # a trailer, which no operation asks for
        self._headers.append((name.lower(), value))
        if len(self._headers) > self._limits.headers:
            raise too_large()

    def on_headers_complete(self) -> None:
        self._in_body = True
        head = self._head()
        self._keep_alive = head.keep_alive
        self._receiver.request_begun(head)

    def on_body(self, data: bytes) -> None:
        self._overhead -= 9 * len(data)
        self._receiver.body_received(data)

    def on_message_complete(self) -> None:
        self._finished = not self._keep_alive
        self._receiver.request_received()

    def _parse(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._finished = True  # what follows would be another protocol, which is not spoken here
        except httptools.HttpParserError as error:
            if not self._finished:
                raise _reason(error) from None
        if self._overhead > self._limits.head_bytes and not self._finished:
            raise too_large()

    def _head(self) -> RequestHead:
        """Return the head that is complete now. Raises BadRequest."""
        size = len(self._target)
        expects_continue = False
        for name, value in self._headers:
            size += len(name) + len(value)
            if name == b"expect":
                expects_continue = value.lower() == b"100-continue"
            elif name == b"transfer-encoding" and value.lower() != b"chunked":
                raise malformed()  # the parser would take a body that we cannot decode
        if size > self._limits.head_bytes:
            raise too_large()
        if not self._target.startswith(b"/"):
            raise not_a_path()  # the form for proxies names a second host beside the Host header
        version = self._parser.get_http_version()
        if version not in VERSIONS:
            raise malformed()
        path, _, query = self._target.partition(b"#")[0].partition(b"?")
        modern = version == "1.1"
        return RequestHead(
            method=self._parser.get_method().decode("ascii"),
            path=path,
            query=query,
            headers=self._headers,
            version=version,
            keep_alive=modern and self._parser.should_keep_alive() and not self._parser.should_upgrade(),
            expects_continue=modern and expects_continue,
        )


def _reason(error: httptools.HttpParserError) -> BaseException:
    """Return what a callback has raised, or that the request is malformed if the parser itself has refused it."""
    cause = error.__context__
    return malformed() if cause is None or isinstance(cause, httptools.HttpParserError) else cause
