"""The fleet as it was: the journal read up to a moment. Pure: events in, rows out.

A row is in the journal when its state changes. That the same was heard once more is no news and is there as a signal only; judged again it tells since
when the state stands and on what evidence. What a pane was called and where it was is known as of the last change.
"""

from __future__ import annotations

import contextlib
from datetime import datetime
from typing import TYPE_CHECKING, Any

from msgspec import Struct, ValidationError, convert
from msgspec.structs import replace

from covey.contract.fleet_events import (
    AGENT_ENDED,
    AGENT_SIGNAL,
    AGENT_STARTED,
    AGENT_STATE,
    FLEET_PICTURE,
    FLEET_STARTED,
    FLEET_STOPPED,
    TARGET_ADDED,
    TARGET_HEALTH,
    TARGET_REMOVED,
)
from covey.fleet.engine import Engine, Signal
from covey.fleet.judge import Rules
from covey.fleet.model import Claim, Confidence, State
from covey.fleet.rows import UNREACHABLE, judged
from covey.fleet.view import Evidence, Row, Target

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from covey.fleet.model import Verdict
    from covey.kernel.event import Event


class Told(Struct, frozen=True):
    """What makes a state another one."""

    state: State
    reason: str
    confidence: Confidence
    detail: str


class Picture:
    """The rows and their targets as of the last event that was added. The first must be one with which reading can begin."""

    def __init__(self) -> None:
        self.targets: dict[str, Target] = {}
        self.since: float | None = None
        """From when on all rows are known; None before that."""
        self.stopped_at: float | None = None
        """Nobody has looked since."""
        self._rows: dict[str, Row] = {}
        self._engine = Engine(Rules())

    def add(self, event: Event) -> None:
        if event.kind in {AGENT_STARTED, AGENT_STATE}:
            self._rows[event.subject] = row_of(event.data)
            if event.kind == AGENT_STARTED and not event.data.get("late"):
                self._engine.resume(event.subject, ())
        elif event.kind == AGENT_SIGNAL:
            self._hear(event)
        elif event.kind == AGENT_ENDED:
            self._rows.pop(event.subject, None)
            self._engine.end(event.subject)
        elif event.kind in {TARGET_HEALTH, TARGET_ADDED}:
            self.targets[event.subject] = _target(event.data)
        elif event.kind == TARGET_REMOVED:
            self.targets.pop(event.subject, None)
        elif event.kind in {FLEET_STARTED, FLEET_STOPPED, FLEET_PICTURE}:
            self._begin(event)

    def rows(self, moment: float) -> list[Row]:
        """The rows at a moment after the last event and before the next."""
        return [self._judged(row, moment) for row in self._rows.values()]

    def _begin(self, event: Event) -> None:
        self._engine = engine_of(event.data, self._engine.rules)
        self._rows = {row.runtime_id: row for row in map(row_of, event.data.get("rows", ()))}
        self.targets = {data["target"]: _target(data) for data in event.data.get("targets", ())}
        self.since = event.time if self.since is None else self.since
        self.stopped_at = event.time if event.kind == FLEET_STOPPED else None

    def _hear(self, event: Event) -> None:
        row = self._rows.get(event.subject)
        if row is None:
            return
        with contextlib.suppress(ValidationError):  # `replay --check` tells of it; what was told stands
            self._engine.take(convert(event.data, Signal))
        if row.reason != UNREACHABLE and event.data.get("applied", True):  # what came too late confirms nothing
            self._rows[event.subject] = replace(row, as_of=event.time)

    def _judged(self, row: Row, moment: float) -> Row:
        if row.runtime_id not in self._engine:
            return row
        verdict, _ = self._engine.settle(row.runtime_id, moment)
        told = Told(row.state, row.reason, row.confidence, row.detail)
        return judged(row, verdict) if verdict.winner is not None and told_of(verdict) == told else row


def as_of(events: Iterable[Event], moment: float) -> list[Row]:
    """The rows at a moment. If the clock was set back and showed it twice: the second time."""
    known = list(events)
    upto = max((place for place, event in enumerate(known, 1) if event.time <= moment), default=0)
    picture = Picture()
    for event in known[:upto]:
        picture.add(event)
    return picture.rows(moment)


def engine_of(data: Mapping[str, Any], rules: Rules) -> Engine:
    """The engine as an event has it with which reading can begin; `rules` if it names none."""
    engine = Engine(convert(data["rules"], Rules) if "rules" in data else rules)
    for runtime_id in data.get("claims", {}):
        resume(engine, runtime_id, data)
    return engine


def resume(engine: Engine, runtime_id: str, data: Mapping[str, Any]) -> None:
    """Have an engine go on with a runtime as an event has it with which reading can begin."""
    cursors = data.get("cursors", {}).get(runtime_id, ())
    engine.resume(runtime_id, convert(data["claims"][runtime_id], list[Claim]), convert(cursors, list[Signal]))


def row_of(data: Mapping[str, Any]) -> Row:
    """The row that an event carries."""
    fields = {name: data[name] for name in Row.__struct_fields__ if name in data}
    evidence = tuple(
        Evidence(one["source"], one["state"], one["evidence"], read(one["at"])) for one in data["evidence"]
    )
    return Row(
        **{
            **fields,
            **data["identity"],
            "since": read(data["since"]),
            "as_of": read(data["as_of"]),
            "evidence": evidence,
        }
    )


def read(stamp: str) -> float:
    """A moment as events have it, in milliseconds."""
    return datetime.fromisoformat(stamp).timestamp()


def told_of(verdict: Verdict) -> Told:
    return Told(verdict.state, verdict.reason, verdict.confidence, verdict.detail)


def told_by(data: Mapping[str, Any]) -> Told:
    return Told(data["state"], data["reason"], data["confidence"], data["detail"])


def _target(data: Mapping[str, Any]) -> Target:
    return Target(target=data["target"], health=data["health"], reason=data["reason"])
