"""Connections of the HTTP server with an application of the test behind them, on both event loops."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import uvloop

from covey.kernel.http.exchange import Application, Receive, Scope, Send
from covey.kernel.http.limits import DEFAULT_LIMITS, Limits
from covey.kernel.http.listeners import Listeners
from covey.kernel.http.server import HttpServer
from covey.kernel.metrics import Metrics

LIMIT_S = 120
LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "uvloop": uvloop.new_event_loop,
    "asyncio": asyncio.new_event_loop,
}
CLOSE = "Connection: close"
Scenario = Callable[["Scene"], Coroutine[Any, Any, None]]
Play = Callable[..., None]


class Served:
    """An application whose answer is a function of the test, and what it was asked."""

    def __init__(self, answer: Callable[[Scope, Receive, Send], Awaitable[None]]) -> None:
        self.metrics = Metrics()
        self.paths: list[str] = []
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.paths.append(scope["path"])
        await self._answer(scope, receive, send)


class Scene:
    """A server in this process and how to reach it."""

    def __init__(self, server: HttpServer, listeners: Listeners, path: str, application: Served) -> None:
        self.server = server
        self.application = application
        self.metrics = application.metrics
        self._port = listeners.port
        self._path = path

    async def connect(self, *, tcp: bool = False) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if tcp:
            return await asyncio.open_connection("127.0.0.1", self._port)
        return await asyncio.open_unix_connection(self._path)

    async def send(self, data: bytes) -> bytes:
        """Return what comes back until the server closes the connection."""
        reader, writer = await self.connect()
        writer.write(data)
        answer = await reader.read()
        writer.close()
        return answer


@pytest.fixture(params=LOOPS)
def play(request: pytest.FixtureRequest) -> Play:
    """Run a scenario with a server whose application answers with a function of the test."""

    def run(
        scenario: Scenario,
        answer: Callable[[Scope, Receive, Send], Awaitable[None]] | None = None,
        *,
        limits: Limits = DEFAULT_LIMITS,
        mounts: dict[str, Application] | None = None,
    ) -> None:
        async def main() -> None:
            folder = Path(tempfile.mkdtemp(prefix="cv-"))
            application = Served(answer or echo)
            listeners = Listeners(str(folder / "sock"), str(folder / "port"), tcp=True)
            server = HttpServer(application, listeners, limits=limits, mounts=mounts)
            try:
                await server.start()
                await scenario(Scene(server, listeners, str(folder / "sock"), application))
            finally:
                await server.aclose()
                shutil.rmtree(folder)

        with asyncio.Runner(loop_factory=LOOPS[request.param]) as runner:
            runner.run(asyncio.wait_for(main(), LIMIT_S))

    return run


def head(method: str, path: str, *lines: str, version: str = "1.1") -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/{version}", "Host: localhost", *lines, "", ""]).encode()


async def body_of(receive: Receive) -> bytes | None:
    """Return a whole body; None if the client leaves before its end."""
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message["body"])
        if not message["more_body"]:
            return b"".join(parts)


async def respond(send: Send, body: bytes, *headers: tuple[bytes, bytes]) -> None:
    length = (b"content-length", b"%d" % len(body))
    await send({"type": "http.response.start", "status": 200, "headers": [length, *headers]})
    await send({"type": "http.response.body", "body": body})


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    body = await body_of(receive)
    names = [name.decode() for name, _ in scope["headers"]]
    await respond(send, json.dumps([scope["method"], scope["path"], len(body or b""), names]).encode())


def answers(data: bytes) -> list[Any]:
    """Return the JSON bodies of the responses that came one after the other."""
    found = []
    while data:
        top, _, rest = data.partition(b"\r\n\r\n")
        assert top.startswith(b"HTTP/1.1 200 OK\r\n"), data
        length = int(top.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        found.append(json.loads(rest[:length]))
        data = rest[length:]
    return found


PIPELINE = (
    head("GET", "/first")
    + head("POST", "/second", "Content-Length: 5")
    + b"hello"
    + head("POST", "/third", "Transfer-Encoding: chunked")
    + b"5\r\nhello\r\n6\r\n world\r\n0\r\nX-Trailer: late\r\n\r\n"
    + head("GET", "/fo%75rth")
    + head("GET", "/last", CLOSE)
)
ANSWERS = [
    ["GET", "/first", 0, ["host"]],
    ["POST", "/second", 5, ["host", "content-length"]],
    ["POST", "/third", 11, ["host", "transfer-encoding"]],
    ["GET", "/fourth", 0, ["host"]],
    ["GET", "/last", 0, ["host", "connection"]],
]


def test_requests_in_a_pipeline_are_answered_in_order_with_their_own_bodies(play: Play) -> None:
    async def scenario(scene: Scene) -> None:
        assert answers(await scene.send(PIPELINE)) == ANSWERS

    play(scenario)


def test_requests_may_arrive_byte_by_byte(play: Play) -> None:
    async def scenario(scene: Scene) -> None:
        reader, writer = await scene.connect(tcp=True)
        for byte in PIPELINE:
            writer.write(bytes([byte]))
            await asyncio.sleep(0)
        assert answers(await reader.read()) == ANSWERS
        writer.close()

    play(scenario)


def test_a_slow_request_does_not_let_the_next_one_overtake_it(play: Play) -> None:
    proceed = asyncio.Event()

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/slow":
            await proceed.wait()
        await echo(scope, receive, send)

    async def scenario(scene: Scene) -> None:
        asked = asyncio.create_task(scene.send(head("GET", "/slow") + head("GET", "/quick", CLOSE)))
        while not scene.application.paths:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.01)
        assert scene.application.paths == ["/slow"], "the second waits for its turn"
        proceed.set()
        assert [path for _, path, *_ in answers(await asked)] == ["/slow", "/quick"]

    play(scenario, answer)


def test_a_client_that_closes_in_the_middle_of_a_body_is_reported_as_gone(play: Play) -> None:
    bodies: list[bytes | None] = []

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        bodies.append(await body_of(receive))
        await echo(scope, receive, send)

    async def scenario(scene: Scene) -> None:
        for framing, part in (("Content-Length: 10", b"hello"), ("Transfer-Encoding: chunked", b"5\r\nhello\r\n")):
            _, writer = await scene.connect()
            writer.write(head("POST", "/", framing) + part)
            while not scene.application.paths:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
            writer.close()
            while scene.server.connections or scene.server.tasks:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
            scene.application.paths.clear()
        assert bodies == [None, None]

    play(scenario, answer)


def test_a_thousand_idle_connections_leave_the_server_responsive_and_are_closed_when_it_stops(play: Play) -> None:
    async def scenario(scene: Scene) -> None:
        idle = [await scene.connect() for _ in range(1000)]
        while len(scene.server.connections) < 1000:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        assert len(answers(await scene.send(PIPELINE))) == len(ANSWERS)
        await scene.server.aclose()
        assert {await reader.read() for reader, _ in idle} == {b""}
        for _, writer in idle:
            writer.close()
        assert not scene.server.connections

    play(scenario)


def test_a_body_is_asked_for_with_100_continue_only_when_it_is_wanted(play: Play) -> None:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await (echo(scope, receive, send) if scope["path"] == "/wanted" else respond(send, b"[]"))

    async def scenario(scene: Scene) -> None:
        reader, writer = await scene.connect()
        writer.write(head("POST", "/wanted", "Content-Length: 5", "Expect: 100-continue", CLOSE))
        assert await reader.readexactly(25) == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(b"hello")
        assert answers(await reader.read())[0][2] == 5
        writer.close()
        reader, writer = await scene.connect()
        writer.write(head("POST", "/unwanted", "Content-Length: 5", "Expect: 100-continue", CLOSE))
        assert answers(await reader.read()) == [[]]
        writer.close()

    play(scenario, answer)


def test_the_rest_of_a_body_that_was_answered_early_is_dropped_and_the_connection_is_used_again(play: Play) -> None:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await (echo(scope, receive, send) if scope["path"] == "/next" else respond(send, b"[]"))

    async def scenario(scene: Scene) -> None:
        reader, writer = await scene.connect()
        writer.write(head("POST", "/early", "Content-Length: 1000000"))
        top = await reader.readuntil(b"\r\n\r\n")
        assert await reader.readexactly(2) == b"[]"
        assert b"connection: close" not in top
        writer.write(b"x" * 1_000_000 + head("GET", "/next", CLOSE))
        assert [path for _, path, *_ in answers(await reader.read())] == ["/next"]
        writer.close()

    play(scenario, answer)


def test_a_large_body_that_arrives_before_its_early_response_does_not_stop_the_rest(play: Play) -> None:
    size = 64 * DEFAULT_LIMITS.body_bytes
    came = asyncio.Event()

    async def answer(_: Scope, __: Receive, send: Send) -> None:
        await came.wait()  # until the server has stopped reading
        await send({"type": "http.response.start", "status": 413, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})

    async def scenario(scene: Scene) -> None:
        reader, writer = await scene.connect()
        writer.write(head("POST", "/early", f"Content-Length: {size}") + b"x" * size)
        await asyncio.sleep(0.1)
        came.set()
        await writer.drain()
        writer.write(head("GET", "/next", CLOSE))
        answers = await reader.read()
        assert answers.count(b"HTTP/1.1 413 ") == 2
        assert scene.application.paths == ["/early", "/next"]
        writer.close()

    play(scenario, answer)


def test_the_rest_of_a_body_that_was_answered_early_and_does_not_come_is_not_waited_for(play: Play) -> None:
    async def answer(_: Scope, __: Receive, send: Send) -> None:
        await respond(send, b"[]")

    async def scenario(scene: Scene) -> None:
        assert answers(await scene.send(head("POST", "/", "Content-Length: 10") + b"half")) == [[]]
        assert 'reason="slow"} 1\n' in scene.metrics.text()

    play(scenario, answer, limits=Limits(header_seconds=0.5))


def test_a_body_that_nobody_reads_yet_stops_the_sender(play: Play) -> None:
    proceed = asyncio.Event()
    size = 8 << 20

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await proceed.wait()
        await echo(scope, receive, send)

    async def scenario(scene: Scene) -> None:
        reader, writer = await scene.connect()
        writer.write(head("POST", "/", f"Content-Length: {size}", CLOSE) + b"x" * size)
        while not scene.application.paths:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.2)  # in which a server that goes on reading would read it all
        assert writer.transport.get_write_buffer_size() > size // 2, "most of it was not taken"
        proceed.set()
        assert answers(await reader.read())[0][2] == size
        writer.close()

    play(scenario, answer)


def test_a_client_that_reads_none_of_its_responses_is_cut_off(play: Play) -> None:
    async def answer(_: Scope, __: Receive, send: Send) -> None:
        await respond(send, b"x" * (4 << 20))

    async def scenario(scene: Scene) -> None:
        _, writer = await scene.connect()
        writer.transport.pause_reading()  # type: ignore[attr-defined]  # a transport for both directions
        writer.write(head("GET", "/") * 3)
        while not scene.application.paths:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        while scene.server.connections or scene.server.tasks:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        writer.close()

    play(scenario, answer, limits=Limits(write_seconds=0.2))


@pytest.mark.parametrize(
    "headers", [[(b"location", b"/\r\nset-cookie: a=b")], [(b"x: 1\r\nset-cookie", b"a=b")]], ids=["value", "name"]
)
def test_an_application_cannot_split_its_response(
    play: Play, headers: list[tuple[bytes, bytes]], caplog: pytest.LogCaptureFixture
) -> None:
    async def answer(_: Scope, __: Receive, send: Send) -> None:
        await respond(send, b"[]", *headers)

    async def scenario(scene: Scene) -> None:
        answer = await scene.send(head("GET", "/"))
        assert answer.startswith(b"HTTP/1.1 500 Internal Server Error\r\n")
        assert b"set-cookie" not in answer
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"] == "internal_error"

    play(scenario, answer)
    assert "an HTTP application failed" in caplog.text


def test_a_response_that_an_application_leaves_unfinished_has_no_end(play: Play) -> None:
    async def answer(scope: Scope, _: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"begun", "more_body": True})
        if scope["path"] == "/raises":
            raise LookupError
        if scope["path"] == "/begins again":
            await send({"type": "http.response.start", "status": 500, "headers": []})

    async def scenario(scene: Scene) -> None:
        for path in ("/returns", "/raises", "/begins%20again"):
            answer = await scene.send(head("GET", path) + head("GET", "/next"))
            assert answer.count(b"HTTP/1.1 ") == 1
            assert answer.endswith(b"5\r\nbegun\r\n"), "no last chunk, and nothing behind it"

    play(scenario, answer)


def test_an_application_that_returns_without_a_response_is_answered_for(play: Play) -> None:
    async def answer(_: Scope, __: Receive, ___: Send) -> None:
        return None

    async def scenario(scene: Scene) -> None:
        assert (await scene.send(head("GET", "/"))).startswith(b"HTTP/1.1 500 ")

    play(scenario, answer)


def test_a_malformed_request_behind_a_response_under_way_gets_no_answer_into_it(play: Play) -> None:
    async def answer(_: Scope, __: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"begun", "more_body": True})
        await asyncio.Event().wait()

    async def scenario(scene: Scene) -> None:
        reader, writer = await scene.connect()
        writer.write(head("GET", "/"))
        answer = await reader.readuntil(b"begun\r\n")
        writer.write(b"\0garbage\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            answer += await reader.read()
        assert answer.count(b"HTTP/1.1 ") == 1
        writer.close()
        for task in scene.server.tasks:
            task.cancel()

    play(scenario, answer)


def test_http_1_0_is_answered_without_chunks_and_closed(play: Play) -> None:
    async def answer(_: Scope, __: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"one ", "more_body": True})
        await send({"type": "http.response.body", "body": b"two"})

    async def scenario(scene: Scene) -> None:
        answer = await scene.send(head("GET", "/", "Connection: keep-alive", version="1.0"))
        assert answer == b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\none two"

    play(scenario, answer)


def test_a_mounted_application_gets_what_is_below_its_prefix_and_nothing_else(play: Play) -> None:
    async def pages(scope: Scope, _: Receive, send: Send) -> None:
        caller = scope["covey.caller"].transport
        await respond(send, json.dumps(["page", scope["root_path"], scope["path"], caller]).encode())

    async def scenario(scene: Scene) -> None:
        paths = ("/ui", "/ui/", "/ui/a%20b", "/uix", "/v1/ui", "/%75i/x")
        requests = b"".join(head("GET", path) for path in paths) + head("GET", "/ui?q=1", CLOSE)
        found = answers(await scene.send(requests))
        assert [answer[2] for answer in found if answer[0] == "page"] == ["/ui", "/ui/", "/ui/a b", "/ui"]
        assert found[0] == ["page", "/ui", "/ui", "unix"]
        assert scene.application.paths == ["/uix", "/v1/ui", "/ui/x"]

    play(scenario, mounts={"/ui": pages})


def test_what_is_being_answered_when_the_server_stops_is_finished_and_then_closed(play: Play) -> None:
    proceed = asyncio.Event()

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await proceed.wait()
        await echo(scope, receive, send)

    async def scenario(scene: Scene) -> None:
        asked = asyncio.create_task(scene.send(head("GET", "/one") + head("GET", "/two")))
        idle = asyncio.create_task(scene.send(b""))
        while not scene.server.tasks or len(scene.server.connections) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        stopping = asyncio.create_task(scene.server.aclose())
        assert await idle == b""
        proceed.set()
        answer = await asked
        assert [path for _, path, *_ in answers(answer)] == ["/one", "/two"]
        assert answer.count(b"connection: close") == 1
        await stopping

    play(scenario, answer)
