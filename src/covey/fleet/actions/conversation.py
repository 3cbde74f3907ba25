"""The conversation of an agent, from its transcript on this machine or by the Covey of another one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from covey.fleet.remote.far_covey import far_turns

if TYPE_CHECKING:
    from covey.agents.turns import Turn
    from covey.fleet.answers.view import Row
    from covey.fleet.fleet import Fleet


async def read_turns(fleet: Fleet, row: Row) -> list[Turn] | None:
    """Return the last turns, the oldest first; None if they cannot be read.

    Raises AgentError if the agent is on another machine that cannot be asked.
    """
    if row.target != fleet.watches.local_name:
        return await far_turns(fleet, row)
    agent = fleet.sources.get(row.runtime_id)
    return await asyncio.to_thread(agent.turns) if agent else None
