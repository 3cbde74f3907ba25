"""What an agent cannot keep to that tells what it has used only at its end, and never in money."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from covey.beats.beat import Beat


def objections(title: str, beat: Beat, turns: str) -> list[str]:
    """The limits of a beat that cannot be held, each with what to do instead. `turns`: why turns cannot be limited."""
    budget = beat.budget
    found = []
    if beat.max_turns is not None:
        found.append(f"{title} {turns}")
    if any(limit is not None for limit in (budget.run_usd, budget.day_usd, budget.month_usd)):
        found.append(f"{title} does not tell what it costs: give the budget in tokens, such as dayTokens: 1M")
    if budget.run_tokens is not None:
        found.append(
            f"{title} tells what it has used only when it ends, too late for runTokens: set timeout, and dayTokens or monthTokens"
        )
    return found
