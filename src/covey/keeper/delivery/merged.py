"""The text in which messages are given to an agent: one after the other, each with its time and channel."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Sequence

AGAIN = ", sent again"
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
"""What `send` would take out, but for line breaks: the text has to be the one that the conversation has."""
INDENT = "  "
"""Before the further lines of a message, so that none of them can be mistaken for another message."""


class Waiting(Struct, frozen=True, kw_only=True):
    """A message that is stored and not known to have reached the agent."""

    id: int
    channel: str
    claimed: str = ""
    """The channel that the message itself names, if it came through a different one."""
    content: str
    at: float
    again: bool = False
    """Whether it was sent before, and the agent may have got it."""


def merged(messages: Sequence[Waiting]) -> str:
    """Return the messages as the agent sees them, such as `[14:30 telegram] Did you check your homework?`."""
    return "\n".join(_line(message) for message in messages)


def _line(message: Waiting) -> str:
    at = datetime.fromtimestamp(message.at).astimezone().strftime("%H:%M")
    head, *more = _CONTROLS.sub("", message.content.strip("\r\n")).splitlines() or [""]
    mark = AGAIN if message.again else ""
    channel = f"{message.claimed} via {message.channel}" if message.claimed else message.channel
    return "\n".join([f"[{at} {channel}{mark}] {head}", *(f"{INDENT}{line}" for line in more)])


def first_of(messages: Sequence[Waiting], most_bytes: int) -> list[Waiting]:
    """Return as many of the first messages as fit into one text; at least one."""
    taken, size = list[Waiting](), 0
    for message in messages:
        size += len(_line(message).encode()) + 1
        if taken and size > most_bytes:
            break
        taken.append(message)
    return taken
