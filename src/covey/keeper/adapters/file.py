"""Sends the files that appear or change in a folder: `python -m covey.keeper.adapters.file <folder> <settings>`.

What is there before the adapter starts is not sent. With `outbox`, each message of the agent becomes a file there.
"""

from __future__ import annotations

import contextlib
import itertools
import sys
import time
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING

from covey.adapter import Channel, ChannelClosed, MessageTooLong
from covey.keeper.adapters.program import LOG, Attempts, carry_in_background, run
from covey.kernel.atomic_file import write_file
from covey.kernel.regular_file import read_regular

if TYPE_CHECKING:
    from collections.abc import Iterator

    from covey.keeper.adapters.program import Adapter

POLL_S = 1.0
MOST_FILES = 10_000
Stamp = tuple[int, int, int]


class Watch:
    """Finds the files of a folder that are new or changed, each once, when it has not changed between two looks."""

    def __init__(self, folder: Path, pattern: str) -> None:
        self._folder = folder
        self._pattern = pattern
        self._readable = True
        self._known = self._stamps() or {}
        self._before = self._known

    def look(self) -> Iterator[tuple[Path, bool]]:
        """Yield the files to send and whether each is new. One counts as sent when the next is asked for."""
        now = self._stamps()
        if now is None:
            return
        for path, stamp in now.items():
            if self._before.get(path) == stamp and self._known.get(path) != stamp:
                yield path, path not in self._known
                self._known[path] = stamp
        self._known = {path: stamp for path, stamp in self._known.items() if path in now}
        self._before = now

    def _stamps(self) -> dict[Path, Stamp] | None:
        """Return the files with what changes when they do; None if the folder cannot be read now."""
        found: dict[Path, Stamp] = {}
        try:
            self._folder.stat()
            for path in itertools.islice(self._folder.glob(self._pattern), MOST_FILES):
                with contextlib.suppress(OSError):
                    status = path.lstat()
                    if S_ISREG(status.st_mode) and (not path.name.startswith(".") or self._pattern.startswith(".")):
                        found[path] = (status.st_mtime_ns, status.st_size, status.st_ino)
        except OSError as error:
            if self._readable:
                LOG.warning("folder cannot be read: %s", error)
            self._readable = False
            return None
        self._readable = True
        return found


def describe(path: Path, *, new: bool, include_bytes: int) -> str:
    """Return the message for a file: its path and, if it is a text that is not too long, its content.

    Raises FileNotFoundError if it is gone.
    """
    size = path.stat().st_size
    first = f"{path} is {'new' if new else 'changed'} ({size} bytes)"
    if not 0 < size <= include_bytes:
        return first
    try:
        return f"{first}:\n{read_regular(path, include_bytes).decode()}"
    except UnicodeDecodeError:
        return f"{first}, it is not a text"
    except PermissionError:
        return f"{first}, it may not be read"


def send(channel: Channel, path: Path, *, new: bool, include_bytes: int) -> None:
    """Send the message for a file, without its content if that is longer than the session takes."""
    try:
        channel.send(describe(path, new=new, include_bytes=include_bytes), {"path": str(path)})
    except MessageTooLong:
        channel.send(describe(path, new=new, include_bytes=0), {"path": str(path)})


def store(outbox: Path, text: str, numbers: Iterator[int]) -> None:
    """Write a message of the agent into a file of its own, whose name sorts by time."""
    outbox.mkdir(parents=True, exist_ok=True)
    name = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{time.time_ns() % 10**9:09d}-{next(numbers)}.txt"
    write_file(str(outbox / name), f"{text}\n".encode("utf-8", "replace"), 0o600)


def main(adapter: Adapter) -> None:
    """Run the adapter until it is ended."""
    settings = adapter.settings
    watch = Watch(Path(settings["folder"]).expanduser(), settings["pattern"])
    attempts = Attempts()
    with Channel(adapter.name, folder=adapter.folder, receives=bool(settings["outbox"])) as channel:
        if settings["outbox"]:
            outbox, numbers = Path(settings["outbox"]).expanduser(), itertools.count(1)
            carry_in_background(channel, lambda text: store(outbox, text, numbers))
        LOG.info("watching", extra={"channel": adapter.name, "folder": settings["folder"]})
        while True:
            try:
                for path, new in watch.look():
                    with contextlib.suppress(FileNotFoundError):
                        send(channel, path, new=new, include_bytes=settings["include_bytes"])
                        LOG.info("message sent", extra={"channel": adapter.name, "path": str(path)})
                attempts.succeed()
            except (ChannelClosed, OSError) as error:
                attempts.wait("message cannot be sent", error)
            time.sleep(POLL_S)


if __name__ == "__main__":
    sys.exit(run("file", main))
