"""What `covey doctor` examines of a seat: directory, files, configuration, socket, database, clock and disk."""

from __future__ import annotations

import contextlib
import glob
import os
import socket
import stat
import sys
import time
from typing import TYPE_CHECKING, Any

from covey.kernel.config.config import Config
from covey.kernel.doctor.finding import FAIL, OK, WARN, Finding
from covey.kernel.quoting import quoted
from murli import AgentError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from covey.kernel.clock import Clock
    from covey.kernel.config.settings import Settings
    from covey.kernel.seat import Seat

_GIB, _MIB = 1 << 30, 1 << 20
_LITTLE_SPACE, _NO_SPACE, _FEW_FILES = _GIB, 100 * _MIB, 1000
_BEFORE_COVEY, _TOO_LATE = 1_735_689_600, 4_102_444_800  # 2025 and 2100
_BEHIND_S = 3600.0
_PROGRESS_STEPS = 10_000


class SeatDoctor:
    """Looks at one home and changes nothing in it."""

    def __init__(self, seat: Seat, settings: Settings, clock: Clock, deadline: float) -> None:
        self._seat = seat
        self._settings = settings
        self._clock = clock
        self._deadline = deadline

    def directory(self) -> Finding:
        try:
            self._seat.check()
        except AgentError as error:
            return Finding(
                "home", "directory", FAIL, error.message, _command(error, f"ls -ld {quoted(self._seat.home)}")
            )
        if os.path.isdir(self._seat.home):
            return Finding("home", "directory", OK, self._seat.home)
        parent = os.path.dirname(self._seat.home)
        while not os.path.isdir(parent):
            parent = os.path.dirname(parent)
        if not os.access(parent, os.W_OK | os.X_OK):
            message = f"{self._seat.home} cannot be made: {parent} is not writable"
            return Finding("home", "directory", FAIL, message, "export COVEY_HOME=/a/directory/of/yours")
        return Finding(
            "home", "directory", OK, f"{self._seat.home} (not made yet; {self._seat.command('up')} makes it)"
        )

    def files(self) -> Finding:
        """Whether what is private is private."""
        loose, foreign = [], []
        for path, mode in self._seat.modes.items():
            with contextlib.suppress(OSError):
                found = os.lstat(path)
                if found.st_uid != os.geteuid():
                    foreign.append(path)
                elif stat.S_IMODE(found.st_mode) & ~mode:
                    loose.append((path, mode))
        if wrong := [path for path in self._seat.modes if self._is_wrong_kind(path)]:
            moves = " && ".join(f"mv {quoted(path)} {quoted(path + '.aside')}" for path in wrong)
            return Finding(
                "home",
                "files",
                FAIL,
                f"not a regular file: {_names(wrong)}",
                f"{moves} && {self._restart()}",
            )
        if foreign:
            names = " ".join(quoted(path) for path in foreign)
            return Finding(
                "home", "files", FAIL, f"of another user: {_names(foreign)}", f"sudo chown {os.geteuid()} {names}"
            )
        if loose:
            commands = [
                f"chmod {mode:o} {' '.join(quoted(path) for path, wanted in loose if wanted == mode)}"
                for mode in sorted({mode for _, mode in loose})
            ]
            return Finding(
                "home",
                "files",
                FAIL,
                f"open to other users: {_names([path for path, _ in loose])}",
                " && ".join(commands),
            )
        return Finding("home", "files", OK, "private")

    def _is_wrong_kind(self, path: str) -> bool:
        """Whether something else has the name of a file of the daemon: it could not write its log, for example."""
        try:
            mode = os.stat(path).st_mode
        except OSError:
            return False
        return not (stat.S_ISSOCK(mode) if path == self._seat.socket else stat.S_ISREG(mode))

    def config(self) -> Finding:
        try:
            config = Config.load(self._seat, self._settings)
        except AgentError as error:
            return Finding(
                "home",
                "config",
                FAIL,
                error.message,
                _command(error, f"${{EDITOR:-vi}} {quoted(self._seat.config_file)}"),
            )
        try:
            mode = stat.S_IMODE(os.stat(self._seat.config_file).st_mode)
        except OSError:
            return Finding("home", "config", OK, "all defaults")
        if config.secrets() and mode & 0o077:
            return Finding(
                "home",
                "config",
                WARN,
                "holds a secret and other users may read it",
                f"chmod 600 {quoted(self._seat.config_file)}",
            )
        given = sum(item.source == "file" for item in config.items())
        return Finding("home", "config", OK, f"{given} of {len(config.items())} set")

    def given(self, key: str) -> Any:
        """What a setting says; None if the configuration cannot be read or has no such setting."""
        with contextlib.suppress(AgentError):
            return Config.load(self._seat, self._settings).get(key)
        return None

    def socket(self) -> Finding:  # noqa: PLR0911 - one return per diagnosis
        """Whether a daemon answers."""
        path = self._seat.socket
        try:
            self._seat.check_socket()
        except AgentError as error:
            return Finding("home", "socket", FAIL, error.message, _command(error, ""))
        try:
            if not stat.S_ISSOCK(os.lstat(path).st_mode):
                return Finding("home", "socket", FAIL, f"{path} is not a socket", f"rm -r {quoted(path)}")
            with socket.socket(socket.AF_UNIX) as asking:
                asking.settimeout(self._deadline)
                asking.connect(path)
                asking.sendall(b"GET /v1/health HTTP/1.1\r\nHost: covey\r\nConnection: close\r\n\r\n")
                answer = asking.recv(5)
        except FileNotFoundError:
            return Finding("home", "socket", OK, "not running")
        except ConnectionRefusedError:
            return Finding(
                "home",
                "socket",
                WARN,
                "left behind by a daemon that was killed; the next start replaces it",
                self._seat.command("up"),
            )
        except TimeoutError:
            return Finding(
                "home", "socket", FAIL, f"the daemon does not answer within {self._deadline:g} s", self._restart()
            )
        except OSError as error:
            return Finding("home", "socket", FAIL, f"cannot be reached: {error.strerror or error}", self._restart())
        if answer != b"HTTP/":
            return Finding("home", "socket", FAIL, "something answers that is not Covey's daemon", self._restart())
        return Finding("home", "socket", OK, "daemon answers")

    def database(self) -> Finding:  # noqa: PLR0911 - one return per diagnosis
        """Whether the database is whole."""
        import sqlite3
        from urllib.parse import quote

        path = self._seat.database
        if not os.path.lexists(path):
            return Finding("home", "database", OK, "none yet")
        until = time.monotonic() + self._deadline * 0.9
        moved = f"{path}.damaged"
        down, up = self._seat.command("down"), self._seat.command("up")
        mend = f"{down}; mv {quoted(path)} {quoted(moved)} && {up}"
        try:
            with contextlib.closing(
                sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True, timeout=self._deadline * 0.9)
            ) as database:
                database.set_progress_handler(lambda: time.monotonic() > until, _PROGRESS_STEPS)
                (said,) = database.execute("PRAGMA quick_check(1)").fetchone()
        except sqlite3.DatabaseError as error:
            if "interrupted" in str(error):
                return Finding(
                    "home", "database", OK, f"readable ({_size(os.path.getsize(path))}: too large to check in time)"
                )
            if "locked" in str(error):
                return Finding("home", "database", WARN, "another program keeps it locked", f"fuser -v {quoted(path)}")
            if "unable to open" in str(error):
                return Finding("home", "database", FAIL, f"{path} cannot be opened", f"ls -l {quoted(path)}")
            return Finding("home", "database", FAIL, f"{path} is damaged: {error}", mend)
        if said != "ok":
            return Finding("home", "database", FAIL, f"{path} is damaged: {str(said).splitlines()[-1]}", mend)
        if aside := sorted(glob.glob(f"{glob.escape(path)}.corrupt-*")):
            damaged = aside[-1].removesuffix("-shm").removesuffix("-wal")
            return Finding(
                "home",
                "database",
                WARN,
                f"whole, but begun anew: the one before was damaged and was moved to {damaged}; "
                "this notice goes when that file is removed",
                f"sqlite3 {quoted(damaged)} .recover",
            )
        return Finding("home", "database", OK, f"whole, {_size(os.path.getsize(path))}")

    def clock(self) -> Finding:
        """Whether the time makes sense: schedules, retention and certificates depend on it."""
        now = self._clock.time()
        mend = "sudo sntp -sS time.apple.com" if sys.platform == "darwin" else "sudo timedatectl set-ntp true"
        shown = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(now))
        if not _BEFORE_COVEY <= now < _TOO_LATE:
            return Finding("system", "clock", FAIL, f"it says {shown}, which cannot be", mend)
        behind = max((moment - now for moment in self._moments()), default=0.0)
        if behind > _BEHIND_S:
            return Finding(
                "system",
                "clock",
                WARN,
                f"it says {shown}, but Covey wrote files {behind / 3600:.1f} hours later than that",
                mend,
            )
        return Finding("system", "clock", OK, shown)

    def disk(self) -> Finding:
        """Whether there is room for what the daemon has to keep."""
        place = self._seat.home
        while not os.path.isdir(place):
            place = os.path.dirname(place)
        found = os.statvfs(place)
        free = found.f_bavail * found.f_frsize
        look = f"du -xh -d 1 {quoted(place)} | sort -h"
        if free < _NO_SPACE:
            return Finding("system", "disk", FAIL, f"{_size(free)} free where {place} is", look)
        if free < _LITTLE_SPACE:
            return Finding("system", "disk", WARN, f"only {_size(free)} free where {place} is", look)
        if found.f_files and found.f_favail < _FEW_FILES:
            return Finding(
                "system",
                "disk",
                WARN,
                f"only {found.f_favail} more files fit where {place} is",
                f"df -i {quoted(place)}",
            )
        return Finding("system", "disk", OK, f"{_size(free)} free")

    def _restart(self) -> str:
        return f"{self._seat.command('down')} && {self._seat.command('up')}"

    def _moments(self) -> Iterator[float]:
        """When the daemon last wrote its files."""
        for path in (self._seat.database, self._seat.log_file, self._seat.pid_file):
            with contextlib.suppress(OSError):
                yield os.stat(path).st_mtime


def _command(error: AgentError, otherwise: str) -> str:
    """The command in a suggestion of the form `What it does: command   or another way: command`."""
    return error.suggestion.partition(": ")[2].partition("   or ")[0] or otherwise


def _names(paths: list[str]) -> str:
    return ", ".join(os.path.basename(path) for path in paths)


def _size(count: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1024:  # noqa: PLR2004
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} TB"
