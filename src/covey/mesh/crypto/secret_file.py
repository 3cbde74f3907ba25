"""Files that hold secrets: they belong to their reader, and nobody else can read or change them."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final

from covey.kernel.atomic_file import write_file
from covey.kernel.quoting import quoted
from covey.kernel.regular_file import descriptor_of
from murli import not_found, permission_denied, tool_error, user_error

if TYPE_CHECKING:
    from murli import AgentError

LARGEST_SECRET: Final = 1024 * 1024
SECRET_MODE: Final = 0o600
_OF_OTHERS: Final = 0o077


def write_secret(path: str | os.PathLike[str], data: bytes) -> None:
    """Replace the file in one step; only its owner may read it. Raises `AgentError` and leaves the old file alone."""
    path = os.fspath(path)
    try:
        write_file(path, data, SECRET_MODE)
    except OSError as error:
        raise tool_error(
            f"{path} cannot be written: {error.strerror}",
            f"Look at the directory and the disk: cd {quoted(str(Path(path).parent))} && ls -ld . && df -h .",
            error="secret_file",
        ) from error


def read_secret(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a secret file. Never blocks.

    Raises `AgentError` if there is none, or it belongs to a different user, or others may read or write it, or it is
    not a regular file of at most `LARGEST_SECRET` bytes.
    """
    path = os.fspath(path)
    try:
        descriptor = descriptor_of(path)
    except FileNotFoundError as error:
        raise not_found(f"there is no key file {path}", "Restore it from a backup, or import exported keys.") from error
    except OSError as error:
        raise _unreadable(path, error) from error
    try:
        _check(path, os.fstat(descriptor))
        data = b""
        while len(data) <= LARGEST_SECRET and (piece := os.read(descriptor, LARGEST_SECRET + 1)):
            data += piece
    except OSError as error:
        raise _unreadable(path, error) from error
    finally:
        os.close(descriptor)
    if len(data) > LARGEST_SECRET:
        raise user_error(
            f"{path} has more than {LARGEST_SECRET} bytes and is not a key file",
            "Restore it from a backup, or import exported keys.",
            error="secret_file",
        )
    return data


def _check(path: str, found: os.stat_result) -> None:
    if found.st_uid != os.geteuid():
        raise permission_denied(
            f"{path} holds secret keys and belongs to the user with the id {found.st_uid}, who could replace them",
            f"Make it yours if you trust its content: sudo chown {os.geteuid()} {quoted(path)}",
        )
    mode = stat.S_IMODE(found.st_mode)
    if mode & _OF_OTHERS:
        raise permission_denied(
            f"{path} holds secret keys and is open to other users (mode {mode:04o})",
            f"Close it: chmod 600 {quoted(path)}   If others had access, make a new identity: covey mesh reset",
        )


def _unreadable(path: str, error: OSError) -> AgentError:
    return tool_error(
        f"the key file {path} cannot be read: {error.strerror}",
        f"Look at it: ls -l {quoted(path)}",
        error="secret_file",
    )
