"""Requests read from bytes, however those arrive."""

from __future__ import annotations

import contextlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.kernel.http.limits import DEFAULT_LIMITS, Limits
from covey.kernel.http.parser import BadRequest, RequestHead, RequestParser

CHUNKED = (
    b"POST /v1/take HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5;note=1\r\nhello\r\n6\r\n world\r\n0\r\nAuthorization: Bearer token\r\nX-Late: 1\r\n\r\n"
)
REQUESTS = (
    b"GET /v1/status?deep=1#part HTTP/1.1\r\nHost: localhost\r\nX-Case: Kept\r\n\r\n",
    b"POST /v1/take HTTP/1.1\r\nContent-Length: 11\r\nExpect: 100-Continue\r\n\r\nhello world",
    CHUNKED,
    b"\r\nHEAD /%2e?a=b&c HTTP/1.1\r\nHost: x\r\n\r\n",
    b"PUT /last HTTP/1.1\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
)


class Recorder:
    """Writes down what a parser reports."""

    def __init__(self) -> None:
        self.heads: list[RequestHead] = []
        self.bodies: list[bytes] = []
        self.ended = 0

    def request_begun(self, head: RequestHead) -> None:
        self.heads.append(head)
        self.bodies.append(b"")

    def body_received(self, data: bytes) -> None:
        self.bodies[-1] += data

    def request_received(self) -> None:
        self.ended += 1

    @property
    def seen(self) -> object:
        return self.heads, self.bodies, self.ended


def parsed(*parts: bytes, limits: Limits = DEFAULT_LIMITS) -> Recorder:
    recorder = Recorder()
    parser = RequestParser(recorder, limits)
    for part in parts:
        parser.feed(part)
    return recorder


def test_a_head_is_reported_with_its_parts_and_a_body_without_its_framing() -> None:
    recorder = parsed(b"".join(REQUESTS))
    first = recorder.heads[0]
    assert (first.method, first.path, first.query) == ("GET", b"/v1/status", b"deep=1")
    assert first.headers == [(b"host", b"localhost"), (b"x-case", b"Kept")]
    assert [head.expects_continue for head in recorder.heads] == [False, True, False, False, False]
    assert [head.keep_alive for head in recorder.heads] == [True, True, True, True, False]
    assert recorder.heads[3].path == b"/%2e"
    assert recorder.bodies == [b"", b"hello world", b"hello world", b"", b"ok"]
    assert recorder.ended == len(REQUESTS)


def test_trailers_are_part_of_no_request_also_not_of_the_next_one() -> None:
    recorder = parsed(REQUESTS[2] + REQUESTS[0])
    assert recorder.heads[0].headers == [(b"transfer-encoding", b"chunked")]
    assert recorder.heads[1].headers == [(b"host", b"localhost"), (b"x-case", b"Kept")]


@given(st.lists(st.integers(0, sum(map(len, REQUESTS))), max_size=40))
def test_it_does_not_matter_where_the_bytes_are_split(places: list[int]) -> None:
    whole = b"".join(REQUESTS)
    cuts = sorted({0, len(whole), *places})
    parts = [whole[start:end] for start, end in pairwise(cuts)]
    assert parsed(*parts).seen == parsed(whole).seen


def test_bytes_may_arrive_one_by_one() -> None:
    whole = b"".join(REQUESTS)
    assert parsed(*(bytes([byte]) for byte in whole)).seen == parsed(whole).seen


@given(st.binary(max_size=400), st.sampled_from(REQUESTS), st.integers(0, 200))
def test_any_bytes_are_requests_or_refused(noise: bytes, request_bytes: bytes, place: int) -> None:
    recorder = Recorder()
    with contextlib.suppress(BadRequest):
        RequestParser(recorder, DEFAULT_LIMITS).feed(request_bytes[:place] + noise + request_bytes[place:])
    assert all(head.path.startswith(b"/") and head.version in ("1.0", "1.1") for head in recorder.heads)


@pytest.mark.parametrize(
    "lines",
    [
        b"Content-Length: 3\r\nTransfer-Encoding: chunked",
        b"Transfer-Encoding: chunked\r\nContent-Length: 3",
        b"Content-Length: 3\r\nContent-Length: 3",
        b"Content-Length: 3\r\nContent-Length: 4",
        b"Content-Length: 3, 3",
        b"Content-Length: +3",
        b"Content-Length: 0x3",
        b"Content-Length : 3",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        b"Transfer-Encoding: chunked, identity",
        b"Transfer-Encoding: gzip, chunked",
        b"Transfer-Encoding: gzip",
        b"Transfer-Encoding: xchunked",
        b"X: a\r\n Transfer-Encoding: chunked",
        b"X: a\nTransfer-Encoding: chunked",
        b"X: a\rTransfer-Encoding: chunked",
    ],
)
def test_a_request_whose_end_two_programs_could_see_in_two_places_is_refused(lines: bytes) -> None:
    with pytest.raises(BadRequest) as refused:
        parsed(b"POST / HTTP/1.1\r\nHost: x\r\n" + lines + b"\r\n\r\n0\r\n\r\n")
    assert refused.value.status == 400
    assert refused.value.error.error == "malformed_request"


@pytest.mark.parametrize(
    "line", [b"GET /", b"GET / HTTP/0.9", b"GET / HTTP/2.0", b"GET / HTTP/1.10", b"GET x HTTP/1.1"]
)
def test_another_version_and_an_address_that_is_not_a_path_are_refused(line: bytes) -> None:
    with pytest.raises(BadRequest):
        parsed(line + b"\r\nHost: x\r\n\r\n")


@pytest.mark.parametrize("last", [REQUESTS[4], b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"])
@pytest.mark.parametrize("split", [True, False], ids=["in two pieces", "at once"])
def test_nothing_is_read_after_the_last_request(last: bytes, *, split: bool) -> None:
    after = b"GET /second HTTP/1.1\r\n\r\n\0garbage"
    recorder = parsed(last, after) if split else parsed(last + after)
    assert len(recorder.heads) == recorder.ended == 1


def test_a_request_to_upgrade_is_the_last_one() -> None:
    recorder = parsed(
        b"GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\x81\x05hello", b"GET / HTTP"
    )
    assert len(recorder.heads) == recorder.ended == 1
    assert not recorder.heads[0].keep_alive


def test_heads_are_limited_by_bytes_and_by_number_and_chunks_by_what_they_carry() -> None:
    limits = Limits(head_bytes=200, headers=3)
    start = b"POST / HTTP/1.1\r\n"
    for data in (
        start + b"A: " + b"a" * 200 + b"\r\n\r\n",
        start + b"A: b\r\n" * 4 + b"\r\n",
        start + b"A: " + b"a" * 300,
        b"\r\n" * 101,
        start + b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(b"1;%b\r\nx\r\n" % (b"e" * 20) for _ in range(30)),
    ):
        with pytest.raises(BadRequest) as refused:
            parsed(*(data[at : at + 50] for at in range(0, len(data), 50)), limits=limits)
        assert refused.value.status == 431
    plain = start + b"Transfer-Encoding: chunked\r\n\r\n" + b"5\r\nhello\r\n" * 500 + b"0\r\n\r\n"
    assert parsed(plain, limits=limits).bodies == [b"hello" * 500]
