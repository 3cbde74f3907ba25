"""The client: answers in any pieces, answers that are none, and whatever a person can type."""

from __future__ import annotations

import asyncio
import fcntl
import itertools
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from covey.contract import OPERATIONS, Operation, Parameter
from covey.kernel.call import Call
from covey.kernel.client import Client, Interrupted, NotAnswered, NotRunning, NotUnderstood
from covey.kernel.daemon import Daemon
from covey.kernel.home import Home
from murli import AgentError
from tests.covey.conftest import Covey
from tests.covey.subsystems import serving

LIMIT_S = 20
GET = Operation(
    "get",
    "Get.",
    cli=["get"],
    route="/v1/get",
    parameters=[Parameter("q", "Q."), Parameter("many", "M.", multiple=True)],
)
PUT = Operation(
    "put",
    "Put.",
    cli=["put"],
    method="PUT",
    route="/v1/put/{name}",
    mutating=True,
    parameters=[Parameter("name", "N."), Parameter("value", "V.")],
)
STREAM = Operation("stream", "Stream.", cli=["stream"], route="/v1/stream", streaming=True, media="text/event-stream")
BY_NAME = {operation.name: operation for operation in OPERATIONS}

sharing = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


class Server:
    """Answers each connection with given bytes, in given pieces: the next piece goes out when the one before has been read."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.pieces: Sequence[bytes] = ()
        self.stay = False
        """Whether to keep the connection open after the last piece."""
        self.read = True
        """Whether to read the request before the answer."""
        self.requests: list[bytes] = []
        self._done = threading.Event()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(path)
        self._listener.listen(16)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._done.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join(LIMIT_S)
        self._listener.close()

    def _serve(self) -> None:
        while not self._done.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.settimeout(LIMIT_S)
            with connection:
                try:
                    self._answer(connection)
                except OSError:
                    continue  # the client left, as it may

    def _answer(self, connection: socket.socket) -> None:
        if self.read:
            request = b""
            while b"\r\n\r\n" not in request:
                request += connection.recv(65536)
            head, _, body = request.partition(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            while len(body) < length:
                body += connection.recv(65536)
            self.requests.append(head + b"\r\n\r\n" + body)
        for piece in self.pieces:
            connection.sendall(piece)
            while len(self.pieces) > 1 and struct.unpack("i", fcntl.ioctl(connection, termios.TIOCOUTQ, b"\0" * 4))[0]:
                pass
        if self.stay:
            connection.recv(1)


@pytest.fixture
def server() -> Iterator[Server]:
    folder = tempfile.mkdtemp(prefix="cv-")
    serving = Server(f"{folder}/sock")
    yield serving
    serving.close()
    shutil.rmtree(folder)


def sized(body: bytes, media: str = "application/json", status: str = "200 OK") -> bytes:
    return (
        f"HTTP/1.1 {status}\r\ncontent-type: {media}\r\nCovey-Version: 9.9\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        + body
    )


def chunked(parts: Sequence[bytes], media: str = "application/json") -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {media}; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    return head + b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def pieces(whole: bytes, cuts: Sequence[int]) -> list[bytes]:
    places = [0, *sorted(cut % len(whole) for cut in cuts), len(whole)]
    return [whole[start:end] for start, end in itertools.pairwise(places) if start < end]


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
def test_a_connection_that_ends_early_is_told_as_that(server: Server, answer: bytes) -> None:
    server.pieces = [answer]
    with pytest.raises(Interrupted, match=r"hung up|reset") as caught:
        Client(server.path).call(GET, {})
    assert "covey status" in caught.value.suggestion
    assert caught.value.recoverable


@pytest.mark.parametrize("answer", NONSENSE.values(), ids=NONSENSE.keys())
def test_an_answer_that_makes_no_sense_is_told_as_that(server: Server, answer: bytes) -> None:
    server.pieces = [answer]
    with pytest.raises(NotUnderstood, match="is not a Covey daemon") as caught:
        Client(server.path).call(GET, {})
    assert server.path in caught.value.message
    assert caught.value.suggestion


@pytest.mark.parametrize(
    "event", [b"data: {\n\n", b"data: \xff\n\n", b"data:\n\n", b"data: " + b"[" * 200_000 + b"\n\n"], ids=range(4)
)
def test_an_event_that_makes_no_sense_is_told_as_that(server: Server, event: bytes) -> None:
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
def test_no_bytes_whatever_make_the_client_fail_otherwise(server: Server, noise: bytes, start: bytes) -> None:
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


def test_a_refusal_that_comes_before_the_request_was_read_is_heard(server: Server) -> None:
    refusal = AgentError("the body is too large", code=1, error="user_error", suggestion="Send less.")
    server.read, server.pieces = False, [sized(json.dumps(refusal.envelope()).encode(), status="413 Too Large")]
    with pytest.raises(AgentError) as caught:
        Client(server.path, timeout=LIMIT_S).call(PUT, {"name": "a", "value": "x" * 5_000_000})
    # Linux drops what was sent when the reader closes with something unread: then there is only the break to tell.
    assert caught.value.message == "the body is too large" or isinstance(caught.value, Interrupted)


# Nobody there.


def test_a_missing_socket_is_told_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(NotRunning) as caught:
        Client(str(tmp_path / "sock")).call(GET, {})
    assert caught.value.message == f"the Covey daemon is not running (there is no socket at {tmp_path}/sock)"
    assert (caught.value.error, caught.value.suggestion, caught.value.recoverable) == (
        "daemon_not_running",
        "Run `covey up` to start it.",
        True,
    )


def test_a_socket_that_a_crash_left_behind_is_told_as_that(tmp_path: Path) -> None:
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(tmp_path / "sock"))
    left.close()
    with pytest.raises(NotRunning, match=r"nobody listens at its socket .*/sock"):
        Client(str(tmp_path / "sock")).call(GET, {})


def test_a_place_that_is_no_socket_is_told_with_what_to_check(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path / "file" / "sock", Path("/" + "x" * 200)):
        with pytest.raises(AgentError, match="cannot be used") as caught:
            Client(str(place)).call(GET, {})
        assert "COVEY_HOME" in caught.value.suggestion


STRANGER = """
import os, sys
from covey.contract import OPERATIONS
from covey.kernel.call import Call
from covey.kernel.client import Client
from murli import AgentError
if os.getuid() == 0:
    os.setuid(65534)
