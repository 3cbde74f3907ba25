"""Whether a tmux server has run: a server that has not run since it was last asked has not changed."""

from __future__ import annotations

import asyncio
import os
import sys

_COUNTER = b"\nvoluntary_ctxt_switches"
_RUNNING = b"\nState:\tR"
_BYTES = 8192
_FALLS_ASLEEP_S = (0.0005, 0.001, 0.002, 0.004, 0.008)
"""The waits between reads until a server that has just answered is asleep; a busy server may stay awake."""


class Activity:
    """Detects whether a process of this machine has run, by the number of times it has gone to sleep.

    A process goes to sleep at least once whenever it has done something. Reading that number takes some microseconds
    and does not wake the process. Where the system does not provide the number, the process counts as having run.
    """

    def __init__(self, pid: int) -> None:
        self._seen: bytes | None = None
        self.known = False
        """Whether the system provides the number of times that the process has gone to sleep."""
        self._file: int | None = None
        if sys.platform == "linux" and pid > 0:
            try:
                self._file = os.open(f"/proc/{pid}/status", os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                return
            self.known = self._counter_and_asleep()[0] is not None

    async def mark_seen(self) -> None:
        """Remember the present number as seen.

        Called when the process has just answered: its going to sleep after that answer must not count as having run.
        """
        for pause in _FALLS_ASLEEP_S:
            self._seen, asleep = self._counter_and_asleep()
            if asleep:
                return
            await asyncio.sleep(pause)
        self._seen, _ = self._counter_and_asleep()

    def has_run(self) -> bool:
        """Return whether the process may have done something since `mark_seen`."""
        return self._seen is None or self._counter_and_asleep()[0] != self._seen

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _counter_and_asleep(self) -> tuple[bytes | None, bool]:
        """Return the lines with the number, None if unknown, and whether the process is not running now."""
        if self._file is None:
            return None, True
        try:
            status = os.pread(self._file, _BYTES, 0)
        except OSError:  # the process has ended; a later process with the same id is a different file
            return None, True
        start = status.rfind(_COUNTER)
        return (status[start:] if start >= 0 else None), _RUNNING not in status
