"""Our own client of a tmux server on this machine, which introduces itself in one breath.

tmux 3.3a, and not only that, crashes when a session is made, closed or renamed after a client has said that it speaks control mode and before it has finished introducing
itself. The program `tmux -C` says so in the first of three parts and finishes in the last. Here it is said last, and finished in the same write; until then the server takes
us for an ordinary client, and those are safe. Nor is there a process that could be killed half-way.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
import sys
from typing import TYPE_CHECKING

from covey.tmux.errors import TmuxGoneError, TmuxUnreachableError

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from collections.abc import Sequence

    Stream = tuple[StreamReader, StreamWriter]

VERSIONS = frozenset({"3.3a"})
"""Those that the greeting has been tried with. Where it does not fit the server would end itself: 3.6, for one, marks descriptors in another way."""
HEADER = struct.Struct("=IHHIi")
"""Kind, length with the header, whether a descriptor comes along, version of the protocol, an unused process."""
NUMBER = struct.Struct("=i")
PROTOCOL = 8
TERM, TERMINAL, STDIN, DONE, PID, FOLDER, STDOUT, FLAGS, COMMAND = 101, 102, 104, 106, 107, 108, 110, 111, 200
DETACH, DETACH_KILL, EXIT, SHUTDOWN = 201, 202, 203, 210
CONTROL, UTF8 = 0x2000, 0x10000
CREDENTIALS_BYTES = 3 * NUMBER.size
"""Of the process at the other end, the user and the group."""
LONGEST_BYTES = 16 * 1024
"""Of a message. Far below what the system carries in one piece."""


def fits(version: str) -> bool:
    """Whether a server of this version can be greeted so."""
    return sys.platform == "linux" and version in VERSIONS


class Greeted:
    """A control client without a process. To whoever talks through it, it is like a process behind three pipes."""

    def __init__(self, stdin: Stream, stdout: Stream, server: Stream) -> None:
        self.stdin, self.stdout, self.stderr = stdin[1], stdout[0], asyncio.StreamReader()
        self._server = server[0]
        self._writers = stdin[1], stdout[1], server[1]
        self._attending = asyncio.create_task(self._attend(), name="tmux server")

    async def wait(self) -> int:
        """Until the server has sent us away or is gone: the code with which the program would end."""
        return await asyncio.shield(self._attending)

    async def aclose(self) -> None:
        """Be gone, whatever the server is doing."""
        self._attending.cancel()
        await asyncio.gather(self._attending, return_exceptions=True)
        for writer in self._writers:
            writer.transport.abort()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _attend(self) -> int:
        code, words, kind = 0, b"", 0
        try:
            while kind not in (DETACH, DETACH_KILL, EXIT, SHUTDOWN):
                kind, length, *_ = HEADER.unpack(await self._server.readexactly(HEADER.size))
                body = await self._server.readexactly(length - HEADER.size)
            if kind == EXIT and len(body) >= NUMBER.size:
                (code,) = NUMBER.unpack_from(body)
            if kind == SHUTDOWN:
                code, words = 1, b"server exited"
        except (EOFError, OSError):
            code, words = 1, b"server exited unexpectedly"
        self.stderr.feed_data(words)
        self.stderr.feed_eof()
        self._writers[-1].close()  # now the server lets go of the others
        return code


async def greet(path: str, server: int, words: Sequence[str]) -> Greeted | None:
    """Become a control client of the server with this pid, and let this be its first command. None if another process listens there, or seems to."""
    introduction = _introduction(words)
    streams: list[Stream] = []
    try:
        with contextlib.ExitStack() as undo:
            connection = undo.enter_context(socket.socket(socket.AF_UNIX))
            stdin, its_stdin, stdout, its_stdout = (undo.enter_context(end) for pair in (socket.socketpair(), socket.socketpair()) for end in pair)
            connection.setblocking(False)  # noqa: FBT003 - it has no name
            connection.connect(path)
            if _peer(connection) != server:
                return None
            socket.send_fds(connection, [_message(STDIN, descriptor=True)], [its_stdin.fileno()])
            socket.send_fds(connection, [_message(STDOUT, descriptor=True)], [its_stdout.fileno()])
            connection.send(introduction)
            for sock in (stdin, stdout, connection):
                streams.append(await asyncio.open_connection(sock=sock))
                undo.callback(streams[-1][1].transport.abort)
            undo.pop_all()
            its_stdin.close()
            its_stdout.close()
            return Greeted(*streams)
    except (FileNotFoundError, ConnectionError) as error:
        raise TmuxGoneError(f"no server running on {path}") from error
    except OSError as error:
        raise TmuxUnreachableError(f"{path} cannot be spoken to: {error.strerror}") from error


def _peer(connection: socket.socket) -> int:
    """The process that listens at the other end."""
    return int(NUMBER.unpack_from(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS_BYTES))[0])


def _introduction(words: Sequence[str]) -> bytes:
    return b"".join(
        (
            _message(FLAGS, struct.pack("=Q", CONTROL | UTF8)),
            _message(TERM, _text("")),
            _message(TERMINAL, _text("")),
            _message(FOLDER, _text("/")),
            _message(PID, NUMBER.pack(os.getpid())),
            _message(DONE),
            _message(COMMAND, NUMBER.pack(len(words)) + b"".join(map(_text, words))),
        )
    )


def _text(text: str) -> bytes:
    return os.fsencode(text) + b"\0"


def _message(kind: int, body: bytes = b"", *, descriptor: bool = False) -> bytes:
    length = HEADER.size + len(body)
    if length > LONGEST_BYTES:
        raise ValueError("tmux takes no command of that length")
    return HEADER.pack(kind, length, descriptor, PROTOCOL, -1) + body
