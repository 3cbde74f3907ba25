"""The broker's disk is full for a while: nothing that was accepted may be lost, and nothing doubled."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
from typing import TYPE_CHECKING

from lab.mesh.outcome import Outcome
from lab.mesh.stage import MeshStage, open_stage
from lab.mesh.traffic import Traffic

if TYPE_CHECKING:
    from pathlib import Path

    from lab.mesh.outcome import Progress

SMALL_MB, LARGE_MB = 6, 200
FULL_S = 15.0
TEXT_BYTES = 20_000


async def disk(seed: int, progress: Progress) -> Outcome:
    """Fill the disk of the broker under traffic, then make room."""
    outcome = Outcome(f"the broker's disk full (tmpfs of {SMALL_MB} MB), seed {seed}")
    async with open_stage(members=["b"]) as stage:
        assert stage.broker is not None
        store = stage.broker.files.directory / "store"
        stage.broker.kill()
        if reason := _mount(store, stage.folder / "aside"):
            outcome.skipped = reason
            return outcome
        try:
            await stage.broker.start()
            await _fill(stage, outcome, store, seed, progress)
        finally:
            stage.broker.kill()
            await asyncio.to_thread(_run, "umount", "-l", store)
    return outcome


async def _fill(stage: MeshStage, outcome: Outcome, store: Path, seed: int, progress: Progress) -> None:
    assert stage.broker is not None
    for peer in stage.peers.values():
        await peer.ready()
    await stage.subscribe("a", "b")
    traffic = Traffic(stage, random.Random(seed))  # noqa: S311 - no secrets
    for sender, recipient in (("a", "b"), ("b", "a")):
        traffic.direct(sender, recipient).padding = "x" * TEXT_BYTES
        traffic.topic(sender).padding = "x" * TEXT_BYTES
    async with traffic.flowing():
        async with asyncio.timeout(120):
            while _free(store) > 2 * TEXT_BYTES:
                await asyncio.sleep(0.05)
        before = traffic.accepted
        progress(f"the disk is full after {before} messages", 1, 3)
        await asyncio.sleep(FULL_S)
        while_full = traffic.accepted - before
        depth = (await stage.authority.status())["outbox"]["pending"]
        await asyncio.to_thread(_run, "mount", "-o", f"remount,size={LARGE_MB}m", store)
        progress(f"room again; {while_full} messages were accepted meanwhile", 2, 3)
        recovered = await _flows_again(stage, 30.0)
        if not recovered:
            stage.broker.kill()
            await stage.broker.start()
    await stage.settle(traffic)
    progress("settled", 3, 3)
    outcome.figures = {
        "accepted before it was full": before,
        "accepted while it was full": while_full,
        "in the outbox of a when there was room again": depth,
        "the broker went on by itself": "yes" if recovered else "no: it was started again",
    }
    outcome.add(await stage.judge(traffic))


async def _flows_again(stage: MeshStage, limit_s: float) -> bool:
    """Return whether the outbox of a gets emptier by itself."""
    for _ in range(int(limit_s / 0.5)):
        before = (await stage.authority.status())["outbox"]["pending"]
        if before == 0:
            return True
        await asyncio.sleep(0.5)
    return False


def _mount(store: Path, aside: Path) -> str:
    """Put a small file system where the broker has its store. Returns why that is not possible; empty if it was."""
    if os.geteuid() != 0:
        return "only root may mount a small file system"
    store.rename(aside)
    store.mkdir(mode=0o700)
    return _run("mount", "-t", "tmpfs", "-o", f"size={SMALL_MB}m,mode=0700", "tmpfs", store) or _run(
        "cp", "-a", f"{aside}/.", store
    )


def _run(*argv: str | Path) -> str:
    """Run a command. Returns what it complained about; empty if it succeeded."""
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    return f"{argv[0]}: {done.stderr.strip()}" if done.returncode else ""


def _free(path: Path) -> int:
    found = os.statvfs(path)
    return found.f_bavail * found.f_frsize
