"""Requests of the client: what is sent, and what a real daemon receives."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.contract import OPERATIONS, Operation, Parameter
from covey.kernel.client import Client
from covey.kernel.daemon import Daemon
from covey.kernel.home import Home
from covey.kernel.operations.call import Call
from murli import AgentError
from tests.covey.conftest import Covey
from tests.covey.kernel.scripted_server import GET, LIMIT_S, PUT, Server, sized
from tests.covey.subsystems import serving

BY_NAME = {operation.name: operation for operation in OPERATIONS}


def test_a_request_has_the_required_headers_and_no_others(server: Server) -> None:
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


OBJECT = Operation(
    "echo.object",
    "Echo.",
    cli=["echo"],
    route="/v1/echo/object",
    parameters=[Parameter("filter", "An object.", type="object", content="raw")],
)


async def _echo(call: Call) -> dict[str, Any]:
    return call.params


@pytest.fixture(scope="module")
def echo() -> Iterator[str]:
    """The socket of a daemon that returns what it received."""
    folder = tempfile.mkdtemp(prefix="cv-")
    home, ready, stop = Home(folder), threading.Event(), asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []
    served = [*ECHO, OBJECT]

    async def live() -> None:
        loops.append(asyncio.get_running_loop())
        async with Daemon.running(
            home.node, [serving(served, lambda _: {operation.name: _echo for operation in served})]
        ):
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


@pytest.mark.parametrize("filter_", [{}, {"lang": "go"}, {"a b&c=ü": [1, 2.5, "it's", None, True, {"deep": {}}]}])
def test_an_object_in_a_query_reaches_the_daemon_as_it_is(echo: str, filter_: dict[str, Any]) -> None:
    assert Client(echo).call(OBJECT, {"filter": filter_}) == {"filter": filter_}


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
