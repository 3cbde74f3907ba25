"""The hooks folder as it is now, without reading it again for every message."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from covey.mesh.hooks.hook_files import HooksFound, scan

if TYPE_CHECKING:
    from covey.kernel.clock import Clock

EXAMINED_AGAIN_S = 1.0
"""A file that was changed in its place is noticed within this time. (A run examines its own file in any case.)"""
UNSETTLED_NS = 50_000_000
"""A folder that was changed so recently may be changed again at what its file system calls the same time."""


class HookFolder:
    """A folder, and what was found in it. It is examined anew when it was changed, and after a second."""

    def __init__(self, path: str, clock: Clock) -> None:
        self.path = path
        self._clock = clock
        self._found = HooksFound()
        self._examined = 0.0
        self._stamp: tuple[int, ...] | None = None

    def found(self) -> HooksFound:
        """Return what is in the folder."""
        stamp = _stamp(self.path)
        now = self._clock.monotonic()
        if stamp is None or stamp != self._stamp or now - self._examined >= EXAMINED_AGAIN_S:
            self._found = scan(self.path)
            self._examined = now
            self._stamp = stamp
        return self._found

    def examine(self) -> HooksFound:
        """Read the folder, and return what is in it."""
        self._stamp = None
        return self.found()


def _stamp(path: str) -> tuple[int, ...] | None:
    """Return what differs after files were added to a folder, removed or renamed, or after another took its place.

    None if that cannot be told yet.
    """
    try:
        found = os.lstat(path)
    except OSError:
        return (0,)
    if time.time_ns() - found.st_ctime_ns < UNSETTLED_NS:
        return None
    return found.st_dev, found.st_ino, found.st_mode, found.st_uid, found.st_mtime_ns, found.st_ctime_ns
