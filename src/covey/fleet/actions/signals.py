"""A signal to the process of an agent on this machine, and to no later process with its number."""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import TYPE_CHECKING

from covey.fleet.actions.refusal import RUNTIME_CHANGED, Refusal
from covey.kernel.processes.process import birth, signal_process, start_of

if TYPE_CHECKING:
    from covey.fleet.actions.snapshot import Snapshot
    from covey.kernel.clock import Clock

ENDS_S = 2.0
"""How long the process is waited for."""
LOOK_S = 0.05


async def send_signal(snapshot: Snapshot, name: str, clock: Clock) -> bool:
    """Send a signal, such as INT, and return whether the process has ended soon after.

    Raises Refusal if the process that was seen is not there any more.
    """
    runtime = snapshot.runtime
    born = birth(runtime.pid)
    same = sys.platform != "linux" or start_of(runtime.pid) == runtime.process_started
    if not born or not same or not signal_process(runtime.pid, born, signal.Signals[f"SIG{name}"]):
        raise Refusal(
            RUNTIME_CHANGED,
            f"{runtime.agent} (runtime:{runtime.runtime_id}) has ended; no signal was sent",
            "See who is there: covey ps",
        )
    until = clock.monotonic() + ENDS_S
    while birth(runtime.pid) == born:
        if clock.monotonic() >= until:
            return False
        await asyncio.sleep(LOOK_S)
    return True
