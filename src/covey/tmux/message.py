"""The messages that a tmux client and its server exchange over the socket, as bytes. Pure.

This is version 8 of the protocol, which tmux 3.2 to 3.8 speak. No descriptor is ever passed: with a descriptor the
header differs between versions (3.6 moved its mark), without one all versions are alike on a little-endian machine.
"""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING, NamedTuple

from covey.tmux.errors import TmuxProtocolError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HEADER = struct.Struct("=IIII")
"""Kind, length including the header, version of the protocol, and a process id that is not read."""
NUMBER, TWO_NUMBERS, FLAGS = struct.Struct("=i"), struct.Struct("=ii"), struct.Struct("=Q")
PROTOCOL = 8
LONGEST_BYTES = 16384
"""The longest message that tmux accepts."""
VERSION_MISMATCH = 12
IDENTIFY_TERM, IDENTIFY_TTY, IDENTIFY_DONE, IDENTIFY_PID, IDENTIFY_FOLDER, IDENTIFY_FLAGS = 101, 102, 106, 107, 108, 111
COMMAND, EXIT, SHUTDOWN = 200, 203, 210
READ_OPEN, READ_DONE, WRITE_OPEN, WRITE, WRITE_READY = 300, 302, 303, 304, 305
UTF8 = 0x10000


class Message(NamedTuple):
    kind: int
    body: bytes

    def number(self) -> int:
        """Return the first number of the body. Raises `TmuxProtocolError` if the body is too short for one."""
        if len(self.body) < NUMBER.size:
            raise TmuxProtocolError(f"a message of kind {self.kind} from the server is too short")
        return int(NUMBER.unpack_from(self.body)[0])


def encode(kind: int, body: bytes = b"") -> bytes:
    """Return one message as bytes. Raises `ValueError` if it is longer than tmux accepts."""
    length = HEADER.size + len(body)
    if length > LONGEST_BYTES:
        raise ValueError(f"tmux accepts no command longer than {LONGEST_BYTES} bytes")
    return HEADER.pack(kind, length, PROTOCOL, 0) + body


def request(words: Sequence[str]) -> bytes:
    """Return all that an unattached client sends: its identification and one command, or several with `;` between.

    The client asks for neither a terminal nor a session nor control mode, so tmux answers, ends the conversation, and
    keeps nothing. Raises `ValueError` if a word contains a NUL or the commands are longer than tmux accepts.
    """
    return b"".join(
        (
            encode(IDENTIFY_FLAGS, FLAGS.pack(UTF8)),
            encode(IDENTIFY_TERM, _texts([""])),
            encode(IDENTIFY_TTY, _texts([""])),
            encode(IDENTIFY_FOLDER, _texts(["/"])),
            encode(IDENTIFY_PID, NUMBER.pack(os.getpid())),
            encode(IDENTIFY_DONE),
            encode(COMMAND, NUMBER.pack(len(words)) + _texts(words)),
        )
    )


def ready(stream: int) -> bytes:
    """Return the reply to WRITE_OPEN that lets the server write."""
    return encode(WRITE_READY, TWO_NUMBERS.pack(stream, 0))


def refuse_write(stream: int, error: int) -> bytes:
    """Return the reply to WRITE_OPEN of a file that this client does not write."""
    return encode(WRITE_READY, TWO_NUMBERS.pack(stream, error))


def refuse_read(stream: int, error: int) -> bytes:
    """Return the reply to READ_OPEN of a file that this client does not read."""
    return encode(READ_DONE, TWO_NUMBERS.pack(stream, error))


class Decoder:
    """Turns bytes, in whatever pieces they arrive, into messages."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[Message]:
        """Yield the messages that are complete with these bytes.

        Raises `TmuxProtocolError` if the bytes cannot come from a tmux server.
        """
        data = self._rest + data
        self._rest = b""
        start = 0
        while len(data) - start >= HEADER.size:
            kind, length, *_ = HEADER.unpack_from(data, start)
            if not HEADER.size <= length <= LONGEST_BYTES:
                raise TmuxProtocolError(
                    f"what answers at the socket does not speak tmux's protocol: {data[start : start + 16]!r}"
                )
            if len(data) - start < length:
                break
            yield Message(kind, data[start + HEADER.size : start + length])
            start += length
        self._rest = data[start:]


def _texts(words: Sequence[str]) -> bytes:
    """Return the words, each with a NUL at its end. Raises `ValueError` if a word contains a NUL."""
    text = "\0".join((*words, ""))
    if text.count("\0") != len(words):
        raise ValueError("a word of a tmux command cannot contain a NUL")
    return os.fsencode(text)
