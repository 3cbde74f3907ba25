"""Driving a scheduler in tests: letting time pass, waiting for runs and ending them, reading what was asked."""

from __future__ import annotations

import asyncio
import os
import signal

from covey.beats.run_folder import marked_processes
from tests.covey.beats.living import Living
from tests.covey.beats.world import World

LONG = 100.0
"""Seconds: longer than any test."""


async def passes(node: Living, seconds: float) -> None:
    """Let time pass while runs go on: until the scheduler sleeps again."""
    node.clock.advance(seconds)
    await asyncio.sleep(0.05)
    await node.until(lambda: node.clock.sleepers == 1)


async def running(world: World, node: Living, count: int) -> None:
    """Wait until the agents of this many runs are at work."""
    await node.until(lambda: len(node.beats.running) == count and set(node.beats.running) <= set(world.agent.starts))


async def end(node: Living) -> None:
    """End all runs that go on."""
    for run in list(node.beats.running):
        for pid in marked_processes(run):
            os.kill(pid, signal.SIGKILL)
    await node.rest()


async def about(node: Living, kind: str, key: str) -> list[str]:
    """Return what was asked, or why it was settled, under keys that begin with `key`."""
    return [
        event.data.get("title") or event.data["why"]
        for event in await node.published(f"attention.{kind}")
        if event.subject.startswith(key)
    ]
