"""What the fleet writes to the journal for later, and the answers of `covey replay` from it."""

from __future__ import annotations

import contextlib
import logging
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import to_builtins
from msgspec.structs import asdict

from covey.contract.fleet_events import FLEET_STARTED, FLEET_STOPPED
from covey.fleet.answers.view import SCHEMA_VERSION, Filters, panes
from covey.fleet.history.picture import Picture
from covey.fleet.history.record import PICTURE_EVENTS, STARTING_POINTS, STATE_EVENTS
from covey.fleet.history.replay import Rederivation
from covey.kernel.clock import timestamp
from covey.kernel.events.event import EventsError, EventSizeError, Kinds
from covey.kernel.moments import moment
from covey.kernel.store.errors import StoreError
from murli import EXIT_NOT_FOUND, AgentError, user_error

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from typing import Self

    from covey.fleet.answers.view import TargetStatus
    from covey.fleet.history.picture import StateSummary
    from covey.fleet.history.replay import Late, Mismatch
    from covey.fleet.state.judge import Rules
    from covey.fleet.state.saved_agents import SavedAgent
    from covey.fleet.watch.targets import Targets
    from covey.kernel.clock import Clock
    from covey.kernel.events.events import Events
    from covey.kernel.events.journal import Reader

CHECK_EVERY_S = 60.0
PICTURE_EVERY_S = 3600.0
"""A journal that was pruned holds nothing of an agent that has been quiet since, up to the next picture."""
PICTURE_AFTER = 5000
"""Events after which a picture is due earlier: about so many are read to see the fleet at any moment."""
PAGE = 2000
"""Events that are read at a time, so that others can read in between."""
SHOWN = 100
"""Differences that an answer lists; it counts all of them."""

_WHOLE, _PICTURED, _DERIVED = Kinds(STARTING_POINTS), Kinds(PICTURE_EVENTS), Kinds(STATE_EVENTS)

log = logging.getLogger("covey.fleet")


class Pictured(Protocol):
    """What a picture is taken of."""

    def leave_picture(self) -> object:
        """Write all that is known to the journal."""
        ...


class History:
    """The journal, as the fleet reads and writes it."""

    def __init__(self, events: Events, clock: Clock, rules: Rules) -> None:
        self._events = events
        self._clock = clock
        self._rules = rules

    @classmethod
    @contextlib.asynccontextmanager
    async def kept(
        cls, events: Events, clock: Clock, rules: Rules, book: Targets, saved: Sequence[SavedAgent] = ()
    ) -> AsyncIterator[Self]:
        """Mark in the journal from when until when the fleet is watched: inside this context. Yields the history.

        `saved` are the agents that the last daemon knew.
        """
        history = cls(events, clock, rules)
        began = {
            "rules": to_builtins(rules),
            "targets": [{"target": known.name, "health": known.health, "reason": ""} for known in book.all],
            "rows": [one.row.as_dict() for one in saved],
            "claims": {one.row.runtime_id: to_builtins(one.claims) for one in saved},
            "cursors": {one.row.runtime_id: to_builtins(one.cursors) for one in saved},
        }
        try:
            await events.append(FLEET_STARTED, data=began, source="fleet", time=history._now())
        except EventSizeError:  # there are so many agents that `replay` knows them from their next changes only
            few = {name: began[name] for name in ("rules", "targets")}
            await events.append(FLEET_STARTED, data=few, source="fleet", time=history._now())
        try:
            yield history
        finally:
            try:
                await events.append(FLEET_STOPPED, source="fleet", time=history._now())
            except (EventsError, StoreError) as error:
                log.warning("fleet event not stored", extra={"kind": FLEET_STOPPED, "reason": error.message})

    async def picture(self, fleet: Pictured) -> None:
        """Have a picture of the fleet written from time to time, until cancelled."""
        cursor, since = self._events.cursor, self._clock.monotonic()
        while True:
            await self._clock.sleep(CHECK_EVERY_S)
            now = self._clock.monotonic()
            if self._events.cursor - cursor >= PICTURE_AFTER or now - since >= PICTURE_EVERY_S:
                cursor, since = self._events.cursor, now
                fleet.leave_picture()

    async def replay(self, params: Mapping[str, Any], targets: Sequence[TargetStatus]) -> dict[str, Any]:
        """Return the answer to `covey replay`. Raises AgentError for parameters that the journal cannot answer."""
        if bool(params["at"]) == bool(params["check"]):
            raise user_error(
                "say either --at or --check",
                "Pass --at 10m to see the fleet as it was then.",
                error="flag_error",
                field="at",
            )
        if params["since"] and not params["check"]:
            raise user_error(
                "--since belongs to --check", "Pass --at for one moment.", error="flag_error", field="since"
            )
        return await self._checked(params, targets) if params["check"] else await self._shown(params, targets)

    async def _shown(self, params: Mapping[str, Any], targets: Sequence[TargetStatus]) -> dict[str, Any]:
        now = self._now()
        at = self._past(params["at"], "at", now)
        picture, first = await self._events.read(lambda journal: _pictured(journal, at))
        if picture.since is None:
            raise not_recorded(at, first, "at")
        then = list(picture.targets.values())
        filters = Filters.of(params, [*targets, *then])
        if picture.stopped_at is not None:
            raise AgentError(
                f"Covey did not look at {timestamp(at)}: it had been stopped at {timestamp(picture.stopped_at)}",
                code=EXIT_NOT_FOUND,
                error="E_NOT_RECORDED",
                suggestion="Pass a time before that, or after the next start: "
                f"covey replay --at {timestamp(picture.stopped_at - 0.001)}",
                recoverable=True,
                field="at",
            )
        return {**panes(picture.rows(at), then, filters, at), "generated_at": timestamp(now), "at": timestamp(at)}

    async def _checked(self, params: Mapping[str, Any], targets: Sequence[TargetStatus]) -> dict[str, Any]:
        filters = Filters.of(params, targets)
        if filters != Filters():
            raise user_error("--check looks at all agents", "Leave out the filters.", error="flag_error", field="check")
        now = self._now()
        since = self._past(params["since"], "since", now) if params["since"] else None
        first, after = await self._events.read(lambda journal: _beginning(journal, since))
        if first is None or (since is not None and since < first):
            raise not_recorded(now if since is None else since, first, "since")
        start = first if since is None else since
        again = Rederivation(self._rules, since=start)
        for begin in range(after, self._events.cursor, PAGE):
            await self._events.read(partial(_derive, again=again, after=begin, upto=begin + PAGE))
        mismatches, late = again.mismatches, again.late
        return {
            "schema_version": SCHEMA_VERSION,
            "generated_at": timestamp(now),
            "since": timestamp(start),
            "matches": not mismatches,
            "signals": again.signals,
            "changes": again.changes,
            "unknown": len(again.unknown),
            "mismatched": len(mismatches),
            "late": len(late),
            "mismatches": [_mismatch(one) for one in mismatches[:SHOWN]],
            "latest": [_late(one) for one in sorted(late, key=lambda one: one.due - one.seen)[:SHOWN]],
        }

    def _past(self, text: str, field: str, now: float) -> float:
        at = round(moment(text, field, now), 3)
        if at > now:
            suggestion = "Pass a time in the past (in UTC, unless it names its zone), or how long ago: 10m."
            raise user_error(
                f"{text[:60]!r} has not come yet: it is {timestamp(now)}",
                suggestion,
                error="argument_error",
                field=field,
            )
        return at

    def _now(self) -> float:
        """Return the time as the journal keeps it."""
        return round(self._clock.time(), 3)


