"""Finds and follows the files in which an agent writes down what it does. The only part of `signals` with IO."""

from __future__ import annotations

import asyncio
import glob
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from covey.agents.line_buffer import LineBuffer
from covey.agents.signals.signals import Candidate, Level, Notice, Owner, Source
from covey.kernel.regular_file import open_regular, read_regular
from covey.kernel.time_slices import TimeSlices

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

LONGEST_LINE = 4_000_000
"""Bytes of a line; a longer one is dropped."""
CHUNK = 32_768
"""Bytes of lines that are read at a time, so that other tasks need not wait for long."""
LARGEST = 1_000_000
"""Bytes of a file that is read as a whole."""
LATEST = 1_000_000
"""Bytes at the end of a long file from which on it is read."""
HEAD = 262_144
"""Bytes within which a first line must end to be read."""
EVERY_S, SEARCH_S = 0.15, 1.0
"""Seconds between two readings of a file, and between two searches for a file."""
CLOSELY_S, CLOSE_FOR_S = 0.02, 0.4
"""Seconds between two readings right after something else of the agent has changed, and for how long.

The files are written within some tenths of a second.
"""


def owner(pid: int, *, ticks: int, began: float) -> Owner:
    """Return what is known of a process of this machine; little if it is another user's, or gone. Linux only."""
    folder = Path("/proc") / str(pid)
    try:
        words = (folder / "environ").read_bytes().decode(errors="replace").split("\0")
        cwd = str((folder / "cwd").readlink())
    except OSError:
        return Owner(pid=pid, ticks=ticks, began=began)
    environ = dict(word.split("=", 1) for word in words if "=" in word)
    return Owner(pid=pid, ticks=ticks, began=began, cwd=cwd, environ=environ, files=tuple(_open_files(pid)))


def find(source: Source, whose: Owner) -> str:
    """Return the file of a source: the newest that is the owner's own and was written to in its lifetime; empty if
    there is none yet.
    """
    own = set(whose.files)
    found = []
    for path in glob.glob(source.pattern):  # noqa: PTH207 - a pattern made of strings
        try:
            modified = Path(path).stat().st_mtime
        except OSError:
            continue
        if modified >= whose.began - 1.0:
            found.append((path in own, modified, path))
    for _, modified, path in sorted(found, reverse=True):
        if source.owns is None or source.owns(Candidate(path=path, head=_head(path), modified=modified)):
            return path
    return ""


def last_lines(path: str, most_bytes: int) -> list[str]:
    """Return the whole lines in the last bytes of a file; none if it cannot be read."""
    size = _stat(path)[1]
    lines = LineBuffer(LONGEST_LINE, inside_line=size > most_bytes)
    try:
        with open_regular(path) as file:
            file.seek(max(size - most_bytes, 0))
            return [line.decode(errors="replace") for line in lines.feed(file.read(most_bytes))]
    except OSError:
        return []


class Tail:
    """The lines of a growing file, each once.

    A file that was cut off, replaced or removed is read again from its beginning.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._file = (0, 0)
        self._at = -1
        self._lines = LineBuffer(LONGEST_LINE)

    @property
    def behind(self) -> bool:
        """Whether there is more to read at once."""
        return self._at >= 0 and _stat(self.path)[1] > self._at

    def read(self) -> list[str]:
        """Return the lines that were finished since the last time.

        Of a long file that is opened, only those at its end.
        """
        identity, size = _stat(self.path)
        if not identity[1]:
            return []
        if identity != self._file or size < self._at:
            self._open(identity, size)
        if size == self._at:
            return []
        try:
            with open_regular(self.path) as file:
                file.seek(self._at)
                data = file.read(CHUNK)
        except OSError:
            return []
        self._at += len(data)
        return [line.decode(errors="replace") for line in self._lines.feed(data) if line.strip()]

    def _open(self, identity: tuple[int, int], size: int) -> None:
        is_long = self._at < 0 and size > LATEST
        self._file = identity
        self._at = size - LATEST if is_long else 0
        self._lines = LineBuffer(LONGEST_LINE, inside_line=is_long)


class Pauses:
    """The pauses between two readings of an agent's files; short ones for a moment after `look_closely`."""

    def __init__(self) -> None:
        self._close_until = -math.inf
        self._waiting: set[asyncio.Future[None]] = set()

    def look_closely(self) -> None:
        """End the present pauses, because the files may just be written."""
        self._close_until = asyncio.get_running_loop().time() + CLOSE_FOR_S
        for waiting in self._waiting:
            _end(waiting)

    async def pause(self, seconds: float) -> None:
        """Wait at most so long, or until `look_closely` is called; less if it was called just before."""
        loop = asyncio.get_running_loop()
        waiting = loop.create_future()
        now = loop.time()
        # At whole multiples, so that the readers of all agents wake the daemon together and not each for itself.
        length = CLOSELY_S if now < self._close_until else seconds - now % seconds
        timer = loop.call_later(length, _end, waiting)
        self._waiting.add(waiting)
        try:
            await waiting
        finally:
            timer.cancel()
            self._waiting.discard(waiting)


