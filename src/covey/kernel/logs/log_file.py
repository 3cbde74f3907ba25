"""A log file that rotates: daemon.log, then daemon.log.1 (the youngest) to daemon.log.4.

All of them have mode 0600 and are bounded in number, size and age.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from datetime import datetime

from covey.kernel.regular_file import open_regular

_RETRY_S, _SWEEP_S = 60.0, 3600.0
_MODE = 0o600
_ONE_LINE = 4096


class LogFile:
    """Appends lines, each whole or not at all. For one thread.

    A full disk, and a file that is moved or deleted while it is open, do no lasting harm.
    """

    def __init__(
        self, path: str, *, max_bytes: int = 100 << 20, max_age_s: float = 14 * 86_400, max_files: int = 5
    ) -> None:
        self.path = path
        self.limit(max_bytes=max_bytes, max_age_s=max_age_s, max_files=max_files)
        self._descriptor = -1
        self._identity = (0, 0)
        self._size = 0
        self._since = 0.0
        self._rotates = False
        self._torn = False
        self._failed_at = float("-inf")
        self._swept_at = float("-inf")

    def limit(self, *, max_bytes: int, max_age_s: float, max_files: int) -> None:
        """Change the limits; they hold from the next line on."""
        self._max_bytes = max_bytes
        self._max_age_s = max_age_s
        self._max_files = max_files

    def write(self, lines: list[bytes], now: float) -> tuple[int, str]:
        """Append lines, each with its newline. Returns the number of lines written and, if not all were, the reason."""
        done = 0
        try:
            self._open(now)
            if abs(now - self._swept_at) >= _SWEEP_S:
                self._sweep(now)
            while done < len(lines):
                if self._is_due(len(lines[done]), now):
                    self._rotate(now)
                count, size = 1, self._size + len(lines[done])
                while done + count < len(lines) and size + len(lines[done + count]) <= self._max_bytes:
                    size += len(lines[done + count])
                    count += 1
                written, problem = self._append(lines[done : done + count])
                done += written
                if problem:
                    return done, problem
        except OSError as error:
            return done, error.strerror or str(error)
        return done, ""

    def close(self) -> None:
        """Close the file; a later write opens it again."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _open(self, now: float) -> None:
        """Open the file at our path, again if the open one was moved or deleted."""
        with contextlib.suppress(FileNotFoundError):
            found = os.stat(self.path)
            if self._descriptor >= 0 and (found.st_dev, found.st_ino) == self._identity:
                return
        self.close()
        self._descriptor = os.open(
            self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, _MODE
        )
        found = os.fstat(self._descriptor)
        self._identity = (found.st_dev, found.st_ino)
        self._size = found.st_size
        self._since = now
        self._rotates = stat.S_ISREG(found.st_mode)
        self._torn = False
        if self._rotates and stat.S_IMODE(found.st_mode) != _MODE:
            os.fchmod(self._descriptor, _MODE)
        if self._rotates and self._size:
            self._since = _first_moment(self.path, found.st_mtime)
            self._torn = not _ends_with_newline(self.path)

    def _is_due(self, more: int, now: float) -> bool:
        """Return whether a new file has to begin before the next `more` bytes.

        After a rotation that failed, the old file is used for `_RETRY_S` seconds more.
        """
        too_large = self._size + more > self._max_bytes
        too_old = now - self._since >= self._max_age_s
        return self._rotates and self._size > 0 and (too_large or too_old) and abs(now - self._failed_at) >= _RETRY_S

    def _rotate(self, now: float) -> None:
        try:
            if self._max_files == 1:
                os.unlink(self.path)
            for number in range(self._max_files - 1, 0, -1):
                with contextlib.suppress(FileNotFoundError):
                    os.rename(f"{self.path}.{number - 1}" if number > 1 else self.path, f"{self.path}.{number}")
        except OSError:
            self._failed_at = now
            return
        self._open(now)
        self._sweep(now)

    def _sweep(self, now: float) -> None:
        """Delete the files beyond the limits of number and age."""
        self._swept_at = now
        directory, name = os.path.split(self.path)
        with contextlib.suppress(OSError), os.scandir(directory) as entries:
            for entry in entries:
                number = entry.name.removeprefix(f"{name}.")
                if (
                    number != entry.name
                    and number.isdecimal()
                    and (int(number) >= self._max_files or now - entry.stat().st_mtime > self._max_age_s)
                ):
                    with contextlib.suppress(OSError):
                        os.unlink(entry.path)

    def _append(self, lines: list[bytes]) -> tuple[int, str]:
        """Write lines and return how many were written whole, and the problem if not all were.

        Of a line that was written only in part, nothing is left behind.
        """
        data = (b"\n" if self._torn else b"") + b"".join(lines)
        start = len(data) - sum(map(len, lines))
        sent = 0
        problem = ""
        try:
            while sent < len(data):
                sent += os.write(self._descriptor, data[sent:])
        except OSError as error:
            problem = error.strerror or str(error)
        complete = 0
        end = start if sent >= start else 0
        while complete < len(lines) and end + len(lines[complete]) <= sent:
            end += len(lines[complete])
            complete += 1
        if sent > end and self._rotates:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, os.fstat(self._descriptor).st_size - (sent - end))
                sent = end
        self._torn = sent > end or (self._torn and sent == 0)
        self._size += sent
        return complete, problem


def _first_moment(path: str, otherwise: float) -> float:
    """Return when the first line of a file was written; `otherwise` if that line does not say."""
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError), open_regular(path) as file:
        return datetime.fromisoformat(json.loads(file.readline(_ONE_LINE))["ts"]).timestamp()
    return otherwise


def _ends_with_newline(path: str) -> bool:
    with contextlib.suppress(OSError), open_regular(path) as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
    return True
