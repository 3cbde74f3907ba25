"""The audit: events for each call of an operation that changes something, whether it was performed or refused."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from covey.contract.kernel_events import AUDIT_BEGUN, AUDIT_CALL
from covey.kernel.logs import logs
from murli import AgentError

if TYPE_CHECKING:
    from covey.kernel.events.events import Events
    from covey.kernel.operations.call import Call

log = logging.getLogger("covey.audit")

LONGEST = 200
"""Characters of a text in the audit."""


class Audit:
    """Appends the events of calls.

    `about` is what the handler has noted, else what the path names, such as a setting; other parameters are left out,
    because they may hold secrets. Dry runs are not recorded.
    """

    def __init__(self, events: Events) -> None:
        self._events = events
        self.running: set[int] = set()
        """The cursors of AUDIT_BEGUN of calls that have not ended."""

    def expect(self, call: Call) -> None:
        """Have it recorded when the call begins to act."""
        call.record.on_begin = self._begin

    async def _begin(self, call: Call) -> None:
        """Record that a call begins to act. Raises AgentError if that cannot be stored: then nothing is to be done."""
        event = await self._events.append(AUDIT_BEGUN, call.operation.name, _told(call))
        call.record.begun = event.cursor
        self.running.add(event.cursor)

    async def record(self, call: Call, error: AgentError | None) -> None:
        """Record a call that has ended. If that fails it is logged: the call has been performed all the same."""
        if call.is_dry_run:
            return
        record = call.record
        data = {
            **_told(call),
            "outcome": logs.redactor.excerpt(record.outcome)[:LONGEST],
            "error": error.error if error else None,
            "begun": record.begun,
        }
        try:
            await self._events.append(AUDIT_CALL, call.operation.name, data)
        except AgentError as problem:
            log.error(  # noqa: TRY400 - the reason says it all
                "audit event not stored", extra={**data, "operation": call.operation.name, "reason": problem.message}
            )
        finally:
            if record.begun is not None:
                self.running.discard(record.begun)


def _told(call: Call) -> dict[str, Any]:
    """Return what is known of a call before it has ended."""
    operation = call.operation
    named = [
        str(call.params[one.name])
        for one in operation.parameters
        if operation.place(one) == "path" and not one.sensitive
    ]
    return {
        "about": logs.redactor.excerpt(call.record.about or " ".join(named))[:LONGEST],
        "snapshot": logs.redactor.value(call.record.snapshot),
        **call.caller.as_dict(),
    }
