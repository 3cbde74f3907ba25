"""The proof that the recorded states of the fleet follow from the recorded signals. Pure: events in, values out.

The clock is an input too: the time of an event is the time of its step. Evaluating again at those times must give the
recorded states, and no others. That an agent was out of reach is an input from its target: while that is recorded,
nothing follows from what the agent said itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, ValidationError, convert

from covey.contract.fleet_events import (
    AGENT_ENDED,
    AGENT_SIGNAL,
    AGENT_STARTED,
    AGENT_STATE,
    FLEET_PICTURE,
    FLEET_STARTED,
    FLEET_STOPPED,
)
from covey.fleet.history.picture import StateSummary, engine_of, recorded_summary, resume, summary_of
from covey.fleet.state.engine import APPLIED, Engine, Signal
from covey.fleet.state.judge import Rules
from covey.fleet.state.rows import UNREACHABLE
from covey.fleet.state.states import TICK_S

if TYPE_CHECKING:
    from covey.kernel.events.event import Event

LATE_S = 1.0
"""A change that is due by itself may be recorded so much later."""


class Step(Struct, frozen=True):
    """A runtime's state from a moment on."""

    runtime_id: str
    at: float
    state: StateSummary


class Mismatch(Struct, frozen=True, kw_only=True):
    """A difference between the recorded states and those that follow from the signals."""

    cursor: int
    runtime_id: str
    at: float
    why: str
    recorded: StateSummary | None = None
    derived: StateSummary | None = None


class Late(Struct, frozen=True, kw_only=True):
    """A change that was due by itself, and when it was evaluated."""

    runtime_id: str
    due: float
    seen: float
    derived: StateSummary


class _RuntimeReplay:
    """One runtime from its start to its end."""

    def __init__(self, state: StateSummary, at: float) -> None:
        self.state = state
        self.at = at
        """Up to when it has been evaluated."""
        self.pending: tuple[Event, float] | None = None
        """A signal of which it is not known yet whether a state event follows, and when it came in."""


