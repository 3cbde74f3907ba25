"""`wait` inside the daemon: until an agent is in a state. Nothing falls between looking and listening, and no state is too short to be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.contract.fleet_events import AGENT_ENDED
from covey.fleet.record import AGENT_CHANGES
from covey.fleet.references import ReferenceNotFound, resolve
from covey.fleet.view import states
from covey.fleet.watch import HEARTBEAT_S, Fleet, item_of
from covey.kernel.moments import seconds
from covey.kernel.stream import Message
from murli import user_error

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from covey.kernel.clock import Clock
    from covey.kernel.event import Event
    from covey.kernel.events import Events
    from covey.kernel.stream import Batch

REST_OR_NEEDS = ("error", "waiting_approval", "waiting_input", "completed", "idle")
"""What is waited for by default: the agent needs a person, or is done."""
WAITING, MET, TIMEOUT, GONE = "waiting", "met", "timeout", "gone"


class Wait:
    """One wait. What is wrong with its parameters, and a reference that names nobody, is said before the stream begins."""

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
        """Without a state that was asked for, one waits until there is something to do: an end is that too."""
        self._limit = seconds(params["timeout"], "timeout") if params["timeout"] is not None else None
        self._runtime_id = resolve(params["ref"], fleet.rows()).runtime_id if params["ref"] else ""
        if self._all and not fleet.rows():
            raise ReferenceNotFound(
                "there are no agents to wait for", "Wait for the first one with `covey wait --any`."
            )

    async def batches(self) -> AsyncGenerator[Batch, None]:
        """A `waiting` for each look that was in vain, and at the end a `done` with the outcome."""
        began = self._clock.monotonic()
        news: Sequence[Event] = ()
        async with self._events.subscribe(kinds=AGENT_CHANGES) as subscription:
            while not subscription.closed:
                waited = self._clock.monotonic() - began
                outcome, items = self._told(news) or self._seen()
                if outcome == WAITING and self._limit is not None and waited >= self._limit:
                    outcome = TIMEOUT
                yield (self._line(outcome, items, waited),)
                if outcome != WAITING:
                    return
                left = HEARTBEAT_S if self._limit is None else self._limit - waited
                news = await subscription.take(min(left, HEARTBEAT_S))

    def _told(self, news: Sequence[Event]) -> tuple[str, list[dict[str, Any]]] | None:
        """What events say: a state may have been left again before we looked."""
        if self._all:
            return None
        for event in news:
            if self._runtime_id in {"", event.subject}:
                if event.kind == AGENT_ENDED and self._runtime_id:
                    return MET if self._end_counts else GONE, [item_of(event, self._clock.time())[0]]
                if event.kind != AGENT_ENDED and event.data["state"] in self._states:
                    return MET, [item_of(event, self._clock.time())[0]]
        return None

    def _seen(self) -> tuple[str, list[dict[str, Any]]]:
        """How things are."""
        rows = [row for row in self._fleet.rows() if self._runtime_id in {"", row.runtime_id}]
        there = [row for row in rows if row.state in self._states]
        met = len(there) == len(rows) if self._all else bool(there)
        gone = not rows and (self._all or self._runtime_id)
        outcome = (MET if self._end_counts else GONE) if gone else MET if met else WAITING
        return outcome, [row.as_dict(self._clock.time()) for row in (there if outcome == MET else rows)]

    def _line(self, outcome: str, items: list[dict[str, Any]], waited: float) -> Message:
        told = {"outcome": outcome, "states": sorted(self._states), "waited_ms": round(waited * 1000), "items": items}
        return Message("waiting" if outcome == WAITING else "done", told)
