"""Processes that the lab has started: listed as a tree, and ended by pid.

Each has a mark in its environment, so that even an orphan is known as ours.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

MARK = "COVEY_LAB_RUN"
GRACE = 2.0
LOOKS, LOOK_S = 12, 0.02


@dataclass(frozen=True)
class Process:
    pid: int
    parent: int
    name: str
    command: str


def table() -> dict[int, Process]:
    out = subprocess.run(["ps", "-axo", "pid=,ppid=,ucomm=,args="], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in out.splitlines():
        pid, parent, name, command = (*line.split(None, 3), "")[:4]
        found[int(pid)] = Process(int(pid), int(parent), name, command)
    return found


def tree(root: int) -> list[Process]:
    """Return a process and its descendants, parents first."""
    known = table()
    children: dict[int, list[int]] = {}
    for process in known.values():
        children.setdefault(process.parent, []).append(process.pid)
    order, seen = [root], 0
    while seen < len(order):
        order += sorted(children.get(order[seen], []))
        seen += 1
    return [known[pid] for pid in order if pid in known]


async def rested(root: int, limit_s: float) -> None:
    """Wait until a process and its descendants no longer compute, for `limit_s` seconds at most.

    They compute while one of them runs, or waits for a processor, at every fourth check or more often. Where the system
    does not provide that, the function returns at once.
    """
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        pids = [process.pid for process in tree(root)]  # again: it may have started a hook
        busy = 0
        for _ in range(LOOKS):
            if any(map(computes, pids)):
                busy += 1
            await asyncio.sleep(LOOK_S)
        if busy * 4 < LOOKS:
            return


def computes(pid: int) -> bool:
    """Return whether the main thread of a process runs or waits for a processor."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "R"
    except OSError:
        return False


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def marked(value: str) -> list[int]:
    """Return the pids of the processes that have the mark."""
    wanted = f"{MARK}={value}"
    if Path("/proc/self/environ").exists():
        found = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                with contextlib.suppress(OSError):
                    if wanted.encode() in (folder / "environ").read_bytes().split(b"\0"):
                        found.append(int(folder.name))
        return found
    out = subprocess.run(["ps", "-axEwwo", "pid=,command="], capture_output=True, text=True, check=True).stdout
    return [int(line.split(None, 1)[0]) for line in out.splitlines() if wanted in line.split()]


async def end_marked(value: str) -> None:
    """End the processes that still have the mark: with SIGTERM, then with SIGKILL."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        pids = [pid for pid in marked(value) if pid != os.getpid()]
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        waited = 0.0
        while waited < GRACE and any(alive(pid) for pid in pids):
            await asyncio.sleep(0.05)
            waited += 0.05
        if not pids:
            return
