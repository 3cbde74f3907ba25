"""One request and its response, as an ASGI application sees them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from covey.kernel.http.answer import raw_refusal
from covey.kernel.http.response import Response, ResponseError
from murli import tool_error

if TYPE_CHECKING:
    from covey.kernel.http.connection import Connection
    from covey.kernel.http.parser import RequestHead

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
"""An ASGI application, of which only the HTTP part is used."""

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_ASGI = {"version": "3.0", "spec_version": "2.3"}

log = logging.getLogger("covey.http")


class Exchange:
    """Carries the body of a request to the application, and its response to the connection."""

    def __init__(self, connection: Connection, head: RequestHead) -> None:
        self.head = head
        self.response = Response(head.method, head.version, keep_alive=head.keep_alive)
        self.received = False
        """Whether the whole request has arrived."""
        self._connection = connection
        self._disconnected = False
        self._body = bytearray()
        self._changed = asyncio.Event()
        self._continue_expected = head.expects_continue

    async def run(self, application: Application, prefix: str = "") -> None:
        """Let an application that is mounted at this prefix answer. What it leaves undone is made up for."""
        try:
            await application(self._scope(prefix), self._receive, self._send)
        except asyncio.CancelledError:
            self.abandon()
            raise
        except Exception:
            log.exception("an HTTP application failed", extra={"path": self.head.path.decode("latin-1")})
        if not self.response.complete and not self._disconnected:
            self._give_up()

    @property
    def buffered(self) -> int:
        """How much of the body has arrived and was not yet asked for."""
        return len(self._body)

    def add_body(self, data: bytes) -> None:
        """A part of the body has arrived. It is dropped if there is a response already."""
        if not self.response.complete:
            self._body += data
            self._changed.set()

    def end_body(self) -> None:
        """The request is complete."""
        self.received = True
        self._changed.set()

    def disconnect(self) -> None:
        """Tell the application that nobody waits for its response any more; what it sends is dropped."""
        self._disconnected = True
        self._changed.set()

    def abandon(self) -> None:
        """Close the connection at once, because this response cannot be brought to its end."""
        self.disconnect()
        self._connection.abort()

    def _scope(self, prefix: str) -> Scope:
        path = self.head.path.decode("ascii")
        return {
            "type": "http",
            "asgi": _ASGI,
            "http_version": self.head.version,
            "scheme": "http",
            "method": self.head.method,
            "root_path": prefix,
            "path": unquote(path) if "%" in path else path,
            "raw_path": self.head.path,
            "query_string": self.head.query,
            "headers": self.head.headers,
            "covey.caller": self._connection.caller,
            "covey.abandon": self.abandon,
        }

    async def _receive(self) -> Message:
        if self._continue_expected and not self._disconnected:
            self._continue_expected = False
            self._connection.write(CONTINUE)
        if not self._disconnected and not self.response.complete:
            self._connection.resume_reading()
            await self._changed.wait()
            self._changed.clear()
        if self._disconnected or self.response.complete:
            return {"type": "http.disconnect"}
        body = bytes(self._body)
        self._body.clear()
        return {"type": "http.request", "body": body, "more_body": not self.received}

    async def _send(self, message: Message) -> None:
        if not self._connection.writable.is_set():
            await self._connection.writable.wait()
        if self._disconnected:
            return
        kind = message["type"]
        if kind == "http.response.start":
            self._continue_expected = False
            self._connection.write(self.response.start(message["status"], message.get("headers", ())))
        elif kind == "http.response.body":
            self._connection.write(self.response.body(message.get("body", b""), more=message.get("more_body", False)))
            if self.response.complete:
                self._body.clear()  # what is not asked for any more must not hold up what follows it
                self._changed.set()
                self._connection.exchange_complete(self)
        else:
            raise ResponseError(f"a message of the type {kind!r} cannot be sent")

    def _give_up(self) -> None:
        """End a response that the application has not begun, or has begun and left."""
        self.disconnect()
        if not self.response.started:
            error = tool_error(
                "the request failed inside the daemon", "See `covey logs` for what happened.", error="internal_error"
            )
            self._connection.write(raw_refusal(500, error))
        self._connection.close()
