"""The log as a person reads it: rendered line by line, and followed through rotation and truncation."""

from __future__ import annotations

import os
import time

from covey.kernel.regular_file import open_regular
from covey.kernel.visible_text import visible_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, BinaryIO

_COLOURS = {"debug": "\x1b[2m", "warning": "\x1b[33m", "error": "\x1b[31m", "critical": "\x1b[31m"}
_DIM, _RESET = "\x1b[2m", "\x1b[0m"
_LEVEL_WIDTH, _CHUNK, _LONGEST_LINE = 8, 65_536, 1 << 20
_PAUSE_S = 0.25


def render(line: str, *, colour: bool = False) -> str:
    """Return a line for people: local time, level, message, then name=value.

    A text that is not a log line is returned as it is, with its control characters escaped.
    """
    import json

    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        entry = None
    if not isinstance(entry, dict) or "msg" not in entry:
        return _paint(_harmless(line.rstrip("\n")), _DIM, colour=colour)
    level = _harmless(str(entry.pop("level", "")))
    moment = _local(entry.pop("ts", ""))
    message = _harmless(str(entry.pop("msg")))
    trace = entry.pop("error", "")
    entry.pop("logger", "")
    shown = [f"{_harmless(name)}={_shown(value)}" for name, value in entry.items()]
    painted_level = _paint(f"{level:<{_LEVEL_WIDTH}}", _COLOURS.get(level, ""), colour=colour)
    first = f"{_paint(moment, _DIM, colour=colour)}  {painted_level}  {message}"
    if shown:
        first += "  " + _paint(" ".join(shown), _DIM, colour=colour)
    indent = " " * (len(moment) + 2)
    return "\n".join([first, *(indent + _harmless(part) for part in str(trace).splitlines())])


def follow(path: str, wait: Callable[[], bool] | None = None, *, last: int = 10) -> Iterator[str]:
    """Yield the last lines of a log, then new ones until `wait` returns False. It is called when there is no new line.

    A rotated file is read to its end before the next one is begun, also after several rotations between two reads; a
    truncated file is read from its start. A file that does not exist yet is waited for.
    """
    reader = _Reader(path, last)
    try:
        while True:
            yield from reader.lines()
            if not (wait or _pause)():
                return
    finally:
        reader.close()


def last_lines(path: str, count: int) -> list[str]:
    """Return the last `count` lines of a log."""
    return list(follow(path, lambda: False, last=count))


class _Reader:
    """A position in the sequence of rotated files."""

    def __init__(self, path: str, last: int) -> None:
        self._path = path
        self._last: int | None = last
        self._file: BinaryIO | None = None
        self._partial = b""
        self._old = self._rotated()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def lines(self) -> Iterator[str]:
        """Yield every line that has been written by now and was not yielded yet."""
        if self._file is None:
            self._file = _opened(self._path)
            last = self._last
            self._last = None  # a file that appears later is new from its first line
            if self._file is None:
                return
            if last is not None:
                yield from self._earlier(last - _seek_last(self._file, last))
        while True:
            # Checked before reading: all that was written before the new file began is then in the old one.
            moved = self._moved_on()
            yield from self._rest()
            if not moved:
                return
            yield from self._flush()
            for missed in self._missed():
                yield from self._all_of(missed)
            self._file.close()
            self._file = _opened(self._path)
            if self._file is None:
                return

    def _earlier(self, count: int) -> list[str]:
        """Return the last `count` lines of the rotated files, for a current file that has just begun."""
        found: list[str] = []
        for _, path in sorted(self._old.values()):
            file = _opened(path) if len(found) < count else None
            if file is not None:
                with file:
                    _seek_last(file, count - len(found))
                    found[:0] = [line.rstrip(b"\n").decode(errors="replace") for line in file]
        return found

    def _moved_on(self) -> bool:
        """Return whether a different file is at our path now."""
        assert self._file is not None
        try:
            found = os.stat(self._path)
        except OSError:
            return False
        return not os.path.samestat(found, os.fstat(self._file.fileno()))

    def _rest(self) -> Iterator[str]:
        assert self._file is not None
        if os.fstat(self._file.fileno()).st_size < self._file.tell():
            self._partial = b""
            self._file.seek(0)
        while chunk := self._file.read(_CHUNK):
            *whole, self._partial = (self._partial + chunk).split(b"\n")
            yield from (line.decode(errors="replace") for line in whole)
            if len(self._partial) > _LONGEST_LINE:
                yield from self._flush()

    def _flush(self) -> Iterator[str]:
        if self._partial:
            partial = self._partial
            self._partial = b""
            yield partial.decode(errors="replace")

    def _missed(self) -> list[str]:
        """Return the files that were begun and rotated away between two reads, the oldest first."""
        assert self._file is not None
        ours = os.fstat(self._file.fileno())
        before = self._old
        self._old = self._rotated()
        found = [
            (number, path)
            for key, (number, path) in self._old.items()
            if key not in before and key[:2] != (ours.st_dev, ours.st_ino)
        ]
        return [path for _, path in sorted(found, reverse=True)]

    def _rotated(self) -> dict[tuple[int, int, int], tuple[int, str]]:
        """Return the rotated files by device, inode and time of change.

        Rotated files do not change any more, so a different time means that the inode number was given to another file.
        """
        directory, name = os.path.split(self._path)
        found = {}
        try:
            with os.scandir(directory or ".") as entries:
                for entry in entries:
                    number = entry.name.removeprefix(f"{name}.")
                    if number != entry.name and number.isdecimal():
                        info = entry.stat()
                        found[info.st_dev, info.st_ino, info.st_mtime_ns] = (int(number), entry.path)
        except OSError:
            return found
        return found

    def _all_of(self, path: str) -> Iterator[str]:
        file = _opened(path)
        if file is not None:
            with file:
                for line in file:
                    yield line.rstrip(b"\n").decode(errors="replace")


def _opened(path: str) -> BinaryIO | None:
    try:
        return open_regular(path)
    except OSError:
        return None


def _seek_last(file: BinaryIO, count: int) -> int:
    """Go to the start of the last `count` lines, or of as many as there are, and return their number."""
    end = file.seek(0, os.SEEK_END)
    if count <= 0 or not end:
        return 0
    at, found = end, 0
    while at > 0:
        start = max(0, at - _CHUNK)
        file.seek(start)
        chunk = file.read(at - start)
        place = len(chunk) - 1 if at == end else len(chunk)  # no line follows the newline at the very end
        while (place := chunk.rfind(b"\n", 0, place)) >= 0:
            found += 1
            if found == count:
                file.seek(start + place + 1)
                return count
        at = start
    file.seek(0)
    return found + 1


def _pause() -> bool:
    time.sleep(_PAUSE_S)
    return True


def _local(ts: Any) -> str:
    """Return a moment in the reader's own time zone, such as 01-31 14:05:11."""
    from datetime import datetime

    try:
        return datetime.fromisoformat(ts).astimezone().strftime("%m-%d %H:%M:%S")
    except (ValueError, TypeError, OverflowError, OSError):
        return f"{_harmless(str(ts)):<14.14}"


def _shown(value: Any) -> str:
    if isinstance(value, str):
        unambiguous = value and visible_line(value) == value and not any(letter in value for letter in " \"'=")
        return value if unambiguous else _harmless(_json(value))
    return _harmless(_json(value))


def _json(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


def _harmless(text: str) -> str:
    """Return the text on one line with all that hides or deceives spelt out: it cannot colour or reverse the text."""
    return visible_line(text)


def _paint(text: str, code: str, *, colour: bool) -> str:
    return f"{code}{text}{_RESET}" if colour and code else text
