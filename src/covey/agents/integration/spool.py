"""What hooks left while nobody listened, read back in order.

The writer is hook.py, which also keeps the folder from growing without end; for senders that have no spool the daemon
writes.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import time
from typing import TYPE_CHECKING, NamedTuple

from covey.agents.integration.hook import SPOOL_BYTES, SPOOL_FILES
from covey.kernel.regular_file import NotRegularError, read_regular

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

_NAME = re.compile(r"(?P<at>[0-9]{20})-(?P<pid>[0-9]{1,10})-(?P<size>[0-9]{1,10})\.hook")
_TARGET = re.compile(r"POST /v1/hooks/(?P<agent>[a-z0-9-]{1,40}) HTTP/1\.1")
_PASSED_ON = ("x-covey-pid", "x-covey-pane", "x-covey-tmux", "x-covey-host")
_numbers = itertools.count()
LARGEST = 1 << 20
ABANDONED_S = 60.0
"""A file that is still being written after this long never will be."""


class Spooled(NamedTuple):
    """One request as the daemon would have got it. Names of `headers` are in lower case.

    `x-covey-id` is the same as in a delivery that broke off half way.
    """

    file: Path
    agent: str
    headers: Mapping[str, str]
    body: bytes

    def done(self) -> None:
        """Remove the request: the daemon has it."""
        with contextlib.suppress(FileNotFoundError):
            self.file.unlink()


class Spool:
    """The folder `node/spool` in Covey's home."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def waiting(self, but: Collection[str] = ()) -> Iterator[Spooled]:
        """What is there now, oldest first, but not the files of these names.

        A request stays until it is `done`. What is no request is removed, for nobody could ever read it.
        """
        for name in sorted(name for name in self._names() if name not in but):
            file = self.folder / name
            if not _NAME.fullmatch(name):
                self._sweep(file, name)
                continue
            try:
                content = read_regular(file, LARGEST + 1)
            except NotRegularError:
                self._remove(file)
                continue
            except OSError:  # dropped by a hook in need of room, or not ours to read
                continue
            request = _parsed(file, content)
            if request is None:
                self._remove(file)
            else:
                yield request

    def put(self, agent: str, headers: Mapping[str, str], body: bytes, at: float) -> bool:
        """Write a request to the spool, as hook.py does, under an id of its own.

        Returns False if there is no room: nothing older is dropped for it.
        """
        names = self._names()
        sizes = [int(found["size"]) for found in map(_NAME.fullmatch, names) if found]
        passed_on = "".join(f"{name}: {_header(headers[name])}\r\n" for name in _PASSED_ON if name in headers)
        caught_ns = min(round(at * 1000) * 1_000_000, time.time_ns())
        name = f"{caught_ns:020d}-{os.getpid() % 10_000}{next(_numbers) % 1_000_000:06d}"
        head = (
            f"POST /v1/hooks/{agent} HTTP/1.1\r\n{passed_on}x-covey-at: {round(at * 1000)}\r\n"
            f"x-covey-id: {name}\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        request = head.encode("latin-1", "replace") + body
        if (
            len(sizes) >= SPOOL_FILES
            or sum(sizes) + len(request) > SPOOL_BYTES
            or len(request) > LARGEST
            or not _TARGET.fullmatch(head.partition("\r\n")[0])
        ):
            return False
        partial = self.folder / f".{name}"
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(request)
            partial.rename(self.folder / f"{name}-{len(request)}.hook")
        except OSError:
            self._remove(partial)
            return False
        return True

    def dropped(self) -> int:
        """Return how many requests were lost for want of room since the last call."""
        note, taken = self.folder / "dropped", self.folder / ".dropped"
        try:
            note.rename(taken)
            size = taken.stat().st_size
            taken.unlink()
        except OSError:
            return 0
        return size

    def _names(self) -> list[str]:
        try:
            return [file.name for file in self.folder.iterdir()]
        except OSError:
            return []

    def _sweep(self, file: Path, name: str) -> None:
        """Remove what a killed hook left half written. Other files stay."""
        with contextlib.suppress(OSError):
            if re.fullmatch(r"\.[0-9]{20}-[0-9]{1,10}", name) and time.time() - file.stat().st_mtime > ABANDONED_S:
                self._remove(file)

    def _remove(self, file: Path) -> None:
        with contextlib.suppress(OSError):
            file.unlink()


def _header(value: str) -> str:
    """Return a value as one line."""
    return "".join(letter for letter in value[:512] if letter.isprintable())


def _parsed(file: Path, content: bytes) -> Spooled | None:
    head, found, body = content.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    target = _TARGET.fullmatch(first)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if not found or target is None or headers.get("content-length") != str(len(body)):
        return None
    return Spooled(file, target["agent"], headers, body)
