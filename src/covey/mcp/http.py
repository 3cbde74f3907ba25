"""MCP over HTTP, in a process of its own: `python -m covey.mcp.http <home> <port>`, kept running by the node.

It listens on the loopback interface and wants the bearer token of the API. Requests that name another host, or come
from a web page, are refused.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import socket
import sys
from typing import TYPE_CHECKING, Any

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from covey.kernel.home import Home
from covey.kernel.regular_file import read_regular
from covey.mcp.address import HOST, PATH, record_port, recorded_port
from covey.mcp.server import make_server

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcp.server.lowlevel import Server
    from starlette.applications import Starlette
    from starlette.types import ASGIApp, Receive, Scope, Send

BACKLOG = 64
LONGEST_TOKEN = 4096
LOCAL_ONLY = TransportSecuritySettings(allowed_hosts=[f"{name}:*" for name in (HOST, "localhost")], allowed_origins=[])
"""Requests that name another host, or come from a web page, are refused."""


class WithToken:
    """An application for those who know the token, which is read anew for each request."""

    def __init__(self, application: ASGIApp, token_file: str) -> None:
        self._application = application
        self._token_file = token_file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._allowed(scope):
            await refuse(send, "Send the content of node/http.token in Covey's home as a bearer token.")
            return
        await self._application(scope, receive, send)

    def _allowed(self, scope: Scope) -> bool:
        try:
            token = read_regular(self._token_file, LONGEST_TOKEN).strip()
        except OSError:
            return False
        return bool(token) and hmac.compare_digest(bearer_token(scope), token)


def bearer_token(scope: Scope) -> bytes:
    """Return the bearer token that a request shows; an empty one if it shows none, or several."""
    given = [value for name, value in scope["headers"] if name == b"authorization"]
    scheme, _, shown = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
    return bytes(shown.strip()) if scheme.lower() == b"bearer" else b""


async def refuse(send: Send, suggestion: str) -> None:
    """Answer a request whose token is missing or wrong."""
    headers = [(b"content-type", b"application/json"), (b"www-authenticate", b"Bearer")]
    body = {
        "error": "permission_denied",
        "message": "the bearer token is missing or wrong",
        "suggestion": suggestion,
    }
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})


def application(home: Home) -> ASGIApp:
    """Return the ASGI application, which has one endpoint."""
    return WithToken(streamable(make_server(home)), home.node.token_file)


def streamable(server: Server[Any]) -> Starlette:
    """Return an application that serves MCP at `PATH` without sessions, so that any process can answer any request."""
    return server.streamable_http_app(
        streamable_http_path=PATH, json_response=True, stateless_http=True, transport_security=LOCAL_ONLY
    )


def listener(ports: Iterable[int]) -> socket.socket:
    """Return a socket that listens on the first of these ports that is free; 0 stands for any free one.

    Raises the OSError of the last port if none is free.
    """
    refused = OSError("there is no port to listen on")
    for port in dict.fromkeys(ports):
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((HOST, port))
            sock.listen(BACKLOG)
        except OSError as error:
            sock.close()
            refused = error
        else:
            return sock
    raise refused


def serve(app: ASGIApp, sock: socket.socket) -> None:
    """Serve an application until told to stop."""
    config = uvicorn.Config(app, log_level="warning", server_header=False, timeout_graceful_shutdown=3)
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[sock])


def main(arguments: Sequence[str]) -> int:
    """Serve until told to stop, on this port; for 0 on that of the last time, or any. Returns the exit code."""
    home, port = Home(arguments[0]), int(arguments[1])
    os.umask(0o077)
    try:
        sock = listener((port,) if port else (recorded_port(home.node) or 0, 0))
    except OSError as error:
        sys.stderr.write(f"MCP cannot be served on {HOST}, port {port or 'any'}: {error}\n")
        return 1
    record_port(home.node, sock.getsockname()[1])
    serve(application(home), sock)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
