"""The pid file: a lock, not a guess. Whoever holds the lock is the daemon; a file without a lock means nothing."""

from __future__ import annotations

import fcntl
import os

from murli import tool_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from murli import AgentError

ATTEMPTS, NAP_S = 200, 0.002
"""How often, and how long apart, to look again at what is only in passing."""


class PidLock:
    """Held by a running daemon. The kernel lets go of it when the process ends, however it ends."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._fd = -1

    def acquire(self) -> bool:
        """Take the lock and write our pid; False if another process holds it. Never waits for a holder."""
        try:
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise _unusable(self.path, error) from error
        try:
            if not self._locked(fd):
                os.close(fd)
                return False
            os.ftruncate(fd, 0)
            os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        except OSError as error:
            os.close(fd)
            raise _unusable(self.path, error) from error
        self._fd = fd
        return True

    def release(self) -> None:
        """Let go. The file stays: removing it would let two daemons lock two files of the same name."""
        if self._fd >= 0:
            os.ftruncate(self._fd, 0)
            os.close(self._fd)
            self._fd = -1

    def _locked(self, fd: int) -> bool:
        """Lock, and tell a daemon, which keeps its lock, from somebody who only looks and lets go at once."""
        for _ in range(ATTEMPTS):
            if _flock(fd, fcntl.LOCK_EX):
                return True
            if _held(self.path):
                return False
            _nap()
        return False


def holder(path: str) -> int | None:
    """The pid of the daemon that holds the lock, or None; 0 if it does not say. Never waits for the lock and never keeps it from anybody."""
    last = 0
    for _ in range(ATTEMPTS):
        if not _held(path):
            return None
        last = _pid(path)
        if last and _exists(last):
            return last
        _nap()  # it has the lock and is about to write its pid, over that of one that crashed
    return last


def _held(path: str) -> bool:
    """Whether somebody has the lock for himself."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise _unusable(path, error) from error
    try:
        return not _flock(fd, fcntl.LOCK_SH)
    except OSError as error:
        raise _unusable(path, error) from error
    finally:
        os.close(fd)


def _flock(fd: int, kind: int) -> bool:
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _pid(path: str) -> int:
    """The pid that is written there; 0 if none is, or only half of one."""
    try:
        with open(path, "rb") as file:
            text = file.read(32)
    except OSError:
        return 0
    return int(text) if text.endswith(b"\n") and text[:-1].isdigit() else 0


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _nap() -> None:
    from time import sleep

    sleep(NAP_S)


def _unusable(path: str, error: OSError) -> AgentError:
    return tool_error(
        f"the pid file {path} cannot be used: {error.strerror or error}", "Keep Covey's home on a local file system that you can write to."
    )
