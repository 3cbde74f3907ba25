"""The text in which messages are given to an agent: one after the other, each with its time and channel."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from covey.kernel.typed_text import typed_text, without_mentions

if TYPE_CHECKING:
    from collections.abc import Sequence

AGAIN = ", sent again"
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
    # As `send` types it: the text has to be the one that the conversation has.
    lines = [typed_text(line)[0] for line in message.content.strip("\r\n").splitlines()]
    head, *more = [without_mentions(line) for line in lines] or [""]
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
