"""Exits of processes that are not our children, reported when they happen."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from typing import TYPE_CHECKING, Self

from msgspec import Struct

from covey.kernel.processes.process import open_pidfd, start_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from covey.kernel.clock import Clock

POLL_S = 0.25


class _Watched(Struct, frozen=True):
    pid: int
    started: int
    fd: int
    """-1 if the kernel has no descriptor for it: then it is polled."""


class Exits:
    """Calls `gone(key)` from the event loop, once for every watched process that ends; at once if it has ended already.

    The kernel reports it at once (pidfd). Where it does not, or when descriptors run out, processes are polled four
    times a second. Processes are not reaped: they belong to their shells.
    """

    def __init__(self, gone: Callable[[str], None], clock: Clock) -> None:
        self._gone = gone
        self._clock = clock
        self._watched: dict[str, _Watched] = {}
        self._polling: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Stop watching; `gone` is not called after this."""
        for key in list(self._watched):
            self.forget(key)
        if self._polling is not None:
            self._polling.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._polling
            self._polling = None

    @property
    def watched(self) -> set[str]:
        return set(self._watched)

    def watch(self, key: str, pid: int, started: int) -> None:
        """Watch the process with this pid and start time. A key that is watched already keeps its process."""
        if key in self._watched:
            return
        fd = open_pidfd(pid)
        self._watched[key] = _Watched(pid, started, fd)
        loop = asyncio.get_running_loop()
        if not _lives(pid, started):  # looked at with the descriptor open: from here on it is this process and no other
            loop.call_soon(self._ended, key, self._watched[key])
        elif fd >= 0:
            loop.add_reader(fd, self._ended, key, self._watched[key])
        elif self._polling is None:
            self._polling = asyncio.create_task(self._poll(), name="exits")

    def forget(self, key: str) -> None:
        """Stop watching this process."""
        watched = self._watched.pop(key, None)
        if watched is not None and watched.fd >= 0:
            asyncio.get_running_loop().remove_reader(watched.fd)
            os.close(watched.fd)

    def _ended(self, key: str, watched: _Watched) -> None:
        if self._watched.get(key) is watched:  # not forgotten meanwhile, nor watched anew
            self.forget(key)
            self._gone(key)

    async def _poll(self) -> None:
        while polled := [(key, watched) for key, watched in self._watched.items() if watched.fd < 0]:
            for key, watched in polled:
                if not _lives(watched.pid, watched.started):
                    self._ended(key, watched)
            await self._clock.sleep(POLL_S)
        self._polling = None


def _lives(pid: int, started: int) -> bool:
    if sys.platform != "linux":
        try:  # only whether it is there: its start time could be read only by starting a process
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True
    return start_of(pid) == started
