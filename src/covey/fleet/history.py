"""What the fleet leaves in the journal for later, and what `covey replay` answers from it."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins
from msgspec.structs import asdict

from covey.fleet.moments import moment
from covey.fleet.replay import DERIVED, PICTURE, PICTURED, STARTED, STOPPED, Picture, Rederivation, read
from covey.fleet.view import SCHEMA_VERSION, Filters, panes
from covey.kernel.clock import timestamp
from covey.kernel.event import EventsError
from covey.kernel.store_errors import StoreError
from murli import EXIT_NOT_FOUND, AgentError, user_error

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from typing import Self

    from covey.fleet.judge import Rules
    from covey.fleet.replay import Late, Mismatch, Told
    from covey.fleet.view import Target
    from covey.fleet.watch import Fleet
    from covey.kernel.clock import Clock
    from covey.kernel.event import Event
    from covey.kernel.events import Events

PICTURE_EVERY_S = 3600.0
"""A journal that was pruned tells nothing of an agent that has been quiet since, up to the next picture."""
PAGE = 100
"""Events between two breaths: others want answers too."""
SHOWN = 100
"""Differences that an answer lists; it counts all of them."""

log = logging.getLogger("covey.fleet")


class History:
    """The journal, as the fleet reads and writes it."""

    def __init__(self, events: Events, clock: Clock, rules: Rules) -> None:
        self._events = events
        self._clock = clock
        self._rules = rules

    @classmethod
    @contextlib.asynccontextmanager
    async def kept(cls, events: Events, clock: Clock, rules: Rules) -> AsyncIterator[Self]:
        """The journal with marks from when until when the fleet is looked at, which is to happen inside."""
        await events.append(STARTED, data={"rules": to_builtins(rules)}, source="fleet")
        history = cls(events, clock, rules)
        try:
            yield history
        finally:
            await history._append(STOPPED, {})

    async def picture(self, fleet: Fleet) -> None:
        """Leave a picture of the fleet now and then."""
        while True:
            await self._clock.sleep(PICTURE_EVERY_S)
            targets = [{"target": target.target, "health": target.health, "reason": target.reason} for target in fleet.targets()]
            await self._append(PICTURE, {"rows": [row.as_dict() for row in fleet.rows()], "targets": targets})

    async def _append(self, kind: str, data: Mapping[str, Any]) -> None:
        try:
            await self._events.append(kind, data=data, source="fleet")
        except (EventsError, StoreError) as error:
            log.warning("the journal lacks a mark of the fleet", extra={"kind": kind, "reason": error.message})

    async def replay(self, params: Mapping[str, Any], targets: Sequence[Target]) -> dict[str, Any]:
        """The answer to `covey replay`."""
        if bool(params["at"]) == bool(params["check"]):
            raise user_error("say either --at or --check", "Pass --at 10m to see the fleet as it was then.", error="flag_error", field="at")
        if params["since"] and not params["check"]:
            raise user_error("--since belongs to --check", "Pass --at for one moment.", error="flag_error", field="since")
        return await self._checked(params, targets) if params["check"] else await self._shown(params, targets)

    async def _shown(self, params: Mapping[str, Any], targets: Sequence[Target]) -> dict[str, Any]:
        now = self._clock.time()
        at = self._past(params["at"], "at", now)
        picture = await self._picture(at)
        then = list(picture.targets.values())
        filters = Filters.of(params, [*targets, *then])
        if picture.stopped_at is not None:
            raise AgentError(
                f"Covey did not look at {timestamp(at)}: it had been stopped at {timestamp(picture.stopped_at)}",
                code=EXIT_NOT_FOUND,
                error="E_NOT_RECORDED",
                suggestion=f"Pass a time before that, or after the next start: covey replay --at {timestamp(picture.stopped_at - 0.001)}",
                recoverable=True,
                field="at",
            )
        return {**panes(picture.rows.values(), then, filters, at), "generated_at": timestamp(now), "at": timestamp(at)}

    async def _picture(self, at: float) -> Picture:
        """The journal up to a moment. If the clock was set back and showed it twice: up to the second time."""
        first, begin, since, upto = None, 0, 0, 0
        async for event in self._read(PICTURED):
            if event.kind in {STARTED, PICTURE}:  # what was before is in there, or over
                first, begin = event.time if first is None else first, event.cursor - 1
            if event.time <= at:
                since, upto = begin, event.cursor
        picture = Picture()
        async for event in self._read(PICTURED, since, upto):
            picture.add(event)
        if picture.since is None:
            raise not_recorded(at, first, "at")
        return picture

    async def _checked(self, params: Mapping[str, Any], targets: Sequence[Target]) -> dict[str, Any]:
        filters = Filters.of(params, targets)
        if filters != Filters():
            raise user_error("--check looks at all agents", "Leave out the filters.", error="flag_error", field="check")
        now = self._clock.time()
        since = self._past(params["since"], "since", now) if params["since"] else None
        first: float | None = None
        signals, changes, again = 0, 0, Rederivation(self._rules)
        async for event in self._read(DERIVED):
            first = event.time if first is None else first
            heard, told = again.signals, len(again.states)
            again.add(event)  # also what is not asked for: states follow from all that was heard before
            if since is None or event.time >= since:
                signals, changes = signals + again.signals - heard, changes + len(again.states) - told
        if first is None or (since is not None and since < first):
            raise not_recorded(now if since is None else since, first, "since")
        start = first if since is None else since
        mismatches = [one for one in again.mismatches if one.at >= start]
        late = [one for one in again.late if one.seen >= start]
        return {
            "schema_version": SCHEMA_VERSION,
            "generated_at": timestamp(now),
            "since": timestamp(start),
            "matches": not mismatches,
            "signals": signals,
            "changes": changes,
            "unknown": len(again.unknown),
            "mismatched": len(mismatches),
            "late": len(late),
            "mismatches": [_mismatch(one) for one in mismatches[:SHOWN]],
            "latest": [_late(one) for one in sorted(late, key=lambda one: one.due - one.seen)[:SHOWN]],
        }

    def _past(self, text: str, field: str, now: float) -> float:
        at = moment(text, field, now)
        if at > now:
            raise user_error(f"{text[:60]!r} has not come yet", "Pass a time in the past, or how long ago: 10m.", error="argument_error", field=field)
        return at

    async def _read(self, kinds: Sequence[str], since: int = 0, upto: int | None = None) -> AsyncIterator[Event]:
        cursor, end = since, self._events.cursor if upto is None else upto
        while batch := await self._events.history(since=cursor, kinds=kinds, limit=PAGE):
            for event in batch:
                if event.cursor > end:
                    return
                yield event
            cursor = batch[-1].cursor


def not_recorded(at: float, first: float | None, field: str) -> AgentError:
    """The journal does not reach back to a moment; `first` is the first that it does reach."""
    begins = "" if first is None else timestamp(first) if read(timestamp(first)) >= first else timestamp(first + 0.001)
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
        "recorded": _told(one.recorded),
        "derived": _told(one.derived),
    }


def _late(one: Late) -> dict[str, Any]:
    return {
        "runtime_id": one.runtime_id,
        "due": timestamp(one.due),
        "late_ms": round((one.seen - one.due) * 1000),
        "derived": _told(one.derived),
    }


def _told(told: Told | None) -> dict[str, str] | None:
    return None if told is None else asdict(told)
