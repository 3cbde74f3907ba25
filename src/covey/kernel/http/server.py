"""The HTTP server of a daemon: its listeners, its open connections, and the applications behind them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
from typing import TYPE_CHECKING, Protocol

from covey.kernel.http.connection import Connection
from covey.kernel.http.limits import DEFAULT_LIMITS
from covey.kernel.http.listeners import BACKLOG
from covey.kernel.operations.call import TCP, UNIX

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

    from covey.kernel.http.exchange import Application, Exchange, Receive, Scope, Send
    from covey.kernel.http.limits import Limits
    from covey.kernel.http.listeners import Listeners
    from covey.kernel.metrics import Metrics

GRACE_S = 3.0
LEAST_TCP_CONNECTIONS = 64


class MeasuredApplication(Protocol):
    """An ASGI application with the metrics in which the server counts too. `HttpApi` is one."""

    metrics: Metrics

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]: ...


class HttpServer:
    """Serves the API on the listeners, and other ASGI applications below the prefixes where they are mounted.

    A mounted application gets every request whose path is its prefix, or begins with its prefix and a slash. It must
    check its callers itself: what the API refuses before it routes is not refused for it.
    """

    def __init__(
        self,
        api: MeasuredApplication,
        listeners: Listeners,
        *,
        mounts: Mapping[str, Application] | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self.limits = limits
        self.connections: set[Connection] = set()
        self.tasks: set[asyncio.Task[None]] = set()
        """The requests that are being answered."""
        self.tcp_connections = 0
        self.max_tcp_connections = max(resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2, LEAST_TCP_CONNECTIONS)
        """Any user of this machine can open connections over TCP; they must leave descriptors for our own work."""
        self.waiting: dict[Connection, None] = {}
        """Connections over TCP of which no request is being answered, the one that has waited longest first."""
        self._api = api
        self._mounts = [(prefix.encode("ascii"), prefix, application) for prefix, application in (mounts or {}).items()]
        self._metrics = api.metrics
        self._listeners = listeners
        self._servers: list[asyncio.AbstractServer] = []

    async def start(self) -> None:
        """Accept connections from now on."""
        loop = asyncio.get_running_loop()
        self._servers.append(
            await loop.create_unix_server(self._connection, sock=self._listeners.unix, backlog=BACKLOG)
        )
        if self._listeners.tcp is not None:
            self._servers.append(await loop.create_server(self._connection, sock=self._listeners.tcp, backlog=BACKLOG))

    async def restore(self) -> list[str]:
        """Bind the socket again if it was removed, and write the file with the port again; return the new paths.

        Connections that are open stay open.
        """
        made = [path] if (path := self._listeners.restore_port()) else []
        if self._listeners.socket_is_lost:
            before = self._servers[0]
            made.append(self._listeners.bind_again())
            self._servers[0] = await asyncio.get_running_loop().create_unix_server(
                self._connection, sock=self._listeners.unix, backlog=BACKLOG
            )
            before.close()
        return made

    async def aclose(self) -> None:
        """Accept nothing more, give the requests that are being answered a moment to finish, then close."""
        for server in self._servers:
            server.close()
        for connection in list(self.connections):
            connection.shut_down()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_S):
                while self.tasks:  # a request that waited on its connection begins when the one before it has ended
                    await asyncio.wait(set(self.tasks))
        late = set(self.tasks)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
        for connection in list(self.connections):
            connection.abort()
        self._listeners.close()

    # Called by the connections.

    def admit(self, connection: Connection) -> bool:
        """Return whether a new connection may stay: one of another user may not, nor one too many over TCP."""
        caller = connection.caller
        if caller.transport == UNIX and caller.uid != os.getuid():
            self.count_hangup("peer")
            return False
        if caller.transport == TCP:
            if self.tcp_connections >= self.max_tcp_connections and not self._make_room():
                self.count_hangup("crowd")
                return False
            self.tcp_connections += 1
        self.connections.add(connection)
        return True

    def release(self, connection: Connection) -> None:
        """Forget a connection that was admitted and is closed now."""
        self.connections.discard(connection)
        if connection.caller.transport == TCP:
            self.tcp_connections -= 1

    def began_waiting(self, connection: Connection) -> None:
        """Note that no request of a connection is being answered."""
        if connection.caller.transport == TCP:
            self.waiting[connection] = None

    def stopped_waiting(self, connection: Connection) -> None:
        """Note that a connection has asked for something, or is closed."""
        self.waiting.pop(connection, None)

    def run(self, exchange: Exchange) -> None:
        """Have a request answered by the application at its path, in a task of its own."""
        application, prefix = self._application(exchange.head.path)
        task = asyncio.get_running_loop().create_task(exchange.run(application, prefix))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def count_hangup(self, reason: str) -> None:
        """Count a connection that was refused or cut off. It is not logged: a flood of them must not fill the disk."""
        self._metrics.count("covey_http_hangups_total", reason=reason)

    def _application(self, path: bytes) -> tuple[Application, str]:
        for start, prefix, application in self._mounts:
            if path.startswith(start) and path[len(start) : len(start) + 1] in (b"", b"/"):
                return application, prefix
        return self._api, ""

    def _make_room(self) -> bool:
        """Close the connection over TCP that has waited longest; return False if all are being answered.

        Otherwise any user of this machine could keep out those with a token by opening connections and sending nothing.
        """
        oldest = next(iter(self.waiting), None)
        if oldest is None:
            return False
        del self.waiting[oldest]
        oldest.abort()
        self.count_hangup("crowd")
        return True

    def _connection(self) -> Connection:
        return Connection(self)
