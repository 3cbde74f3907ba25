"""One request and its answer over HTTP/1.1: connections for blocking sockets and asyncio, requests, server-sent events.

What waits is a step, which is yielded to whoever performs it: see `covey_sdk._client`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import Generator, Mapping
from typing import Any, Self, TypeVar
from urllib.parse import quote

from covey_sdk._address import Address, CoveyError, DeadlineError

T = TypeVar("T")
Steps = Generator["tuple[Any, ...]", Any, T]
"""What a call does, step by step."""
Message = tuple[str, Any, "int | None"]
"""Name, data and cursor of one message of a stream."""
SILENCE_S = 60.0
"""The longest silence of a daemon: its streams have heartbeats well within it."""
CHUNK = 64 * 1024
NULL = object()
"""A parameter that is null in JSON; one that is None is not sent."""


class Link:
    """A connection with blocking sockets, and what was received and not yet used."""

    def __init__(self, address: Address, timeout: float) -> None:
        self.buffer = bytearray()
        if address.path:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(timeout)
            try:
                self.socket.connect(address.path)
            except BaseException:
                self.socket.close()
                raise
        else:
            self.socket = socket.create_connection(("127.0.0.1", address.port), timeout)

    def send(self, data: bytes, timeout: float) -> None:
        self.socket.settimeout(timeout)
        self.socket.sendall(data)

    def receive(self, timeout: float) -> bytes:
        self.socket.settimeout(timeout)
        return self.socket.recv(CHUNK)

    def close(self) -> None:
        with contextlib.suppress(OSError):  # another thread may wait in it: that ends its wait
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


class AsyncLink:
    """The same with asyncio."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.buffer = bytearray()
        self.reader, self.writer = reader, writer

    @classmethod
    async def open(cls, address: Address, timeout: float) -> Self:
        async with asyncio.timeout(timeout):
            if address.path:
                return cls(*await asyncio.open_unix_connection(address.path))
            return cls(*await asyncio.open_connection("127.0.0.1", address.port))

    async def send(self, data: bytes, timeout: float) -> None:
        async with asyncio.timeout(timeout):
            self.writer.write(data)
            await self.writer.drain()

    async def receive(self, timeout: float) -> bytes:
        async with asyncio.timeout(timeout):
            return await self.reader.read(CHUNK)

    def close(self) -> None:
        self.writer.transport.abort()


class Answer:
    """The head of an answer, and its body as it comes."""

    def __init__(self, link: Any, limit: float, status: int, headers: Mapping[str, str]) -> None:
        self.link, self.limit, self.status, self.headers = link, limit, status, headers
        self.chunked = headers.get("transfer-encoding", "").lower() == "chunked"
        self.left = 0 if self.chunked else int(headers.get("content-length", "0"))
        self.ended = not (self.chunked or self.left)
        self.rest = b""

    def more(self) -> Steps[bytes]:
        """Return what comes next of the body; it is empty at the end."""
        buffer = self.link.buffer
        if self.chunked:
            while (end := buffer.find(b"\r\n")) < 0:
                yield from receive(self.link, self.limit)
            size = int(buffer[:end].partition(b";")[0], 16)
            while len(buffer) < end + 2 + size + 2:
                yield from receive(self.link, self.limit)
            part = bytes(buffer[end + 2 : end + 2 + size])
            del buffer[: end + 2 + size + 2]
            self.ended = not size
            return part
        if not buffer:
            yield from receive(self.link, self.limit)
        part = bytes(buffer[: self.left])
        del buffer[: len(part)]
        self.left -= len(part)
        self.ended = not self.left
        return part

    def whole(self) -> Steps[bytes]:
        """Return the whole body."""
        parts = []
        while not self.ended:
            parts.append((yield from self.more()))
        return b"".join(parts)

    def messages(self) -> Steps[list[Message]]:
        """Return the next server-sent events, without comments; none if no event is complete yet."""
        *blocks, self.rest = (self.rest + (yield from self.more())).split(b"\n\n")
        return [message for message in map(parsed, blocks) if message[0]]


def receive(link: Any, limit: float) -> Steps[None]:
    data = yield "receive", link, patience(limit)
    if not data:
        raise ConnectionResetError("it hung up")
    link.buffer += data


def patience(limit: float) -> float:
    """Return how long the next step may take. Raises DeadlineError if there is no time left."""
    left = limit - time.monotonic()
    if left <= 0:
        raise DeadlineError("the deadline has passed", error="timeout", code=4, recoverable=True)
    return min(left, SILENCE_S)


def request_bytes(method: str, route: str, params: Mapping[str, Any], headers: list[str], address: Address) -> bytes:
    """Return a request. What is None is left out; the route, the query or the body carries the others."""
    given = {name: None if value is NULL else value for name, value in params.items() if value is not None}
    for name in [name for name in given if f"{{{name}}}" in route]:
        route = route.replace(f"{{{name}}}", quote(_text(given.pop(name)), safe=""))
    content = b""
    if method in {"POST", "PUT"}:
        content = json.dumps(given).encode() if given else b""
    elif given:
        several = [(name, value if isinstance(value, (list, tuple)) else [value]) for name, value in given.items()]
        route += "?" + "&".join(f"{name}={quote(_text(one), safe='')}" for name, values in several for one in values)
    lines = [f"{method} {route} HTTP/1.1", "Host: localhost", f"Content-Length: {len(content)}", *headers]
    lines += [f"Authorization: Bearer {address.token}"] if address.token else []
    lines += ["Content-Type: application/json"] if content else []
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + content


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        return json.dumps(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def refused_by(status: int, body: bytes) -> CoveyError:
    try:
        found = json.loads(body)
        return CoveyError(**found, status=status)
    except (ValueError, TypeError):
        return CoveyError(f"the daemon answered with status {status}", error="bad_answer", status=status)


def parsed(block: bytes) -> tuple[str, Any, int | None]:
    """Return name, data and cursor of one server-sent event; no name for a comment."""
    name, data, cursor = "", b"", None
    for line in block.split(b"\n"):
        field, _, value = line.partition(b": ")
        if field == b"event":
            name = value.decode()
        elif field == b"data":
            data = value
        elif field == b"id":
            cursor = int(value)
    return (name or "message", json.loads(data), cursor) if data else ("", None, None)
