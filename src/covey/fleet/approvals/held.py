"""One request that is held: the decision that its hook waits for, and what the fleet is told meanwhile."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.agents.claim import SURE, Claim
from covey.agents.registry import known_agents
from covey.agents.summaries import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from covey.fleet.approvals.approval import Approval

SOURCE = "approval"
"""The source of the claim that an agent waits whose dialog does not show."""


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
        detail=one_line(request.command if request.questions else f"{request.tool}: {request.command}"),
        evidence=f"its hook waits for {approval.commands[0]}",
    )


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
