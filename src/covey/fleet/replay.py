"""The journal read back: the fleet as it was, and the proof that its states follow from what was heard. Pure: events in, plain values out.

The clock is one more thing that was heard: a signal says when it came in, a change says when it was judged. Judging again at those moments must
give what was told, and what was told must be all that there was to tell. That an agent was out of reach is heard too, of its target: then, and until
it is told otherwise, nothing follows from what it said itself.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from msgspec import Struct, ValidationError, convert

from covey.fleet.engine import APPLIED, Engine, Signal
from covey.fleet.judge import Rules
from covey.fleet.rows import UNREACHABLE
from covey.fleet.view import Evidence, Row, Target

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from covey.fleet.model import Verdict
    from covey.kernel.event import Event

STARTED, STOPPED, PICTURE = "fleet.started", "fleet.stopped", "fleet.picture"
"""The daemon begins to look, with its rules and knowing of no agent; it looks no more; all rows at once, so that a pruned journal can be read too."""
BEGUN, CHANGED, ENDED, HEARD, HEALTH = "agent.started", "agent.state", "agent.ended", "agent.signal", "target.health"
PICTURED = (STARTED, STOPPED, PICTURE, BEGUN, CHANGED, ENDED, HEALTH)
DERIVED = (STARTED, STOPPED, BEGUN, CHANGED, ENDED, HEARD)
LATE_S = 1.0
"""A change that is due by itself may be told so much later."""
_AFTER = 0.001
"""What is due at a moment is seen just after it; and what events say of moments is true to the millisecond."""


class Told(Struct, frozen=True):
    """What makes a state another one."""

    state: str
    reason: str
    confidence: str
    detail: str


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


class Picture:
    """The rows and their targets as of the last event that was added."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self.targets: dict[str, Target] = {}
        self.since: float | None = None
        """From when on all rows are known; None before that."""
        self.stopped_at: float | None = None
        """Nobody has looked since."""

    def add(self, event: Event) -> None:
        if event.kind in {BEGUN, CHANGED}:
            row = self.rows[event.subject] = row_of(event.data)
            self.targets.setdefault(row.target, Target(target=row.target))
        elif event.kind == ENDED:
            self.rows.pop(event.subject, None)
        elif event.kind == HEALTH:
            self.targets[event.subject] = _target(event.data)
        elif event.kind in {STARTED, STOPPED, PICTURE}:
            rows = [row_of(data) for data in event.data.get("rows", ())]
            self.rows = {row.runtime_id: row for row in rows}
            self.targets = {data["target"]: _target(data) for data in event.data.get("targets", ())}
            self.since = event.time if self.since is None else self.since
            self.stopped_at = event.time if event.kind == STOPPED else None


def as_of(events: Iterable[Event], moment: float) -> list[Row]:
    """The rows at a moment. If the clock was set back and showed it twice: the second time."""
    known = list(events)
    upto = max((place for place, event in enumerate(known, 1) if event.time <= moment), default=0)
    picture = Picture()
    for event in known[:upto]:
        picture.add(event)
    return list(picture.rows.values())


def row_of(data: Mapping[str, Any]) -> Row:
    """The row that an event carries."""
    fields = {name: data[name] for name in Row.__struct_fields__ if name in data}
    evidence = tuple(Evidence(one["source"], one["state"], one["evidence"], read(one["at"])) for one in data["evidence"])
    return Row(**{**fields, **data["identity"], "since": read(data["since"]), "as_of": read(data["as_of"]), "evidence": evidence})


def _target(data: Mapping[str, Any]) -> Target:
    return Target(target=data["target"], health=data["health"], reason=data["reason"])


def read(stamp: str) -> float:
    """A moment as events have it, in milliseconds."""
    return datetime.fromisoformat(stamp).timestamp()


