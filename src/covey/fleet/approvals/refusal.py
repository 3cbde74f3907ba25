"""Why an approval was not answered. Nothing has happened then.

Refusal    with one of the codes below, or `not_supported`
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from covey.fleet.actions.refusal import Refusal
from covey.fleet.approvals.approval import ANSWERED, EXPIRED

if TYPE_CHECKING:
    from covey.fleet.approvals.approval import Approval

APPROVAL_ANSWERED = "approval_answered"
APPROVAL_WITHDRAWN = "approval_withdrawn"
APPROVAL_EXPIRED = "approval_expired"
NOTHING_ASKED = "nothing_asked"


def too_late(approval: Approval) -> Refusal:
    """Return why a closed approval cannot be answered any more."""
    what = f"what {approval.agent} asked in {approval.ref} ({approval.short_id})"
    look = f"See what it does now: covey why runtime:{approval.runtime_id}"
    if approval.status == ANSWERED:
        who = {"policy": "the policy", "hook": "somebody"}.get(approval.via, "somebody")
        return Refusal(APPROVAL_ANSWERED, f"{what} was answered by {who} already: {approval.decision}", look)
    if approval.status == EXPIRED:
        return Refusal(APPROVAL_EXPIRED, f"{what} was not answered in time, and was left to the terminal", look)
    return Refusal(APPROVAL_WITHDRAWN, f"{what} is asked no more: {approval.why}", look)
