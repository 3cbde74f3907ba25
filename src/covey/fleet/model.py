"""The nouns of the fleet as plain values: what a source claims, what the engine makes of it."""

from __future__ import annotations

from msgspec import Struct

STATES = ("error", "waiting_approval", "waiting_input", "running", "completed", "idle", "unknown")
"""Canonical states, by precedence."""
NEEDS_ACTION = frozenset({"error", "waiting_approval", "waiting_input"})
REST = frozenset({"idle", "completed", "error"})
"""Nothing runs and nobody is asked. A source that only sees an agent at rest does not contradict one that knows how it came to rest."""

SURE, DERIVED, SEEN, TENTATIVE = 3, 2, 1, 0
"""How a source knows: the agent said so; it follows from what the agent wrote down; it looks like it on the screen; it may be too early to
tell. A tentative edge yields to every level that says otherwise, also to one that has not changed since."""

PROCESS = "process"
"""The source that tells from the agent's process itself."""


class Claim(Struct, frozen=True, kw_only=True):
    """What one source says about one runtime since a moment.

    A *level* is looked at again and again (a title, a session file, the screen) and stands until it changes or can no longer be seen. An
    *edge* is told once (a hook, a line of a transcript) and grows old.
    """

    source: str
    state: str
    at: float
    level: bool
    strength: int
    reason: str = ""
    """A code for how the source came to it, e.g. `permission_prompt`."""
    detail: str = ""
    """What is waited for or worked on, in the agent's words."""
    previous: str = ""
    """Of a level that was seen to change: the state that it was before."""
    evidence: str = ""
    """What was seen, for people: `hook PermissionRequest`, `dialog "Do you want to proceed?"`."""
    caveat: str = ""
    """Why the source may have been misread, e.g. that this version of the agent was never measured. It lowers the confidence."""


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
