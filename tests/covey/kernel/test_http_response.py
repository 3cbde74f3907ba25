"""The bytes of a response, and what is refused so that it stays one response."""

from __future__ import annotations

import pytest

from covey.kernel.http.response import Response, ResponseError


def started(
    *headers: tuple[bytes, bytes], method: str = "GET", version: str = "1.1", status: int = 200, keep_alive: bool = True
) -> tuple[Response, bytes]:
    response = Response(method, version, keep_alive=keep_alive)
    return response, response.start(status, headers)


def test_a_body_with_a_length_is_sent_as_it_is() -> None:
    response, head = started((b"Content-Length", b"5"))
    assert head == b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n"
    assert response.body(b"he", more=True) == b"he"
    assert response.body(b"llo", more=False) == b"llo"
    assert response.complete


def test_a_body_without_a_length_is_sent_in_chunks() -> None:
    response, head = started()
    assert head == b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    assert response.body(b"hello world", more=True) == b"b\r\nhello world\r\n"
    assert response.body(b"", more=True) == b""
    assert response.body(b"!", more=False) == b"1\r\n!\r\n0\r\n\r\n"


def test_http_1_0_gets_no_chunks_and_its_body_ends_with_the_connection() -> None:
    response, head = started(version="1.0", keep_alive=False)
    assert head == b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n"
    assert response.body(b"hello", more=False) == b"hello"


@pytest.mark.parametrize(("method", "status"), [("HEAD", 200), ("GET", 204), ("GET", 304)])
def test_a_response_that_has_no_body_gets_none(method: str, status: int) -> None:
    response, head = started(method=method, status=status)
    assert b"transfer-encoding" not in head
    assert response.body(b"hello", more=False) == b""
    assert response.complete


def test_head_keeps_the_length_that_get_would_have() -> None:
    response, head = started((b"content-length", b"5"), method="HEAD")
    assert b"content-length: 5\r\n" in head
    assert response.body(b"hello", more=False) == b""


def test_closing_is_said_once_and_an_application_can_ask_for_it() -> None:
    response, head = started((b"Connection", b"Close"), keep_alive=False)
    assert head.lower().count(b"connection: close") == 1
    response, head = started((b"connection", b"close"))
    assert not response.keep_alive
    assert started(keep_alive=False)[1].count(b"connection: close\r\n") == 1


@pytest.mark.parametrize(
    "header",
    [
        (b"location", b"/x\r\nset-cookie: a=b"),
        (b"location", b"/x\nset-cookie: a=b"),
        (b"location", b"/x\rset-cookie: a=b"),
        (b"location", b"a\0b"),
        (b"x: y\r\nset-cookie", b"a"),
        (b"x y", b"a"),
        (b"", b"a"),
        (b"x\n", b"a"),
    ],
)
def test_a_header_cannot_split_a_response(header: tuple[bytes, bytes]) -> None:
    response = Response("GET", "1.1", keep_alive=True)
    with pytest.raises(ResponseError):
        response.start(200, [header])
    assert not response.started, "an error can still be answered"


def test_a_body_must_have_the_announced_length() -> None:
    response, _ = started((b"content-length", b"5"))
    with pytest.raises(ResponseError):
        response.body(b"too long", more=False)
    response, _ = started((b"content-length", b"5"))
    with pytest.raises(ResponseError):
        response.body(b"less", more=False)
    assert not response.complete


def test_a_second_response_cannot_be_sent_into_the_first() -> None:
    response, _ = started()
    with pytest.raises(ResponseError):
        response.start(500, [])
    response.body(b"", more=False)
    with pytest.raises(ResponseError):
        response.body(b"more", more=False)
    with pytest.raises(ResponseError):
        Response("GET", "1.1", keep_alive=True).body(b"too soon", more=False)
