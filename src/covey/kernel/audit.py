"""Who changed what: an event for each call of an operation that changes something, whether it was done or refused."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from murli import AgentError

if TYPE_CHECKING:
    from covey.kernel.call import Call
    from covey.kernel.events import Events

KIND = "audit.call"

log = logging.getLogger("covey.audit")


class Audit:
    """Appends to the journal. Parameters are left out: they may hold secrets, and what was changed is told by other events."""

    def __init__(self, events: Events) -> None:
        self._events = events

    async def record(self, call: Call, error: AgentError | None) -> None:
        """Record one call that has ended. What cannot be recorded is logged; the call has been performed all the same."""
        data = {"operation": call.operation.name, "caller": call.caller.as_dict(), "error": error.error if error else None}
        try:
            await self._events.append(KIND, call.operation.name, data)
        except AgentError as problem:
            log.error("a call could not be recorded", extra={**data, "reason": problem.message})  # noqa: TRY400
