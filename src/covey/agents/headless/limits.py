"""Limits that cannot be kept by an agent that reports tokens only when it ends, and never reports a cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from covey.agents.headless.task import Task


def objections(title: str, task: Task, turns: str, *, reports_tokens: bool = False) -> list[str]:
    """Return the limits of a task that an agent cannot keep, each with what to do instead.

    `turns` says why turns cannot be limited; with `reports_tokens` the agent reports what it uses while it runs.
    """
    budget = task.budget
    found = []
    if task.max_turns is not None:
        found.append(f"{title} {turns}")
    if any(limit is not None for limit in (budget.run_usd, budget.day_usd, budget.month_usd)):
        found.append(f"{title} does not tell what it costs: give the budget in tokens, such as dayTokens: 1M")
    if budget.run_tokens is not None and not reports_tokens:
        found.append(
            f"{title} tells what it has used only when it ends, too late for runTokens: "
            "set timeout, and dayTokens or monthTokens"
        )
    return found
