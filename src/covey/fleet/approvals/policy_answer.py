"""What the policy says about a request. A policy that fails says nothing: a person is asked then."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Protocol

from covey.fleet.approvals.approval import ALLOW, DENY

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    from covey.fleet.approvals.approval import Approval

log = logging.getLogger("covey.fleet")


class PolicyDecision(Protocol):
    """What a policy says about a request."""

    @property
    def effect(self) -> Literal["allow", "deny", "ask"]: ...
    @property
    def rule(self) -> str: ...
    @property
    def why(self) -> str: ...


def policy_says(decide: Callable[..., PolicyDecision], approval: Approval) -> PolicyDecision | None:
    """Return the decision of the policy if it allows or denies a request; None if a person is to be asked.

    `decide` is called with agent, tool, command, paths, target and folder by name. Questions are for people.
    """
    request = approval.request
    if request.questions:
        return None
    try:
        said = decide(
            agent=approval.agent,
            tool=request.tool,
            command=request.shell_command,
            paths=request.paths,
            target=approval.target,
            folder=request.folder,
        )
    except Exception:
        log.exception("the policy could not be asked", extra={"agent": approval.agent, "tool": request.tool})
        return None
    return said if said.effect in {ALLOW, DENY} else None
