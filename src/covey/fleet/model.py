"""The values of the fleet: what a source claims about an agent, and the state that follows from all claims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from msgspec import Struct

State = Literal["error", "waiting_approval", "waiting_input", "running", "completed", "idle", "unknown"]
"""The state of an agent."""
Confidence = Literal["high", "medium", "low"]
"""How certain a state is."""
if TYPE_CHECKING:
    ClaimedState = State
else:
    ClaimedState = str  # decoding accepts any: the Covey of another machine may know more states (far_node checks them)

STATES: tuple[State, ...] = get_args(State)
"""All states, by precedence."""
RANK: dict[State, int] = {state: place for place, state in enumerate(STATES)}
WAITING: frozenset[State] = frozenset({"waiting_approval", "waiting_input"})
NEEDS_ACTION: frozenset[State] = frozenset({"error", *WAITING})
REST: frozenset[State] = frozenset({"idle", "completed", "error"})
"""Nothing runs and nobody is asked. A source that only sees that an agent is at rest does not contradict one that
knows how it came to rest."""

SURE, DERIVED, SEEN, TENTATIVE = 3, 2, 1, 0
"""How a source knows: the agent reported it; it follows from the agent's files; the screen shows it; it may be too
early to know. A tentative edge yields to every level that contradicts it, also to one that has not changed since."""

PROCESS = "process"
"""The source that observes the agent's process itself."""


class Claim(Struct, frozen=True, kw_only=True):
    """What one source says about one runtime since a moment.

    A *level* is observed again and again (a title, a session file, the screen) and is valid until it changes or can no
    longer be observed. An *edge* is reported once (a hook, a line of a transcript) and grows old.
    """

    source: str
    state: ClaimedState
    at: float
    level: bool
    strength: int
    reason: str = ""
    """A code for what the source observed, e.g. `permission_prompt`."""
    detail: str = ""
    """What the agent waits for or works on, in its own words."""
    previous: ClaimedState | Literal[""] = ""
    """The state before, of a level that was observed to change."""
    evidence: str = ""
    """What was observed, for people: `hook PermissionRequest`, `dialog "Do you want to proceed?"`."""
    caveat: str = ""
    """Why the source may have been misread, e.g. that this version was never measured. It lowers the confidence."""


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
