"""Opening of files that another program may have put there, without ever blocking.

A pipe, a device or a socket in place of a file would block the caller; inside the daemon that blocks everything.
On the start path of the command line, so it imports `os` and nothing heavy.

OSError
└── NotRegularError       the path exists, but it is not a regular file
"""

from __future__ import annotations

import errno
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFDIR: "a directory",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_PIECE = 1 << 20


class NotRegularError(OSError):
    """The path is a directory, a pipe, a socket or a device."""

    def __init__(self, path: str | os.PathLike[str], mode: int) -> None:
        kind = _KINDS.get(stat.S_IFMT(mode), "something else")
        super().__init__(errno.EINVAL, f"it is {kind}, not a regular file", os.fspath(path))


def descriptor_of(path: str | os.PathLike[str], flags: int = os.O_RDONLY, mode: int = 0o600) -> int:
    """Open a regular file, through symbolic links, and return its descriptor. Never blocks.

    Raises `NotRegularError` if it is anything but a regular file, and `OSError` as `os.open` does. With `os.O_CREAT` in
    `flags`, a missing file is created with `mode`.
    """
    try:
        descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY, mode)
    except OSError as error:
        # ENXIO: a socket, or a pipe without a reader opened for writing; EISDIR: a directory opened for writing.
        if error.errno in (errno.ENXIO, errno.EISDIR):
            raise NotRegularError(path, os.stat(path).st_mode) from None
        raise
    found = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(found):
        os.close(descriptor)
        raise NotRegularError(path, found)
    return descriptor


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file for reading. Never blocks; raises as `descriptor_of` does."""
    return open(descriptor_of(path), "rb")


def read_regular(path: str | os.PathLike[str], limit: int) -> bytes:
    """Read a regular file from its beginning, at most `limit` bytes. Never blocks; raises as `descriptor_of` does.

    To detect a file that is too long, pass one byte more than is allowed.
    """
    descriptor = descriptor_of(path)
    try:
        pieces: list[bytes] = []
        while limit > 0 and (piece := os.read(descriptor, min(limit, _PIECE))):
            pieces.append(piece)
            limit -= len(piece)
        return b"".join(pieces)
    finally:
        os.close(descriptor)


def identity_of(path: str | os.PathLike[str]) -> tuple[int, int] | None:
    """Return the device and the inode of a path; None if there is nothing."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
