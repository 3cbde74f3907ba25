"""Acting on Copilot CLI. A single Escape only arms its gesture for interrupting; a second one deletes a draft."""

from __future__ import annotations

from covey.agents.acting import Acting

ACTING = Acting(interrupt=("C-c",), continues_at_backslash=True, folded=r"\[Paste #\d")
