"""The answer to a message: a stream that ends when the agent has finished the turn, asks something, or has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from covey.agents.summaries import one_line
from covey.contract.actions_events import RECEIPT_CHANGED
from covey.contract.fleet_events import AGENT_ENDED, AGENT_STATE
from covey.fleet.actions.conversation import read_turns
from covey.fleet.actions.receipt import ANSWERED, SEEN, SUBMITTED
from covey.fleet.answers.watch_stream import HEARTBEAT_S
from covey.fleet.state.model import REST, WAITING
from covey.kernel.operations.stream import Message
from murli import AgentError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from covey.agents.turns import Turn
    from covey.fleet.actions.receipt import Receipt, Receipts
    from covey.fleet.answers.view import Row
    from covey.fleet.fleet import Fleet
    from covey.kernel.clock import Clock
    from covey.kernel.events.events import Events
    from covey.kernel.operations.stream import Batch

LOOK_S = 1.0
"""How often the transcript is read while the agent rests and the answer is not there."""
SETTLES_S = 3.0
"""How long an agent rests before its turn counts as over without an answer: files are written a moment later, and a
prompt that was queued begins its own turn."""
ASKS_S = 1.0
"""How long an agent must ask something before that ends the wait: a policy may answer at once."""
STARTS_S = 10.0
"""How long an agent may take to begin a turn."""
SLACK_S = 2.0
"""How much earlier than its receipt a prompt may be dated."""
OPEN, TIMEOUT = "waiting", "timeout"
UNREADABLE = "the answer cannot be read: this agent has no transcript or hook that Covey reads here; see covey view"


class Answer:
    """Waits for the answer to one message. `timeout_s` None: for as long as it takes."""

    def __init__(
        self, fleet: Fleet, events: Events, receipts: Receipts, clock: Clock, receipt: Receipt, timeout_s: float | None
    ) -> None:
        self._fleet = fleet
        self._events = events
        self._receipts = receipts
        self._clock = clock
        self._receipt = receipt
        self._limit = timeout_s
        self._rests_since: float | None = None
        """Since when the agent has rested without an answer."""

    async def batches(self) -> AsyncGenerator[Batch, None]:
        """Yield a `waiting` for each look in vain, and at the end a `done` with the outcome."""
        began = self._clock.monotonic()
        kinds = [AGENT_STATE, AGENT_ENDED, RECEIPT_CHANGED]
        async with self._events.subscribe(kinds=kinds) as heard:
            while not heard.closed:
                waited = self._clock.monotonic() - began
                try:
                    found = await self._look()
                except AgentError as error:  # the other machine cannot be asked just now
                    found = self._found(OPEN, self._row(), why=error.message)
                if found["outcome"] == OPEN and self._limit is not None and waited >= self._limit:
                    found = {**found, "outcome": TIMEOUT}
                yield (Message("waiting" if found["outcome"] == OPEN else "done", found),)
                if found["outcome"] != OPEN:
                    return
                pause = LOOK_S if self._looks_often() else HEARTBEAT_S
                await heard.take(pause if self._limit is None else min(pause, max(self._limit - waited, 0.0)))

    def _looks_often(self) -> bool:
        row = self._row()
        return not self._receipt.open and row is not None and row.state != "running"

    async def _look(self) -> dict[str, Any]:
        """Return how it stands now."""
        self._receipt = await self._receipts.find(self._receipt.id)
        if self._receipt.open:
            return self._found(OPEN, why=self._receipt.why)
        if self._receipt.rung not in {SUBMITTED, SEEN, ANSWERED}:
            return self._found("not_sent", why=self._receipt.why)
        agent, row = self._fleet.sources.get(self._receipt.runtime_id), self._row()
        if agent is None or row is None:
            return self._found("gone", why="the agent has ended")
        if row.state not in {*REST, *WAITING} and self._receipt.rung == SEEN:
            return self._found(OPEN, row)
        turns = await read_turns(self._fleet, row)
        if turns is None and agent.last_reply[0] >= self._receipt.created_at and row.state in REST:
            return await self._answered(row, "hook", agent.last_reply[1])
        return await self._judge(row, turns)

    async def _judge(self, row: Row, turns: list[Turn] | None) -> dict[str, Any]:
        """Return how it stands, by the state of the agent and by its transcript; None if that cannot be read."""
        turn = self._turn(turns or [])
        if turn is not None and self._receipt.rung == SUBMITTED:
            await self._advance(SEEN, "transcript")
        if turn is not None and turn.reply and self._receipt.rung == ANSWERED:
            return self._found("answered", row, reply=turn.reply)
        since = self._receipt.created_at
        has_worked = row.since >= since or self._clock.time() - self._receipt.updated_at > STARTS_S
        if row.state in WAITING and row.since >= since and self._clock.time() - row.since >= ASKS_S:
            return self._found("asks", row, why=row.detail)
        if row.state not in REST or not has_worked:
            self._rests_since = None
            return self._found(OPEN, row)
        if turn is not None and turn.reply and row.state != "error" and row.reason != "interrupted":
            return await self._answered(row, "transcript", turn.reply)
        return self._unanswered(row, readable=turns is not None)

    async def _answered(self, row: Row, source: str, reply: str) -> dict[str, Any]:
        await self._advance(ANSWERED, f"{source}: {one_line(reply)}")
        return self._found("answered", row, reply=reply)

    def _unanswered(self, row: Row, *, readable: bool) -> dict[str, Any]:
        """Return how it stands with an agent that rests and has not answered."""
        if row.state == "error":
            return self._found("error", row, why=row.detail or row.reason)
        if not readable:
            return self._found("done", row, why=UNREADABLE)
        if self._rests_since is None:
            self._rests_since = self._clock.monotonic()
        if self._clock.monotonic() - self._rests_since < SETTLES_S:
            return self._found(OPEN, row)
        interrupted = row.reason == "interrupted"
        why = "it was interrupted" if interrupted else "it rests, and its transcript has no answer to this message"
        return self._found("no_answer", row, why=why)

    def _turn(self, turns: list[Turn]) -> Turn | None:
        """Return the turn that the message began; the last one, if the same message was sent several times."""
        since = self._receipt.created_at - SLACK_S
        return next(
            (turn for turn in reversed(turns) if turn.at >= since and turn.digest == self._receipt.digest), None
        )

    def _row(self) -> Row | None:
        return self._fleet.states.rows.get(self._receipt.runtime_id)

    def _found(self, outcome: str, row: Row | None = None, *, reply: str = "", why: str = "") -> dict[str, Any]:
        return {
            "outcome": outcome,
            "receipt": self._receipt.as_dict(),
            "state": row.state if row else "",
            "reply": reply,
            "why": why,
        }

    async def _advance(self, rung: str, evidence: str) -> None:
        self._receipt = await self._receipts.put(
            replace(self._receipt, rung=rung, evidence=evidence, why="", updated_at=self._clock.time())
        )
