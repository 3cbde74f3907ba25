"""Telling systemd that we are ready, well and stopping: the sd_notify protocol, one datagram a message."""

from __future__ import annotations

import contextlib
import os
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.kernel.clock import Clock


def notify(message: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Send a message such as `READY=1` to the service manager; False if there is none."""
    address = environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return False
    if address.startswith("@"):
        address = "\0" + address[1:]
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sock:
        sock.sendto(message.encode(), address)
        return True
    return False


async def watchdog(clock: Clock, environ: Mapping[str, str] = os.environ) -> None:
    """Tell the service manager, twice as often as it asks, that the event loop turns. Returns at once if it does not ask."""
    asked = environ.get("WATCHDOG_USEC", "")
    if not asked.isdigit() or environ.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return
    while True:
        notify("WATCHDOG=1", environ)
        await clock.sleep(int(asked) / 2_000_000)