# In a reader's thread.


def _pictured(journal: Reader, at: float) -> tuple[Picture, float | None]:
    """Return the fleet at a moment, and the first moment that the journal knows.

    If the clock was set back and showed the moment twice, the fleet is returned as it was the second time.
    """
    picture, upto = Picture(), journal.upto(at)
    begin = journal.last(_WHOLE, upto)
    if begin is None:
        first = next(journal.stretch(_WHOLE), None)
        return picture, None if first is None else first.time
    for event in journal.stretch(_PICTURED, begin - 1, upto):
        picture.add(event)
    return picture, picture.since


def _beginning(journal: Reader, since: float | None) -> tuple[float | None, int]:
    """Return the first moment that the journal knows, and after which cursor to begin to know what followed `since`."""
    first = next(journal.stretch(_DERIVED), None)
    if first is None:
        return None, 0
    begin = None if since is None else journal.last(_WHOLE, journal.upto(since))
    return first.time, (first.cursor if begin is None else begin) - 1


def _derive(journal: Reader, again: Rederivation, after: int, upto: int) -> None:
    for event in journal.stretch(_DERIVED, after, upto):
        again.add(event)


def not_recorded(at: float, first: float | None, field: str) -> AgentError:
    """Return the error for a moment before the journal begins; `first` is the first moment that it knows."""
    begins = "" if first is None else timestamp(first)
    reach = f"it begins at {begins}" if begins else "it holds nothing of the fleet"
    return AgentError(
        f"the journal does not reach back to {timestamp(at)}: {reach}",
        code=EXIT_NOT_FOUND,
        error="E_NOT_RECORDED",
        suggestion=f"Pass --{field} {begins} or later." if begins else "Run `covey up` and let it watch for a while.",
        recoverable=True,
        field=field,
    )


def _mismatch(one: Mismatch) -> dict[str, Any]:
    return {
        "cursor": one.cursor,
        "runtime_id": one.runtime_id,
        "at": timestamp(one.at),
        "why": one.why,
        "recorded": _summary(one.recorded),
        "derived": _summary(one.derived),
    }


def _late(one: Late) -> dict[str, Any]:
    return {
        "runtime_id": one.runtime_id,
        "due": timestamp(one.due),
        "late_ms": round((one.seen - one.due) * 1000),
        "derived": _summary(one.derived),
    }


def _summary(state: StateSummary | None) -> dict[str, str] | None:
    return None if state is None else asdict(state)
