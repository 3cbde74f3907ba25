"""Acting on Claude Code."""

from __future__ import annotations

from covey.agents.acting import Acting

ACTING = Acting(continues_at_backslash=True, folded=r"\[Pasted text #\d")
