"""A fleet in small, without IO: signals in, rows and a journal out, as the service keeps them. Time is moved by hand."""

from __future__ import annotations

import json
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from covey.fleet.engine import APPLIED, Engine, Signal
from covey.fleet.judge import Rules
from covey.fleet.model import Claim, Verdict
from covey.fleet.replay import Told, told_of
from covey.fleet.rows import UNREACHABLE
from covey.fleet.view import Row
from covey.fleet.why import evidence_of
from covey.kernel.event import Event, encode
from tests.covey.fleet.fleets import NOW, row

RULES = Rules(edge_ttl=5.0, settle=0.3, completed_for=2.0)
"""Short, so that much happens by itself."""


class Recorded:
    """A wall clock that may be set and a clock that never goes back, both in whole milliseconds; timers go by the second one, as in an event loop."""

    def __init__(self, rules: Rules = RULES) -> None:
        self.events: list[Event] = []
        self.rows: dict[str, Row] = {}
        self.told: list[tuple[str, Told]] = []
        self.pictures: dict[float, dict[str, Row]] = {}
        """The rows at moments at which something was done."""
        self._engine = Engine(rules)
        self._wall = NOW
        self._passed = 0
        self._timers: dict[str, int] = {}
        self._lost: set[str] = set()
        self.write("fleet.started", "", {"rules": to_builtins(rules)})

    @property
    def now(self) -> float:
        return round(self._wall, 3)

    def write(self, kind: str, subject: str, data: dict[str, Any]) -> None:
        number = len(self.events) + 1
        self.events.append(Event(number, str(number), self.now, kind, subject, json.loads(encode(data)), "fleet"))
        self.pictures[self.now] = dict(self.rows)

    def start(self, runtime: str) -> None:
        if runtime not in self.rows:
            self._engine.start(runtime)
            self._settle(runtime, "agent.started")

    def end(self, runtime: str) -> None:
        if runtime in self.rows:
            self._engine.end(runtime)
            self._timers.pop(runtime, None)
            gone = self.rows.pop(runtime)
            self.write("agent.ended", runtime, {**gone.as_dict(), "previous": gone.state, "why": "exited"})

    def say(self, runtime: str, source: str, state: str | None, key: str, *, at: float, level: bool, strength: int) -> str:
        claim = None if state is None else Claim(source=source, state=state, at=at, level=level, strength=strength, detail=f"{state} {key[:1]}")
        signal = Signal(
            runtime_id=runtime, source=source, dedupe_key=key, event_id=key, event_time=min(at, self.now), ingested_at=self.now, claim=claim
        )
        outcome = self._engine.take(signal)
        if outcome == APPLIED:
            self.write("agent.signal", runtime, to_builtins(signal))
            self._settle(runtime)
        return outcome

    def reach(self, runtime: str, *, reached: bool) -> None:
        """Whether the agent's target answers."""
        (self._lost.discard if reached else self._lost.add)(runtime)
        if runtime in self.rows:
            self._settle(runtime)

    def sleep(self, milliseconds: int, late: int = 0) -> None:
        """Let time pass. What is due meanwhile is looked at `late` milliseconds after."""
        until = self._passed + milliseconds
        while due := [(moment, runtime) for runtime, moment in self._timers.items() if moment + late <= until]:
            moment, runtime = min(due)
            self._pass(max(moment + late - self._passed, 0))
            del self._timers[runtime]
            self._settle(runtime)
        self._pass(until - self._passed)
        self.pictures[self.now] = dict(self.rows)

    def set_clock(self, seconds: float) -> None:
        """Somebody sets the clock: no time passes."""
        self._wall += seconds

    def _pass(self, milliseconds: int) -> None:
        self._passed += milliseconds
        self._wall += milliseconds / 1000

    def _settle(self, runtime: str, kind: str = "agent.state") -> None:
        now = self.now
        verdict, changed = self._engine.settle(runtime, now)
        before = self.rows.get(runtime)
        was_lost = before is not None and before.reason == UNREACHABLE
        if runtime in self._lost:
            verdict = Verdict(state="unknown", reason=UNREACHABLE, confidence="low", since=now, detail="ssh timed out")
        if before is None or (not was_lost if runtime in self._lost else changed or was_lost):
            said = told_of(verdict)
            after = replace(
                row(pane=f"%{runtime}", state=said.state, runtime_id=runtime),
                reason=said.reason,
                confidence=said.confidence,
                detail=said.detail,
                since=verdict.since,
                as_of=before.as_of if before and runtime in self._lost else now,
                evidence=evidence_of(verdict),
            )
            self.rows[runtime] = after
            self.told.append((runtime, said))
            self.write(kind, runtime, {**after.as_dict(), "previous": before.state if before else None})
        if (moment := self._engine.horizon(runtime, now)) is not None:
            self._timers[runtime] = self._passed + max(round((moment - now) * 1000), 0) + 1
        else:
            self._timers.pop(runtime, None)
