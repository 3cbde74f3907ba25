"""The events of actions."""

from __future__ import annotations

from covey.contract.actions import RECEIPT
from covey.contract.event_kind import EventKind

RECEIPT_CHANGED = EventKind(
    "receipt.changed",
    "A message to an agent was accepted, or came further, or ended.",
    subject="receipt id",
    data=RECEIPT,
)

EVENTS = (RECEIPT_CHANGED,)
