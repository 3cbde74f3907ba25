"""One request and its answer over HTTP/1.1: connections for blocking sockets and asyncio, requests, server-sent events.

What waits is a step, which is yielded to whoever performs it: see `covey_sdk._client`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import Generator, Iterator, Mapping
from typing import Any, Self, TypeVar
from urllib.parse import quote

from covey_sdk._address import Address, CoveyError, DeadlineError, bad_answer, user_error

T = TypeVar("T")
Steps = Generator["tuple[Any, ...]", Any, T]
"""What a call does, step by step."""
Message = tuple[str, Any, "int | None"]
"""Name, data and cursor of one message of a stream."""
SILENCE_S = 60.0
"""The longest silence of a daemon: its streams have heartbeats well within it."""
CHUNK = 64 * 1024
BROKEN = (ValueError, LookupError, TypeError, RecursionError)
"""What reading an answer raises that is not as HTTP, JSON and the contract have it."""
NULL = object()
"""A parameter that is null in JSON; one that is None is not sent."""


@contextlib.contextmanager
def reading(title: str) -> Iterator[None]:
    """Raise CoveyError where what was received is not an answer of a daemon."""
    try:
        yield
    except BROKEN as error:
        raise bad_answer(f"what {title} has sent is broken: {error}") from error


class Link:
    """A connection with blocking sockets, and what was received and not yet used."""

    def __init__(self, address: Address) -> None:
        self.buffer = bytearray()
        self.where = address.path or ("127.0.0.1", address.port)
        self.socket = socket.socket(socket.AF_UNIX if address.path else socket.AF_INET)

    @classmethod
    def open(cls, address: Address, timeout: float) -> Self:
        made = cls(address)
        made.socket.settimeout(timeout)
        try:
            made.socket.connect(made.where)
        except BaseException:
            made.close()
            raise
        return made

    def send(self, data: bytes, timeout: float) -> None:
        self.socket.settimeout(timeout)
        self.socket.sendall(data)

    def receive(self, timeout: float) -> bytes:
        self.socket.settimeout(timeout)
        return self.socket.recv(CHUNK)

    def stop(self) -> None:
        """End what waits in it, which closes it then: in another thread or task, or in another process."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close it for this process; one that it was forked from may go on with it."""
        self.socket.close()


class AsyncLink(Link):
    """The same with asyncio. Between two steps no event loop knows of it, so that the next one may be another's."""

    @classmethod
    async def open(cls, address: Address, timeout: float) -> Self:  # type: ignore[override]
        made = cls(address)
        made.socket.setblocking(False)
        try:
            async with asyncio.timeout(timeout):
                await asyncio.get_running_loop().sock_connect(made.socket, made.where)
        except BaseException:
            made.close()
            raise
        return made

    async def send(self, data: bytes, timeout: float) -> None:  # type: ignore[override]
        async with asyncio.timeout(timeout):
            await asyncio.get_running_loop().sock_sendall(self.socket, data)

    async def receive(self, timeout: float) -> bytes:  # type: ignore[override]
        async with asyncio.timeout(timeout):
            return await asyncio.get_running_loop().sock_recv(self.socket, CHUNK)


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


def request_parts(method: str, route: str, params: Mapping[str, Any]) -> tuple[str, bytes]:
    """Return the target and the body of a request, without what is None. Raises CoveyError for what is not JSON."""
    given = {name: None if value is NULL else value for name, value in params.items() if value is not None}
    content = b""
    try:
        for name in [name for name in given if f"{{{name}}}" in route]:
            route = route.replace(f"{{{name}}}", quote(_text(given.pop(name)), safe=""))
        if method in {"POST", "PUT"}:
            content = json.dumps(given, allow_nan=False).encode() if given else b""
        elif given:
            several = [(name, value if isinstance(value, (list, tuple)) else [value]) for name, value in given.items()]
            query = [f"{name}={quote(_text(one), safe='')}" for name, values in several for one in values]
            route += "?" + "&".join(query)
    except (TypeError, ValueError, RecursionError) as error:
        raise user_error(f"the arguments cannot be sent: {error}") from error
    return route, content


def request_bytes(method: str, parts: tuple[str, bytes], headers: list[str], address: Address) -> bytes:
    target, content = parts
    lines = [f"{method} {target} HTTP/1.1", "Host: localhost", f"Content-Length: {len(content)}", *headers]
    lines += [f"Authorization: Bearer {address.token}"] if address.token else []
    lines += ["Content-Type: application/json"] if content else []
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + content


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        return json.dumps(value, allow_nan=False)
    return str(value).lower() if isinstance(value, bool) else str(value)


def object_of(data: bytes | str) -> dict[str, Any]:
    """Return the JSON object in data. Raises ValueError if there is none."""
    found = json.loads(data)
    if not isinstance(found, dict):
        raise TypeError(f"a JSON object is due, not {type(found).__name__}")
    return found


def refused_by(status: int, body: bytes) -> CoveyError:
    """Return the error in the body of an answer, or that there is none."""
    try:
        return error_of(object_of(body), status)
    except BROKEN:
        return bad_answer(f"the daemon answered with status {status}", status)


def error_of(found: dict[str, Any], status: int = 0) -> CoveyError:
    made = CoveyError(**found, status=status)
    if not (isinstance(made.error, str) and isinstance(made.code, int) and isinstance(made.retry_after_ms, int)):
        raise TypeError("the error is not as the contract has it")
    return made


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
    return (name or "message", object_of(data), cursor) if data else ("", None, None)
