"""What the policy says about a request. A policy that fails says nothing: a person is asked then."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Protocol

from covey.fleet.policy.decision import ASK
from covey.fleet.policy.request import PolicyRequest

if TYPE_CHECKING:
    from covey.fleet.approvals.approval import Approval
    from covey.fleet.policy.decision import Decision
    from covey.fleet.policy.policy import Policy

log = logging.getLogger("covey.fleet")


class CurrentPolicy(Protocol):
    """Where the policy that is in force comes from."""

    async def current(self) -> Policy: ...


async def policy_says(policy: CurrentPolicy, approval: Approval) -> Decision | None:
    """Return the decision of the policy if it allows or denies a request; None if a person is to be asked.

    Questions are for people.
    """
    request = approval.request
    if request.questions:
        return None
    asked = PolicyRequest(
        agent=approval.agent,
        tool=request.tool,
        command=request.shell_command,
        paths=request.paths,
        target=approval.target,
        folder=request.folder,
    )
    try:
        said = (await policy.current()).decide(asked)
    except Exception:
        log.exception("the policy could not be asked", extra={"agent": approval.agent, "tool": request.tool})
        return None
    return None if said.effect == ASK else said
