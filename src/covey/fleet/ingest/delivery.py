"""One hook delivery as a value, whether it came over HTTP or lay in the spool."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from covey.agents.json_values import MOST_VALUES
from covey.kernel.json_size import has_too_many_values

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST_ID, LONGEST_PID, LONGEST_MILLISECONDS = 64, 10, 15
MOST_PIDS = 32


class HookDelivery(NamedTuple):
    """What one call of a hook delivered."""

    agent: str
    tmux: str
    """The hook's `$TMUX`: the socket of its tmux server, then more behind a comma."""
    pane_id: str
    pids: list[int]
    """The hook's process and those above it; empty if the sender does not know."""
    payload: dict[str, Any]
    at: float
    """When the event was caught."""
    id: str
    """The same for every delivery of the same event; empty if the sender has no spool."""
    verified: bool = False
    """Whether the kernel says that the sender is one of `pids` or comes from them. Anybody can write into the spool."""

    @property
    def socket(self) -> str:
        """The socket of the tmux server that the hook ran in; empty if it is not known."""
        return self.tmux.partition(",")[0]


def parse(agent: str, headers: Mapping[str, str], body: bytes, now: float) -> HookDelivery | None:
    """Parse a hook request. `headers` are in lower case; one that makes no sense counts as missing.

    Returns None for a malformed payload. Never raises, because a hook must not fail its agent.
    """
    try:
        text = body.decode()
        payload = None if has_too_many_values(text, MOST_VALUES) else json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(payload, dict):
        return None
    id_ = headers.get("x-covey-id", "")
    return HookDelivery(
        agent=agent,
        tmux=headers.get("x-covey-tmux", ""),
        pane_id=headers.get("x-covey-pane", ""),
        pids=_pids(headers.get("x-covey-pid", "")),
        payload=payload,
        at=_seconds(headers.get("x-covey-at", ""), now),
        id=id_ if len(id_) <= LONGEST_ID and id_.isascii() and id_.isprintable() else "",
    )


def repeats_a_key(body: bytes) -> bool:
    """Return whether an object in a payload has a key twice: whoever reads it may take the one or the other."""
    found = False

    def pairs(items: list[tuple[str, object]]) -> None:
        nonlocal found
        found = found or len({name for name, _ in items}) < len(items)

    json.loads(body, object_pairs_hook=pairs)
    return found


def _pids(text: str) -> list[int]:
    words = text.replace(",", " ").split()[:MOST_PIDS]
    return [int(word) for word in words if _is_number(word) and len(word) <= LONGEST_PID]


def _seconds(milliseconds: str, now: float) -> float:
    """Return the seconds since 1970 that a header names; `now` if it does not."""
    if _is_number(milliseconds) and len(milliseconds) <= LONGEST_MILLISECONDS:
        return int(milliseconds) / 1000
    return now


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
