"""Where a person was brought, for people."""

from __future__ import annotations

import shlex

from covey.cli.cells import clean, cut
from covey.cli.text import DIM, Paint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def attached(result: dict[str, Any], paint: Paint) -> str:
    """Which agent the client shows now, or the command that goes there."""
    snapshot = result["snapshot"]
    if result["went"]:
        return cut(f"{snapshot['agent']} {clean(snapshot['ref'])} is in front of you; back: covey back", paint.columns)
    return shlex.join(map(clean, result["command"]))


def next_agent(result: dict[str, Any], paint: Paint) -> str:
    """What the agent needs, and where it is."""
    if result["item"] is None:
        return "No agent needs you"
    return f"{cut(clean(result['item']['title']), paint.columns)}\n{paint(attached(result['attachment'], paint), DIM)}"


def returned(result: dict[str, Any], _: Paint) -> str:
    """That the client is where it was."""
    return "Detached" if result["detached"] else "You are back"
