"""Acting on Codex."""

from __future__ import annotations

from covey.agents.acting import Acting

ACTING = Acting(lists="@$", folded=r"\[Pasted Content \d")
