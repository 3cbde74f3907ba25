"""Malformed requests and requests without end, sent to a real daemon: refused, and nothing is left behind."""

from __future__ import annotations

import contextlib
import json
import random
import socket
from collections.abc import Callable

import pytest

from tests.covey.conftest import Covey

LIMIT = 120
TRANSPORTS = pytest.mark.parametrize("tcp", [False, True], ids=["unix", "tcp"])


def connected(covey: Covey, *, tcp: bool) -> socket.socket:
    sock = socket.socket(socket.AF_INET if tcp else socket.AF_UNIX)
    sock.settimeout(LIMIT)
    sock.connect(("127.0.0.1", covey.port) if tcp else str(covey.node / "sock"))
    return sock


def talk(covey: Covey, data: bytes, *, tcp: bool, hang_up: bool = False) -> bytes:
    """Send, then read until the daemon hangs up. A daemon that hangs up while we send has answered enough."""
    answer = b""
    with connected(covey, tcp=tcp) as sock, contextlib.suppress(ConnectionError):
        sock.sendall(data)
        if hang_up:
            return b""
        sock.shutdown(socket.SHUT_WR)
        while part := sock.recv(65536):
            answer += part
    return answer


def resident(covey: Covey) -> int:
    return int(json.loads(covey.request("GET", "/v1/status")[2])["rss_bytes"])


