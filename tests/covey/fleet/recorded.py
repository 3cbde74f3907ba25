"""A small fleet without IO: signals in, rows and a journal out, by the states that the daemon keeps.

Time is moved by hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from msgspec import to_builtins

from covey.contract.event_kind import EventKind
from covey.contract.fleet_events import FLEET_PICTURE, FLEET_STARTED
from covey.fleet.answers.view import Row
from covey.fleet.history.picture import StateSummary, recorded_summary
from covey.fleet.history.replay import Rederivation, Step
from covey.fleet.state.engine import Signal
from covey.fleet.state.judge import Rules
from covey.fleet.state.model import Claim, State
from covey.fleet.state.states import RuntimeView, StateEvent, States
from covey.fleet.watch.runtimes import Runtime
from covey.kernel.events.event import Event, encode
from tests.covey.fleet.fleets import NOW

RULES = Rules(edge_ttl=5.0, settle=0.3, completed_for=2.0)
"""Short, so that much happens by itself."""


class Recorded:
    """A wall clock that may be set and a clock that never goes back, both in microseconds.

    Timers use the second one, as in an event loop.
    """

    def __init__(self, rules: Rules = RULES) -> None:
        self.events: list[Event] = []
        self.told: list[tuple[str, StateSummary]] = []
        self.pictures: dict[float, dict[str, Row]] = {}
        """The rows at moments at which something was done: as they were at the end of each."""
        self.states = States(rules)
        self._wall = round(NOW * 1_000_000)
        self._passed = 0
        self._timers: dict[str, int] = {}
        self._lost: dict[str, str] = {}
        self.write(
            FLEET_STARTED,
            "",
            {"rules": to_builtins(rules), "targets": [{"target": "host", "health": "ok", "reason": ""}]},
        )

    @property
    def now(self) -> float:
        return round(self._wall / 1_000_000, 3)

    @property
    def rows(self) -> dict[str, Row]:
        return self.states.rows

    def write(self, kind: EventKind, subject: str, data: dict[str, Any]) -> None:
        self._append([StateEvent(kind, subject, data, self.now)])
        self._seen()

    def picture(self) -> None:
        self.write(
            FLEET_PICTURE,
            "",
            {**self.states.picture(), "targets": [{"target": "host", "health": "ok", "reason": ""}]},
        )

    def start(self, runtime: str) -> None:
        if runtime not in self.rows:
            self._append(self.states.start(runtime, self._view(runtime), self.now))
            self._seen()

    def end(self, runtime: str) -> None:
        if runtime in self.rows:
            self._timers.pop(runtime, None)
            self._append(self.states.end(runtime, "exited", self.now))
            self._seen()

    def say(
        self, runtime: str, source: str, state: State | None, key: str, *, at: float, level: bool, strength: int
    ) -> bool:
        now = self.now
        claim = (
            None
            if state is None
            else Claim(source=source, state=state, at=at, level=level, strength=strength, detail=f"{state} {key[:1]}")
        )
        signal = Signal(
            runtime_id=runtime,
            source=source,
            dedupe_key=key,
            event_id=key,
            event_time=min(at, now),
            ingested_at=now,
            claim=claim,
        )
        events = self.states.apply(signal, self._view(runtime))
        self._append(events)
        if events:
            self._schedule(runtime, now)
        return bool(events)

    def reach(self, runtime: str, *, reached: bool, why: str = "ssh timed out") -> None:
        """Whether the agent's target answers."""
        self._lost.pop(runtime, None)
        if not reached:
            self._lost[runtime] = why
        if runtime in self.rows:
            self._evaluate(runtime)

    def sleep(self, milliseconds: float, late: int = 0) -> None:
        """Let time pass. What is due meanwhile is looked at `late` milliseconds after."""
        until = self._passed + round(milliseconds * 1000)
        while due := [(moment, runtime) for runtime, moment in self._timers.items() if moment + late * 1000 <= until]:
            moment, runtime = min(due)
            self._pass(max(moment + late * 1000 - self._passed, 0))
            del self._timers[runtime]
            self._evaluate(runtime)
        self._pass(until - self._passed)
        self._seen()

    def set_clock(self, seconds: float) -> None:
        """Somebody sets the clock: no time passes."""
        self._wall += round(seconds * 1_000_000)

    def _pass(self, microseconds: int) -> None:
        self._passed += microseconds
        self._wall += microseconds

    def _evaluate(self, runtime: str) -> None:
        now = self.now
        self._append(self.states.evaluate(runtime, self._view(runtime), now))
        self._schedule(runtime, now)

    def _schedule(self, runtime: str, now: float) -> None:
        self._timers.pop(runtime, None)
        if (due := self.states.due(runtime, now)) is not None:
            self._timers[runtime] = self._passed + round((due - now) * 1_000_000)
        self._seen()

    def _view(self, runtime: str) -> RuntimeView:
        seen = Runtime(
            runtime_id=runtime,
            target="host",
            socket="/s",
            window_id="@1",
            pane_id=f"%{runtime}",
            pane_epoch="",
            agent="claude",
            pid=1,
            process_started=1,
            started_at=NOW,
        )
        return RuntimeView(seen, None, self._lost.get(runtime))

    def _append(self, events: Iterable[StateEvent]) -> None:
        for kind, subject, data, at in events:
            number = len(self.events) + 1
            self.events.append(Event(number, str(number), at, kind, subject, json.loads(encode(data)), "fleet"))
            if kind in {"agent.started", "agent.state"}:
                self.told.append((subject, recorded_summary(data)))

    def _seen(self) -> None:
        self.pictures[self.now] = dict(self.rows)


class Again(Rederivation):
    """Judges again, and keeps every state that comes out."""

    def __init__(self, rules: Rules) -> None:
        super().__init__(rules)
        self.states: list[Step] = []

    def stepped(self, step: Step) -> None:
        super().stepped(step)
        self.states.append(step)


def rederive(events: list[Event], rules: Rules) -> Again:
    again = Again(rules)
    for event in events:
        again.add(event)
    return again
