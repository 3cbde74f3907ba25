"""What a hook writes: read while it runs, and bounded."""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

PIECE_BYTES = 65_536


class Output:
    """A pipe from a hook. It is read as the bytes come, and `on_excess` is called once when there are too many.

    Nobody waits for its end, since a process that the hook leaves behind may keep it open.
    """

    def __init__(self, *, kept: int, most: int, on_excess: Callable[[], None]) -> None:
        self._kept = kept
        self._most = most
        self._on_excess = on_excess
        self._read_fd, self.write_fd = os.pipe()
        os.set_blocking(self._read_fd, False)
        self._pieces: list[bytes] = []
        self._count = 0
        self.is_excessive = False

    def __enter__(self) -> Self:
        asyncio.get_running_loop().add_reader(self._read_fd, self._read)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        os.close(self._read_fd)
        self.close_write_end()

    def close_write_end(self) -> None:
        """Close our copy of the end that the hook writes to."""
        if self.write_fd >= 0:
            os.close(self.write_fd)
            self.write_fd = -1

    def content(self) -> bytes:
        """Read what is in the pipe now, and return the first bytes of all that was written."""
        while not self.is_excessive and self._read():
            pass
        return b"".join(self._pieces)[: self._kept]

    def _read(self) -> bool:
        """Read a piece; return False if there is none."""
        try:
            piece = os.read(self._read_fd, PIECE_BYTES)
        except BlockingIOError:
            return False
        if not piece:
            self._stop()
            return False
        if self._count < self._kept:
            self._pieces.append(piece)
        self._count += len(piece)
        if self._count > self._most:
            self.is_excessive = True
            self._stop()
            self._on_excess()
        return True

    def _stop(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            asyncio.get_running_loop().remove_reader(self._read_fd)