try:
    Client(sys.argv[1]).call(OPERATIONS[2], {})
except AgentError as error:
    print(error.code, error.message)
"""


def test_a_socket_of_somebody_else_is_told_as_that(server: Server) -> None:
    Path(server.path).chmod(0)
    Path(server.path).parent.chmod(0o755)
    ended = subprocess.run(
        [sys.executable, "-c", STRANGER, server.path], capture_output=True, text=True, timeout=LIMIT_S, check=True
    )
    assert ended.stdout == f"6 the daemon's socket {server.path} belongs to somebody else\n"


def test_a_daemon_with_too_many_callers_is_waited_for(tmp_path: Path) -> None:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "sock"))
    listener.listen(0)
    first = socket.socket(socket.AF_UNIX)
    first.connect(str(tmp_path / "sock"))
    with pytest.raises(AgentError, match="took no connection within"):
        Client(str(tmp_path / "sock"), timeout=0.05).call(GET, {})

    def make_room() -> None:
        listener.accept()[0].close()
        connection = listener.accept()[0]
        connection.recv(65536)
        connection.sendall(sized(b"{}"))
        connection.close()

    thread = threading.Timer(0.05, make_room)
    thread.start()
    assert Client(str(tmp_path / "sock"), timeout=LIMIT_S).call(GET, {}) == {}
    thread.join()
    first.close()
    listener.close()


# What is sent.


def test_a_request_says_what_it_must_and_no_more(server: Server) -> None:
    server.pieces = [sized(b"{}")]
    Client(server.path).call(GET, {"q": "a b", "many": ["x", "y"], "unknown": 1})
    Client(server.path).call(PUT, {"name": "a/b", "value": "ü"}, idempotency_key="k")
    get, put = [request.decode().split("\r\n") for request in server.requests]
    assert get[0] == "GET /v1/get?q=a%20b&many=x&many=y HTTP/1.1"
    assert get[-3:] == ["Content-Length: 0", "", ""]
    assert put[0] == "PUT /v1/put/a%2Fb HTTP/1.1"
    assert put[-4:] == ["Content-Type: application/json", "Idempotency-Key: k", "", '{"value": "\\u00fc"}']


@pytest.mark.parametrize(
    "params", [{"name": "\udcff"}, {"name": "a", "value": "\ud800"}, {"name": "a", "value": ["\udfff"]}, {"name": ""}]
)
def test_what_cannot_be_sent_is_refused_before_anything_is(tmp_path: Path, params: dict[str, Any]) -> None:
    with pytest.raises(AgentError) as caught:
        Client(str(tmp_path / "sock")).call(PUT, params)
    assert caught.value.code == 1
    assert caught.value.field in params


# Through a real daemon.


def raw(name: str, *, multiple: bool = False) -> Parameter:
    return Parameter(name, "Any text.", multiple=multiple, content="raw")


ECHO = [
    Operation(
        "echo.path",
        "Echo.",
        cli=["echo"],
        method="PUT",
        route="/v1/echo/{name}",
        parameters=[raw("name"), raw("value")],
    ),
    Operation(
        "echo.query", "Echo.", cli=["echo"], route="/v1/echo", parameters=[raw("name"), raw("value", multiple=True)]
    ),
]


async def _echo(call: Call) -> dict[str, Any]:
    return call.params


@pytest.fixture(scope="module")
def echo() -> Iterator[str]:
    """The socket of a daemon that says what it heard."""
    folder = tempfile.mkdtemp(prefix="cv-")
    home, ready, stop = Home(folder), threading.Event(), asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def live() -> None:
        loops.append(asyncio.get_running_loop())
        async with Daemon.running(home.node, [serving(ECHO, lambda _: {operation.name: _echo for operation in ECHO})]):
            ready.set()
            await stop.wait()

    home.node.prepare()
    thread = threading.Thread(target=asyncio.run, args=[live()], daemon=True)
    thread.start()
    assert ready.wait(LIMIT_S)
    yield home.node.socket
    loops[0].call_soon_threadsafe(stop.set)
    thread.join(LIMIT_S)
    shutil.rmtree(folder)


ODD = [
    "a b",
    "a+b",
    "a&b=c",
    "a?b#c",
    "%41",
    "%",
    "%zz",
    "ü",
    "🐦",
    "\u202e",
    "a/b",
    "..",
    ".",
    "//",
    '"',
    "'",
    "\\",
    ";",
    ":",
    "*",
    "~",
    "{name}",
    "true",
    "x" * 3000,
]


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_odd_values_reach_the_daemon_as_they_are(echo: str, odd: str) -> None:
    client = Client(echo)
    for operation in ECHO:
        value = [odd, "", odd] if operation.parameters[1].multiple else odd
        assert client.call(operation, {"name": odd, "value": value}) == {"name": odd, "value": value}


@settings(max_examples=150, deadline=None)
@given(st.text(min_size=1, max_size=30), st.lists(st.text(max_size=10), min_size=1, max_size=3))
def test_any_text_reaches_the_daemon_as_it_is_or_is_refused_as_such(echo: str, name: str, value: list[str]) -> None:
    client = Client(echo)
    for operation in ECHO:
        sent = {"name": name, "value": value if operation.parameters[1].multiple else "".join(value)}
        try:
            assert client.call(operation, sent) == sent
        except AgentError as error:
            refused = (error.code, error.field in sent, error.suggestion != "")
            assert refused == (1, True, True)


def test_every_event_of_a_real_daemon_comes_once_and_in_order(daemon: Covey) -> None:
    client = Client(str(daemon.node / "sock"))
    for level in ("debug", "info", "debug"):
        client.call(BY_NAME["config.set"], {"key": "log.level", "value": level}, idempotency_key=os.urandom(8).hex())
    events = list(client.stream(BY_NAME["events"], {"follow": False, "since": 0, "kind": None}))
    cursors = [event["data"]["cursor"] for event in events]
    assert cursors == list(range(1, len(cursors) + 1))
    assert [int(event["id"]) for event in events] == cursors
    following = client.stream(BY_NAME["events"], {"follow": True, "since": 1})
    assert next(following)["data"]["cursor"] == 2
    assert daemon.run("down").code == 0
    assert [event["data"]["cursor"] for event in following][: len(cursors) - 2] == cursors[2:]
