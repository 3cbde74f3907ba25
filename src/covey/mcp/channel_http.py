"""MCP for kept sessions, in a process of its own: `python -m covey.mcp.channel_http <home> <port>`, kept by the node.

It listens on the loopback interface and serves streamable HTTP at `/mcp`, and at `/sse` the older transport of the same
name, whose messages are posted to `/messages/`. Each kept session has a token, and the token of a request decides whose
channels it is about. Requests that name another host, or come from a web page, are refused.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.sse import SseServerTransport
from mcp.server.transport_security import TransportSecurityMiddleware
from starlette.requests import Request
from starlette.routing import Mount, Route

from covey.kernel.home import Home
from covey.kernel.regular_file import open_regular
from covey.mcp.address import HOST, KEEPER, SSE_PATH, record_port, recorded_port
from covey.mcp.channel_server import SESSION, make_channel_server
from covey.mcp.http import LOCAL_ONLY, LONGEST_TOKEN, bearer_token, listener, refuse, serve, streamable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcp.server.lowlevel import Server
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from covey.kernel.seat import Seat

MESSAGES_PATH = "/messages/"


def token_file(seat: Seat, session: str) -> Path:
    """Return where the token of a kept session is."""
    return _folder(seat) / session / "token"


class SessionTokens:
    """The tokens of the kept sessions. They are read anew each time, so a token that is removed counts no more."""

    def __init__(self, seat: Seat) -> None:
        self._seat = seat

    def session_of(self, shown: bytes) -> str:
        """Return the name of the session whose token this is; empty if it is nobody's, or that of several sessions."""
        found = [name for name, token in self._tokens() if hmac.compare_digest(shown, token)]
        return found[0] if len(found) == 1 else ""

    def _tokens(self) -> Iterator[tuple[str, bytes]]:
        """Yield names and tokens. A file that is missing, empty or somebody else's is left out."""
        try:
            names = [folder.name for folder in _folder(self._seat).iterdir()]
        except OSError:
            return
        for name in names:
            try:
                with open_regular(token_file(self._seat, name)) as file:
                    ours = os.fstat(file.fileno()).st_uid == os.geteuid()
                    token = file.read(LONGEST_TOKEN).strip()
            except OSError:
                continue
            if ours and token:
                yield name, token


class WithSession:
    """An application for kept sessions: each request is given the name of the session whose token it shows."""

    def __init__(self, application: ASGIApp, tokens: SessionTokens) -> None:
        self._application = application
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            shown = bearer_token(scope)
            session = self._tokens.session_of(shown)
            if not session:
                await refuse(send, "Send the token that this kept session was started with as a bearer token.")
                return
            # The SDK binds an SSE stream to this user. It stands for the token, since a session can be renamed.
            user = AuthenticatedUser(AccessToken(token="", client_id=hashlib.sha256(shown).hexdigest(), scopes=[]))
            scope = {**scope, "user": user, SESSION: session}
        await self._application(scope, receive, send)


class SseEndpoint:
    """The endpoint of the streams on which answers are sent, one for each client."""

    def __init__(self, server: Server[Any], transport: SseServerTransport) -> None:
        self._server = server
        self._transport = transport
        self._security = TransportSecurityMiddleware(LOCAL_ONLY)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # The transport checks this too, and raises an error that would be logged as a failure of ours.
        if refusal := await self._security.validate_request(Request(scope)):
            await refusal(scope, receive, send)
            return
        complete = False

        async def send_part(message: Message) -> None:
            nonlocal complete
            complete = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        async with self._transport.connect_sse(scope, receive, send_part) as (received, sent):
            await self._server.run(received, sent, self._server.create_initialization_options())
        if not complete:  # the process is told to stop, and uvicorn would log a response without an end as an error
            await send({"type": "http.response.body", "body": b""})


def application(home: Home) -> ASGIApp:
    """Return the ASGI application with both transports."""
    server = make_channel_server(home)
    transport = SseServerTransport(MESSAGES_PATH, LOCAL_ONLY)
    app = streamable(server)
    app.routes.append(Route(SSE_PATH, endpoint=SseEndpoint(server, transport), methods=["GET"]))
    app.routes.append(Mount(MESSAGES_PATH, app=transport.handle_post_message))
    return WithSession(app, SessionTokens(home.node))


def main(arguments: Sequence[str]) -> int:
    """Serve until told to stop, on this port; if it is taken on that of the last time, else on any.

    Returns the exit code.
    """
    home, port = Home(arguments[0]), int(arguments[1])
    os.umask(0o077)
    try:
        sock = listener((*filter(None, (port, recorded_port(home.node, server=KEEPER))), 0))
    except OSError as error:
        sys.stderr.write(f"MCP for kept sessions cannot be served on {HOST}: {error}\n")
        return 1
    record_port(home.node, sock.getsockname()[1], KEEPER)
    serve(application(home), sock)
    return 0


def _folder(seat: Seat) -> Path:
    return Path(seat.directory) / "keeper"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
