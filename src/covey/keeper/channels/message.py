"""One message from a channel, and what a channel may be called."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

DEFAULT_CHANNEL = "default"
"""The channel of the FIFO `in`."""
NAME_RULE = "up to 64 letters, digits, dots, dashes and underscores, the first of them a letter or a digit"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", re.ASCII)


class Message(Struct, frozen=True, kw_only=True):
    """A text for the agent."""

    channel: str
    """That of the FIFO through which it came."""
    claimed: str = ""
    """The channel that the message itself names, if that is a different one."""
    content: str
    at: float
    """When it was said, in seconds since 1970."""
    meta: dict[str, Any] = {}


def is_channel_name(name: str) -> bool:
    """Return whether a channel may be called so."""
    return _NAME.fullmatch(name) is not None
