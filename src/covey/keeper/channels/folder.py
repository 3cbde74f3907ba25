"""A folder that only its owner can use, made or mended."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

from covey.kernel.quoting import quoted
from murli import AgentError, permission_denied, user_error

if TYPE_CHECKING:
    from pathlib import Path

_PRIVATE = 0o700


def make_private(folder: Path) -> tuple[int, int]:
    """Make the folder if it is missing, close it to others, and return its device and inode.

    Raises `AgentError` with what to do if it is not a folder of ours, or cannot be made or closed.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=_PRIVATE, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise _cannot_use(folder, error) from error
    try:
        found = os.fstat(descriptor)
        if found.st_uid != os.geteuid():
            raise permission_denied(
                f"{folder} belongs to the user with the id {found.st_uid}, who could send messages to your agents",
                f"Use a folder of your own: {_SETTING}",
            )
        if stat.S_IMODE(found.st_mode) != _PRIVATE:
            os.fchmod(descriptor, _PRIVATE)
    except OSError as error:
        raise permission_denied(
            f"{folder} is open to other users and cannot be closed to them: {error.strerror}",
            f"Close it: chmod 700 {quoted(str(folder))}   or use a different folder: {_SETTING}",
        ) from error
    finally:
        os.close(descriptor)
    return found.st_dev, found.st_ino


_SETTING = "covey config set keeper.runtime_dir /a/folder/of/yours"


def _cannot_use(folder: Path, error: OSError) -> AgentError:
    if folder.is_symlink():
        return permission_denied(
            f"{folder} is a symbolic link, and could lead the messages for your agents elsewhere",
            f"Remove it: rm {quoted(str(folder))}   or use a different folder: {_SETTING}",
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return permission_denied(
            f"{folder} cannot be used for channels: {error.strerror}",
            f"Use a folder that you may read and write: {_SETTING}",
        )
    return user_error(
        f"{folder} cannot be used for channels: {error.strerror} ({error.filename})",
        f"Move away what is in its place, or use a different folder: {_SETTING}",
        error="unusable_folder",
    )
