"""From claims to rows: each step is taken at one moment, and whatever is news is told of that moment. Pure: it is handed the time and what to look at.

The moment is a whole millisecond, as the journal keeps it. Whoever judges again, at the time of an event, what was heard until then comes to the same row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import to_builtins
from msgspec.structs import replace

from covey.contract.attention_events import ATTENTION_ASKED, ATTENTION_SETTLED
from covey.contract.fleet_events import AGENT_ENDED, AGENT_SIGNAL, AGENT_STARTED, AGENT_STATE
from covey.fleet.attention import asked, key_of, same_question
from covey.fleet.engine import APPLIED, LATE, Engine
from covey.fleet.model import Verdict
from covey.fleet.rows import UNREACHABLE, row_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from covey.contract.event_kind import EventKind
    from covey.fleet.engine import Signal
    from covey.fleet.judge import Rules
    from covey.fleet.model import Claim
    from covey.fleet.runtimes import Runtime
    from covey.fleet.saved_agents import SavedAgent
    from covey.fleet.view import Row
    from covey.tmux.listing import Pane

    Tell = Callable[[EventKind, str, dict[str, Any], float], None]
    """Told: the kind of event, its subject, its data, and when it was."""

HOOK = "hook"
"""The source whose signals are recorded even when they come too late to count: nobody else has them."""
TICK_S = 0.001
"""What is due at a moment is seen for sure one millisecond after it."""


class Look(NamedTuple):
    """What there is to see of a runtime."""

    runtime: Runtime
    pane: Pane | None
    lost: str | None
    """Why nothing can be said about it; None if all is well."""


class States:
    """The row and the verdict of every runtime that was started. `look` says how things are with one, or that it is not there.

    `with_server` returns a row with its tmux server where its target has several, for the text that people read.
    """

    def __init__(
        self,
        rules: Rules,
        look: Callable[[str], Look | None],
        tell: Tell,
        with_server: Callable[[Row], Row] = lambda row: row,
    ) -> None:
        self.rows: dict[str, Row] = {}
        self.verdicts: dict[str, Verdict] = {}
        self._engine = Engine(rules)
        self._asked: dict[str, Row] = {}
        """Runtimes for which a person was asked, with the row that the question was last written from."""
        self._with_server = with_server
        self._look = look
        self._tell = tell

    def start(self, runtime_id: str, now: float) -> None:
        self._engine.start(runtime_id)
        self.settle(runtime_id, now)

    def resume(self, saved: SavedAgent, now: float) -> None:
        """Go on with an agent that was known before the daemon was started. Only what has changed since is told."""
        row = saved.row
        verdict = Verdict(
            state=row.state, reason=row.reason, confidence=row.confidence, since=row.since, detail=row.detail
        )
        self._engine.resume(row.runtime_id, saved.claims, saved.cursors, verdict=verdict, version=row.state_version)
        self.rows[row.runtime_id], self.verdicts[row.runtime_id] = row, verdict
        if saved.asked:
            self._asked[row.runtime_id] = row
        self.settle(row.runtime_id, now)
        self._attend(self.rows[row.runtime_id], now)

    def hear(self, signal: Signal) -> bool:
        """Take a signal; returns whether it is recorded. One that counts confirms its row or makes it another.

        A hook that comes after a newer one was taken does not change the state, but it did happen, so it is recorded too.
        """
        outcome = self._engine.take(signal)
        if outcome != APPLIED and (outcome, signal.source) != (LATE, HOOK):
            return False
        self._tell(
            AGENT_SIGNAL, signal.runtime_id, {**to_builtins(signal), "applied": outcome == APPLIED}, signal.ingested_at
        )
        if outcome == APPLIED:
            self.settle(signal.runtime_id, signal.ingested_at, heard=True)
        return True

    def settle(self, runtime_id: str, now: float, *, heard: bool = False) -> None:
        """See what the claims amount to, and tell if it is something else."""
        seen = self._look(runtime_id)
        if seen is None:
            return
        verdict, changed = self._engine.settle(runtime_id, now)
        before, last = self.rows.get(runtime_id), self.verdicts.get(runtime_id)
        lost = last if last and last.reason == UNREACHABLE else None
        if seen.lost is not None:
            verdict = Verdict(
                state="unknown",
                reason=UNREACHABLE,
                confidence="low",
                since=lost.since if lost else now,
                detail=seen.lost,
            )
            changed = lost is None or lost.detail != seen.lost
        else:
            changed = changed or lost is not None
        news = changed or before is None
        self.verdicts[runtime_id] = verdict
        row = row_of(seen.runtime, verdict, seen.pane, before, now if news or heard or before is None else before.as_of)
        if news:
            row = replace(row, state_version=before.state_version + 1 if before else 1)
        self.rows[runtime_id] = row
        if news:
            self._tell(
                AGENT_STATE if before else AGENT_STARTED,
                runtime_id,
                {**row.as_dict(), "previous": before.state if before else None},
                now,
            )
            self._attend(row, now)

    def update_questions(self, now: float) -> None:
        """Correct the questions that name their agent otherwise than now: a tmux server has come or gone on its target."""
        for runtime_id in list(self._asked):
            self._attend(self.rows[runtime_id], now)

    def _attend(self, row: Row, now: float) -> None:
        """Ask for a person when an agent begins to need one, correct what was asked, and take that back when nobody is needed."""
        before = self._asked.get(row.runtime_id)
        if not row.needs_action:
            if before is not None:
                self._settled(row.runtime_id, f"it is {row.state.replace('_', ' ')} now", now)
            return
        row = self._with_server(row)
        same = same_question(before, row) if before is not None else None
        self._asked[row.runtime_id] = same or row
        if before is None or same is None:
            self._tell(ATTENTION_ASKED, key_of(row.runtime_id), asked(row), now)
        elif asked(same) != asked(before):
            self._tell(ATTENTION_ASKED, key_of(row.runtime_id), {**asked(same), "same_question": True}, now)

    def _settled(self, runtime_id: str, why: str, now: float) -> None:
        del self._asked[runtime_id]
        self._tell(ATTENTION_SETTLED, key_of(runtime_id), {"runtime_id": runtime_id, "why": why}, now)

    def due(self, runtime_id: str, now: float) -> float | None:
        """When to settle again although nothing new was heard."""
        moment = self._engine.horizon(runtime_id, now - TICK_S)
        return None if moment is None else max(moment, now) + TICK_S

    def moved(self, runtime_id: str, now: float) -> None:
        """A pane has another title, name or place: its row is another, but no news, and confirms nothing. A question names the new place."""
        before, seen = self.rows.get(runtime_id), self._look(runtime_id)
        if before is not None and seen is not None:
            row = self.rows[runtime_id] = row_of(
                seen.runtime, self.verdicts[runtime_id], seen.pane, before, before.as_of
            )
            if runtime_id in self._asked:
                self._attend(row, now)

    def end(self, runtime_id: str, why: str, now: float) -> None:
        self._engine.end(runtime_id)
        self.verdicts.pop(runtime_id, None)
        row = self.rows.pop(runtime_id, None)
        if runtime_id in self._asked:  # before the end: after it nothing is left that remembers the question
            self._settled(runtime_id, "it has ended", now)
        if row is not None:
            self._tell(AGENT_ENDED, runtime_id, {**row.as_dict(), "previous": row.state, "why": why}, now)

    def claims(self, runtime_id: str) -> list[Claim]:
        """What stands about a runtime."""
        return self._engine.claims(runtime_id)

    def picture(self) -> dict[str, Any]:
        """All that is needed to go on from here: the rows, and what they follow from."""
        return {
            "rules": to_builtins(self._engine.rules),
            "rows": [row.as_dict() for row in self.rows.values()],
            "claims": {runtime_id: to_builtins(self._engine.claims(runtime_id)) for runtime_id in self.rows},
            "cursors": {runtime_id: to_builtins(self._engine.cursors(runtime_id)) for runtime_id in self.rows},
        }
