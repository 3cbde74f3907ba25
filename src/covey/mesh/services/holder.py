"""Who has a task or a lease: a member, or one of the agents that run on its host."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, Struct

from covey.contract import OPERATIONS
from covey.kernel.client import Client
from covey.kernel.home import Home
from covey.kernel.processes.process import ancestry, environment_of
from covey.mesh.names import check_agent
from murli import AgentError

if TYPE_CHECKING:
    from covey.kernel.operations.call import Call
    from covey.mesh.services.service import Surroundings

NODE_S = 2.0
"""How long the node may take to say which agents run."""
Moment = Annotated[float, Meta(ge=0, le=253_402_300_799)]
"""Seconds since 1970 in the document of a member, who may have written anything: a time that can be shown."""
_LIST = next(one for one in OPERATIONS if one.name == "list.panes")


class Holder(Struct, frozen=True):
    """A member, and its agent if it is one of those that has it."""

    member: str = ""
    agent: str = ""

    def answers_for(self, other: Holder) -> bool:
        """Return whether this caller may give back what the other has: it is the same, or the person it works for."""
        return self.member == other.member and self.agent in ("", other.agent)


async def calling_holder(call: Call, surroundings: Surroundings) -> Holder:
    """Return who makes a call: this member, and the agent that it names or in which the caller runs."""
    member = surroundings.keys().member
    named = call.params["as_agent"]
    if named:
        return Holder(member, check_agent(named, "as_agent"))
    if call.caller.pid is None:
        return Holder(member)
    return Holder(member, await asyncio.to_thread(_agent_of, call.caller.pid, surroundings.context.seat.home))


def _agent_of(pid: int, home: str) -> str:
    """Return the agent in which a process runs, by a name that `covey send` takes.

    It is empty if the process runs in none, or the node does not run.
    """
    try:
        rows = Client(Home(home).node.socket, timeout=NODE_S, surface="http").call(_LIST, {})["items"]
    except AgentError:
        return ""
    panes = [row["identity"]["pane_id"] for row in rows]
    for one in ancestry(pid):
        for row in rows:
            pane = row["identity"]["pane_id"]
            # The pid alone could be that of an agent on another machine, which the node sees too.
            if row["pid"] == one and environment_of(one).get("TMUX_PANE") == pane:
                return str(pane if panes.count(pane) == 1 else row["ref"])
    return ""


def holder_view(holder: Holder, surroundings: Surroundings) -> dict[str, Any]:
    """Return the shape `MeshHolder`."""
    name = surroundings.directory.name_of(holder.member)
    return {
        "member": holder.member,
        "name": name,
        "agent": holder.agent,
        "label": f"{name}/{holder.agent}" if holder.agent else name,
        "yours": holder.member == surroundings.keys().member,
    }
