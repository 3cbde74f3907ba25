"""Whether a tmux server has run: one that has not run since it was last asked has not changed."""

from __future__ import annotations

import os
import sys

_COUNTER = b"\nvoluntary_ctxt_switches"
_BYTES = 8192


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
            self.known = self._read() is not None

    def settle(self) -> None:
        """Whatever it has done until now is known."""
        self._seen = self._read()

    def ran(self) -> bool:
        """Whether it may have done something since it was last settled."""
        return self._seen is None or self._read() != self._seen

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _read(self) -> bytes | None:
        if self._file is None:
            return None
        try:
            status = os.pread(self._file, _BYTES, 0)
        except OSError:  # it has ended; a later process with the same id is another file
            return None
        place = status.rfind(_COUNTER)
        return status[place:] if place >= 0 else None
