"""The turn of an agent stopped with the agent's own key, and that it has come to rest."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from covey.fleet.actions.pane import TRIES, TRY_AGAIN_S
from covey.fleet.actions.refusal import DIALOG_OPEN, NOT_RUNNING, SCREEN_CHANGING, Refusal

if TYPE_CHECKING:
    from covey.agents.acting import Acting
    from covey.fleet.actions.pane import AgentPane
    from covey.fleet.actions.snapshot import Snapshot
    from covey.kernel.clock import Clock

RESTS_S = 5.0
"""How long the agent is given to come to rest."""
LOOK_S = 0.1


async def interrupt(pane: AgentPane, snapshot: Snapshot, acting: Acting, clock: Clock) -> str:
    """Press the agent's key while its screen shows that it works. Returns the state that its screen shows after that.

    Raises Refusal if nothing was pressed: the same key would do something else in an agent that asks or rests.
    """
    for _ in range(TRIES):
        screen = await pane.screen()
        state = screen.reading.state if screen.reading else "unknown"
        if screen.reading and screen.reading.dialog:
            raise Refusal(
                DIALOG_OPEN,
                f"{snapshot.ref} asks something, and the key that interrupts would answer it",
                "Answer it first, in its pane.",
            )
        if state != "running":
            raise Refusal(NOT_RUNNING, f"{snapshot.ref} does not work now: it is {state}", "See `covey ps`.")
        if await pane.press(screen, *acting.interrupt):
            break
        await asyncio.sleep(TRY_AGAIN_S)
    else:
        raise Refusal(
            SCREEN_CHANGING, f"the screen of {snapshot.ref} changes too fast to act safely", "Try again in a moment."
        )
    until = clock.monotonic() + RESTS_S
    while state == "running" and clock.monotonic() < until:
        await asyncio.sleep(LOOK_S)
        screen = await pane.screen()
        state = screen.reading.state if screen.reading else "unknown"
    return state
