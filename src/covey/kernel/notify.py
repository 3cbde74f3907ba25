"""What a service manager wants to hear: systemd's notification protocol, a datagram to the socket it names. Without one, all of this does nothing."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.kernel.clock import Clock


def notify(state: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Tell `READY=1`, `STOPPING=1`, `WATCHDOG=1`, `STATUS=…` (several separated by newlines). True if somebody was there to hear it; never raises or waits."""
    address = environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return False
    if address.startswith("@"):  # a name in Linux's abstract namespace
        address = "\0" + address[1:]
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as telling:
            telling.settimeout(0)  # a manager that does not listen must not stop us
            telling.sendto(state.encode(errors="replace"), address)
    except OSError:
        return False
    return True


def watchdog_period(environ: Mapping[str, str] = os.environ) -> float | None:
    """Seconds between two signs of life: half of what the manager allows, nothing if it does not watch this process."""
    allowed, watched = environ.get("WATCHDOG_USEC", ""), environ.get("WATCHDOG_PID", str(os.getpid()))
    if not (allowed.isascii() and allowed.isdigit() and int(allowed)) or watched != str(os.getpid()):
        return None
    return int(allowed) / 2_000_000


async def watchdog(clock: Clock, environ: Mapping[str, str] = os.environ) -> None:
    """Give signs of life from the event loop, so that one that hangs is noticed. Ends at once where nobody watches."""
    period = watchdog_period(environ)
    while period is not None:
        notify("WATCHDOG=1", environ)
        await clock.sleep(period)
