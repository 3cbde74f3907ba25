"""The doctor's look at the targets of a running daemon: machines and tmux servers that it cannot watch as it should."""

from __future__ import annotations

from typing import TYPE_CHECKING

from covey.contract.kernel import OPERATIONS
from covey.kernel.client import Client
from covey.kernel.finding import OK, WARN, Finding
from murli import AgentError

if TYPE_CHECKING:
    from covey.kernel.home import Home

PATIENCE_S = 2.0
STATUS = next(operation for operation in OPERATIONS if operation.name == "status")


def targets(home: Home, deadline: float) -> list[Finding]:
    """One finding for each target that is not well, with its reason, or one for all that are. None without a daemon that answers: the look at its socket tells about that."""
    try:
        found = (Client(home.socket, timeout=min(deadline * 0.8, PATIENCE_S)).call(STATUS, {}).get("fleet") or {}).get(
            "targets", []
        )
    except AgentError:
        return []
    if not found:
        return [
            Finding(
                "home",
                "targets",
                WARN,
                "no machine is watched, not even this one",
                "covey target add host --kind local",
            )
        ]
    poor = [one for one in found if one["health"] != "ok"]
    if not poor:
        return [Finding("home", "targets", OK, f"{len(found)} well")]
    return [
        Finding("home", one["target"], WARN, f"{one['health']}: {one['reason']}", "covey target list") for one in poor
    ]
