"""A file that is shared, while it is read: piece by piece, and only as long as it stays the same."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Self

from covey.kernel.regular_file import NotRegularError, descriptor_of
from covey.mesh.broker.streams import CHUNK_BYTES
from covey.mesh.services.files.chunks import count_of, length_of, seal_chunk
from covey.mesh.services.files.threads import in_thread
from murli import conflict, not_found, permission_denied, user_error

if TYPE_CHECKING:
    from murli import AgentError

PIECE = 16 * CHUNK_BYTES
"""Bytes that are hashed with one call of a thread."""


class Source:
    """Open with `await Source.open(path)`, close with `close`."""

    def __init__(self, path: str, descriptor: int, size: int, modified_ns: int) -> None:
        self.path = path
        self.size = size
        self.modified_ns = modified_ns
        self._descriptor = descriptor
        self._sent = hashlib.sha256()
        """Of what `sealed` has read, with what was before it."""

    @classmethod
    async def open(cls, path: str) -> Self:
        """Open a regular file for reading. Raises AgentError."""
        return await in_thread(lambda: cls._open(path))

    @classmethod
    def _open(cls, path: str) -> Self:
        try:
            descriptor = descriptor_of(path)
        except OSError as error:
            raise unreadable(path, error) from None
        found = os.fstat(descriptor)
        return cls(path, descriptor, found.st_size, found.st_mtime_ns)

    def close(self) -> None:
        """Close the file. No thread may be reading it."""
        os.close(self._descriptor)

    async def hash(self, begin: int = 0) -> str:
        """Return the sha256 of the whole file. `sealed` is prepared to go on with the chunk `begin`.

        Raises AgentError if the file has another length than at the opening.
        """
        whole = hashlib.sha256()
        offset, middle = 0, min(begin * CHUNK_BYTES, self.size)
        self._sent = whole.copy()
        while offset < self.size:
            end = min(offset + PIECE, self.size)
            if offset < middle:
                end = min(end, middle)
            await in_thread(lambda start=offset, end=end: whole.update(self._read(start, end - start)))  # type: ignore[misc]
            offset = end
            if offset == middle:
                self._sent = whole.copy()
        return whole.hexdigest()

    async def sealed(self, key: bytes, blob: str, number: int) -> bytes:
        """Return the next chunk sealed. Raises AgentError if the file has become shorter."""

        def work() -> bytes:
            data = self._read(number * CHUNK_BYTES, length_of(self.size, number))
            self._sent.update(data)
            return seal_chunk(key, blob, number, data)

        return await in_thread(work)

    async def piece(self, number: int) -> bytes:
        """Return the bytes of a chunk."""
        return await in_thread(lambda: self._read(number * CHUNK_BYTES, length_of(self.size, number)))

    def check_sent(self, sha256: str) -> None:
        """Raise AgentError if what was sealed is not what was hashed before."""
        if self._sent.hexdigest() != sha256:
            raise changed(self.path)

    @property
    def chunks(self) -> int:
        """How many chunks it has."""
        return count_of(self.size)

    def _read(self, offset: int, length: int) -> bytes:
        try:
            data = os.pread(self._descriptor, length, offset)
            while len(data) < length:
                more = os.pread(self._descriptor, length - len(data), offset + len(data))
                if not more:
                    raise changed(self.path)
                data += more
        except OSError as error:
            raise unreadable(self.path, error) from None
        return data


def changed(path: str) -> AgentError:
    """Return the error for a file that did not stay the same."""
    return conflict(
        f"{path} changed while it was read: nothing was shared", "Share it again when it is complete.", field="path"
    )


def unreadable(path: str, error: OSError) -> AgentError:
    """Return the error for a file that cannot be read."""
    if isinstance(error, FileNotFoundError):
        return not_found(f"there is no file {path}", "Give the path of a file on the peer's machine.", field="path")
    if isinstance(error, PermissionError):
        return permission_denied(f"{path} may not be read", f"See its permissions: ls -l {path}")
    why = error.strerror or str(error)
    advice = "Give the path of a regular file."
    if isinstance(error, NotRegularError) and Path(path).is_dir():
        advice = "Pack a folder into one file first: tar czf folder.tar.gz folder"
    return user_error(f"{path} cannot be read: {why}", advice, field="path")
