"""The turn of an agent stopped with the agent's own key, and that it has come to rest."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING

from covey.fleet.actions.pane import TRIES, TRY_AGAIN_S
from covey.fleet.actions.refusal import DIALOG_OPEN, NOT_RUNNING, SCREEN_CHANGING, Refusal

if TYPE_CHECKING:
    from covey.agents.acting import Acting
    from covey.fleet.actions.pane import AgentPane, Screen
    from covey.fleet.actions.snapshot import Snapshot
    from covey.kernel.clock import Clock

ATTEMPTS = 2
"""An agent that is busy may lose a key, or read two that belong together too far apart."""
RESTS_S = 3.0
"""How long the agent is given to come to rest, each time."""
LOOK_S = 0.1
SHOWS_S = 1.0
BETWEEN_S = 0.3
"""Between two keys."""


async def interrupt(pane: AgentPane, snapshot: Snapshot, acting: Acting, clock: Clock) -> str:
    """Press the agent's keys while its screen shows that it works. Returns the state that its screen shows after that.

    Raises Refusal if nothing was pressed: the same key would do something else in an agent that asks or rests.
    """
    first, *others = acting.interrupt
    state = "running"
    for attempt in range(ATTEMPTS):
        with contextlib.nullcontext() if attempt == 0 else contextlib.suppress(Refusal):
            await _press(pane, snapshot, first, waits=attempt == 0)
        for key in others:  # not at once: two Escapes in one read are another key
            await asyncio.sleep(BETWEEN_S)
            with contextlib.suppress(Refusal):  # one was enough
                await _press(pane, snapshot, key, waits=False)
        until = clock.monotonic() + RESTS_S
        while state == "running" and clock.monotonic() < until:
            await asyncio.sleep(LOOK_S)
            state = _state_of(await pane.screen())
        if state != "running":
            break
    return state


async def _press(pane: AgentPane, snapshot: Snapshot, key: str, *, waits: bool) -> None:
    """Press a key while the screen shows that the agent works. Raises Refusal if it was not pressed.

    With `waits`, an agent that is known to work may show it a moment later: some draw nothing of it between two steps.
    """
    until = time.monotonic() + (SHOWS_S if waits and snapshot.state == "running" else 0.0)
    for _ in range(TRIES):
        screen = await pane.screen()
        while _state_of(screen) == "idle" and time.monotonic() < until:
            await asyncio.sleep(LOOK_S)
            screen = await pane.screen()
        if screen.reading and screen.reading.dialog:
            raise Refusal(
                DIALOG_OPEN,
                f"{snapshot.ref} asks something, and the key that interrupts would answer it",
                "Answer it first, in its pane.",
            )
        if _state_of(screen) != "running":
            raise Refusal(
                NOT_RUNNING, f"{snapshot.ref} does not work now: it is {_state_of(screen)}", "See `covey ps`."
            )
        if await pane.press(screen, key):
            return
        await asyncio.sleep(TRY_AGAIN_S)
    raise Refusal(
        SCREEN_CHANGING, f"the screen of {snapshot.ref} changes too fast to act safely", "Try again in a moment."
    )


def _state_of(screen: Screen) -> str:
    return screen.reading.state if screen.reading else "unknown"
