"""The policy that is in force: that of the configuration as it is now, with what is wrong with it."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING

from covey.kernel.config.file import read_text
from covey.policy.policy import Policy
from covey.policy.rules_text import WrittenProblem, placed
from covey.policy.settings import RULES
from murli import AgentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from covey.kernel.subsystem import Context
    from covey.policy.rule import RuleProblem

log = logging.getLogger("covey.policy")


class LivePolicy:
    """The policy of a running daemon. A file that cannot be read leaves the last rules in force, and allows nothing."""

    def __init__(self, context: Context) -> None:
        self._config = context.config
        self._reload = context.reload
        self._file = context.seat.config_file
        self._home = str(Path.home())
        self._made_of: tuple[int, tuple[str, ...]] | None = None
        self._policy = Policy([])

    async def current(self) -> Policy:
        """Return the policy, with the latest edit of the file."""
        await self._reload.reload_if_edited()
        made_of = (self._config.generation, self._config.problems)
        if made_of != self._made_of:
            unreadable = f"the configuration cannot be read: {made_of[1][0]}" if made_of[1] else ""
            self._policy = Policy(self._config.current.get(RULES.key), home=self._home, unreadable=unreadable)
            self._made_of = made_of
            for problem in await self.problems():
                log.warning("a rule of the policy is wrong: nothing is allowed", extra={"problem": str(problem)})
        return self._policy

    async def problems(self) -> list[WrittenProblem]:
        """Return what is wrong with the policy, by its line in the file; of a broken file, only why it is."""
        if self._config.problems:
            return [WrittenProblem(0, 0, problem) for problem in self._config.problems]
        return await asyncio.to_thread(placed_in_file, self._policy.problems, self._file)


def placed_in_file(problems: Sequence[RuleProblem], path: str) -> list[WrittenProblem]:
    """Return problems with their lines in the configuration, as far as it can be read."""
    try:
        return placed(problems, read_text(path) if problems else "")
    except (AgentError, ValueError):
        return placed(problems, "")
