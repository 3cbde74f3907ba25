"""The errors of a store, each with a sentence for its owner and a suggestion.

AgentError
└── StoreError                kind, message, suggestion
    ├── StoreClosedError      the store was closed before the work was accepted
    ├── StoreCorruptError     the file is damaged (at the opening it is moved aside instead)
    ├── StoreDeniedError      the file or its directory cannot be used: permissions, read-only, no such directory
    ├── StoreDiskError        the disk or its file system reported an error; nothing of the write was kept
    ├── StoreFullError        no space is left; nothing of the write was kept
    ├── StoreLockedError      another program holds the file
    ├── StoreMigrationError   a schema step failed; the database is as it was
    └── StoreNewerError       the file was written by a newer Covey; it was not touched
"""

from __future__ import annotations

import errno
import sqlite3
from typing import TYPE_CHECKING

from murli import AgentError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NO_ACCESS = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP}


class StoreError(AgentError):
    """An error that a user may see: `error` is its code, `message` says what happened, `suggestion` what to do."""

    kind = "store_error"
    exit_code = 2
    retry = False

    def __init__(self, message: str, suggestion: str) -> None:
        super().__init__(message, code=self.exit_code, error=self.kind, suggestion=suggestion, recoverable=self.retry)


class StoreClosedError(StoreError):
    kind = "store_closed"
    exit_code = 9
    retry = True


class StoreCorruptError(StoreError):
    kind = "store_corrupt"
    moved_to: Path | None = None


class StoreDeniedError(StoreError):
    kind = "store_denied"
    exit_code = 6


class StoreDiskError(StoreError):
    kind = "store_disk"


class StoreFullError(StoreError):
    kind = "store_full"
    retry = True


class StoreLockedError(StoreError):
    kind = "store_locked"
    exit_code = 7
    retry = True


class StoreMigrationError(StoreError):
    kind = "store_migration"


class StoreNewerError(StoreError):
    kind = "store_newer"


def closed(path: Path) -> StoreClosedError:
    return StoreClosedError(
        f"{path.name} is being closed and takes no more work.", "Try again when the daemon is up: `covey up`."
    )


def primary_code(error: BaseException) -> int:
    """Return the SQLite result code without its extension; 0 if the error does not come from SQLite."""
    code = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF if isinstance(code, int) else 0


def explain(error: Exception, path: Path) -> Exception:
    """Return a `StoreError` if SQLite reports a fault of the environment (disk, permissions, locks, damage).

    Any other error is a fault of the caller and is returned as it is.
    """
    make = _BY_CODE.get(primary_code(error))
    return error if make is None else make(path, str(error))


def explain_os(error: OSError, path: Path) -> StoreError:
    """Return the `StoreError` for an error of the operating system."""
    reason = error.strerror or type(error).__name__
    if error.errno in _NO_SPACE:
        return _full(path, reason)
    return _denied(path, reason) if error.errno in _NO_ACCESS else _disk(path, reason)


def _full(path: Path, _reason: str) -> StoreFullError:
    return StoreFullError(
        f"No space is left for {path}; nothing of this write was kept.",
        f"Free space (`df -h {path.parent}`) and try again.",
    )


def _denied(path: Path, reason: str) -> StoreDeniedError:
    return StoreDeniedError(
        f"{path} cannot be used: {reason}.",
        f"Make {path.parent} exist and be writable for you (`ls -ld {path.parent}`), then try again.",
    )


def _disk(path: Path, reason: str) -> StoreDiskError:
    return StoreDiskError(
        f"The disk failed under {path}: {reason}; nothing of this write was kept.",
        "Look at the system log (`dmesg`) and at the disk.",
    )


def _locked(path: Path, _reason: str) -> StoreLockedError:
    return StoreLockedError(
        f"{path} is held by another program.", f"Find it with `fuser {path}` and end it, then try again."
    )


def _corrupt(path: Path, reason: str) -> StoreCorruptError:
    return StoreCorruptError(
        f"{path} is damaged: {reason}.",
        "Run `covey doctor`; restore a backup, or restart to have the file moved aside.",
    )


_BY_CODE: dict[int, Callable[[Path, str], StoreError]] = {
    sqlite3.SQLITE_BUSY: _locked,
    sqlite3.SQLITE_LOCKED: _locked,
    sqlite3.SQLITE_PROTOCOL: _locked,
    sqlite3.SQLITE_CORRUPT: _corrupt,
    sqlite3.SQLITE_NOTADB: _corrupt,
    sqlite3.SQLITE_FULL: _full,
    sqlite3.SQLITE_READONLY: _denied,
    sqlite3.SQLITE_CANTOPEN: _denied,
    sqlite3.SQLITE_PERM: _denied,
    sqlite3.SQLITE_IOERR: _disk,
    sqlite3.SQLITE_NOLFS: _disk,
    sqlite3.SQLITE_NOMEM: _disk,
}
