"""The proof that the states of the fleet follow from what was heard. Pure: events in, plain values out.

The clock is one more thing that was heard: an event says at which moment the step was taken that it tells of. Judging again at those moments must
give what was told, and what was told must be all that there was to tell. That an agent was out of reach is heard too, of its target: then, and until
it is told otherwise, nothing follows from what it said itself.
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
from covey.fleet.engine import APPLIED, Engine, Signal
from covey.fleet.judge import Rules
from covey.fleet.picture import Told, engine_of, resume, told_by, told_of
from covey.fleet.rows import UNREACHABLE
from covey.fleet.states import TICK_S

if TYPE_CHECKING:
    from covey.kernel.event import Event

LATE_S = 1.0
"""A change that is due by itself may be told so much later."""


class Step(Struct, frozen=True):
    """A runtime's state from a moment on."""

    runtime_id: str
    at: float
    told: Told


class Mismatch(Struct, frozen=True, kw_only=True):
    """Where the record and what follows from it part."""

    cursor: int
    runtime_id: str
    at: float
    why: str
    recorded: Told | None = None
    derived: Told | None = None


class Late(Struct, frozen=True, kw_only=True):
    """A change that was due by itself, and when somebody looked."""

    runtime_id: str
    due: float
    seen: float
    derived: Told


class _Life:
    """One runtime from its start to its end."""

    def __init__(self, told: Told, at: float) -> None:
        self.told = told
        self.at = at
        """Up to when it has been judged."""
        self.heard: tuple[Event, float] | None = None
        """A signal of which it is not known yet whether anything was told after it, and when it came in."""


class Rederivation:
    """A fresh engine that hears what was heard. `rules` are those of a journal that does not say which were in force."""

    def __init__(self, rules: Rules, *, since: float = 0.0) -> None:
        """What was before `since` is judged too, because states follow from it, but neither counted nor listed."""
        self.mismatches: list[Mismatch] = []
        self.late: list[Late] = []
        self.signals = 0
        self.changes = 0
        self._since = since
        self.unknown: set[str] = set()
        """Runtimes that are older than the journal: how they came to their states is not recorded."""
        self._engine = Engine(rules)
        self._lives: dict[str, _Life] = {}

    def add(self, event: Event) -> None:
        if event.kind in {FLEET_STARTED, FLEET_STOPPED}:  # what was about to be told then was not
            self._engine = engine_of(event.data, self._engine.rules)
            self._lives = {row["runtime_id"]: _Life(told_by(row), event.time) for row in event.data.get("rows", ())}
        elif event.kind == FLEET_PICTURE:
            self._go_on(event)
        elif event.kind == AGENT_STARTED:
            if not event.data.get("late"):  # else the picture before it has told of the agent
                self._begin(event)
        elif event.kind in {AGENT_SIGNAL, AGENT_STATE, AGENT_ENDED}:
            life = self._lives.get(event.subject)
            if life is None:
                self.unknown.add(event.subject)
            elif event.kind == AGENT_SIGNAL:
                self._hear(event, life)
            elif event.kind == AGENT_STATE:
                self._change(event, life)
            else:
                self._quiet(event.subject, life)
                self._engine.end(event.subject)
                del self._lives[event.subject]

    def stepped(self, step: Step) -> None:
        """A state was derived that is another than before."""
        self.changes += step.at >= self._since

    def _begin(self, event: Event) -> None:
        self._engine.end(event.subject)
        self._engine.start(event.subject)
        at, recorded = event.time, told_by(event.data)
        derived = self._follows(event.subject, recorded, at)
        self._lives[event.subject] = _Life(derived, at)
        self.stepped(Step(event.subject, at, derived))
        if derived != recorded:
            self._differ(event, at, "it began otherwise", recorded, derived)

    def _go_on(self, event: Event) -> None:
        """Runtimes that are older than the journal are known from here on."""
        self._engine.rules = convert(event.data["rules"], Rules)
        for row in event.data["rows"]:
            runtime_id = row["runtime_id"]
            life = self._lives.get(runtime_id)
            lacking = bool(event.data.get("gap")) and (life is None or life.told != told_by(row))
            if lacking:
                self._differ(
                    event,
                    event.time,
                    f"the journal lacks how {runtime_id} came to it",
                    told_by(row),
                    life.told if life else None,
                )
            if life is None or lacking:
                resume(self._engine, runtime_id, event.data)
                self._lives[runtime_id] = _Life(told_by(row), event.time)

    def _hear(self, event: Event, life: _Life) -> None:
        try:
            signal = convert(event.data, Signal)
        except ValidationError as error:
            self._differ(event, event.time, f"the signal cannot be read: {error}")
            return
        self._quiet(event.subject, life)
        self._pass_time(event.subject, life, signal.ingested_at)
        self.signals += event.time >= self._since
        applied = (outcome := self._engine.take(signal)) == APPLIED
        if applied != event.data.get("applied", True):
            self._differ(event, signal.ingested_at, f"whether the signal counts was decided otherwise: {outcome}")
        life.heard = None if life.told.reason == UNREACHABLE or not applied else (event, signal.ingested_at)
        life.at = signal.ingested_at

    def _change(self, event: Event, life: _Life) -> None:
        at, recorded = event.time, told_by(event.data)
        if life.heard is not None and at != life.heard[1]:  # it has come by itself
            self._quiet(event.subject, life)
        self._pass_time(event.subject, life, at)
        derived = self._follows(event.subject, recorded, at)
        if derived != recorded:
            self._differ(event, at, "another state follows from what was heard", recorded, derived)
        elif derived == life.told:
            self._differ(event, at, "it was told although nothing had changed", recorded, derived)
        self._step(event.subject, life, at, derived)
        life.heard = None

    def _quiet(self, runtime_id: str, life: _Life) -> None:
        """Nothing was told after the last signal, so nothing must follow from it."""
        if life.heard is None:
            return
        event, at = life.heard
        life.heard = None
        derived = self._judge(runtime_id, at)
        if derived != life.told:
            self._differ(event, at, "a change follows from it that was not told", None, derived)
            self._step(runtime_id, life, at, derived)

    def _pass_time(self, runtime_id: str, life: _Life, until: float) -> None:
        """What is due by itself before `until` and was not told in time. Who looks later sees it then: late, but no other state."""
        if life.heard is not None or life.told.reason == UNREACHABLE:
            return
        due = self._engine.horizon(runtime_id, life.at)
        while due is not None and due + LATE_S < until:
            derived = self._judge(runtime_id, due + TICK_S)
            if derived != life.told:
                if until >= self._since:
                    self.late.append(Late(runtime_id=runtime_id, due=due, seen=until, derived=derived))
                break
            due = self._engine.horizon(runtime_id, due + TICK_S)
        life.at = until

    def _step(self, runtime_id: str, life: _Life, at: float, derived: Told) -> None:
        life.told, life.at = derived, at
        self.stepped(Step(runtime_id, at, derived))

    def _follows(self, runtime_id: str, recorded: Told, at: float) -> Told:
        if recorded.reason == UNREACHABLE:
            return Told("unknown", UNREACHABLE, "low", recorded.detail)
        return self._judge(runtime_id, at)

    def _judge(self, runtime_id: str, at: float) -> Told:
        return told_of(self._engine.settle(runtime_id, at)[0])

    def _differ(
        self, event: Event, at: float, why: str, recorded: Told | None = None, derived: Told | None = None
    ) -> None:
        if at >= self._since:
            self.mismatches.append(
                Mismatch(
                    cursor=event.cursor, runtime_id=event.subject, at=at, why=why, recorded=recorded, derived=derived
                )
            )
