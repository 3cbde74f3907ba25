"""The lock of a home: the process that holds it is the daemon, and a pid file without a lock means nothing.

The lock is on the directory of the pid file, which cannot be removed while a daemon uses it, as a file can. The pid
file is locked too, for daemons and commands of older versions and for file systems that cannot lock directories.
"""

from __future__ import annotations

import fcntl
import os

from covey.kernel.regular_file import NotRegularError, descriptor_of
from murli import tool_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from murli import AgentError

ATTEMPTS, NAP_S = 200, 0.002
"""How often, and at which interval, a state that lasts only a moment is checked again."""
LOCKS = "/proc/locks"


class PidLock:
    """The lock that a running daemon holds. The operating system releases it when the process ends in any way."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._directory = -1
        self._file = -1

    def acquire(self) -> bool:
        """Acquire the lock and write our pid; False if another process holds it. Never waits for the holder.

        Raises `AgentError` if the file or its directory cannot be used.
        """
        try:
            directory = os.open(_directory(self.path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise _unusable(self.path, error) from error
        try:
            file = self._locked_file() if _locked_directory(directory, _directory(self.path)) else -1
        except OSError as error:
            os.close(directory)
            raise _unusable(self.path, error) from error
        if file < 0:
            os.close(directory)
            return False
        self._directory = directory
        self._file = file
        return True

    def release(self) -> None:
        """Release the lock. The file stays: if it were removed, two daemons of older versions could lock two files."""
        if self._file >= 0:
            os.ftruncate(self._file, 0)
            os.close(self._file)
            os.close(self._directory)
            self._directory = -1
            self._file = -1

    def restore(self) -> bool:
        """Write the pid file again if it was removed or replaced.

        Returns False if its directory itself was removed or replaced: then the lock is lost. Raises `OSError` if the
        file cannot be written; the lock on the directory is held all the same.
        """
        if not _is_open_at(self._directory, _directory(self.path)):
            return False
        if not _is_open_at(self._file, self.path):
            file = self._locked_file()
            if file >= 0:
                os.close(self._file)
                self._file = file
        return True

    def _locked_file(self) -> int:
        """Return the descriptor of the pid file, locked and with our pid in it; -1 if another process has locked it."""
        file = descriptor_of(self.path, os.O_RDWR | os.O_CREAT)
        try:
            if _locked(file, self.path):
                os.ftruncate(file, 0)
                os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
                return file
        except OSError:
            os.close(file)
            raise
        os.close(file)
        return -1


def holder(path: str) -> int | None:
    """Return the pid of the daemon that holds the lock; None if no process does, 0 if its pid is unknown.

    Never waits for the lock, and never keeps another process from acquiring it.
    """
    last = 0
    for _ in range(ATTEMPTS):
        if not (_held(_directory(path)) or _held(path)):
            return None
        last = _locking_pid(_directory(path)) or _pid_in_file(path)
        if last and _exists(last):
            return last
        _nap()  # it has the lock and is about to write its pid over that of a daemon that crashed
    return last


def _directory(path: str) -> str:
    return os.path.dirname(path) or "."


def _locked_directory(descriptor: int, path: str) -> bool:
    """As `_locked`; also True where the file system cannot lock directories, so that the pid file is the only lock."""
    try:
        return _locked(descriptor, path)
    except OSError:
        return True


def _locked(descriptor: int, path: str) -> bool:
    """Lock a file or a directory; False if a daemon holds the lock.

    A daemon keeps its lock; a command that only checks it releases it at once, and is waited for. Raises `OSError`
    where nothing can be locked.
    """
    for _ in range(ATTEMPTS):
        if _flock(descriptor, fcntl.LOCK_EX):
            return True
        if _held(path):
            return False
        _nap()
    return False


def _held(path: str) -> bool:
    """Return whether a process has the exclusive lock of a file or a directory."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise _unusable(path, error) from error
    try:
        return not _flock(descriptor, fcntl.LOCK_SH)
    except OSError:  # the file system has no such locks
        return False
    finally:
        os.close(descriptor)


def _flock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _locking_pid(directory: str) -> int:
    """Return the pid of the process that has locked a directory, from the system's table; 0 if it is not there.

    Unlike the pid file, the table cannot be overwritten.
    """
    try:
        found = os.stat(directory)
        with open(LOCKS, encoding="ascii") as table:
            rows = [line.split() for line in table]
    except OSError:
        return 0
    wanted = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
    return next((int(row[4]) for row in rows if row[1] == "FLOCK" and row[3] == "WRITE" and row[5] == wanted), 0)


def _pid_in_file(path: str) -> int:
    """Return the pid in the file; 0 if there is none, or only half of one."""
    try:
        file = descriptor_of(path)
    except OSError:
        return 0
    try:
        text = os.read(file, 32)
    except OSError:
        return 0
    finally:
        os.close(file)
    return int(text) if text.endswith(b"\n") and text[:-1].isdigit() else 0


def _is_open_at(descriptor: int, path: str) -> bool:
    """Return whether a path still leads to the file or directory of the descriptor."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except OSError:
        return False


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
    if isinstance(error, NotRegularError):
        return tool_error(f"the pid file {path} cannot be used: {error.strerror}", "Remove it, then try again.")
    return tool_error(
        f"the pid file {path} cannot be used: {error.strerror or error}",
        "Keep Covey's home on a local file system that you can write to.",
    )
