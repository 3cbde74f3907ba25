"""The doctor's look at the targets of a running daemon: machines and tmux servers that it cannot watch as it should."""

from __future__ import annotations

from typing import TYPE_CHECKING

from covey.contract.kernel import OPERATIONS
from covey.kernel.client import Client, NotRunning
from covey.kernel.finding import OK, WARN, Finding
from murli import AgentError

if TYPE_CHECKING:
    from covey.kernel.home import Home

STATUS = next(operation for operation in OPERATIONS if operation.name == "status")


def targets(home: Home, deadline: float) -> list[Finding]:
    """One finding for each target that is not well, with its reason; one for all if they are, or if there is no daemon to ask."""
    try:
        found = (Client(home.socket, timeout=deadline).call(STATUS, {}).get("fleet") or {}).get("targets", [])
    except NotRunning:
        return [Finding("home", "targets", OK, "not looked at: the daemon is not running")]
    except AgentError as error:
        return [Finding("home", "targets", WARN, f"not known: {error.message}", "covey status")]
    poor = [
        Finding("home", target["target"], WARN, f"{target['health']}: {target['reason']}", "covey target list")
        for target in found
        if target["health"] != "ok"
    ]
    return poor or [Finding("home", "targets", OK, f"{len(found)} well")]
