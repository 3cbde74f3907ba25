"""Commands sent to a tmux server on this machine over a short connection of our own, as an unattached client.

Such a client is not in any list, is not a candidate when tmux looks for "the current" client or session, and is never
sent notifications; tmux runs one for every `tmux ls` that somebody types.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import struct
import sys
from typing import TYPE_CHECKING, NamedTuple

from covey.tmux import message
from covey.tmux.errors import (
    TmuxGoneError,
    TmuxProtocolError,
    TmuxReplacedError,
    TmuxTimeoutError,
    TmuxUnreachableError,
)

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

VERSIONS = frozenset({"3.2", "3.2a", "3.3a", "3.4", "3.5a", "3.6b", "3.7c", "3.8"})
"""The releases that this module was tested with.

A message that a server does not understand ends a server older than 3.6, so any other version is asked through the
`tmux` program.
"""
STDOUT, STDERR = 1, 2
CREDENTIALS = struct.Struct("=iii")
CHUNK_BYTES = 256 * 1024
LIMIT_BYTES = 16 * 1024 * 1024
"""The longest answer that is accepted."""


class Reply(NamedTuple):
    """The output of commands, and the exit code that a `tmux` program would have had."""

    code: int
    out: str
    errors: str


def supports(version: str) -> bool:
    """Return whether a server of this version can be asked over the socket."""
    return sys.platform == "linux" and sys.byteorder == "little" and version in VERSIONS


def listener(connection: socket.socket) -> int:
    """Return the pid of the process that listens at the other end; 0 if it is in another pid namespace."""
    return int(CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size))[0])


async def ask(path: str, server: int, words: Sequence[str], *, deadline_s: float) -> Reply:
    """Run commands in the server with the process id `server` and return their output.

    Raises `TmuxGoneError` if no process listens or the server ends meanwhile, `TmuxReplacedError` if another process
    listens by now, `TmuxTimeoutError` if there is no answer in time, `TmuxProtocolError` if the answer does not come
    from tmux, `TmuxUnreachableError` if the socket cannot be used.
    """
    request = message.request(words)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.setblocking(False)  # noqa: FBT003 - it has no name
        try:
            connection.connect(path)
            if listener(connection) != server:
                raise TmuxReplacedError(f"another server has taken the place of process {server}")
            async with asyncio.timeout(deadline_s):
                await asyncio.get_running_loop().sock_sendall(connection, request)
                return await _reply(connection)
        except TimeoutError:
            raise TmuxTimeoutError(f"tmux did not answer within {deadline_s:g} s") from None
        except BlockingIOError:
            raise TmuxTimeoutError("tmux accepts no connection: too many wait already") from None
        except (FileNotFoundError, ConnectionError) as error:
            raise TmuxGoneError(f"no server running on {path}") from error
        except OSError as error:
            raise TmuxUnreachableError(f"{path} cannot be spoken to: {error.strerror}") from error


async def _reply(connection: socket.socket) -> Reply:
    """Read until the server has closed its end; by then it keeps nothing of this client."""
    loop, decoder = asyncio.get_running_loop(), message.Decoder()
    streams: dict[int, list[bytes]] = {STDOUT: [], STDERR: []}
    size, code = 0, None
    while data := await loop.sock_recv(connection, CHUNK_BYTES):
        size += len(data)
        if size > LIMIT_BYTES:
            raise TmuxProtocolError(f"tmux answered with more than {LIMIT_BYTES} bytes")
        for found in decoder.feed(data):
            if found.kind == message.WRITE and (stream := found.number()) in streams:
                streams[stream].append(found.body[message.NUMBER.size :])
            elif found.kind == message.EXIT:
                code = found.number() if found.body else 0
                connection.shutdown(socket.SHUT_WR)
            elif reply := _answer(found, streams):
                await loop.sock_sendall(connection, reply)
    if code is None:
        raise TmuxGoneError("the server ended without an answer")
    out, errors = (b"".join(streams[stream]).decode(errors="backslashreplace") for stream in (STDOUT, STDERR))
    return Reply(code, out, errors)


def _answer(found: message.Message, known: Container[int]) -> bytes:
    """Return the message that the server waits for before it goes on, or no bytes. No file is ever opened for it."""
    if found.kind == message.WRITE_OPEN:
        stream = found.number()
        return message.ready(stream) if stream in known else message.refuse_write(stream, errno.EBADF)
    if found.kind == message.READ_OPEN:
        return message.refuse_read(found.number(), errno.EBADF)
    if found.kind == message.VERSION_MISMATCH:
        raise TmuxProtocolError("the server speaks another version of tmux's protocol")
    if found.kind == message.SHUTDOWN:
        raise TmuxGoneError("the server is ending")
    return b""
