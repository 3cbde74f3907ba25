"""Performs operations by name, for every way into the daemon and for its own subsystems."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

import msgspec

from covey import __version__
from covey.kernel.http.answer import encode
from covey.kernel.operations.call import Call
from covey.kernel.operations.idempotency import Answer, check_key
from covey.kernel.operations.validate import validate
from murli import AgentError, not_found, timed_out, tool_error

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence

    from covey.contract import Operation
    from covey.kernel.metrics import Metrics
    from covey.kernel.operations.audit import Audit
    from covey.kernel.operations.call import Caller, Guard, Handler
    from covey.kernel.operations.idempotency import IdempotentCalls
    from covey.kernel.operations.stream import Batch

CALLS = "covey_calls_total"


class Dispatcher:
    """Checks parameters, keeps the deadline, answers a repeated call again, counts, and records who changed what.

    It exists before the handlers do, so that each subsystem can be given it: `install` adds the handlers when all of
    them are there.
    """

    def __init__(
        self,
        operations: Iterable[Operation],
        *,
        metrics: Metrics,
        idempotent: IdempotentCalls,
        audit: Audit | None = None,
        deadline_s: float = 30.0,
        logs: str = "covey logs",
    ) -> None:
        self.operations = {operation.name: operation for operation in operations if operation.route}
        self.metrics = metrics
        self.deadline_s = deadline_s
        """How long an operation that does not stream may take; no caller gets more."""
        self._logs = logs
        """The command that shows the log of this daemon."""
        self._idempotent = idempotent
        self._audit = audit
        self._handlers: dict[str, Handler] = {}
        self._guards: Sequence[Guard] = ()
        self.installed = asyncio.Event()
        """Set when operations can be performed: after all subsystems were opened."""
        metrics.counter(CALLS, "Calls by operation, transport and error; streams count when they begin.")

    @property
    def acting(self) -> frozenset[int]:
        """Return the calls that have begun to act and have not ended, by the cursor of their AUDIT_BEGUN."""
        return frozenset(self._audit.running if self._audit else ())

    def install(self, handlers: Mapping[str, Handler], guards: Sequence[Guard] = ()) -> None:
        """Serve with these handlers, by operation name. ValueError if one is missing or superfluous.

        Each of the guards may raise AgentError for a call that is not to be performed.
        """
        unmatched = self.operations.keys() ^ handlers.keys()
        if unmatched:
            raise ValueError(f"operations and handlers do not match: {', '.join(sorted(unmatched))}")
        self._handlers = dict(handlers)
        self._guards = tuple(guards)
        self.installed.set()

    async def call(
        self, name: str, params: Mapping[str, Any], caller: Caller, *, idempotency_key: str | None = None
    ) -> Any:
        """Perform an operation that does not stream, and return its result.

        Raises AgentError if it is unknown, its parameters are wrong, it is late or it fails.
        """
        call = self._call(name, params, caller)
        answer = await self.answer(call, idempotency_key=idempotency_key)
        if answer.code:
            raise AgentError.from_envelope(msgspec.json.decode(answer.body))
        return msgspec.json.decode(answer.body) if call.operation.media == "application/json" else answer.body.decode()

    async def stream(self, name: str, params: Mapping[str, Any], caller: Caller) -> AsyncGenerator[Batch, None]:
        """Begin an operation that streams, and return its batches. Raises AgentError; so may the generator."""
        return await self.begin(self._call(name, params, caller))

    async def answer(
        self, call: Call, *, deadline_s: float | None = None, idempotency_key: str | None = None
    ) -> Answer:
        """Perform a checked call. An error is an answer too; only a key that cannot be used raises AgentError."""
        limit = self.deadline_s if deadline_s is None else min(deadline_s, self.deadline_s)
        if not call.operation.mutating or idempotency_key is None:
            return await self._perform(call, limit)
        if call.operation.own_key:
            check_key(idempotency_key)
            call.idempotency_key = idempotency_key
            return await self._perform(call, limit)
        try:
            return await self._idempotent.once(idempotency_key, call, lambda: self._perform(call, limit))
        except AgentError as error:
            await self._ended(call, error)
            raise

    async def begin(self, call: Call) -> AsyncGenerator[Batch, None]:
        """Begin a checked call of an operation that streams."""
        try:
            batches = cast("AsyncGenerator[Batch, None]", await self._handler(call)(call))
        except AgentError as error:
            self._count(call, error)
            raise
        self._count(call, None)
        return batches

    def failed(self, operation: str) -> AgentError:
        """Inside an `except`: count and log what happened, and return an error that says only that it did."""
        self.metrics.failure(operation)
        return tool_error(
            f"{operation} failed inside the daemon", f"See `{self._logs}` for what happened.", error="internal_error"
        )

    def _call(self, name: str, params: Mapping[str, Any], caller: Caller) -> Call:
        operation = self.operations.get(name)
        if operation is None:
            raise not_found(f"there is no operation {name!r}", "See /v1/openapi.json for what there is.")
        return Call(operation, validate(operation, params), caller)

    def _handler(self, call: Call) -> Handler:
        handler = self._handlers.get(call.operation.name)
        if handler is None:
            raise tool_error(
                f"{call.operation.name} cannot be performed yet: the daemon is starting",
                "Try again in a moment.",
                error="starting",
            )
        return handler

    async def _perform(self, call: Call, limit: float) -> Answer:
        """Run the handler. A failure of our own is told without its insides."""
        if self._audit is not None and call.operation.audited:
            self._audit.expect(call)
        try:
            for guard in self._guards:
                await guard(call)
            async with asyncio.timeout(limit):
                result = await self._handler(call)(call)
            text = isinstance(result, str) and call.operation.media != "application/json"
            body = cast("str", result).encode() if text else encode(result)
            answer, error = Answer(0, body, replayed=call.is_replay), None
        except AgentError as caught:
            error = caught
        except TimeoutError:
            advice = "Look whether it was done" if call.operation.mutating else "Try again"
            error = timed_out(
                f"{call.operation.name} did not finish in time",
                f"{advice}, or allow more time with the Covey-Deadline-Ms header.",
            )
        except Exception:  # noqa: BLE001 - the last line of defence; the log has the details
            error = self.failed(call.operation.name)
        if error is not None:
            answer = Answer(error.code, encode(error.envelope(__version__)))
        await self._ended(call, error)
        return answer

    async def _ended(self, call: Call, error: AgentError | None) -> None:
        self._count(call, error)
        if self._audit is not None and call.operation.audited:
            await self._audit.record(call, error)

    def _count(self, call: Call, error: AgentError | None) -> None:
        self.metrics.count(
            CALLS, operation=call.operation.name, transport=call.caller.transport, error=error.error if error else ""
        )
