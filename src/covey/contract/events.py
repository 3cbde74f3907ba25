"""Every kind of event that Covey appends to its journal. The command line does not need this table to start."""

from __future__ import annotations

from covey.contract import (
    actions_events,
    approvals_events,
    attention_events,
    beats_events,
    fleet_events,
    keeper_events,
    kernel_events,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from covey.contract.event_kind import EventKind

EVENTS: tuple[EventKind, ...] = (
    *kernel_events.EVENTS,
    *fleet_events.EVENTS,
    *actions_events.EVENTS,
    *approvals_events.EVENTS,
    *beats_events.EVENTS,
    *attention_events.EVENTS,
    *keeper_events.EVENTS,
)
