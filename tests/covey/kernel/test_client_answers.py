"""Answers to the client: cut into any pieces, malformed, late or broken off."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from covey.kernel.client import Client, Interrupted, NotAnswered, NotUnderstood
from murli import AgentError
from tests.covey.kernel.scripted_server import GET, LIMIT_S, PUT, STREAM, Server, chunked, pieces, sized

sharing = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

DOCUMENT = {"name": "Müller 🐦", "items": [1, 2.5, None, True], "text": "a\r\n\r\nb"}
BODY = json.dumps(DOCUMENT, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    "answer",
    [sized(BODY), chunked([BODY]), chunked([BODY[:7], BODY[7:8], BODY[8:]])],
    ids=["sized", "one chunk", "chunks"],
)
def test_an_answer_may_be_cut_anywhere(server: Server, answer: bytes) -> None:
    for cut in range(1, len(answer)):
        server.pieces = [answer[:cut], answer[cut:]]
        assert Client(server.path).call(GET, {}) == DOCUMENT
    server.pieces = [answer[place : place + 1] for place in range(len(answer))]
    assert Client(server.path).call(GET, {}) == DOCUMENT


@sharing
@given(
    st.lists(st.binary(min_size=1, max_size=40).map(lambda raw: raw.hex().encode()), max_size=8),
    st.lists(st.integers(0, 10_000), max_size=8),
)
def test_chunks_are_put_together_however_they_come(server: Server, parts: list[bytes], cuts: list[int]) -> None:
    server.pieces = pieces(chunked(parts, "text/plain"), cuts)
    assert Client(server.path).call(GET, {}) == b"".join(parts).decode()


@sharing
@given(
    st.lists(st.text(max_size=20), max_size=8),
    st.lists(st.integers(0, 10_000), max_size=8),
    st.lists(st.integers(0, 10_000), max_size=8),
)
def test_events_are_put_together_however_they_come(
    server: Server, texts: list[str], chunk_cuts: list[int], cuts: list[int]
) -> None:
    lines = [
        f"id: {number}\nevent: node.said\ndata: {json.dumps({'text': text}, ensure_ascii=False)}\n\n"
        for number, text in enumerate(texts)
    ]
    stream = (": covey\n\n" + ": still here\n\n".join(lines) + ": bye\n\n").encode("utf-8", "replace")
    server.pieces = pieces(chunked(pieces(stream, chunk_cuts), "text/event-stream"), cuts)
    got = list(Client(server.path).stream(STREAM, {}))
    assert [event["id"] for event in got] == [str(number) for number in range(len(texts))]
    assert [event["data"]["text"] for event in got] == [text.encode("utf-8", "replace").decode() for text in texts]


def test_an_event_may_have_many_lines_and_no_spaces(server: Server) -> None:
    server.pieces = [chunked([b'event:a\ndata:{"x":\ndata: 1}\n\n', b"id: 7\n\n"], "text/event-stream")]
    assert list(Client(server.path).stream(STREAM, {})) == [{"event": "a", "data": {"x": 1}}]


def test_the_version_of_the_daemon_is_known_after_an_answer(server: Server) -> None:
    client = Client(server.path)
    server.pieces = [sized(b"{}")]
    client.call(GET, {})
    assert client.server_version == "9.9"


def test_a_large_answer_arrives_whole(server: Server) -> None:
    text = "x" * 5_000_000
    for answer in (sized(text.encode(), "text/plain"), chunked([text.encode()], "text/plain")):
        server.pieces = [answer]
        assert Client(server.path).call(GET, {}) == text


# Answers that are none.

GARBAGE = {
    "nothing at all": b"",
    "half a status line": b"HTTP/1.1 200",
    "half a head": b"HTTP/1.1 200 OK\r\nContent-Le",
    "half a body": sized(b"{}")[:-1],
    "half a chunk": chunked([b"{}"])[:-8],
    "no last chunk": chunked([b"{}"])[:-5],
}
NONSENSE = {
    "another protocol": b"220 mail.example.org ESMTP\r\n\r\n",
    "binary": bytes(range(256)) + b"\r\n\r\n",
    "no status": b"HTTP/1.1\r\n\r\n",
    "a word for a status": b"HTTP/1.1 abc OK\r\n\r\n",
    "a strange digit for a status": "HTTP/1.1 ²00 OK\r\n\r\n".encode("latin-1"),
    "a negative length": b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n{}",
    "a word for a length": b"HTTP/1.1 200 OK\r\nContent-Length: ten\r\n\r\n{}",
    "hexadecimal for a length": b"HTTP/1.1 200 OK\r\nContent-Length: a\r\n\r\n{}",
    "an absurd length": b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n{}",
    "a chunk without a size": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n\r\n",
    "a chunk of a negative size": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n",
    "a chunk of an underscored size": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0_2\r\n{}\r\n",
    "a chunk that goes on": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n",
    "JSON that is none": sized(b"{"),
    "no JSON": sized(b""),
    "JSON too deep": sized(b"[" * 200_000),
    "text that is none": sized(b"\xff\xfe", "text/plain"),
    "a line without end": b"x" * 200_000,
    "headers without end": b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 5000,
}


@pytest.mark.parametrize("answer", GARBAGE.values(), ids=GARBAGE.keys())
def test_a_connection_that_ends_early_is_reported_as_interrupted(server: Server, answer: bytes) -> None:
    server.pieces = [answer]
    with pytest.raises(Interrupted, match=r"hung up|reset") as caught:
        Client(server.path).call(GET, {})
    assert "covey status" in caught.value.suggestion
    assert caught.value.recoverable


@pytest.mark.parametrize("answer", NONSENSE.values(), ids=NONSENSE.keys())
def test_a_malformed_answer_is_reported_as_not_understood(server: Server, answer: bytes) -> None:
    server.pieces = [answer]
    with pytest.raises(NotUnderstood, match="is not a Covey daemon") as caught:
        Client(server.path).call(GET, {})
    assert server.path in caught.value.message
    assert caught.value.suggestion


@pytest.mark.parametrize(
    "event", [b"data: {\n\n", b"data: \xff\n\n", b"data:\n\n", b"data: " + b"[" * 200_000 + b"\n\n"], ids=range(4)
)
def test_a_malformed_event_is_reported_as_not_understood(server: Server, event: bytes) -> None:
    server.pieces = [chunked([event], "text/event-stream")]
    with pytest.raises(NotUnderstood):
        list(Client(server.path).stream(STREAM, {}))


@sharing
@given(
    st.binary(max_size=300),
    st.sampled_from(
        [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", sized(b"{}")[:-2]]
    ),
)
def test_no_answer_raises_anything_but_the_known_errors(server: Server, noise: bytes, start: bytes) -> None:
    server.pieces = [start + noise]
    for operation in (GET, STREAM):
        client = Client(server.path)
        try:
            _ = client.call(operation, {}) if operation is GET else list(client.stream(operation, {}))
        except AgentError as error:
            assert error.suggestion  # noqa: PT017 - an answer is as good


def test_events_that_came_before_the_connection_broke_are_not_lost(server: Server) -> None:
    server.pieces = [chunked([b"id: 1\ndata: 1\n\n", b"id: 2\ndata: 2\n\n"], "text/event-stream")[:-9]]
    got = []
    with pytest.raises(Interrupted):  # noqa: PT012 - what came before the error is the point
        for event in Client(server.path).stream(STREAM, {}):
            got.append(event["data"])  # noqa: PERF401
    assert got == [1]


def test_the_errors_of_the_daemon_come_out_as_they_went_in(server: Server) -> None:
    told = AgentError(
        "no",
        code=5,
        error="odd",
        suggestion="Do.",
        recoverable=True,
        valid_values=["a"],
        retry_after_ms=7,
        doc_url="u",
        field="f",
    )
    server.pieces = [sized(json.dumps(told.envelope("1")).encode(), status="404 Not Found")]
    for ask in (lambda: Client(server.path).call(GET, {}), lambda: list(Client(server.path).stream(STREAM, {}))):
        with pytest.raises(AgentError) as caught:
            ask()
        assert caught.value.envelope() == told.envelope()


@pytest.mark.parametrize(
    "body",
    [b"", b"Invalid HTTP request received.", b"[]", b"{}", b'{"message": 1, "code": "x"}', b"[" * 200_000],
    ids=range(6),
)
def test_an_error_without_an_explanation_is_still_an_error(server: Server, body: bytes) -> None:
    server.pieces = [sized(body, "text/plain", "400 Bad Request")]
    with pytest.raises(AgentError) as caught:
        Client(server.path).call(GET, {})
    assert caught.value.message


@pytest.mark.parametrize(
    "start", [b"", b"HTTP/1.1 200", b"HTTP/1.1 200 OK\r\n", sized(b"{}")[:-1], chunked([b"{}"])[:-4]], ids=range(5)
)
def test_a_daemon_that_does_not_answer_is_not_waited_for_for_ever(server: Server, start: bytes) -> None:
    server.pieces, server.stay = [start], True
    with pytest.raises(AgentError, match=r"did not answer within 0.05 s") as caught:
        Client(server.path, timeout=0.05).call(GET, {})
    assert (caught.value.code, caught.value.error) == (4, "timeout")
    assert "covey logs" in caught.value.suggestion


def test_a_stream_without_heartbeats_is_given_up(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("covey.kernel.client.SILENCE_S", 0.05)
    server.pieces, server.stay = [chunked([b"data: 1\n\n"], "text/event-stream")[:-5]], True
    stream = Client(server.path, timeout=0.01).stream(STREAM, {})
    assert next(stream)["data"] == 1
    with pytest.raises(AgentError, match="did not answer within"):
        next(stream)


def test_a_stream_is_not_waited_for_beyond_the_deadline(server: Server) -> None:
    server.pieces, server.stay = [chunked([b"data: 1\n\n"], "text/event-stream")[:-5]], True
    client = Client(server.path, deadline=time.monotonic() + 1)
    with pytest.raises(NotAnswered):
        list(client.stream(STREAM, {}))
    assert time.monotonic() >= client.deadline  # type: ignore[operator]  # it was given
    assert server.requests


def test_a_refusal_that_comes_before_the_request_was_read_is_received(server: Server) -> None:
    refusal = AgentError("the body is too large", code=1, error="user_error", suggestion="Send less.")
    server.read, server.pieces = False, [sized(json.dumps(refusal.envelope()).encode(), status="413 Too Large")]
    with pytest.raises(AgentError) as caught:
        Client(server.path, timeout=LIMIT_S).call(PUT, {"name": "a", "value": "x" * 5_000_000})
    # Linux drops what was sent when the reader closes with something unread: then there is only the break to tell.
    assert caught.value.message == "the body is too large" or isinstance(caught.value, Interrupted)
