"""What became of one run of a hook."""

from __future__ import annotations

from typing import Any

import msgspec


class HookResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a run."""

    hook: str
    exit: str
    """The exit code as a shell has it, more than 128 for a signal; or why there is none: `timeout`, `output` (it wrote
    too much) or `not_started`."""
    duration: float
    """Seconds."""
    reply: str | None = None
    """The text with which the message is to be answered."""
    error: str = ""
    """What went wrong, in a sentence without secrets."""
    document: dict[str, Any]
    """What the hook was given: the message that a reply answers."""
    hops: int = 0
    """The hops of that message. A reply has one more."""

    @property
    def is_failed(self) -> bool:
        """Whether the hook did not do what it was to do."""
        return bool(self.error)
