"""One request that is held: the decision that its hook waits for, and what the fleet is told meanwhile."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.agents.call_text import without_announcement
from covey.agents.claim import SURE, Claim
from covey.agents.registry import known_agents
from covey.agents.summaries import LONGEST, excerpt
from covey.fleet.approvals.approval import SHOWS_ALL
from covey.fleet.state.attention import Settling
from covey.kernel.visible_text import visible_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from covey.fleet.approvals.approval import Approval

SOURCE = "approval"
"""The source of the claim that an agent waits whose dialog does not show."""

LONGEST_TITLE = 80
"""Characters of what is asked in a title, beside the agent and its place."""


class Held:
    """One request that is held, and the decision that its hook waits for."""

    def __init__(self, approval: Approval) -> None:
        self.approval = approval
        self.claimed = False
        """Whether somebody's answer is under way: a second one comes too late."""
        self.waited = False
        """Whether the agent was seen to wait since it asked."""
        self.outcome: asyncio.Future[dict[str, Any] | None] = asyncio.get_running_loop().create_future()
        """What the hook prints; None to let go."""
        self.handed: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        """Whether the outcome was given to the hook."""
        self.end: Approval | None = None
        """How it ends, if not by an answer."""

    def let_go(self, end: Approval) -> None:
        """End it without an answer, unless one is under way."""
        if not self.claimed:
            self.claimed = True
            self.end = end
            self.outcome.set_result(None)


def claim_of(approval: Approval) -> Claim:
    request = approval.request
    return Claim(
        source=SOURCE,
        state="waiting_input" if request.questions else "waiting_approval",
        at=approval.opened_at,
        level=True,
        strength=SURE,
        reason="question" if request.questions else "permission_prompt",
        detail=summary(approval),
        evidence=f"its hook waits for {approval.commands[0]}",
    )


def summary(approval: Approval, longest: int = LONGEST) -> str:
    """Return what is asked on one line, which says how much it leaves out and what shows that."""
    request = approval.request
    text = without_announcement(request.command)
    return excerpt(text if request.questions else f"{visible_line(request.tool)}: {text}", SHOWS_ALL, longest)


def settling(approvals: Sequence[Approval]) -> Settling:
    """Return how what one agent asks is settled: the commands, and what they are about."""

    def asked(longest: int) -> str:
        if len(approvals) == 1:
            return summary(approvals[0], longest)
        each = longest // max(len(approvals), 1)
        return " · ".join(f"{one.short_id} {summary(one, each)}" for one in approvals)

    commands = tuple(word for one in approvals for word in one.commands)
    return Settling(commands, asked(LONGEST), asked(LONGEST_TITLE))


def is_nested(agent: str, command_lines: Iterable[str]) -> bool:
    """Return whether one of these processes is the same agent program: one that was started as a tool of another."""
    program = known_agents()[agent].program
    words = (word for line in command_lines for word in line.split("\0")[:2])
    return any(word.rpartition("/")[2] == program for word in words)


def command_lines(pids: Iterable[int]) -> list[str]:
    """Return the command lines of processes of this machine, each with NUL between its words."""
    found = []
    for pid in pids:
        try:
            found.append(Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace"))
        except OSError:
            continue
    return found
