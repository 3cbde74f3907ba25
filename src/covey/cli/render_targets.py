"""Targets, the machines whose agents Covey watches, for a person."""

from __future__ import annotations

from covey.cli.cells import clean, hint
from covey.cli.table import table
from covey.cli.text import BLUE, RED, YELLOW, Paint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HEALTH = {"ok": ("●", BLUE), "degraded": ("▲", YELLOW), "down": ("✗", RED)}


def targets(result: dict[str, Any], paint: Paint) -> str:
    """The table of targets."""
    if not result["items"]:
        add = hint("covey target add vm1 --kind ssh", "adds one that you reach with: ssh vm1", paint.columns)
        return "\n".join(["No targets", *add])
    rows = [
        [
            item["health"],
            clean(item["target"]),
            item["kind"],
            clean(item["ssh_target"]),
            clean(item["node"]),
            clean(item["reason"]),
        ]
        for item in result["items"]
    ]
    return "\n".join(
        table(
            ["HEALTH", "TARGET", "KIND", "SSH", "NODE", "REASON"],
            rows,
            [HEALTH[item["health"]] for item in result["items"]],
            paint,
        )
    )


def target(result: dict[str, Any], paint: Paint) -> str:
    """The health of one target."""
    sign, colour = HEALTH[result["health"]]
    reason = f": {clean(result['reason'])}" if result["reason"] else ""
    return f"{paint(sign, colour)} {clean(result['target'])} is {result['health']}{reason}"


def added(result: dict[str, Any], paint: Paint) -> str:
    """A target that was added; its health is not known before the first connection."""
    if result["health"] == "degraded" and result["last_seen_at"] is None:
        return f"Added {clean(result['target'])}; Covey connects to it now\n  covey target list  shows its health"
    return target(result, paint)


def removed(result: dict[str, Any], _: Paint) -> str:
    """A target that is no longer watched."""
    return f"{clean(result['target'])} is forgotten; its agents keep running"