def head(covey: Covey, *lines: str, method: str = "GET", path: str = "/v1/health") -> bytes:
    return "\r\n".join(
        [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {covey.token}", *lines, "", ""]
    ).encode()


@TRANSPORTS
def test_garbage_is_answered_or_hung_up_on_and_the_next_request_works(served: Covey, *, tcp: bool) -> None:
    dice = random.Random(7)
    pieces = [
        b"\r\n",
        b"\0",
        b"GET ",
        b"/v1/status",
        b" HTTP/1.1",
        b"Host: 127.0.0.1",
        b"Transfer-Encoding: chunked",
        b"Content-Length: ",
        b"\xff",
        b"9" * 40,
        b":",
        b"\n",
        b" ",
    ]
    for turn in range(300):
        data = (
            dice.randbytes(dice.randrange(1, 3000))
            if turn % 2
            else b"".join(dice.choices(pieces, k=dice.randrange(1, 40)))
        )
        answer = talk(served, data, tcp=tcp, hang_up=turn % 7 == 0)
        assert not answer.startswith(b"HTTP/1.1 5"), data
    assert served.request("GET", "/v1/health", tcp=tcp)[0] == 200


@TRANSPORTS
@pytest.mark.parametrize(
    "data",
    [
        b"GET /v1/health HTTP/1.1\r\nHost: a\0b\r\n\r\n",
        b"GET /v1/he\0alth HTTP/1.1\r\n\r\n",
        b"G\0T / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"POST /v1/reload HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"POST /v1/reload HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /v1/reload HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        b"POST /v1/reload HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"CONNECT evil.example:80 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    ],
)
def test_what_is_not_http_gets_an_envelope_and_is_hung_up_on(served: Covey, data: bytes, *, tcp: bool) -> None:
    with connected(served, tcp=tcp) as sock:
        sock.sendall(data)
        answer = b""
        while part := sock.recv(65536):
            answer += part
    top, _, body = answer.partition(b"\r\n\r\n")
    assert top.startswith(b"HTTP/1.1 400 Bad Request\r\n"), answer
    assert b"connection: close" in top
    assert json.loads(body)["error"] == "malformed_request"


@TRANSPORTS
@pytest.mark.parametrize(
    "chunks",
    [
        b"zz\r\n",
        b"5\r\nab",
        b"-1\r\n\r\n",
        b"5\r\nabcdeXX0\r\n\r\n",
        b"FFFFFFFFFFFFFFFFFF\r\n",
        b"0\r\nbad trailer\x00\r\n\r\n",
    ],
    ids=range(6),
)
def test_a_badly_chunked_body_never_reaches_an_operation(served: Covey, chunks: bytes, *, tcp: bool) -> None:
    before = served.request("GET", "/v1/status")[2]
    answer = talk(
        served, head(served, "Transfer-Encoding: chunked", method="POST", path="/v1/reload") + chunks, tcp=tcp
    )
    assert not answer.startswith(b"HTTP/1.1 2"), answer
    assert not answer.startswith(b"HTTP/1.1 5"), answer
    assert json.loads(served.request("GET", "/v1/status")[2])["config"] == json.loads(before)["config"]


@TRANSPORTS
@pytest.mark.parametrize(
    "flood",
    [
        lambda: b"GET /" + b"a" * 65536,
        lambda: b"GET / HTTP/1.1\r\nA: " + b"a" * 65536,
        lambda: b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 10_000,
        lambda: b"GET / HTTP/1.1\r\n" + b"a" * 65536,
        lambda: b"\r\n" * 32_768,
        lambda: b"POST /v1/reload HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: " + b"a" * 65536,
    ],
    ids=["address", "value", "count", "name", "blank lines", "trailer"],
)
def test_an_endless_head_is_cut_off_and_memory_stays_bounded(
    served: Covey, flood: Callable[[], bytes], *, tcp: bool
) -> None:
    before = resident(served)
    for _ in range(5):
        start, sent = flood(), 0
        with connected(served, tcp=tcp) as sock:
            try:
                sock.sendall(start)
                while sent < 64 << 20:
                    sent += sock.send(start[-65536:])
            except ConnectionError:
                pass
            else:
                pytest.fail("64 MB of headers were taken")
    assert resident(served) - before < 32 << 20


@TRANSPORTS
def test_a_flood_of_headers_that_ends_is_refused_with_431(served: Covey, *, tcp: bool) -> None:
    for data in (
        head(served, *(f"X-{number}: 1" for number in range(200))),
        head(served, "X: " + "a" * 70_000),
        head(served, path="/" + "a" * 70_000),
    ):
        assert talk(served, data, tcp=tcp).startswith(b"HTTP/1.1 431 ")


@TRANSPORTS
def test_requests_in_a_pipeline_are_answered_in_order(served: Covey, *, tcp: bool) -> None:
    paths = ["/v1/health", "/nothing", "/v1/config/log.level", "/v1/metrics"]
    with connected(served, tcp=tcp) as sock:
        sock.sendall(
            b"".join(head(served, *(["Connection: close"] if path == paths[-1] else []), path=path) for path in paths)
        )
        answer = b""
        while part := sock.recv(65536):
            answer += part
    statuses = [part[:3] for part in answer.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [b"200", b"404", b"200", b"200"]


@TRANSPORTS
def test_a_pipeline_without_end_is_refused(served: Covey, *, tcp: bool) -> None:
    before = resident(served)
    for _ in range(10):
        with connected(served, tcp=tcp) as sock, contextlib.suppress(ConnectionError):
            sock.sendall(head(served, path="/v1/openapi.json") * 2000)
            while sock.recv(65536):
                pass
    assert resident(served) - before < 32 << 20
    assert served.request("GET", "/v1/health", tcp=tcp)[0] == 200


@TRANSPORTS
def test_an_upgrade_is_not_made_and_what_follows_is_not_read(served: Covey, *, tcp: bool) -> None:
    for kind in ("websocket", "h2c"):
        with connected(served, tcp=tcp) as sock:
            sock.sendall(head(served, "Connection: Upgrade", f"Upgrade: {kind}") + b"\x81\x05hello" * 100)
            answer = b""
            with contextlib.suppress(ConnectionError):
                while part := sock.recv(65536):
                    answer += part
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert answer.count(b"HTTP/1.1 ") == 1


@TRANSPORTS
def test_callers_that_leave_early_leave_nothing_behind(served: Covey, *, tcp: bool) -> None:
    for data in (
        b"",
        b"G",
        head(served)[:30],
        head(served),
        head(served, "Content-Length: 100", method="POST", path="/v1/reload") + b"{",
    ):
        for _ in range(20):
            talk(served, data, tcp=tcp, hang_up=True)
    assert served.request("GET", "/v1/health", tcp=tcp)[0] == 200
