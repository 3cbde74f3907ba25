"""Requests that the policy answers. A policy that fails says nothing: a person is asked then."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Protocol

from covey.agents.registry import APPROVALS
from covey.contract.kernel_events import AUDIT_CALL
from covey.fleet.approvals.approval import ANSWERED, DENY, POLICY
from covey.kernel.operations.call import Caller
from covey.policy.decision import ASK
from covey.policy.request import PolicyRequest

if TYPE_CHECKING:
    from covey.fleet.approvals.approval import Approval
    from covey.fleet.approvals.pending import PendingApprovals
    from covey.kernel.clock import Clock
    from covey.kernel.events.events import Events
    from covey.policy.decision import Decision
    from covey.policy.policy import Policy

MANY_PATHS, LONG_TEXTS = 20, 4096
"""A request with more of them is decided in a thread."""

log = logging.getLogger("covey.fleet")


class CurrentPolicy(Protocol):
    """Where the policy that is in force comes from."""

    async def current(self) -> Policy: ...


class PolicyAnswers:
    """Answers for the policy, and records that it did."""

    def __init__(self, policy: CurrentPolicy, pending: PendingApprovals, events: Events, clock: Clock) -> None:
        self._policy = policy
        self._pending = pending
        self._events = events
        self._clock = clock

    async def answer(self, approval: Approval) -> dict[str, Any] | None:
        """Return what the hook prints if the policy allows or denies a request; None if a person is to be asked."""
        said = await policy_says(self._policy, approval)
        if said is None:
            return None
        denied = said.effect == DENY
        message = (said.why or f"denied by the rule {said.rule}") if denied else ""
        await self._pending.add(approval)
        closed = approval.closed(
            ANSWERED,
            self._clock.time(),
            decision=said.effect,
            message=message,
            via=POLICY,
            by={"rule": said.rule},
            why=said.why,
        )
        await self._pending.close(closed)
        await self._events.append(AUDIT_CALL, "deny" if denied else "approve", _audited(closed, said))
        agent = APPROVALS[approval.agent]
        return agent.deny(approval.request, message) if denied else agent.allow(approval.request, always=False)


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
        call=request.call,
        target=approval.target,
        folder=request.folder,
    )
    try:
        said = await decided(await policy.current(), asked)
    except Exception:
        log.exception("the policy could not be asked", extra={"agent": approval.agent, "tool": request.tool})
        return None
    return None if said.effect == ASK else said


async def decided(policy: Policy, asked: PolicyRequest) -> Decision:
    """Return the decision about a request; about a large one it is made in a thread, so that nothing else waits."""
    if len(asked.call.paths) > MANY_PATHS or sum(map(len, asked.call.texts)) > LONG_TEXTS:
        return await asyncio.to_thread(policy.decide, asked)
    return policy.decide(asked)


def _audited(approval: Approval, said: Decision) -> dict[str, Any]:
    """Return what the audit has of a decision of the policy."""
    return {
        "about": approval.ref,
        "snapshot": approval.for_audit(),
        "outcome": f"{said.effect} by the rule {said.rule!r}",
        "error": None,
        "begun": None,
        **Caller("internal", subsystem="policy", surface="internal").as_dict(),
    }
