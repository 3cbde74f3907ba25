"""The state of every runtime: signals in, events and rows out.

Pure: each step is given its time and what can be seen of the runtime (`RuntimeView`), and returns the events that
follow from it, each with the time of the step. The time is in whole milliseconds, as the journal keeps it, so that
evaluating the recorded signals again at the time of an event gives the same row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import to_builtins
from msgspec.structs import replace

from covey.contract.attention_events import ATTENTION_ASKED, ATTENTION_SETTLED
from covey.contract.fleet_events import AGENT_ENDED, AGENT_SIGNAL, AGENT_STARTED, AGENT_STATE
from covey.fleet.state.attention import NO_REQUEST, Settling, asked, key_of, same_question
from covey.fleet.state.engine import APPLIED, CLAIMED, LATE, Engine
from covey.fleet.state.model import Verdict
from covey.fleet.state.rows import UNREACHABLE, row_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from covey.contract.event_kind import EventKind
    from covey.fleet.answers.view import Row
    from covey.fleet.state.engine import Signal
    from covey.fleet.state.judge import Rules
    from covey.fleet.state.model import Claim
    from covey.fleet.state.saved_agents import SavedAgent
    from covey.fleet.watch.runtimes import Runtime
    from covey.tmux.listing import Pane

HOOK = "hook"
"""The source whose signals are recorded even when they do not count: no other source repeats them."""
TICK_S = 0.001
"""What is due at a moment is certainly visible one millisecond after it."""


class RuntimeView(NamedTuple):
    """What can be seen of a runtime now."""

    runtime: Runtime
    pane: Pane | None
    lost: str | None
    """Why nothing can be known about it; None if its target and its tmux server can be reached."""


class StateEvent(NamedTuple):
    """An event for the journal that follows from a step."""

    kind: EventKind
    subject: str
    data: dict[str, Any]
    at: float


class States:
    """The row and the verdict of every runtime that was started. Each method that takes a step returns its events.

    Where a method takes a `view`, None means that the runtime is not observed: nothing follows then.
    `with_server` returns a row with its tmux server where its target has several, for the text that people read.
    """

    def __init__(self, rules: Rules, with_server: Callable[[Row], Row] = lambda row: row) -> None:
        self.rows: dict[str, Row] = {}
        self.verdicts: dict[str, Verdict] = {}
        self._engine = Engine(rules)
        self._asked: dict[str, Row] = {}
        """Runtimes for which a person was asked, with the row that the question was last written from."""
        self._settling: dict[str, Settling] = {}
        """How what a runtime asks in its hook is settled, where that can be."""
        self._with_server = with_server

    def start(self, runtime_id: str, view: RuntimeView | None, now: float) -> list[StateEvent]:
        """Begin with a runtime about which nothing is claimed yet."""
        self._engine.start(runtime_id)
        return self.evaluate(runtime_id, view, now)

    def resume(self, saved: SavedAgent, view: RuntimeView | None, now: float) -> list[StateEvent]:
        """Continue with an agent that the last daemon knew. Only what has changed since becomes an event."""
        row = saved.row
        verdict = Verdict(
            state=row.state, reason=row.reason, confidence=row.confidence, since=row.since, detail=row.detail
        )
        self._engine.resume(row.runtime_id, saved.claims, saved.cursors, verdict=verdict, version=row.state_version)
        self.rows[row.runtime_id] = row
        self.verdicts[row.runtime_id] = verdict
        if saved.asked:
            self._asked[row.runtime_id] = row
        events = self.evaluate(row.runtime_id, view, now)
        return events + self._update_question(self.rows[row.runtime_id], now)

    def apply(self, signal: Signal, view: RuntimeView | None) -> list[StateEvent]:
        """Apply a signal. Returns it as an event, then the events that follow; nothing if it is not to be recorded.

        A hook that comes after a newer one was applied, or whose sender is not known while the runtime asks for
        something, does not change the state. It was delivered, so it is recorded.
        """
        outcome = self._engine.apply(signal)
        if outcome != APPLIED and not (outcome in {CLAIMED, LATE} and signal.source == HOOK):
            return []
        data = {**to_builtins(signal), "applied": outcome == APPLIED}
        events = [StateEvent(AGENT_SIGNAL, signal.runtime_id, data, signal.ingested_at)]
        if outcome == APPLIED:
            events += self.evaluate(signal.runtime_id, view, signal.ingested_at, confirmed=True)
        return events

    def evaluate(
        self, runtime_id: str, view: RuntimeView | None, now: float, *, confirmed: bool = False
    ) -> list[StateEvent]:
        """Judge the claims about a runtime again. `confirmed`: a source has just said something that counts."""
        if view is None:
            return []
        verdict, changed = self._judge(runtime_id, view, now)
        before = self.rows.get(runtime_id)
        self.verdicts[runtime_id] = verdict
        changed = changed or before is None
        as_of = now if changed or confirmed or before is None else before.as_of
        row = row_of(view.runtime, verdict, view.pane, before, as_of)
        if not changed:
            self.rows[runtime_id] = row
            return []
        row = self.rows[runtime_id] = replace(row, state_version=before.state_version + 1 if before else 1)
        data = {**row.as_dict(), "previous": before.state if before else None}
        kind = AGENT_STATE if before else AGENT_STARTED
        return [StateEvent(kind, runtime_id, data, now), *self._update_question(row, now)]

    def _judge(self, runtime_id: str, view: RuntimeView, now: float) -> tuple[Verdict, bool]:
        """Return the verdict, and whether it differs from the last one. Nothing is known of what is out of reach."""
        verdict, changed = self._engine.evaluate(runtime_id, now)
        last = self.verdicts.get(runtime_id)
        lost = last if last and last.reason == UNREACHABLE else None
        if view.lost is None:
            return verdict, changed or lost is not None
        since = lost.since if lost else now
        unreachable = Verdict(state="unknown", reason=UNREACHABLE, confidence="low", since=since, detail=view.lost)
        return unreachable, lost is None or lost.detail != view.lost

    def update_questions(self, now: float) -> list[StateEvent]:
        """Correct the questions that name their agent differently now: a tmux server came or went on its target."""
        rows = [self.rows[runtime_id] for runtime_id in self._asked]
        return [event for row in rows for event in self._update_question(row, now)]

    def name_settling(self, runtime_id: str, settling: Settling, now: float) -> list[StateEvent]:
        """Say what a runtime asks in its hook, and what settles it; nothing if only its terminal can answer."""
        before = self._settling.get(runtime_id, NO_REQUEST)
        if settling.commands:
            self._settling[runtime_id] = settling
        else:
            self._settling.pop(runtime_id, None)
        asked_from = self._asked.get(runtime_id)
        if asked_from is None or settling == before:
            return []
        return [self._correct_question(asked_from, now)]

    def _correct_question(self, row: Row, now: float) -> StateEvent:
        data = {**asked(row, self._settling.get(row.runtime_id, NO_REQUEST)), "same_question": True}
        return StateEvent(ATTENTION_ASKED, key_of(row.runtime_id), data, now)

    def _update_question(self, row: Row, now: float) -> list[StateEvent]:
        """Ask for a person when an agent begins to need one, correct the question, and withdraw it when it is over."""
        before = self._asked.get(row.runtime_id)
        if not row.needs_action:
            if before is None:
                return []
            return [self._withdraw_question(row.runtime_id, f"it is {row.state.replace('_', ' ')} now", now)]
        row = self._with_server(row)
        same = same_question(before, row) if before is not None else None
        self._asked[row.runtime_id] = same or row
        if before is None or same is None:
            data = asked(row, self._settling.get(row.runtime_id, NO_REQUEST))
            return [StateEvent(ATTENTION_ASKED, key_of(row.runtime_id), data, now)]
        return [self._correct_question(same, now)] if asked(same) != asked(before) else []

    def _withdraw_question(self, runtime_id: str, why: str, now: float) -> StateEvent:
        del self._asked[runtime_id]
        return StateEvent(ATTENTION_SETTLED, key_of(runtime_id), {"runtime_id": runtime_id, "why": why}, now)

    def due(self, runtime_id: str, now: float) -> float | None:
        """Return when to evaluate again although no signal comes; None if time alone changes nothing."""
        moment = self._engine.horizon(runtime_id, now - TICK_S)
        return None if moment is None else max(moment, now) + TICK_S

    def refresh(self, runtime_id: str, view: RuntimeView | None, now: float) -> list[StateEvent]:
        """Rebuild a row whose pane has another title, name or place. No state event; `as_of` stays.

        A question that is open is corrected, because it names the place.
        """
        before = self.rows.get(runtime_id)
        if before is None or view is None:
            return []
        row = self.rows[runtime_id] = row_of(view.runtime, self.verdicts[runtime_id], view.pane, before, before.as_of)
        return self._update_question(row, now) if runtime_id in self._asked else []

    def end(self, runtime_id: str, why: str, now: float) -> list[StateEvent]:
        """Forget a runtime that has ended."""
        self._engine.end(runtime_id)
        self.verdicts.pop(runtime_id, None)
        self._settling.pop(runtime_id, None)
        row = self.rows.pop(runtime_id, None)
        events = []
        if runtime_id in self._asked:  # before the end: after it nothing is left that remembers the question
            events.append(self._withdraw_question(runtime_id, "it has ended", now))
        if row is not None:
            data = {**row.as_dict(), "previous": row.state, "why": why}
            events.append(StateEvent(AGENT_ENDED, runtime_id, data, now))
        return events

    def claims(self, runtime_id: str) -> list[Claim]:
        """Return the claims about a runtime that are in force."""
        return self._engine.claims(runtime_id)

    def picture(self) -> dict[str, Any]:
        """Return all that is needed to continue from here: the rows, and the claims that they follow from."""
        return {
            "rules": to_builtins(self._engine.rules),
            "rows": [row.as_dict() for row in self.rows.values()],
            "claims": {runtime_id: to_builtins(self._engine.claims(runtime_id)) for runtime_id in self.rows},
            "cursors": {runtime_id: to_builtins(self._engine.cursors(runtime_id)) for runtime_id in self.rows},
        }
