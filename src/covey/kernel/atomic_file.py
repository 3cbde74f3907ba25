"""Replacing a file in one step."""

from __future__ import annotations

import contextlib
import os


def write_file(path: str, data: bytes, mode: int) -> None:
    """Replace a file in one step: whoever looks sees the old content or the new, never a part, also after a power cut.

    A symbolic link stays and the file it points to is replaced. The mode is set as given, whatever the umask. Raises
    `OSError` and leaves the old file alone.
    """
    target = os.path.realpath(path)
    directory = os.path.dirname(target)
    beside = os.path.join(directory, f".{os.path.basename(target)[:64]}.{os.urandom(6).hex()}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        try:
            os.fchmod(descriptor, mode)
            while data:
                data = data[os.write(descriptor, data) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.rename(beside, target)
    except BaseException:
        # It may have its new name already: a signal's exception comes after the system call, and must not be replaced.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(beside)
        raise
    descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
