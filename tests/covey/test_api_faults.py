"""The API with slow callers, crowds and failures of its own.

The server runs in this process, so that its limits can be short and its operations ours.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import logging
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import uvloop

from covey.contract import Operation, Parameter
from covey.kernel.clock import SystemClock
from covey.kernel.http.api import HttpApi
from covey.kernel.http.limits import DEFAULT_LIMITS, Limits
from covey.kernel.http.listeners import Listeners
from covey.kernel.http.server import HttpServer
from covey.kernel.metrics import Metrics
from covey.kernel.operations.call import Call, Handler
from covey.kernel.operations.dispatcher import Dispatcher
from covey.kernel.operations.idempotency import MIGRATIONS, IdempotentCalls
from covey.kernel.operations.stream import Batch, Message
from covey.kernel.store.store import Store

LIMIT = 120
TRANSPORTS = pytest.mark.parametrize("tcp", [False, True], ids=["unix", "tcp"])


IMPATIENT = Limits(header_seconds=0.3, idle_seconds=0.3)


OPERATIONS = (
    Operation("quick", "Answers.", cli=["quick"], route="/v1/quick"),
    Operation("slow", "Never answers.", cli=["slow"], route="/v1/slow"),
    Operation("broken", "Raises.", cli=["broken"], route="/v1/broken"),
    Operation("unfit", "Returns what is no JSON.", cli=["unfit"], route="/v1/unfit"),
    Operation(
        "stream",
        "Streams.",
        cli=["stream"],
        route="/v1/stream",
        streaming=True,
        media="text/event-stream",
        parameters=[Parameter("how", "How.")],
    ),
    Operation(
        "take",
        "Takes.",
        cli=["take"],
        method="POST",
        route="/v1/take",
        mutating=True,
        parameters=[Parameter("text", "Text.")],
    ),
)
SECRET = "the insides of the daemon"


async def quick(_: Call) -> object:
    return {"ok": True}


async def slow(_: Call) -> object:
    await asyncio.Event().wait()
    return None


async def broken(_: Call) -> object:
    raise LookupError(SECRET)


async def unfit(_: Call) -> object:
    return {"text": "\ud800"}


async def stream(call: Call) -> AsyncIterator[Batch]:
    async def batches() -> AsyncIterator[Batch]:
        if call.params["how"] == "at once":
            raise LookupError(SECRET)
        yield (Message("", 1),)
        if call.params["how"] == "midway":
            raise LookupError(SECRET)
        while call.params["how"] == "endless":
            yield (Message("", "x" * 65536),)

    return batches()


async def take(call: Call) -> object:
    return {"text": call.params["text"]}


HANDLERS: Mapping[str, Handler] = {
    "quick": quick,
    "slow": slow,
    "broken": broken,
    "unfit": unfit,
    "stream": stream,
    "take": take,
}


class Served:
    """A server in this process and how to reach it."""

    def __init__(self, server: HttpServer, listeners: Listeners, folder: Path, metrics: Metrics) -> None:
        self.server = server
        self.port = listeners.port
        self.path = str(folder / "sock")
        self.metrics = metrics

    async def connect(self, *, tcp: bool = False) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await (
            asyncio.open_connection("127.0.0.1", self.port) if tcp else asyncio.open_unix_connection(self.path)
        )

    async def send(self, data: bytes, *, tcp: bool = False) -> bytes:
        """What comes back until the server hangs up."""
        reader, writer = await self.connect(tcp=tcp)
        writer.write(data)
        answer = await reader.read()
        writer.close()
        return answer

    async def ask(self, method: str, path: str, *lines: str, body: bytes = b"", tcp: bool = False) -> tuple[int, Any]:
        sent = [
            f"{method} {path} HTTP/1.1",
            "Host: localhost",
            "Authorization: Bearer token",
            "Connection: close",
            *lines,
        ]
        answer = await self.send("\r\n".join([*sent, "", ""]).encode() + body, tcp=tcp)
        return int(answer[9:12]), json.loads(answer.partition(b"\r\n\r\n")[2])


def with_server(
    scenario: Callable[[Served], Coroutine[Any, Any, None]],
    *,
    deadline: float = 30.0,
    limits: Limits = DEFAULT_LIMITS,
    **options: float,
) -> None:
    async def main() -> None:
        folder = Path(tempfile.mkdtemp(prefix="cv-"))
        try:
            async with await Store.open(folder / "db", MIGRATIONS) as store:
                metrics = Metrics()
                dispatcher = Dispatcher(
                    OPERATIONS, metrics=metrics, idempotent=IdempotentCalls(store, SystemClock()), deadline_s=deadline
                )
                dispatcher.install(HANDLERS)
                api = HttpApi(dispatcher, token="token", **options)  # type: ignore[arg-type]
                listeners = Listeners(str(folder / "sock"), str(folder / "port"), tcp=True)
                server = HttpServer(api, listeners, limits=limits)
                await server.start()
                try:
                    await scenario(Served(server, listeners, folder, metrics))
                finally:
                    await server.aclose()
        finally:
            shutil.rmtree(folder)

    # The daemon's own loop: loops differ in how a connection ends.
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(asyncio.wait_for(main(), LIMIT))


@TRANSPORTS
def test_connections_that_dawdle_are_cut_off_while_others_are_served(*, tcp: bool) -> None:
    async def trickle(served: Served) -> bytes:
        reader, writer = await served.connect(tcp=tcp)
        ended = asyncio.create_task(reader.read())
        with contextlib.suppress(ConnectionError):
            for byte in b"GET /v1/quick HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 4000:
                if ended.done() or writer.is_closing():
                    break
                writer.write(bytes([byte]))
                await asyncio.sleep(0.05)
        writer.close()
        with contextlib.suppress(ConnectionError):
            return await ended
        return b""

    async def scenario(served: Served) -> None:
        silent = [asyncio.create_task(served.send(b"", tcp=tcp)) for _ in range(100)]
        trickling = [asyncio.create_task(trickle(served)) for _ in range(100)]
        asked = 0
        while not all(task.done() for task in (*silent, *trickling)):
            assert await served.ask("GET", "/v1/quick", tcp=tcp) == (200, {"ok": True})
            asked += 1
        assert asked > 3
        assert set(await asyncio.gather(*silent, *trickling)) == {b""}
        assert 'covey_http_hangups_total{reason="slow"} 200\n' in served.metrics.text()
        assert not served.server.tcp_connections

    # Long enough for those that ask: on a busy machine all of this process may stand still for a second.
    with_server(scenario, limits=Limits(header_seconds=4.0, idle_seconds=4.0))


@TRANSPORTS
def test_a_connection_without_a_next_request_is_closed(*, tcp: bool) -> None:
    async def scenario(served: Served) -> None:
        answer = await served.send(
            b"GET /v1/quick HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer token\r\n\r\n", tcp=tcp
        )
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert 'reason="idle"} 1\n' in served.metrics.text()

    with_server(scenario, limits=IMPATIENT)


def test_a_caller_that_does_not_read_its_answers_is_cut_off() -> None:
    async def scenario(served: Served) -> None:
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(served.path)
            sock.sendall(b"GET /v1/stream?how=endless HTTP/1.1\r\nHost: localhost\r\n\r\n")
            while "covey_http_stalled_total" not in served.metrics.text():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            while served.server.connections:  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    with_server(scenario, limits=IMPATIENT, stall=0.2)


def test_connections_that_only_wait_make_room_for_one_that_sends_a_request() -> None:
    """Any user of this machine can open connections over TCP; those with a token must not be kept out by them."""

    async def scenario(served: Served) -> None:
        served.server.max_tcp_connections = 5
        held = [await served.connect(tcp=True) for _ in range(5)]
        while served.server.tcp_connections < 5:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        for _ in range(3):
            assert await served.ask("GET", "/v1/quick", tcp=True) == (200, {"ok": True})
        assert await held[0][0].read() == b"", "the one that waited longest was sent away"
        assert served.server.tcp_connections <= 5
        assert 'covey_http_hangups_total{reason="crowd"}' in served.metrics.text()
        for _, writer in held:
            writer.close()

    with_server(scenario)


def test_more_tcp_connections_than_can_be_answered_are_turned_away_and_the_owner_is_served() -> None:
    async def scenario(served: Served) -> None:
        served.server.max_tcp_connections = 5
        held = [await served.connect(tcp=True) for _ in range(5)]
        while served.server.tcp_connections < 5:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        served.server.waiting.clear()  # as if all of them were being answered
        with contextlib.suppress(ConnectionError):
            assert await served.send(b"", tcp=True) == b""
        assert await served.ask("GET", "/v1/quick") == (200, {"ok": True})
        for _, writer in held:
            writer.close()
        while served.server.tcp_connections:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert await served.ask("GET", "/v1/quick", tcp=True) == (200, {"ok": True})

    with_server(scenario)


@TRANSPORTS
def test_an_operation_that_takes_longer_than_the_caller_allows_is_a_timeout(*, tcp: bool) -> None:
    async def scenario(served: Served) -> None:
        for deadline in ("100", "150"):
            status, error = await served.ask("GET", "/v1/slow", f"Covey-Deadline-Ms: {deadline}", tcp=tcp)
            assert (status, error["error"], error["code"], error["recoverable"]) == (504, "timeout", 4, True)
        for deadline in ("-1", "0", "1", "99", "abc", "1.5", "9" * 5000, "1e3"):
            status, error = await served.ask("GET", "/v1/quick", f"Covey-Deadline-Ms: {deadline}", tcp=tcp)
            assert (status, error["field"]) == (400, "Covey-Deadline-Ms")

    with_server(scenario)


def test_no_caller_can_wait_longer_than_the_daemon_allows() -> None:
    async def scenario(served: Served) -> None:
        assert (await served.ask("GET", "/v1/slow", "Covey-Deadline-Ms: 999999999"))[0] == 504
        assert (await served.ask("GET", "/v1/slow"))[0] == 504

    with_server(scenario, deadline=0.1)


@TRANSPORTS
def test_a_body_that_never_arrives_is_a_timeout_of_its_own(*, tcp: bool) -> None:
    async def scenario(served: Served) -> None:
        for framing in ("Content-Length: 100", "Transfer-Encoding: chunked"):
            status, error = await served.ask("POST", "/v1/take", framing, tcp=tcp)
            assert (status, error["error"]) == (408, "timeout")

    with_server(scenario, deadline=0.1)


@pytest.mark.parametrize("path", ["/v1/broken", "/v1/unfit", "/v1/stream?how=at%20once"])
def test_a_failure_of_ours_is_told_without_its_insides_counted_and_logged(path: str) -> None:
    async def scenario(served: Served) -> None:
        status, error = await served.ask("GET", path)
        assert (status, error["error"], error["code"]) == (500, "internal_error", 2)
        assert SECRET not in json.dumps(error)
        operation = path[4:].partition("?")[0]
        assert f'covey_http_failures_total{{operation="{operation}"}} 1\n' in served.metrics.text()
        assert f'covey_http_requests_total{{operation="{operation}",status="500"}} 1\n' in served.metrics.text()

    with logged() as text:
        with_server(scenario)
    assert "Traceback" in text.getvalue()


def test_a_stream_that_fails_midway_ends_with_the_error_as_its_last_event() -> None:
    async def scenario(served: Served) -> None:
        answer = await served.send(
            b"GET /v1/stream?how=midway HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert b"data: 1\n\n" in answer
        assert b'event: covey.error\ndata: {"code":2,"error":"internal_error"' in answer
        assert answer.endswith(b"\r\n0\r\n\r\n")
        assert SECRET.encode() not in answer

    with logged() as text:
        with_server(scenario)
    assert SECRET in text.getvalue()


def test_what_is_not_done_when_the_server_stops_is_hung_up_on_quietly() -> None:
    waiting: list[asyncio.Task[bytes]] = []

    async def scenario(served: Served) -> None:
        waiting.append(asyncio.create_task(served.send(b"GET /v1/slow HTTP/1.1\r\nHost: localhost\r\n\r\n")))
        while not served.server.tasks:  # noqa: ASYNC110
            await asyncio.sleep(0.01)

    with logged() as text:
        with_server(scenario)
    assert text.getvalue() == ""


@contextlib.contextmanager
def logged() -> Iterator[io.StringIO]:
    """All that is logged, tracebacks included."""
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    logging.getLogger().addHandler(handler)
    try:
        yield text
    finally:
        logging.getLogger().removeHandler(handler)
