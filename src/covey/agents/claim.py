"""What one source says about the state of an agent, and how well it knows."""

from __future__ import annotations

from msgspec import Struct

SURE, DERIVED, SEEN, TENTATIVE = 3, 2, 1, 0
"""How a source knows: the agent said so; it follows from what the agent wrote down; it looks like it on the screen; it
may be too early to tell. A tentative edge yields to every level that says otherwise, also to one that has not changed
since.
"""


class Claim(Struct, frozen=True, kw_only=True):
    """What one source says about one runtime since a moment.

    A *level* is looked at again and again (a title, a session file, the screen) and stands until it changes or can no
    longer be seen. An *edge* is told once (a hook, a line of a transcript) and grows old.
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
    """Why the source may have been misread, e.g. that this version of the agent was never measured.

    It lowers the confidence.
    """
