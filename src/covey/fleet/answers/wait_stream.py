"""`wait` inside the daemon: a stream that ends when an agent is in a state.

Both rows and events are checked, so no change is missed in between, and no state is too short to be seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.contract.fleet_events import AGENT_ENDED
from covey.fleet.answers.references import ReferenceNotFound, resolve
from covey.fleet.answers.view import states
from covey.fleet.answers.watch_stream import HEARTBEAT_S, Fleet, item_of
from covey.fleet.history.record import AGENT_CHANGES
from covey.kernel.moments import seconds
from covey.kernel.operations.stream import Message
from murli import user_error

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from covey.kernel.clock import Clock
    from covey.kernel.events.event import Event
    from covey.kernel.events.events import Events
    from covey.kernel.operations.stream import Batch

REST_OR_NEEDS = ("error", "waiting_approval", "waiting_input", "completed", "idle")
"""The states that are waited for by default: the agent needs a person, or is done."""
WAITING, MET, TIMEOUT, GONE = "waiting", "met", "timeout", "gone"


class WaitStream:
    """The stream of one wait. Wrong parameters and an unknown reference raise AgentError before the stream begins."""

    def __init__(self, fleet: Fleet, events: Events, clock: Clock, params: Mapping[str, Any]) -> None:
        named = [name for name in ("ref", "any", "all") if params[name]]
        if len(named) != 1:
            raise user_error(
                "name one agent, or pass --any or --all" if not named else "a name, --any and --all exclude each other",
                "Write `covey wait %14` or `covey wait --any --state waiting_approval`.",
                error="argument_error",
                field="ref",
            )
        self._fleet = fleet
        self._events = events
        self._clock = clock
        self._all = bool(params["all"])
        self._states = frozenset(states(params["state"]) or REST_OR_NEEDS)
        self._end_counts = not params["state"]
        """Whether the end of an agent fulfils the wait: without a state, one waits until there is something to do."""
        self._limit = seconds(params["timeout"], "timeout") if params["timeout"] is not None else None
        self._runtime_id = resolve(params["ref"], fleet.rows()).runtime_id if params["ref"] else ""
        if self._all and not fleet.rows():
            raise ReferenceNotFound(
                "there are no agents to wait for", "Wait for the first one with `covey wait --any`."
            )

    async def batches(self) -> AsyncGenerator[Batch, None]:
        """Yield a `waiting` for each check that was in vain, and at the end a `done` with the outcome."""
        began = self._clock.monotonic()
        events: Sequence[Event] = ()
        async with self._events.subscribe(kinds=AGENT_CHANGES) as subscription:
            while not subscription.closed:
                waited = self._clock.monotonic() - began
                outcome, items = self._from_events(events) or self._from_rows()
                if outcome == WAITING and self._limit is not None and waited >= self._limit:
                    outcome = TIMEOUT
                yield (self._line(outcome, items, waited),)
                if outcome != WAITING:
                    return
                left = HEARTBEAT_S if self._limit is None else self._limit - waited
                events = await subscription.take(min(left, HEARTBEAT_S))

    def _from_events(self, events: Sequence[Event]) -> tuple[str, list[dict[str, Any]]] | None:
        """Return the outcome by events, because a state may have ended before its row was read; None if not met."""
        if self._all:
            return None
        for event in events:
            if self._runtime_id in {"", event.subject}:
                if event.kind == AGENT_ENDED and self._runtime_id:
                    return MET if self._end_counts else GONE, [item_of(event, self._clock.time())[0]]
                if event.kind != AGENT_ENDED and event.data["state"] in self._states:
                    return MET, [item_of(event, self._clock.time())[0]]
        return None

    def _from_rows(self) -> tuple[str, list[dict[str, Any]]]:
        """Return the outcome by the rows as they are now, and those rows."""
        rows = [row for row in self._fleet.rows() if self._runtime_id in {"", row.runtime_id}]
        there = [row for row in rows if row.state in self._states]
        met = len(there) == len(rows) if self._all else bool(there)
        gone = not rows and (self._all or self._runtime_id)
        outcome = MET if met else WAITING
        if gone:
            outcome = MET if self._end_counts else GONE
        return outcome, [row.as_dict(self._clock.time()) for row in (there if outcome == MET else rows)]

    def _line(self, outcome: str, items: list[dict[str, Any]], waited: float) -> Message:
        data = {"outcome": outcome, "states": sorted(self._states), "waited_ms": round(waited * 1000), "items": items}
        return Message("waiting" if outcome == WAITING else "done", data)
