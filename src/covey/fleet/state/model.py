"""The values of the fleet: what a source claims about an agent, and the state that follows from all claims."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

from covey.agents.claim import DERIVED, SEEN, SURE, TENTATIVE, WAITING, Claim, State

__all__ = [
    "DERIVED",
    "NEEDS_ACTION",
    "PROCESS",
    "RANK",
    "REST",
    "SEEN",
    "STATES",
    "SURE",
    "TENTATIVE",
    "WAITING",
    "Claim",
    "Confidence",
    "Overruled",
    "State",
    "Verdict",
]

Confidence = Literal["high", "medium", "low"]
"""How certain a state is."""

STATES: tuple[State, ...] = get_args(State)
"""All states, by precedence."""
RANK: dict[State, int] = {state: place for place, state in enumerate(STATES)}
NEEDS_ACTION: frozenset[State] = frozenset({"error", *WAITING})
REST: frozenset[State] = frozenset({"idle", "completed", "error"})
"""Nothing runs and nobody is asked. A source that only sees that an agent is at rest does not contradict one that
knows how it came to rest."""

PROCESS = "process"
"""The source that observes the agent's process itself."""


class Overruled(Struct, frozen=True):
    """A claim that lost, and why."""

    claim: Claim
    why: str


class Verdict(Struct, frozen=True, kw_only=True):
    """The state of a runtime, with its evidence."""

    state: State
    reason: str
    confidence: Confidence
    since: float
    detail: str = ""
    winner: Claim | None = None
    agreeing: tuple[Claim, ...] = ()
    overruled: tuple[Overruled, ...] = ()
