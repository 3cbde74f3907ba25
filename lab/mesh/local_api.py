"""A small HTTP/1.1 client for the socket of a peer: one connection that stays open, one request at a time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from lab.at_terminal import requesting

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LARGEST_ANSWER = 1 << 24


class RefusedCall(Exception):  # noqa: N818 - an answer
    """The peer answered with an error."""

    def __init__(self, status: int, document: Mapping[str, Any]) -> None:
        super().__init__(f"{status} {document.get('error')}: {document.get('message')}")
        self.status = status
        self.document = document


class Answered(NamedTuple):
    """Status and body of an answer."""

    status: int
    body: bytes


class LocalApi:
    """A connection to the socket of a peer. It is opened with the first call, and again after it broke."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def call(
        self, method: str, target: str, document: Any = None, *, key: str = "", timeout_s: float = 30.0
    ) -> Any:
        """Return the result of an operation. Raises RefusedCall, OSError, or TimeoutError."""
        wire = request(method, target, b"" if document is None else msgspec.json.encode(document), key=key)
        kept = self._writer is not None
        async with asyncio.timeout(timeout_s):
            try:
                answered = await self.exchange(wire)
            except ConnectionResetError:
                if not kept or method != "GET":
                    raise
                answered = await self.exchange(wire)  # the peer has closed a connection that was idle
        decoded = msgspec.json.decode(answered.body) if answered.body else None
        if answered.status != 200:  # noqa: PLR2004 - OK
            raise RefusedCall(answered.status, decoded or {})
        return decoded

    async def decide(self, method: str, target: str, document: Mapping[str, Any]) -> Any:
        """Return the result of an operation that is for a person to decide: asked at a person's terminal.

        Raises RefusedCall.
        """
        asking = await asyncio.create_subprocess_exec(
            *requesting(str(self._path), method, target, document), stdout=asyncio.subprocess.PIPE
        )
        told, _ = await asking.communicate()
        status, _, body = told.decode().partition(" ")
        decoded = msgspec.json.decode(body)
        if int(status) != 200:  # noqa: PLR2004 - OK
            raise RefusedCall(int(status), decoded)
        return decoded

    async def exchange(self, wire: bytes) -> Answered:
        """Send one request and return its answer. Raises OSError; the connection is closed then."""
        try:
            if self._writer is None:
                self._reader, self._writer = await asyncio.open_unix_connection(self._path, limit=LARGEST_ANSWER)
            assert self._reader is not None
            self._writer.write(wire)
            head = await self._reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            return Answered(int(head[9:12]), await self._reader.readexactly(length))
        except BaseException as error:
            self.close()
            if isinstance(error, (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError)):
                raise ConnectionResetError(str(error)) from error
            raise

    def close(self) -> None:
        """Leave the connection."""
        if self._writer is not None:
            self._writer.transport.abort()
        self._reader = self._writer = None


def request(method: str, target: str, body: bytes = b"", *, key: str = "") -> bytes:
    """Return a request as it goes over the wire."""
    kind = "content-type: application/json\r\n" if body else ""
    keyed = f"idempotency-key: {key}\r\n" if key else ""
    head = f"{method} {target} HTTP/1.1\r\nhost: covey\r\n{kind}{keyed}content-length: {len(body)}\r\n\r\n"
    return head.encode() + body
