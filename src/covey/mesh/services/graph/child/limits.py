"""What the process of the engine may not do any more, once it is open: open files, start processes, use much memory."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MEMORY_BYTES = 2 * 1024**3
"""Of addresses; of that a process that has just started uses a tenth."""
LONGEST_SEARCH = 4096


def shut() -> None:
    """Let this process open no file, no socket and no pipe any more, start no process and leave no core file.

    The kernel refuses a descriptor beyond the limit, so every number below it is taken first. Whatever a statement can
    bring the engine to, it reads no file.
    """
    taken = [number for number in range(LONGEST_SEARCH) if _is_open(number)]
    highest = taken[-1]
    for _ in range(highest + 1 - len(taken)):
        os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 1, highest + 1))
    for limit, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_AS, MEMORY_BYTES),
    ):
        with contextlib.suppress(OSError, ValueError):  # not every system has all of them
            resource.setrlimit(limit, (value, value))


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


@contextlib.contextmanager
def killed_after(*, wall_s: float = 0.0, cpu_s: float = 0.0) -> Iterator[None]:
    """End this process by a signal if what is inside takes longer: some of the engine's loops heed nothing else."""
    signal.setitimer(signal.ITIMER_REAL, wall_s)
    signal.setitimer(signal.ITIMER_PROF, cpu_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)
