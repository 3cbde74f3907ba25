"""Whether a tmux server has run: one that has not run since it was last asked has not changed."""

from __future__ import annotations

import asyncio
import os
import sys

_COUNTER = b"\nvoluntary_ctxt_switches"
_AWAKE = b"\nState:\tR"
_BYTES = 8192
_FALLS_ASLEEP_S = (0.0005, 0.001, 0.002, 0.004, 0.008)
"""How long to wait between looks until a server that has just answered is asleep; a busy one may not be."""


class Activity:
    """How often a process of this machine went to sleep, which it does once at least whenever it has done something. Reading that costs some microseconds and does not wake it."""

    def __init__(self, pid: int) -> None:
        """Where the system does not tell, everything counts as having run."""
        self._seen: bytes | None = None
        self.known = False
        """Whether the system tells at all."""
        self._file: int | None = None
        if sys.platform == "linux" and pid > 0:
            try:
                self._file = os.open(f"/proc/{pid}/status", os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                return
            self.known = self._read()[0] is not None

    async def settle(self) -> None:
        """Take what it has done until now as known. It has just answered, and going to sleep after that must not count as having run."""
        for pause in _FALLS_ASLEEP_S:
            self._seen, asleep = self._read()
            if asleep:
                return
            await asyncio.sleep(pause)
        self._seen, _ = self._read()

    def ran(self) -> bool:
        """Whether it may have done something since it was last settled."""
        return self._seen is None or self._read()[0] != self._seen

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _read(self) -> tuple[bytes | None, bool]:
        """How often it has run, if that is known, and whether it is not running now."""
        if self._file is None:
            return None, True
        try:
            status = os.pread(self._file, _BYTES, 0)
        except OSError:  # it has ended; a later process with the same id is another file
            return None, True
        place = status.rfind(_COUNTER)
        return (status[place:] if place >= 0 else None), _AWAKE not in status
