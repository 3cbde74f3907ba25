"""A hooks folder with real scripts, and the hooks of a peer that runs them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from covey.kernel.clock import Clock, SystemClock
from covey.kernel.metrics import Metrics
from covey.mesh.hooks.hook_result import HookResult
from covey.mesh.hooks.hooks import Hooks
from covey.mesh.hooks.sandbox import Sandbox
from covey.mesh.hooks.settings import SETTINGS

MEMBER = "U" + "A" * 55
LIMIT_S = 120.0


class Peer:
    """The hooks of a peer, and what it was told about them."""

    def __init__(self, folder: Path, clock: Clock | None = None, confinement: Sandbox | None = None) -> None:
        self.folder = folder
        self.clock = clock or SystemClock()
        self.values: dict[str, Any] = {setting.key: setting.default for setting in SETTINGS}
        self.metrics = Metrics()
        self.results: list[HookResult] = []
        self.hooks = Hooks(
            str(folder),
            slug="team",
            member=MEMBER,
            home="/nowhere/covey",
            settings=self.values.__getitem__,
            metrics=self.metrics,
            clock=self.clock,
            on_result=self.results.append,
            confinement=confinement,
        )

    def script(self, name: str, text: str, mode: int = 0o700) -> Path:
        """Write a hook; `text` is for a shell unless it has a first line of its own."""
        path = self.folder / name
        path.write_text(text if text.startswith("#!") else f"#!/bin/sh\n{text}\n")
        path.chmod(mode)
        return path

    def python(self, name: str, text: str) -> Path:
        """Write a hook in Python."""
        return self.script(name, f"#!{sys.executable} -I\n{text}\n")

    async def run(self, *names: str, hops: int = 0, **document: Any) -> list[HookResult]:
        """Fire, and return the results of the runs."""
        before = len(self.results)
        count = self.hooks.status()["fired"]
        self.hooks.fire(names, document or {"message": "hello"}, hops=hops)
        await until(lambda: self.hooks.status()["queued"] == 0 and self.hooks.status()["running"] == 0)
        started = self.hooks.status()["fired"] - count
        await until(lambda: len(self.results) - before == started)
        return self.results[before:]

    async def run_one(self, name: str, **document: Any) -> HookResult:
        """Fire one hook, and return the result."""
        (result,) = await self.run(name, **document)
        return result


@contextlib.asynccontextmanager
async def a_peer(tmp_path: Path, clock: Clock | None = None, confinement: Sandbox | None = None) -> AsyncIterator[Peer]:
    """Yield a peer with an empty hooks folder."""
    folder = tmp_path / "hooks"
    folder.mkdir(mode=0o700)
    peer = Peer(folder, clock, confinement)
    try:
        yield peer
    finally:
        await peer.hooks.aclose()


async def until(condition: Callable[[], object]) -> None:
    """Wait until something is so; fail if it is not within a minute."""
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


def number_in(path: Path) -> int:
    """Return the number in a file; 0 if it is not there or not written yet."""
    with contextlib.suppress(OSError, ValueError):
        return int(path.read_text())
    return 0


def is_running(pid: int) -> bool:
    """Return whether a process exists and has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (OSError, IndexError):
        return False


def descriptors() -> int:
    """Return how many descriptors this process has open."""
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - a number is wanted
