"""Messages of the agent to a channel.

A message is a line. One of several lines stands between two NULs, which shells leave out when they read, and is
followed by a line break: `while read -r line` gets its lines one by one, a reader that knows NULs gets it whole and
then an empty line, which is nothing.
"""

from __future__ import annotations

import array
import asyncio
import contextlib
import errno
import fcntl
import os
import select
import sys
import termios
from typing import TYPE_CHECKING

from covey.keeper.channels.fifo import NotAChannel, check_fifo, open_fifo
from covey.keeper.channels.message import is_channel_name
from murli import EXIT_CONFLICT, EXIT_NOT_FOUND, EXIT_TIMEOUT, AgentError, permission_denied, user_error

if TYPE_CHECKING:
    from pathlib import Path

_READER_S = 0.5
"""How long we wait for a reader: a shell script may open the FIFO anew for each line."""
_PAUSE_S = 0.02
_LARGEST_FIFO = 1 << 20
"""What a FIFO may grow to for a message; the kernel allows users no more, unless it was told to."""
_CANNOT_LOCK = (errno.EOPNOTSUPP, errno.EINVAL)
"""macOS has no locks on FIFOs."""


async def write_message(directory: Path, channel: str, message: str, *, deadline_s: float = 5.0) -> None:
    """Write a message to the FIFO `out.<channel>`, whole.

    Raises `AgentError`: `channel_not_found` if there is no such channel, `channel_not_read` if nobody reads it,
    `channel_stuck` if its reader does not keep up within the deadline, and `user_error` for an empty message or one
    that no channel can carry.
    """
    data = _encoded(message)
    path = directory / f"out.{channel}"
    if not is_channel_name(channel):
        raise _not_found(directory, channel, "there is no such file")
    ends = asyncio.get_running_loop().time() + deadline_s
    writer = await _open(directory, channel, path)
    written = 0
    try:
        async with asyncio.timeout_at(ends):
            await _lock(writer)
            await _wait_for_room(writer, len(data))
            while written < len(data):
                try:
                    written += os.write(writer, data[written:])
                except BlockingIOError:
                    await _writable(writer)
    except BrokenPipeError:
        raise _not_read(channel, path, f"its reader went away after {written} of {len(data)} bytes") from None
    except TimeoutError:
        raise AgentError(
            f"the channel {channel} is stuck: its reader does not keep up, and {written} of {len(data)} bytes were "
            f"written within {deadline_s:g} s",
            code=EXIT_TIMEOUT,
            error="channel_stuck",
            suggestion=f"Look at the program that reads {path}; then send the message again.",
            recoverable=True,
            field="channel",
        ) from None
    finally:
        os.close(writer)


def outgoing_channels(directory: Path) -> list[str]:
    """Return the names of the channels that can be written to, sorted; empty if there is no such folder."""
    names = []
    with contextlib.suppress(OSError), os.scandir(directory) as listing:
        for one in listing:
            name = one.name.removeprefix("out.")
            if name == one.name or not is_channel_name(name):
                continue
            with contextlib.suppress(OSError, NotAChannel):
                check_fifo(one.stat(follow_symlinks=False))
                names.append(name)
    return sorted(names)


def _encoded(message: str) -> bytes:
    text = message.rstrip("\r\n")
    if not text.strip():
        raise user_error("the message is empty", "Send a text.", field="message")
    if "\0" in text:
        raise user_error("the message contains a NUL character", "Leave it out.", field="message")
    framed = f"\0{text}\0\n" if "\n" in text else f"{text}\n"
    try:
        return framed.encode()
    except UnicodeEncodeError:
        raise user_error("the message is not valid Unicode", "Leave out lone surrogates.", field="message") from None


async def _open(directory: Path, channel: str, path: Path) -> int:
    loop = asyncio.get_running_loop()
    ends = loop.time() + _READER_S
    while True:
        try:
            return open_fifo(path, os.O_WRONLY)
        except FileNotFoundError:
            raise _not_found(directory, channel, "there is no such file") from None
        except NotAChannel as error:
            raise _not_found(directory, channel, str(error)) from None
        except PermissionError as error:
            raise permission_denied(f"{path} cannot be written to: {error.strerror}", f"See: ls -l {path}") from None
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            if loop.time() >= ends:
                raise _not_read(channel, path, "no program reads it now") from None
        await asyncio.sleep(_PAUSE_S)


async def _lock(writer: int) -> None:
    """Keep other writers out: over PIPE_BUF a message is written in pieces. Closing the descriptor ends the lock."""
    while True:
        try:
            fcntl.flock(writer, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            await asyncio.sleep(_PAUSE_S)
        except OSError as error:
            if error.errno not in _CANNOT_LOCK:
                raise
            return
        else:
            return


async def _wait_for_room(writer: int, size: int) -> None:
    """Wait until a message that the kernel does not keep together fits in as a whole, where the system can tell.

    A message that was written in part when the time is over would be mixed with the next one. One that is larger than
    a FIFO can be is written when the FIFO is empty. Raises BrokenPipeError if the reader goes away meanwhile.
    """
    if size <= select.PIPE_BUF or sys.platform != "linux":
        return
    while True:
        used = _bytes_in(writer)
        needed = used + size + select.PIPE_BUF
        if fcntl.fcntl(writer, fcntl.F_GETPIPE_SZ) < needed <= _LARGEST_FIFO:
            with contextlib.suppress(OSError):  # the FIFOs of this user take up too much already
                fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, needed)
        if not used or fcntl.fcntl(writer, fcntl.F_GETPIPE_SZ) >= needed:
            return
        if _is_unread(writer):
            raise BrokenPipeError
        await asyncio.sleep(_PAUSE_S)


def _is_unread(writer: int) -> bool:
    states = select.poll()
    states.register(writer, 0)
    return bool(states.poll(0))


def _bytes_in(descriptor: int) -> int:
    count = array.array("i", [0])
    fcntl.ioctl(descriptor, termios.FIONREAD, count)
    return count[0]


async def _writable(writer: int) -> None:
    """Wait until there is room for PIPE_BUF bytes, or the reader has gone."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_writer(writer, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_writer(writer)


def _not_found(directory: Path, channel: str, reason: str) -> AgentError:
    names = outgoing_channels(directory)
    there = ", ".join(names) if names else "none"
    return AgentError(
        f"there is no channel {channel[:100]!r} to send to: {reason}; the channels to send to are: {there}",
        code=EXIT_NOT_FOUND,
        error="channel_not_found",
        suggestion="Send to one of these, or start the program that makes the channel.",
        recoverable=True,
        valid_values=names,
        field="channel",
    )


def _not_read(channel: str, path: Path, reason: str) -> AgentError:
    names = [name for name in outgoing_channels(path.parent) if name != channel]
    return AgentError(
        f"the message cannot be sent on {channel}: {reason}; other channels to send to: {', '.join(names) or 'none'}",
        code=EXIT_CONFLICT,
        error="channel_not_read",
        suggestion=f"Start the program that reads {path}, or send to a different channel.",
        recoverable=True,
        valid_values=names,
        field="channel",
    )
