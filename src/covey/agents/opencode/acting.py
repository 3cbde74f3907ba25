"""Acting on opencode. Its dialogs are drawn with the frame of its composer."""

from __future__ import annotations

from covey.agents.acting import Acting

ACTING = Acting(
    interrupt=("Escape", "Escape"), dialogs=("△ (Permission required|Always allow)", "↑↓ select"), folded=r"\[Pasted "
)
