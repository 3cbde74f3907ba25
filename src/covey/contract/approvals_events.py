"""The events of approvals."""

from __future__ import annotations

from covey.contract.approvals import PRESENCE, RECORDED_APPROVAL
from covey.contract.event_kind import EventKind

APPROVAL_OPENED = EventKind(
    "approval.opened",
    "An agent asks something that can be answered through its hook.",
    subject="approval id",
    data=RECORDED_APPROVAL,
)
APPROVAL_CLOSED = EventKind(
    "approval.closed",
    "A request of an agent was answered, withdrawn or left to the terminal.",
    subject="approval id",
    data=RECORDED_APPROVAL,
)
PRESENCE_CHANGED = EventKind(
    "presence.changed", "The person said that they are away, or came back.", subject="", data=PRESENCE
)

EVENTS = (APPROVAL_OPENED, APPROVAL_CLOSED, PRESENCE_CHANGED)
