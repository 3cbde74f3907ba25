"""What one source says about the state of an agent, and how well it knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import UNSET, Struct, UnsetType

State = Literal["error", "waiting_approval", "waiting_input", "running", "completed", "idle", "unknown"]
"""The state of an agent."""
if TYPE_CHECKING:
    ClaimedState = State
else:
    ClaimedState = str  # decoding accepts any: the Covey of another machine may know more states (it is checked later)

WAITING: frozenset[State] = frozenset({"waiting_approval", "waiting_input"})

SURE, DERIVED, SEEN, TENTATIVE = 3, 2, 1, 0
"""How a source knows: the agent reported it; it follows from the agent's files; the screen shows it; it may be too
early to know. A tentative edge yields to every level that contradicts it, also to one that has not changed since."""


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
    prompt_digest: str | UnsetType = UNSET
    """Of a prompt that was submitted: the digest of the whole text, of which `detail` has the beginning."""
