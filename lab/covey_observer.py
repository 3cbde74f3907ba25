"""Covey as an observer of the lab.

A node of its own watches the lab's tmux server, and every state that it publishes becomes a line of the timeline.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from covey.kernel.config.config import set_value
from covey.kernel.daemon import Daemon
from covey.kernel.home import Home
from covey.node.settings import SETTINGS
from covey.node.subsystems import SUBSYSTEMS
from lab.observer import HOME, SOCKET, TIMELINE

if TYPE_CHECKING:
    from covey.kernel.events.event import Event

KINDS = ("agent.started", "agent.state", "agent.ended")


def line(event: Event) -> str:
    """Return the claim that an event makes, as a line of the timeline."""
    state = "gone" if event.kind == "agent.ended" else event.data["state"]
    claim = {
        "at": event.time,
        "pane": event.data["identity"]["pane_id"],
        "state": state,
        "confidence": event.data["confidence"],
    }
    return f"{json.dumps(claim)}\n"


async def observe(home: Home, out: TextIO) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with Daemon.running(home.node, subsystems=SUBSYSTEMS) as daemon:
        following = asyncio.create_task(_follow(daemon, out))
        await stop.wait()
        following.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await following


async def _follow(daemon: Daemon, out: TextIO) -> None:
    async with daemon.events.subscribe(since=0, kinds=KINDS) as subscription:
        while not subscription.closed:
            out.writelines(map(line, await subscription.take(60.0)))


def main() -> None:
    home = Home(os.environ[HOME])
    set_value(home.node, SETTINGS, "fleet.sockets", json.dumps([os.environ[SOCKET]]))
    with Path(os.environ[TIMELINE]).open("a", encoding="utf-8", buffering=1) as out:
        asyncio.run(observe(home, out))


if __name__ == "__main__":
    main()
