"""Following a stream over connections that break, against a server on a real socket that plays them in turn."""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from covey.cli import following as module
from covey.cli.following import GAP, LOST, RESET, following
from covey.contract import OPERATIONS
from covey.kernel.client import Interrupted, NotAnswered, NotRunning
from murli import AgentError, user_error

EVENTS = next(operation for operation in OPERATIONS if operation.name == "events")
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


def chunk(event: str, data: dict[str, Any]) -> bytes:
    text = f"event: {event}\ndata: {json.dumps(data)}\n\n".encode()
    return b"%x\r\n%s\r\n" % (len(text), text)


def event(cursor: int) -> bytes:
    return chunk("x.y", {"cursor": cursor})


def refusal(error: AgentError) -> bytes:
    body = json.dumps(error.envelope()).encode()
    return b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (
        len(body),
        body,
    )


class Played:
    """A server that sends one answer for each connection, and keeps the targets of the requests."""

    def __init__(self, path: str, answers: list[bytes], *, silent: bool = False) -> None:
        self.path = path
        self.targets: list[str] = []
        self._answers = answers
        self._silent = silent
        self._done = threading.Event()
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(path)
        self._socket.listen()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._done.set()
        self._thread.join()

    def _serve(self) -> None:
        for answer in self._answers:
            connection, _ = self._socket.accept()
            with connection:
                request = b""
                while b"\r\n\r\n" not in request:
                    request += connection.recv(4096)
                self.targets.append(request.split()[1].decode())
                with contextlib.suppress(ConnectionError):  # the reader may have given up
                    connection.sendall(answer)
                if self._silent:
                    self._done.wait()
        self._socket.close()


@pytest.fixture
def path(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(module, "PAUSE_S", 0.01)
    folder = tempfile.mkdtemp(prefix="cv-")  # short enough for the address of a socket
    yield str(Path(folder) / "sock")
    shutil.rmtree(folder)


def names(messages: Iterator[dict[str, Any]]) -> list[Any]:
    return [message["data"].get("cursor", message["event"]) for message in messages]


def test_a_stream_that_ends_in_order_is_over(path: str) -> None:
    Played(path, [HEAD + event(1) + chunk(GAP, {"until": 3}) + event(4) + END])
    assert names(following(path, EVENTS, dict, endless=False)) == [1, GAP, 4]


def test_a_broken_connection_is_made_again_with_the_parameters_of_then(path: str) -> None:
    server = Played(path, [HEAD + event(1), HEAD + event(2) + END])
    asked: dict[str, Any] = {}
    seen = []
    for message in following(path, EVENTS, asked.copy, endless=False):
        seen.append(message["data"].get("cursor", message["event"]))
        asked["since"] = message["data"].get("cursor", asked.get("since"))
    assert seen == [1, LOST, 2]
    assert server.targets == ["/v1/events", "/v1/events?since=1"]


def test_an_endless_stream_is_asked_for_again_until_patience_ends(path: str) -> None:
    Played(path, [HEAD + event(1) + END, HEAD + event(2) + END])
    messages = following(path, EVENTS, dict, patience=0.1)
    assert [next(messages).get("event") for _ in range(4)] == ["x.y", LOST, "x.y", LOST]
    with pytest.raises((Interrupted, NotRunning)):
        next(messages)


def test_a_slow_reader_connects_again_at_once(path: str) -> None:
    Played(path, [HEAD + event(1) + chunk("covey.slow", {}), HEAD + event(2) + END])
    assert names(following(path, EVENTS, dict, endless=False)) == [1, 2]


def test_without_a_daemon_it_is_an_error_unless_there_was_one(path: str) -> None:
    with pytest.raises(NotRunning):
        next(following(path, EVENTS, dict))
    messages = following(path, EVENTS, dict, connected=True, patience=0.05)
    assert next(messages)["event"] == LOST
    with pytest.raises(NotRunning):
        next(messages)


def test_a_silent_daemon_is_an_error_at_the_deadline(path: str) -> None:
    server = Played(path, [HEAD + event(1)], silent=True)
    messages = following(path, EVENTS, dict, deadline=0.0)
    with pytest.raises(NotAnswered):
        names(messages)
    server.close()


def test_an_error_in_the_stream_is_raised(path: str) -> None:
    error = user_error("no such agent", "See `covey ps`.", error="E_REF_NOT_FOUND")
    Played(path, [HEAD + event(1) + chunk("covey.error", error.envelope())])
    messages = following(path, EVENTS, dict)
    assert next(messages)["data"] == {"cursor": 1}
    with pytest.raises(AgentError, match="no such agent"):
        next(messages)


def test_a_cursor_that_is_refused_after_a_restart_is_a_reset_where_that_is_expected(path: str) -> None:
    refused = refusal(user_error("the cursor is in the future", field="since"))
    Played(path, [HEAD + event(7), refused, HEAD + event(1) + END, HEAD + event(2), refused])
    assert names(following(path, EVENTS, dict, endless=False, resettable=True)) == [7, LOST, RESET, 1]
    with pytest.raises(AgentError, match="future"):
        names(following(path, EVENTS, dict, endless=False))


def test_a_cursor_that_is_refused_at_once_is_an_error(path: str) -> None:
    Played(path, [refusal(user_error("the cursor is in the future", field="since"))])
    with pytest.raises(AgentError, match="future"):
        names(following(path, EVENTS, dict, resettable=True))
