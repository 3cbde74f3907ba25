"""The audit: an event for each call of an operation that changes something, whether it was performed or refused."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from covey.contract.kernel_events import AUDIT_CALL
from murli import AgentError

if TYPE_CHECKING:
    from covey.kernel.events.events import Events
    from covey.kernel.operations.call import Call

log = logging.getLogger("covey.audit")


class Audit:
    """Appends an event for each call.

    Its `about` is what the path names, such as a setting; other parameters are left out, because they may hold secrets.
    """

    def __init__(self, events: Events) -> None:
        self._events = events

    async def record(self, call: Call, error: AgentError | None) -> None:
        """Record a call that has ended. If that fails it is logged: the call has been performed all the same."""
        operation = call.operation
        about = [
            str(call.params[one.name])
            for one in operation.parameters
            if operation.place(one) == "path" and not one.sensitive
        ]
        data = {"about": " ".join(about), "error": error.error if error else None, **call.caller.as_dict()}
        try:
            await self._events.append(AUDIT_CALL, operation.name, data)
        except AgentError as problem:
            log.error(  # noqa: TRY400 - the reason says it all
                "audit event not stored", extra={**data, "operation": operation.name, "reason": problem.message}
            )
