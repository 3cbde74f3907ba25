"""Ends what an agent left running: the processes that have the mark of its start in their environment.

Claude Code's shell commands outlive it, and Gemini CLI may outlive its pane: the next agent must not find them at work.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from covey.hosts.executor import Local, run
from covey.kernel.processes.process import birth, environment_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from covey.kernel.clock import Clock

VARIABLE = "COVEY_LAUNCH"
"""Holds the id of the start; every process below the agent inherits it."""
ENDS_S, LOOK_S = 3.0, 0.05
ROUNDS = 5
PS_S = 10.0
SERVERS = frozenset({"tmux: server", "tmux"})
"""A tmux server that the agent started belongs to the user: other things run in it."""


async def end_leftovers(launch: str, clock: Clock) -> list[int]:
    """End the processes of a start, by SIGTERM and after a while by SIGKILL. Returns their pids.

    They are looked for again until there are none: one may have started another just before it ended.
    """
    ended = set[int]()
    for _ in range(ROUNDS):
        found = {pid: birth(pid) for pid in await processes_of(launch)}
        if not found:
            break
        ended.update(found)
        await _end(found, clock)
    return sorted(ended)


async def _end(found: dict[int, str], clock: Clock) -> None:
    _signal(found, signal.SIGTERM)
    until = clock.monotonic() + ENDS_S
    while (left := _living(found)) and clock.monotonic() < until:  # noqa: ASYNC110 - nothing tells us
        await asyncio.sleep(LOOK_S)
    _signal(left, signal.SIGKILL)
    while _living(left) and clock.monotonic() < until + ENDS_S:  # noqa: ASYNC110 - as above
        await asyncio.sleep(LOOK_S)


async def processes_of(launch: str) -> list[int]:
    """Return the pids of the processes of a start."""
    if not launch:
        return []
    if sys.platform != "linux":
        _, listing, _ = await run(Local(), ["/bin/ps", "-xEww", "-o", "pid=,command="], deadline_s=PS_S)
        mark = f"{VARIABLE}={launch}"
        return [int(line.split(None, 1)[0]) for line in listing.splitlines() if mark in line]
    return await asyncio.to_thread(lambda: [pid for pid in _own_pids() if _is_of(pid, launch)])


def _own_pids() -> Iterable[int]:
    own, daemon = os.getuid(), str(os.getpid())  # a kept agent may have started the daemon
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and entry.name != daemon and entry.stat().st_uid == own:
                yield int(entry.name)


def _is_of(pid: int, launch: str) -> bool:
    if environment_of(pid).get(VARIABLE) != launch:
        return False
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip() not in SERVERS
    except OSError:
        return False


def _living(found: dict[int, str]) -> dict[int, str]:
    return {pid: born for pid, born in found.items() if born and birth(pid) == born}


def _signal(found: dict[int, str], number: signal.Signals) -> None:
    for pid in _living(found):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
