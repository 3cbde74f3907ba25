"""MCP over HTTP, in a process of its own: `python -m covey.mcp.http <home> <port>`, kept running by the node.

It listens on the loopback interface and wants the bearer token of the API. Requests that name another host, or come
from a web page, are refused.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import socket
import sys
from typing import TYPE_CHECKING

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from covey.kernel.home import Home
from covey.kernel.regular_file import read_regular
from covey.mcp.address import HOST, PATH, record_port, recorded_port
from covey.mcp.server import make_server

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import ASGIApp, Receive, Scope, Send

BACKLOG = 64
LONGEST_TOKEN = 4096
UNAUTHORIZED = (
    b'{"error":"permission_denied","message":"the bearer token is missing or wrong",'
    b'"suggestion":"Send the content of node/http.token in Covey\'s home as a bearer token."}'
)


class WithToken:
    """An application for those who know the token, which is read anew for each request."""

    def __init__(self, application: ASGIApp, token_file: str) -> None:
        self._application = application
        self._token_file = token_file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._allowed(scope):
            headers = [(b"content-type", b"application/json"), (b"www-authenticate", b"Bearer")]
            await send({"type": "http.response.start", "status": 401, "headers": headers})
            await send({"type": "http.response.body", "body": UNAUTHORIZED})
            return
        await self._application(scope, receive, send)

    def _allowed(self, scope: Scope) -> bool:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        try:
            token = read_regular(self._token_file, LONGEST_TOKEN).strip()
        except OSError:
            return False
        if len(given) != 1 or not token:
            return False
        scheme, _, shown = given[0].partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(shown.strip(), token)


def application(home: Home) -> ASGIApp:
    """Return the ASGI application: one endpoint that keeps no sessions, so that any process can answer any request."""
    app = make_server(home).streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        transport_security=TransportSecuritySettings(
            allowed_hosts=[f"{name}:*" for name in (HOST, "localhost")], allowed_origins=[]
        ),
    )
    return WithToken(app, home.node.token_file)


def listener(home: Home, port: int) -> socket.socket:
    """Return a socket that listens on this port; for 0 on the port of the last time if it is free, else on any.

    Raises OSError.
    """
    for wanted in dict.fromkeys((port,) if port else (recorded_port(home.node) or 0, 0)):
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((HOST, wanted))
        except OSError:
            sock.close()
            if port or not wanted:
                raise
        else:
            sock.listen(BACKLOG)
            return sock
    raise OSError("no port is free")


def main(arguments: Sequence[str]) -> int:
    """Serve until told to stop. Returns the exit code."""
    home, port = Home(arguments[0]), int(arguments[1])
    os.umask(0o077)
    try:
        sock = listener(home, port)
    except OSError as error:
        sys.stderr.write(f"MCP cannot be served on {HOST}, port {port or 'any'}: {error}\n")
        return 1
    record_port(home.node, sock.getsockname()[1])
    config = uvicorn.Config(application(home), log_level="warning", server_header=False, timeout_graceful_shutdown=3)
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[sock])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
