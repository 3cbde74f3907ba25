"""A signal to the process of an agent, and to no later process with its number."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from covey.fleet.actions.refusal import RUNTIME_CHANGED, TARGET_UNREACHABLE, OutcomeUnknown, Refusal
from covey.hosts.errors import HostError

if TYPE_CHECKING:
    from covey.fleet.actions.snapshot import Snapshot
    from covey.fleet.watch.target_watch import TargetWatch
    from covey.kernel.clock import Clock

ENDS_S = 2.0
"""How long the process is waited for."""
LOOK_S = 0.05


async def send_signal(watch: TargetWatch, snapshot: Snapshot, name: str, clock: Clock) -> bool:
    """Send a signal, such as INT, and return whether the process has ended soon after.

    Raises Refusal if no signal was sent: the process that was seen is not there any more, or its machine cannot be
    reached; OutcomeUnknown if the machine did not answer.
    """
    runtime = snapshot.runtime
    try:
        host = watch.host
    except HostError as error:
        raise Refusal(
            TARGET_UNREACHABLE, f"{watch.name} cannot be reached: {error}; no signal was sent", "covey target list"
        ) from error
    try:
        sent = await host.signal(runtime.pid, runtime.process_started, name)
    except HostError as error:
        raise OutcomeUnknown(
            f"whether the signal was sent is not known: {error}", "See whether the agent is still there: covey ps"
        ) from error
    if not sent:
        raise Refusal(
            RUNTIME_CHANGED,
            f"{runtime.agent} (runtime:{runtime.runtime_id}) has ended; no signal was sent",
            "See who is there: covey ps",
        )
    until = clock.monotonic() + ENDS_S
    try:
        while await host.lives(runtime.pid, runtime.process_started):
            if clock.monotonic() >= until:
                return False
            await asyncio.sleep(LOOK_S)
    except HostError:
        return False  # the signal was sent; whether it has ended is seen later
    return True
