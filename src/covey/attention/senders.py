"""Sends a notification through a channel, by its kind."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from covey.attention.apprise_sender import INSTALL, MISSING
from covey.attention.channel import APPRISE, BELL, COMMAND
from covey.attention.command import run
from covey.kernel.operations.call import Caller
from murli import AgentError

if TYPE_CHECKING:
    from covey.attention.channel import Channel
    from covey.kernel.operations.dispatcher import Dispatcher

APPRISE_S = 20.0
"""The time limit of a process that sends through apprise, for all of its addresses."""
NOBODY = "no terminal is attached to tmux: nobody has seen it"
APPRISE_COMMAND = (sys.executable, "-m", "covey.attention.apprise_sender")


class Senders:
    """Sends notifications. Terminals are alerted by the subsystem that knows the tmux servers."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    async def send(self, channel: Channel, content: dict[str, Any]) -> str:
        """Send a notification and return why that failed, or nothing. Raises OSError as `run` does."""
        if channel.kind == COMMAND:
            return await run(channel.command, content)
        if channel.kind == APPRISE:
            given = {**content, "urls": list(channel.urls)}
            problem = await run(APPRISE_COMMAND, given, APPRISE_S, name=APPRISE)
            return INSTALL if problem.startswith(f"{APPRISE} ended with code {MISSING}") else problem
        return await self._alert(bell=channel.kind == BELL, text=f"{content['title']} · {content['command']}")

    async def _alert(self, *, bell: bool, text: str) -> str:
        try:
            done = await self._dispatcher.call(
                "tmux.alert", {"bell": True} if bell else {"text": text}, Caller("internal", subsystem="attention")
            )
        except AgentError as error:
            return error.message
        return "; ".join(done["problems"]) or ("" if done["clients"] else NOBODY)
