"""Connections: who calls, how much and how long a caller may take, and the API behind it."""

from __future__ import annotations

import asyncio
import os
import resource
import socket
from typing import TYPE_CHECKING, Any, NoReturn

import httptools
import uvicorn
import uvicorn.server
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from covey.kernel.answer import raw_refusal
from covey.kernel.call import TCP, UNIX, Caller
from covey.kernel.listeners import BACKLOG, peer
from murli import rate_limited, user_error

if TYPE_CHECKING:
    from covey.kernel.api import HttpApi
    from covey.kernel.listeners import Listeners
    from murli import AgentError

GRACE_S = 3.0


class Protocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol, made fit for strangers: it knows who calls, and what it keeps for a caller is bounded in size and in time."""

    header_seconds = 10.0
    """How long a connection may take to send its request line and headers, and what is left of a body that nobody wants any more."""
    idle_seconds = 60.0
    """How long a connection may stay open between two requests."""
    head_limit = 64 * 1024
    """Bytes of request line and headers; also what a body in chunks may cost beyond eight times its size."""
    header_limit = 100
    pipeline_limit = 16
    """How many requests may wait on a connection while one is answered."""

    _timer: asyncio.TimerHandle | None = None
    _let_in = False
    _idle = False  # answered, and nothing has come since
    _in_body = False  # headers are complete: more of them are trailers, which nobody asked for
    _overhead = 0
    _objection: tuple[int, str, AgentError] | None = None
    _caller = Caller(TCP)
    _running: RequestResponseCycle | None = None  # `self.cycle` is the newest, which may still wait behind it

    def __init__(self, server: HttpServer) -> None:
        super().__init__(config=server.config, server_state=server.state, app_state={})
        self._server = server

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        sock = transport.get_extra_info("socket")
        self._caller = Caller(UNIX, *peer(sock)) if sock is not None and sock.family == socket.AF_UNIX else Caller(TCP)
        if self._caller.transport == UNIX and self._caller.uid != os.getuid():
            self._server.refused("peer")
            transport.abort()
            return
        if (
            self._caller.transport == TCP
            and self._server.strangers >= self._server.most_strangers
            and not self._server.make_room()
        ):
            self._server.refused("crowd")
            transport.abort()
            return
        super().connection_made(transport)
        self._let_in = True
        self._server.strangers += self._caller.transport == TCP
        self._wait(self.header_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        if not self._let_in:
            return
        self._server.strangers -= self._caller.transport == TCP
        if self._running is not None and not self._running.response_complete:
            _forget(self._running)
        self.pipeline.clear()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self._let_in or self.transport.is_closing():
            return
        if self._idle:
            self._idle = False
            self._wait(self.header_seconds)
        self._overhead += len(data)
        try:
            self.parser.feed_data(data)
        except (
            httptools.HttpParserUpgrade
        ):  # served as if it had not been asked for, and then closed: what follows is not HTTP
            self.flow.pause_reading()
            self.cycle.keep_alive = False
        except httptools.HttpParserError:
            self._refuse()
        else:
            if self._overhead > self.head_limit:
                self._objection = _TOO_LARGE
                self._refuse()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_body, self._overhead = False, 0
        self.scope["covey.caller"] = self._caller  # type: ignore[typeddict-unknown-key]

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_body:
            return
        super().on_header(name, value)
        if len(self.headers) > self.header_limit:
            self._object(_TOO_LARGE)

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        self._in_body = True
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > self.head_limit:
            self._object(_TOO_LARGE)
        if len(self.pipeline) >= self.pipeline_limit:
            self._object(_TOO_MANY)
        if not self.url.startswith(b"/"):
            self._object(
                _NOT_A_PATH
            )  # the form for proxies names a host of its own beside the Host header, and we check only one
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._overhead -= 9 * len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        if self.cycle.response_complete:  # what nobody wanted has been read to its end
            self._rest()

    def on_response_complete(self) -> None:
        following = bool(self.pipeline)
        super().on_response_complete()
        if not following:
            self._rest()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._running = cycle
        cycle.scope["covey.abandon"] = lambda: self._abandon(cycle)  # type: ignore[typeddict-unknown-key]
        super()._start_asgi_task(cycle, app)

    def _rest(self) -> None:
        self._idle = True
        self._wait(self.idle_seconds)

    def _wait(self, seconds: float) -> None:
        self._stop_waiting()
        self._timer = self.loop.call_later(seconds, self.cut_off)
        if self._caller.transport == TCP:
            self._server.waiting[self] = None

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._server.waiting.pop(self, None)

    def cut_off(self) -> None:
        """Hang up on a caller that asks for nothing."""
        self._server.refused("idle" if self._idle else "slow")
        if self.transport.get_write_buffer_size():
            self.transport.abort()  # closing would wait until the rest has been read
        else:
            self.transport.close()

    def _abandon(self, cycle: RequestResponseCycle) -> None:
        """Hang up on a caller that cannot be answered any more."""
        _forget(cycle)
        self.transport.abort()

    def _object(self, objection: tuple[int, str, AgentError]) -> NoReturn:
        self._objection = objection
        raise ValueError(objection[1])

    def _refuse(self) -> None:
        """Say why and hang up. An answer that is under way is given up: where it ends and ours begins could not be told."""
        self._server.refused("malformed")
        running = self._running
        if running is not None and not running.response_complete:
            _forget(running)
            if running.response_started:
                self.transport.abort()
                return
        self.transport.write(raw_refusal(*(self._objection or _MALFORMED)))
        self.transport.close()
        self._wait(self.header_seconds)  # unless it takes our answer


def _forget(cycle: RequestResponseCycle) -> None:
    cycle.disconnected = True
    cycle.message_event.set()


_MALFORMED = (
    400,
    "Bad Request",
    user_error(
        "this is not HTTP/1.1",
        "Check the request line, the headers and the framing of the body.",
        error="malformed_request",
    ),
)
_NOT_A_PATH = (
    400,
    "Bad Request",
    user_error("the address must be a path", "Send the path only, such as GET /v1/status.", error="malformed_request"),
)
_TOO_LARGE = (
    431,
    "Request Header Fields Too Large",
    user_error("the request line and headers are too large", "Send less.", error="malformed_request"),
)
_TOO_MANY = (
    429,
    "Too Many Requests",
    rate_limited("too many requests wait on this connection", 1000, "Read the answers before you ask more."),
)


class HttpServer:
    """The API on the listeners. uvicorn's protocol without its server: that one ticks ten times a second, and we want to sleep."""

    def __init__(self, api: HttpApi, listeners: Listeners, *, protocol: type[Protocol] = Protocol) -> None:
        self.config = uvicorn.Config(
            api,
            http=protocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_keep_alive=int(protocol.idle_seconds) + 1,
        )
        self.state = uvicorn.server.ServerState()
        self.strangers = 0
        """Connections over TCP, where anybody on this machine can knock."""
        self.waiting: dict[Protocol, None] = {}
        """Those of them that ask for nothing at the moment, the one that has waited longest first."""
        self.most_strangers = max(resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2, 64)
        self._metrics = api.metrics
        self._listeners = listeners
        self._new = protocol
        self._servers: list[asyncio.AbstractServer] = []

    async def start(self) -> None:
        """Accept connections from now on."""
        self.config.load()
        self.state.default_headers = self.config.encoded_headers
        loop = asyncio.get_running_loop()
        self._servers.append(await loop.create_unix_server(self._protocol, sock=self._listeners.unix, backlog=BACKLOG))
        if self._listeners.tcp is not None:
            self._servers.append(await loop.create_server(self._protocol, sock=self._listeners.tcp, backlog=BACKLOG))

    async def restore(self) -> list[str]:
        """Listen again if the socket was removed, and tell the port again: the paths that were made anew. Connections that are open stay open."""
        made = [path] if (path := self._listeners.restore_port()) else []
        if self._listeners.socket_is_lost:
            before = self._servers[0]
            made.append(self._listeners.bind_again())
            self._servers[0] = await asyncio.get_running_loop().create_unix_server(
                self._protocol, sock=self._listeners.unix, backlog=BACKLOG
            )
            before.close()
        return made

    async def aclose(self) -> None:
        """Accept nothing more, let what is being answered finish for a moment, then close."""
        for server in self._servers:
            server.close()
        for connection in list(self.state.connections):
            connection.shutdown()
        if self.state.tasks:
            await asyncio.wait(set(self.state.tasks), timeout=GRACE_S)
        late = set(self.state.tasks)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
        for connection in list(self.state.connections):
            connection.transport.abort()
        self._listeners.close()

    def make_room(self) -> bool:
        """Hang up on the connection over TCP that has asked for nothing for longest; False if all are being answered.

        Otherwise any user of this machine could keep those with a token out by opening connections and saying nothing.
        """
        oldest = next(iter(self.waiting), None)
        if oldest is None:
            return False
        oldest.transport.abort()
        del self.waiting[oldest]
        self.refused("crowd")
        return True

    def refused(self, why: str) -> None:
        """Counted, not logged: whoever floods us with connections must not fill the disk as well."""
        self._metrics.count("covey_http_hangups_total", reason=why)

    def _protocol(self) -> Protocol:
        return self._new(self)
