"""A file that is fetched, while it is written: beside its place under another name, and moved there when it is whole.

Nothing under the final name is ever half a file. A link is never followed: one in the place of the partial file or of
the final one is refused, or replaced with `force`, and what it leads to stays as it is.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Self

from covey.kernel.quoting import quoted
from covey.mesh.broker.streams import CHUNK_BYTES
from covey.mesh.services.files.threads import in_thread
from murli import conflict, not_found, permission_denied, tool_error

if TYPE_CHECKING:
    from murli import AgentError

MODE = 0o600
PIECE = 16 * CHUNK_BYTES
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


def place_of(out: str, name: str) -> str:
    """Return where a file called `name` is to be written: `out` itself, or in it if it is a folder. Blocks."""
    return str(Path(out) / name) if out.endswith("/") or Path(out).is_dir() else out


def check_place(path: str, *, force: bool) -> None:
    """Raise AgentError if a file cannot be written there. Blocks."""
    folder = str(Path(path).parent)
    if not Path(folder).is_dir():
        raise not_found(f"there is no folder {folder}", f"Make it: mkdir -p {quoted(folder)}", field="out")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise permission_denied(f"nothing may be written into {folder}", "Choose another folder with `out`.")
    if os.path.lexists(path) and not force:
        raise exists(path)
    _check_replaceable(path)


def _check_replaceable(path: str) -> None:
    """Raise AgentError if what is there is neither a regular file nor a link: a FIFO or a device is not replaced."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return
    if stat.S_ISDIR(mode):
        raise conflict(f"{path} is a folder", "Give the name of a file.", field="out")
    if not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):
        raise conflict(f"{path} is not a regular file", "Give the name of a file, or of none yet.", field="out")


def exists(path: str) -> AgentError:
    """Return the error for a place that is taken."""
    return conflict(f"there is {path} already", "Give another `out`, or replace it with --force.", field="out")


def was_finished(path: str, part: str, written: tuple[int, int]) -> bool:
    """Return whether the file had its name before a crash; a second name that it still has is removed. Blocks."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    if (found.st_dev, found.st_ino) != written:
        return False
    beside = Path(path).parent / part
    with contextlib.suppress(FileNotFoundError):
        if os.path.samestat(found, os.lstat(beside)):
            beside.unlink()
    return True


class Target:
    """Open with `await Target.open(…)`, close with `close`; the partial file stays until `finish` or `discard`."""

    def __init__(self, path: str, part: str, folder: int, descriptor: int, size: int) -> None:
        self.path = path
        self.present = size
        """Bytes that the partial file had at the opening."""
        self._part = part
        self._folder = folder
        self._descriptor = descriptor
        self._written = hashlib.sha256()

    @classmethod
    async def open(cls, path: str, part: str) -> Self:
        """Open the partial file `part` beside `path`; it is created if it is not there. Raises AgentError."""
        return await in_thread(lambda: cls._open(path, part))

    @classmethod
    def _open(cls, path: str, part: str) -> Self:
        folder = -1
        try:
            folder = os.open(Path(path).parent, _FOLDER)
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            descriptor = os.open(part, flags, MODE, dir_fd=folder)
        except OSError as error:
            if folder >= 0:
                os.close(folder)
            raise unwritable(path, error) from None
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_nlink != 1:
            os.close(descriptor)
            os.close(folder)
            raise permission_denied(f"{part} is not a partial file of this peer", "Remove it, and get the file again.")
        os.fchmod(descriptor, MODE)
        return cls(path, part, folder, descriptor, found.st_size)

    @property
    def identity(self) -> tuple[int, int]:
        """Device and inode of the partial file, which it keeps under its final name."""
        found = os.fstat(self._descriptor)
        return found.st_dev, found.st_ino

    def close(self) -> None:
        """Close the file. No thread may be writing it."""
        os.close(self._descriptor)
        os.close(self._folder)

    async def resume(self, chunks: int) -> int:
        """Return with which chunk to go on, at most `chunks`; what is there before it counts as written."""
        self._written = hashlib.sha256()
        begin = min(chunks, self.present // CHUNK_BYTES)
        for start in range(0, begin * CHUNK_BYTES, PIECE):
            length = min(PIECE, begin * CHUNK_BYTES - start)
            data = await in_thread(lambda start=start, length=length: self._read(start, length))  # type: ignore[misc]
            if len(data) < length:
                return await self.resume(0)
        return begin

    def _read(self, start: int, length: int) -> bytes:
        data = os.pread(self._descriptor, length, start)
        self._written.update(data)
        return data

    def write(self, number: int, data: bytes) -> None:
        """Write a chunk, the one after the last. Blocks; raises AgentError, for a full disk too."""
        offset, left = number * CHUNK_BYTES, memoryview(data)
        try:
            while left:
                count = os.pwrite(self._descriptor, left, offset)
                offset, left = offset + count, left[count:]
        except OSError as error:
            raise unwritable(self.path, error) from None
        self._written.update(data)

    def is_whole(self, sha256: str) -> bool:
        """Return whether what was written is the file with this hash."""
        return self._written.hexdigest() == sha256

    async def finish(self, size: int, *, force: bool) -> None:
        """Give the file its name, when it is on the disk. Raises AgentError if there is one by now, without `force`."""
        await in_thread(lambda: self._finish(size, force=force))

    def _finish(self, size: int, *, force: bool) -> None:
        name = Path(self.path).name
        try:
            os.ftruncate(self._descriptor, size)
            os.fsync(self._descriptor)
            if force:
                _check_replaceable(self.path)
                os.replace(self._part, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
            else:
                self._move_where_nothing_is(name)
            os.fsync(self._folder)
        except FileExistsError:
            raise exists(self.path) from None
        except OSError as error:
            raise unwritable(self.path, error) from None

    def _move_where_nothing_is(self, name: str) -> None:
        """Rename without replacing: a second name fails where one is, a rename does not."""
        try:
            os.link(self._part, name, src_dir_fd=self._folder, dst_dir_fd=self._folder, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            with contextlib.suppress(FileNotFoundError):  # a file system without links
                os.stat(name, dir_fd=self._folder, follow_symlinks=False)
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name) from None
            os.replace(self._part, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        else:
            os.unlink(self._part, dir_fd=self._folder)

    async def discard(self) -> None:
        """Remove the partial file."""

        def work() -> None:
            with contextlib.suppress(OSError):
                os.unlink(self._part, dir_fd=self._folder)

        await in_thread(work)


def unwritable(path: str, error: OSError) -> AgentError:
    """Return the error for a file that cannot be written."""
    if error.errno == errno.ELOOP:
        return permission_denied(f"a link is in the way of {path}", "Remove it, and get the file again.")
    return tool_error(
        f"{path} cannot be written: {error.strerror}",
        f"See the folder and the disk: ls -ld {quoted(str(Path(path).parent))} && df -h .",
        error="file_not_written",
    )
