"""What kept agents ask for, told on channels that people read, and answered from those that may approve.

The first and the last line of a message about a request are ours; each line of the request is between them and begins
with `| `. An answer is a message of two words on one line, such as `approve 4KQZ7M`. It is not given to the agent. From
any other channel the same words are a message like all others. What is too long for a channel cannot be approved from
one: nobody was shown all of it.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.contract.approvals_events import APPROVAL_CLOSED, APPROVAL_OPENED
from covey.keeper.channels.writing import write_message
from covey.kernel.operations.call import Caller
from covey.kernel.visible_text import visible, visible_line
from murli import AgentError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from covey.keeper.channels.message import Message
    from covey.keeper.keeper import Keeper
    from covey.keeper.kept_agent import KeptAgent

ANSWER = re.compile(r"[ \t]*(?P<verb>approve|deny)[ \t]+(?P<id>[0-9A-Z]{4,26})[ \t]*", re.IGNORECASE | re.ASCII)
QUOTED = "| "
"""Begins each line of a request."""
ID_END = 6
"""Characters at the end of an id that are told: enough to find it again."""
SHOWS_ALL = "covey approvals"
CALLER = Caller("internal", subsystem="keeper")

log = logging.getLogger("covey.keeper")


def told(name: str, request: Mapping[str, Any]) -> str:
    """Return what a channel is told of a request of the session of this name.

    Tool and input are the agent's texts: nothing in them hides, and none of their lines looks like one of ours.
    """
    end = request["id"][-ID_END:]
    text = f"{visible_line(request['tool'])}\n{visible(request['command'])}"
    lines = [f"{QUOTED}{line}" for line in text.rstrip("\n").split("\n")]
    answers = f"Answer: approve {end}   or: deny {end}"
    if request["kind"] == "question":
        answers = f"Answer it with: covey answer {end} --option …"
    elif request["left_out"]:
        answers = f"It is too long to be approved from here, see: {SHOWS_ALL}   Or answer: deny {end}"
    return "\n".join([f"{name} asks ({end}):", *lines, answers])


class PermissionRequests:
    """Tells requests while `run` runs, and takes answers."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self._told: dict[str, KeptAgent] = {}
        """The sessions whose requests are open, by the id of the request."""
        self._too_long: set[str] = set()
        """The requests that were not told whole."""

    async def run(self) -> None:
        """Tell requests until cancelled."""
        async with self._keeper.context.events.subscribe(kinds=[APPROVAL_OPENED, APPROVAL_CLOSED]) as heard:
            while not heard.closed:
                for event in await heard.take():
                    await self._heard(event.kind, event.data)

    async def _heard(self, kind: str, request: dict[str, Any]) -> None:
        agent = next((one for one in self._keeper.agents.values() if one.runtime_id == request["runtime_id"]), None)
        if agent is None:
            agent = self._told.get(request["id"])
        if agent is None:
            return
        if kind == APPROVAL_OPENED:
            self._told[request["id"]] = agent
            if request["left_out"]:
                self._too_long.add(request["id"])
            await self._tell(agent, told(agent.name, request))
        elif self._told.pop(request["id"], None) is not None:
            self._too_long.discard(request["id"])
            if request["via"] != "hook":
                why = visible_line(request["why"]) or "answered"
                await self._tell(agent, f"{agent.name}: {request['id'][-ID_END:]} is settled ({why})")

    async def take(self, agent: KeptAgent, channel: str, messages: Sequence[Message]) -> list[Message]:
        """Carry out the answers among messages, and return the others.

        `channel` is that of the FIFO from which they came: what a message itself says about that is not trusted.
        """
        if channel not in self._keeper.setting("keeper.approve_from"):
            return list(messages)
        others = []
        for message in messages:
            if found := ANSWER.fullmatch(message.content):
                await self._answer(agent, channel, found["verb"].lower(), found["id"])
            else:
                others.append(message)
        return others

    async def _answer(self, agent: KeptAgent, channel: str, verb: str, end: str) -> None:
        mine = [known for known, whose in self._told.items() if whose is agent and known.upper().endswith(end.upper())]
        if len(mine) != 1:
            await self._tell(agent, f"{agent.name} asks nothing with the id {end} now", [channel])
            return
        if verb == "approve" and mine[0] in self._too_long:
            text = f"{agent.name}: {end} cannot be approved from here, because it was not told whole: {SHOWS_ALL}"
            await self._tell(agent, text, [channel])
            return
        try:
            await self._keeper.context.dispatcher.call(verb, {"ref": mine[0]}, CALLER)
            said = f"{agent.name}: {end} is {'approved' if verb == 'approve' else 'denied'}"
        except AgentError as error:
            said = f"{agent.name}: {end} could not be answered: {visible_line(error.message)}"
        log.info(
            "a request was answered from a channel", extra={"session": agent.name, "channel": channel, "id": mine[0]}
        )
        await self._tell(agent, said, [channel])

    async def _tell(self, agent: KeptAgent, text: str, channels: Sequence[str] | None = None) -> None:
        for channel in self._keeper.setting("keeper.ask_on") if channels is None else channels:
            try:
                await write_message(Path(agent.record.folder), channel, text)
            except AgentError as error:
                log.warning(
                    "a request could not be told",
                    extra={"session": agent.name, "channel": channel, "reason": str(error)},
                )
