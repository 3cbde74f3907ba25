"""The machines whose agents are seen, for a person."""

from __future__ import annotations

from covey.cli.cells import clean
from covey.cli.render_fleet import BLUE, RED, YELLOW, Paint, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

HEALTH = {"ok": ("●", BLUE), "degraded": ("▲", YELLOW), "down": ("✗", RED)}


def targets(result: dict[str, Any], paint: Paint) -> str:
    if not result["items"]:
        return "No targets\n  covey target add vm1 --kind ssh  adds one that you reach with: ssh vm1"
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
    sign, colour = HEALTH[result["health"]]
    reason = f": {clean(result['reason'])}" if result["reason"] else ""
    return f"{paint(sign, colour)} {clean(result['target'])} is {result['health']}{reason}"


def added(result: dict[str, Any], paint: Paint) -> str:
    """A target that was only just written down says nothing yet about how well it can be reached."""
    if result["health"] == "degraded" and result["last_seen_at"] is None:
        return f"Added {clean(result['target'])}; it is being looked at\n  covey target list  shows how that went"
    return target(result, paint)


RENDERERS: dict[str, Callable[[Any, Paint], str]] = {
    "target.list": targets,
    "target.add": added,
    "target.connect": target,
    "target.remove": lambda result, _: f"{clean(result['target'])} is forgotten; its agents keep running",
}
