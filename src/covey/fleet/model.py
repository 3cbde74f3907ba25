"""The nouns of the fleet as plain values: what a source claims, what the engine makes of it."""

from __future__ import annotations

from msgspec import Struct

from covey.agents.claim import DERIVED, SEEN, SURE, TENTATIVE, Claim

__all__ = [
    "DERIVED",
    "NEEDS_ACTION",
    "PROCESS",
    "REST",
    "SEEN",
    "STATES",
    "SURE",
    "TENTATIVE",
    "Claim",
    "Overruled",
    "Verdict",
]

STATES = ("error", "waiting_approval", "waiting_input", "running", "completed", "idle", "unknown")
"""Canonical states, by precedence."""
NEEDS_ACTION = frozenset({"error", "waiting_approval", "waiting_input"})
REST = frozenset({"idle", "completed", "error"})
"""Nothing runs and nobody is asked. A source that only sees an agent at rest does not contradict one that knows how it came to rest."""

PROCESS = "process"
"""The source that tells from the agent's process itself."""


class Overruled(Struct, frozen=True):
    """A claim that lost, and why."""

    claim: Claim
    why: str


class Verdict(Struct, frozen=True, kw_only=True):
    """The state of a runtime, with its evidence."""

    state: str
    reason: str
    confidence: str
    since: float
    detail: str = ""
    winner: Claim | None = None
    agreeing: tuple[Claim, ...] = ()
    overruled: tuple[Overruled, ...] = ()
