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
    """Appends to the journal. `about` is what the path names, such as a setting; other parameters are left out, because they may hold secrets."""

    def __init__(self, events: Events) -> None:
        self._events = events

    async def record(self, call: Call, error: AgentError | None) -> None:
        """Record one call that has ended. What cannot be recorded is logged; the call has been performed all the same."""
        operation = call.operation
        about = [
            str(call.params[one.name])
            for one in operation.parameters
            if operation.place(one) == "path" and not one.sensitive
        ]
        data = {"about": " ".join(about), "error": error.error if error else None, **call.caller.as_dict()}
        try:
            await self._events.append(KIND, operation.name, data)
        except AgentError as problem:
            log.error("a call could not be recorded", extra={**data, "reason": problem.message})  # noqa: TRY400 - the reason says it all
