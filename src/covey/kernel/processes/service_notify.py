"""systemd's notification protocol: a datagram to the socket that the service manager names.

Without a service manager, all functions here do nothing.
"""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.kernel.clock import Clock


def notify(state: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Send `READY=1`, `STOPPING=1`, `WATCHDOG=1`, `STATUS=…` (several separated by newlines).

    Returns whether it was sent to a service manager. Never raises or waits.
    """
    address = environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return False
    if address.startswith("@"):  # a name in Linux's abstract namespace
        address = "\0" + address[1:]
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as connection:
            connection.settimeout(0)  # a manager that does not read must not block the daemon
            connection.sendto(state.encode(errors="replace"), address)
    except OSError:
        return False
    return True


def watchdog_period(environ: Mapping[str, str] = os.environ) -> float | None:
    """Return the seconds between two keep-alives: half of the manager's limit; None if it has no watchdog for us."""
    allowed = environ.get("WATCHDOG_USEC", "")
    watched = environ.get("WATCHDOG_PID", str(os.getpid()))
    if not (allowed.isascii() and allowed.isdigit() and int(allowed)) or watched != str(os.getpid()):
        return None
    return int(allowed) / 2_000_000


async def watchdog(clock: Clock, environ: Mapping[str, str] = os.environ) -> None:
    """Send keep-alives from the event loop, so that a hanging loop is noticed. Ends at once without a watchdog."""
    period = watchdog_period(environ)
    while period is not None:
        notify("WATCHDOG=1", environ)
        await clock.sleep(period)
