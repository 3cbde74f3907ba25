"""The fleet as it was: the journal read up to a moment. Pure: events in, rows out.

A row is in the journal when its state changes. A signal that confirms the state is there without a row; evaluated
again it gives the evidence, and since when the state has lasted. The name and place of a pane are known as of the last
change.
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
from covey.fleet.answers.view import Evidence, Row, TargetStatus
from covey.fleet.state.engine import Engine, Signal
from covey.fleet.state.judge import Rules
from covey.fleet.state.model import Claim, Confidence, State
from covey.fleet.state.rows import UNREACHABLE, judged
from covey.fleet.state.states import TICK_S

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from covey.fleet.state.model import Verdict
    from covey.kernel.events.event import Event


class StateSummary(Struct, frozen=True):
    """The fields of a state that make it differ from another one."""

    state: State
    reason: str
    confidence: Confidence
    detail: str


class Picture:
    """The rows and their targets as of the last event that was added. The first event must be one of `record.WHOLE`."""

    def __init__(self) -> None:
        self.targets: dict[str, TargetStatus] = {}
        self.since: float | None = None
        """From when on all rows are known; None before that."""
        self.stopped_at: float | None = None
        """Since when no daemon has been watching; None while one is."""
        self._rows: dict[str, Row] = {}
        self._engine = Engine(Rules())

    def add(self, event: Event) -> None:
        """Read the next event of the journal."""
        if event.kind in {AGENT_STARTED, AGENT_STATE}:
            self._rows[event.subject] = row_of(event.data)
            if event.kind == AGENT_STARTED and not event.data.get("late"):
                self._engine.resume(event.subject, ())
        elif event.kind == AGENT_SIGNAL:
            self._apply(event)
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
        """Return the rows at a moment after the last event and before the next."""
        return [self._judged(row, moment) for row in self._rows.values()]

    def _begin(self, event: Event) -> None:
        self._engine = engine_of(event.data, self._engine.rules)
        self._rows = {row.runtime_id: row for row in map(row_of, event.data.get("rows", ()))}
        self.targets = {data["target"]: _target(data) for data in event.data.get("targets", ())}
        self.since = event.time if self.since is None else self.since
        self.stopped_at = event.time if event.kind == FLEET_STOPPED else None

    def _apply(self, event: Event) -> None:
        row = self._rows.get(event.subject)
        if row is None:
            return
        with contextlib.suppress(ValidationError):  # `replay --check` lists it; the recorded row stays
            self._engine.apply(convert(event.data, Signal))
        if row.reason != UNREACHABLE and event.data.get("applied", True):  # a late signal confirms nothing
            self._rows[event.subject] = replace(row, as_of=event.time)

    def _judged(self, row: Row, moment: float) -> Row:
        if row.runtime_id not in self._engine:
            return row
        recorded = StateSummary(row.state, row.reason, row.confidence, row.detail)
        # A change that time alone makes is told a tick after it is due, and moments are rounded to ticks.
        for at in (moment, moment - 2 * TICK_S):
            verdict, _ = self._engine.evaluate(row.runtime_id, at)
            if verdict.winner is not None and summary_of(verdict) == recorded:
                return judged(row, verdict)
        return row


def as_of(events: Iterable[Event], moment: float) -> list[Row]:
    """Return the rows at a moment; if the clock was set back and showed it twice, at the second time."""
    known = list(events)
    upto = max((place for place, event in enumerate(known, 1) if event.time <= moment), default=0)
    picture = Picture()
    for event in known[:upto]:
        picture.add(event)
    return picture.rows(moment)


def engine_of(data: Mapping[str, Any], rules: Rules) -> Engine:
    """Return the engine that an event of `record.WHOLE` describes; with `rules` if it names none."""
    engine = Engine(convert(data["rules"], Rules) if "rules" in data else rules)
    for runtime_id in data.get("claims", {}):
        resume(engine, runtime_id, data)
    return engine


def resume(engine: Engine, runtime_id: str, data: Mapping[str, Any]) -> None:
    """Let an engine continue with a runtime as an event of `record.WHOLE` describes it."""
    cursors = data.get("cursors", {}).get(runtime_id, ())
    engine.resume(runtime_id, convert(data["claims"][runtime_id], list[Claim]), convert(cursors, list[Signal]))


def row_of(data: Mapping[str, Any]) -> Row:
    """Return the row that an event carries."""
    fields = {name: data[name] for name in Row.__struct_fields__ if name in data}
    evidence = tuple(
        Evidence(one["source"], one["state"], one["evidence"], parse_timestamp(one["at"])) for one in data["evidence"]
    )
    return Row(
        **{
            **fields,
            **data["identity"],
            "since": parse_timestamp(data["since"]),
            "as_of": parse_timestamp(data["as_of"]),
            "evidence": evidence,
        }
    )


def parse_timestamp(stamp: str) -> float:
    """Return the seconds since 1970 of a timestamp in an event, which has milliseconds."""
    return datetime.fromisoformat(stamp).timestamp()


def summary_of(verdict: Verdict) -> StateSummary:
    return StateSummary(verdict.state, verdict.reason, verdict.confidence, verdict.detail)


def recorded_summary(data: Mapping[str, Any]) -> StateSummary:
    """Return the state that an event or a saved row carries."""
    return StateSummary(data["state"], data["reason"], data["confidence"], data["detail"])


def _target(data: Mapping[str, Any]) -> TargetStatus:
    return TargetStatus(target=data["target"], health=data["health"], reason=data["reason"])
