"""The events of the keeper: what becomes of kept sessions, their messages and their turns."""

from __future__ import annotations

from covey.contract.event_kind import EventKind
from covey.contract.keeper import DELIVERED
from covey.contract.operation import Omittable, array, shape

BLOCK = {"type": "object", "description": "One block: thinking, text, tool_use or tool_result."}

SESSION_STARTED = EventKind(
    "keeper.started",
    "The agent of a kept session was started. `resumed`: with its former conversation.",
    subject="name",
    data=shape(agent="string", pid="integer", pane_id="string", resumed="boolean", why="string"),
)
SESSION_ENDED = EventKind(
    "keeper.ended",
    "The agent of a kept session has ended. With `starts_in` it crashed, and is started again after so many seconds; "
    "without, it was ended on purpose.",
    subject="name",
    data=shape(why="string", starts_in=Omittable("number")),
)
MESSAGE_ACCEPTED = EventKind(
    "keeper.message",
    "Messages came in on a channel, and are stored.",
    subject="name",
    data=shape(channel="string", messages="integer"),
)
MESSAGE_DELIVERED = EventKind(
    "keeper.delivered",
    "Messages were given to the agent. With `again` they had been sent before, and it was not known whether the agent "
    "had got them.",
    subject="name",
    data=DELIVERED,
)
TURN_FINISHED = EventKind(
    "turn.finished",
    "A kept agent has finished a turn. `turn` has all of its blocks; `shortened`: some were too long for an event.",
    subject="name",
    data=shape(
        session="string",
        agent="string",
        key="string",
        prompt="string",
        interrupted="boolean",
        shortened="boolean",
        turn=array(BLOCK),
    ),
)

EVENTS = (SESSION_STARTED, SESSION_ENDED, MESSAGE_ACCEPTED, MESSAGE_DELIVERED, TURN_FINISHED)