def rederive(events: Iterable[Event], rules: Rules) -> Rederivation:
    """Judge again all that was heard."""
    again = Rederivation(rules)
    for event in events:
        again.add(event)
    return again


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

    def __init__(self, rules: Rules) -> None:
        self.states: list[Step] = []
        self.mismatches: list[Mismatch] = []
        self.late: list[Late] = []
        self.signals = 0
        self.unknown: set[str] = set()
        """Runtimes that are older than the journal: how they came to their states is not recorded."""
        self._engine = Engine(rules)
        self._lives: dict[str, _Life] = {}

    def add(self, event: Event) -> None:
        if event.kind in {STARTED, STOPPED}:  # what was about to be told then was not
            self._engine = Engine(convert(event.data["rules"], Rules) if "rules" in event.data else self._engine.rules)
            self._lives.clear()
        elif event.kind == BEGUN:
            self._begin(event)
        elif event.kind in {HEARD, CHANGED, ENDED}:
            life = self._lives.get(event.subject)
            if life is None:
                self.unknown.add(event.subject)
            elif event.kind == HEARD:
                self._hear(event, life)
            elif event.kind == CHANGED:
                self._change(event, life)
            else:
                self._quiet(event.subject, life)
                self._engine.end(event.subject)
                del self._lives[event.subject]

    def _begin(self, event: Event) -> None:
        self._engine.end(event.subject)
        self._engine.start(event.subject)
        at, recorded = read(event.data["as_of"]), told_by(event.data)
        derived = self._likely(event.subject, recorded, at)
        self._lives[event.subject] = _Life(derived, at)
        self.states.append(Step(event.subject, at, derived))
        if derived != recorded:
            self._differ(event, at, "it began otherwise", recorded, derived)

    def _hear(self, event: Event, life: _Life) -> None:
        try:
            signal = convert(event.data, Signal)
        except ValidationError as error:
            self._differ(event, event.time, f"the signal cannot be read: {error}")
            return
        self._quiet(event.subject, life)
        self._pass_time(event.subject, life, signal.ingested_at)
        self.signals += 1
        if (outcome := self._engine.take(signal)) != APPLIED:
            self._differ(event, signal.ingested_at, f"the signal was applied, and now it is not: {outcome}")
        life.heard = None if life.told.reason == UNREACHABLE else (event, signal.ingested_at)
        life.at = signal.ingested_at

    def _change(self, event: Event, life: _Life) -> None:
        at, recorded = read(event.data["as_of"]), told_by(event.data)
        if life.heard is not None and at - life.heard[1] > LATE_S:  # it has come by itself
            self._quiet(event.subject, life)
        self._pass_time(event.subject, life, at)
        derived = self._likely(event.subject, recorded, *([life.heard[1]] if life.heard else []), at)
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
            derived = self._judge(runtime_id, due + _AFTER)
            if derived != life.told:
                self.late.append(Late(runtime_id=runtime_id, due=due, seen=until, derived=derived))
                break
            due = self._engine.horizon(runtime_id, due + _AFTER)
        life.at = until

    def _step(self, runtime_id: str, life: _Life, at: float, derived: Told) -> None:
        life.told, life.at = derived, at
        self.states.append(Step(runtime_id, at, derived))

    def _likely(self, runtime_id: str, recorded: Told, *moments: float) -> Told:
        """What follows at the moments at which it may have been judged: what was told, if it follows at any of them."""
        if recorded.reason == UNREACHABLE:
            return Told("unknown", UNREACHABLE, "low", recorded.detail)
        derived = [self._judge(runtime_id, moment) for moment in (*moments, moments[-1] + _AFTER)]
        return recorded if recorded in derived else derived[-2]

    def _judge(self, runtime_id: str, at: float) -> Told:
        return told_of(self._engine.settle(runtime_id, at)[0])

    def _differ(self, event: Event, at: float, why: str, recorded: Told | None = None, derived: Told | None = None) -> None:
        self.mismatches.append(Mismatch(cursor=event.cursor, runtime_id=event.subject, at=at, why=why, recorded=recorded, derived=derived))


def told_of(verdict: Verdict) -> Told:
    return Told(verdict.state, verdict.reason, verdict.confidence, verdict.detail)


def told_by(data: Mapping[str, Any]) -> Told:
    return Told(data["state"], data["reason"], data["confidence"], data["detail"])