class Rederivation:
    """A fresh engine that applies the recorded signals. `rules` are used where the journal does not name them."""

    def __init__(self, rules: Rules, *, since: float = 0.0) -> None:
        """Events before `since` are evaluated too, because states follow from them, but neither counted nor listed."""
        self.mismatches: list[Mismatch] = []
        self.late: list[Late] = []
        self.signals = 0
        self.changes = 0
        self._since = since
        self.unknown: set[str] = set()
        """Runtimes that are older than the journal: what led to their states is not recorded."""
        self._engine = Engine(rules)
        self._runtimes: dict[str, _RuntimeReplay] = {}

    def add(self, event: Event) -> None:
        """Read the next event of the journal."""
        if event.kind in {FLEET_STARTED, FLEET_STOPPED}:  # what was about to be recorded then was not
            self._engine = engine_of(event.data, self._engine.rules)
            self._runtimes = {
                row["runtime_id"]: _RuntimeReplay(recorded_summary(row), event.time)
                for row in event.data.get("rows", ())
            }
        elif event.kind == FLEET_PICTURE:
            self._continue(event)
        elif event.kind == AGENT_STARTED:
            if not event.data.get("late"):  # else the agent is in the picture before it
                self._begin(event)
        elif event.kind in {AGENT_SIGNAL, AGENT_STATE, AGENT_ENDED}:
            runtime = self._runtimes.get(event.subject)
            if runtime is None:
                self.unknown.add(event.subject)
            elif event.kind == AGENT_SIGNAL:
                self._apply(event, runtime)
            elif event.kind == AGENT_STATE:
                self._change(event, runtime)
            else:
                self._no_event(event.subject, runtime)
                self._engine.end(event.subject)
                del self._runtimes[event.subject]

    def stepped(self, step: Step) -> None:
        """Count a derived state that differs from the one before."""
        if step.at >= self._since:
            self.changes += 1

    def _begin(self, event: Event) -> None:
        self._engine.end(event.subject)
        self._engine.start(event.subject)
        at, recorded = event.time, recorded_summary(event.data)
        derived = self._follows(event.subject, recorded, at)
        self._runtimes[event.subject] = _RuntimeReplay(derived, at)
        self.stepped(Step(event.subject, at, derived))
        if derived != recorded:
            self._differ(event, at, "it began otherwise", recorded, derived)

    def _continue(self, event: Event) -> None:
        """Read a picture: runtimes that are older than the journal are known from here on."""
        self._engine.rules = convert(event.data["rules"], Rules)
        for row in event.data["rows"]:
            runtime_id = row["runtime_id"]
            runtime = self._runtimes.get(runtime_id)
            lacking = bool(event.data.get("gap")) and (runtime is None or runtime.state != recorded_summary(row))
            if lacking:
                self._differ(
                    event,
                    event.time,
                    f"the journal lacks how {runtime_id} came to it",
                    recorded_summary(row),
                    runtime.state if runtime else None,
                )
            if runtime is None or lacking:
                resume(self._engine, runtime_id, event.data)
                self._runtimes[runtime_id] = _RuntimeReplay(recorded_summary(row), event.time)

    def _apply(self, event: Event, runtime: _RuntimeReplay) -> None:
        try:
            signal = convert(event.data, Signal)
        except ValidationError as error:
            self._differ(event, event.time, f"the signal cannot be read: {error}")
            return
        self._no_event(event.subject, runtime)
        self._pass_time(event.subject, runtime, signal.ingested_at)
        if event.time >= self._since:
            self.signals += 1
        outcome = self._engine.apply(signal)
        applied = outcome == APPLIED
        if applied != event.data.get("applied", True):
            self._differ(event, signal.ingested_at, f"whether the signal counts was decided otherwise: {outcome}")
        runtime.pending = None if runtime.state.reason == UNREACHABLE or not applied else (event, signal.ingested_at)
        runtime.at = signal.ingested_at

    def _change(self, event: Event, runtime: _RuntimeReplay) -> None:
        at, recorded = event.time, recorded_summary(event.data)
        if runtime.pending is not None and at != runtime.pending[1]:  # it came with time, without a signal
            self._no_event(event.subject, runtime)
        self._pass_time(event.subject, runtime, at)
        derived = self._follows(event.subject, recorded, at)
        if derived != recorded:
            self._differ(event, at, "another state follows from what was heard", recorded, derived)
        elif derived == runtime.state:
            self._differ(event, at, "it was told although nothing had changed", recorded, derived)
        self._step(event.subject, runtime, at, derived)
        runtime.pending = None

    def _no_event(self, runtime_id: str, runtime: _RuntimeReplay) -> None:
        """Check that nothing follows from the last signal, because no event was recorded after it."""
        if runtime.pending is None:
            return
        event, at = runtime.pending
        runtime.pending = None
        derived = self._judge(runtime_id, at)
        if derived != runtime.state:
            self._differ(event, at, "a change follows from it that was not told", None, derived)
            self._step(runtime_id, runtime, at, derived)

    def _pass_time(self, runtime_id: str, runtime: _RuntimeReplay, until: float) -> None:
        """List a change that was due by itself before `until` and not recorded in time: late, but not a mismatch."""
        if runtime.pending is not None or runtime.state.reason == UNREACHABLE:
            return
        due = self._engine.horizon(runtime_id, runtime.at)
        while due is not None and due + LATE_S < until:
            derived = self._judge(runtime_id, due + TICK_S)
            if derived != runtime.state:
                if until >= self._since:
                    self.late.append(Late(runtime_id=runtime_id, due=due, seen=until, derived=derived))
                break
            due = self._engine.horizon(runtime_id, due + TICK_S)
        runtime.at = until

    def _step(self, runtime_id: str, runtime: _RuntimeReplay, at: float, derived: StateSummary) -> None:
        runtime.state = derived
        runtime.at = at
        self.stepped(Step(runtime_id, at, derived))

    def _follows(self, runtime_id: str, recorded: StateSummary, at: float) -> StateSummary:
        if recorded.reason == UNREACHABLE:
            return StateSummary("unknown", UNREACHABLE, "low", recorded.detail)
        return self._judge(runtime_id, at)

    def _judge(self, runtime_id: str, at: float) -> StateSummary:
        return summary_of(self._engine.evaluate(runtime_id, at)[0])

    def _differ(
        self,
        event: Event,
        at: float,
        why: str,
        recorded: StateSummary | None = None,
        derived: StateSummary | None = None,
    ) -> None:
        if at >= self._since:
            self.mismatches.append(
                Mismatch(
                    cursor=event.cursor, runtime_id=event.subject, at=at, why=why, recorded=recorded, derived=derived
                )
            )