def _end(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)


async def follow(
    source: Source, whose: Owner, clock: Callable[[], float], pauses: Pauses
) -> AsyncIterator[Notice | Level | None]:
    """Yield what a source says from now on: first its present state, then every change; None when the file is gone.

    It goes on until it is closed. What was written before the process began belongs to another process, and is left
    out. A file that appears later is read from the moment at which the search for it began.
    """
    path, since = "", clock()
    while not path:
        path = find(source, whose)
        if not path:
            await pauses.pause(SEARCH_S)
            whose = replace(whose, files=tuple(_open_files(whose.pid)))
    async for report in _level(source, path, pauses) if source.read else _lines(source, path, clock, pauses, since):
        if report is None or report.at >= whose.began:
            yield report


async def _level(source: Source, path: str, pauses: Pauses) -> AsyncIterator[Level | None]:
    assert source.read is not None
    before: tuple[tuple[int, int], int, int] | None = None
    report: Level | None = None
    while True:
        now = _stamp(path)
        if now != before:
            content = _content(path)
            level = source.read(content) if content else None
            # A file that is being rewritten is empty for a moment: read it again before believing it.
            before = now if level is not None or not now[0][1] else None
            if level != report and (level is not None or not now[0][1]):
                report = level
                yield level
        await pauses.pause(EVERY_S)


async def _lines(
    source: Source, path: str, clock: Callable[[], float], pauses: Pauses, since: float
) -> AsyncIterator[Notice]:
    """Of the lines that were there before, those after a moment are yielded, and the last notice in any case.

    A line that does not say when it was written is one of those before.
    """
    assert source.follower is not None
    tail, follower = Tail(path), source.follower()
    caught_up = False
    last: Notice | None = None
    while True:
        slices = TimeSlices()
        for line in tail.read():
            notice = follower.feed(line, clock() if caught_up else since)
            await slices.pause()
            if notice is not None and (caught_up or notice.at > since):
                last = None
                yield notice
            elif notice is not None:
                last = notice
        if tail.behind:
            await asyncio.sleep(0)
            continue
        if not caught_up and last is not None:
            yield last
        caught_up = True
        await pauses.pause(EVERY_S)


def _open_files(pid: int) -> Iterator[str]:
    try:
        names = os.listdir(f"/proc/{pid}/fd")  # noqa: PTH208 - names are wanted
    except OSError:
        return
    for name in names:
        try:
            target = os.readlink(f"/proc/{pid}/fd/{name}")  # noqa: PTH115 - as a string
        except OSError:
            continue
        if target.startswith("/"):
            yield target


def _stat(path: str) -> tuple[tuple[int, int], int]:
    """Return which file it is, and its size; zeros if there is none."""
    try:
        found = Path(path).stat()
    except OSError:
        return (0, 0), 0
    return (found.st_dev, found.st_ino), found.st_size


def _stamp(path: str) -> tuple[tuple[int, int], int, int]:
    try:
        found = Path(path).stat()
    except OSError:
        return (0, 0), 0, 0
    return (found.st_dev, found.st_ino), found.st_size, found.st_mtime_ns


def _content(path: str) -> str:
    try:
        return read_regular(path, LARGEST).decode(errors="replace")
    except OSError:
        return ""


def _head(path: str) -> str:
    try:
        with open_regular(path) as file:
            return file.readline(HEAD).decode(errors="replace")
    except OSError:
        return ""
