"""Acting on Gemini CLI. An Enter that follows a paste at once is lost."""

from __future__ import annotations

from covey.agents.acting import Acting

ACTING = Acting(pause_s=0.15, continues_at_backslash=True, folded=r"\[Pasted Text: ")
