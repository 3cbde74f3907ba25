"""Approvals of agents on other machines: listed and settled by the Covey of that machine, over the connection to it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from covey.fleet.actions.refusal import NOT_SUPPORTED, Refusal
from covey.fleet.approvals.approval import OPEN, settling
from covey.fleet.approvals.pending import SHORTEST_END
from covey.fleet.approvals.refusal import NOTHING_ASKED
from covey.fleet.remote.far_covey import ask, decide, is_same, node_of
from murli import AgentError, user_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from covey.fleet.answers.view import Row
    from covey.fleet.fleet import Fleet

LIST_S = 4.0
"""For a list: a host that hangs does not hide what is asked elsewhere."""
LISTING = ["approvals", "--here"]
"""Only of its own agents: two hosts that see each other would ask in a circle."""


async def listed(fleet: Fleet, agents: Iterable[Row]) -> list[dict[str, Any]]:
    """Return what those of the agents that are on other machines ask there, in our names for them.

    A machine without a Covey, and one that does not answer in time, adds nothing.
    """
    rows: dict[str, list[Row]] = {}
    for row in agents:
        if node_of(fleet, row) is not None:
            rows.setdefault(row.target, []).append(row)
    found = await asyncio.gather(*(_listed(fleet, there) for there in rows.values()))
    return [one for there in found for one in there]


async def _listed(fleet: Fleet, rows: Sequence[Row]) -> list[dict[str, Any]]:
    executor = node_of(fleet, rows[0])
    assert executor
    try:
        asked = (await ask(executor, rows[0].target, LISTING, LIST_S))["items"]
        return [
            _in_our_names(one, row, is_only=sum(is_same(other, row) for other in asked) == 1)
            for one in asked
            for row in rows
            if is_same(one, row)
        ]
    except (AgentError, KeyError, TypeError):
        return []


def _in_our_names(approval: dict[str, Any], row: Row, *, is_only: bool = True) -> dict[str, Any]:
    ours: dict[str, Any] = {"runtime_id": row.runtime_id, "ref": row.ref, "target": row.target}
    if approval["status"] == OPEN and is_only:
        ours["commands"] = settling(f"runtime:{row.runtime_id}", question=bool(approval["questions"]))
    return {**approval, **ours}


async def find(fleet: Fleet, agents: Sequence[Row], ref: str) -> list[Row]:
    """Return the agents on other machines that ask something of which this is the id, or its end."""
    if len(ref) < SHORTEST_END:
        return []
    asking = [one["runtime_id"] for one in await listed(fleet, agents) if one["id"].endswith(ref.upper())]
    return [row for row in agents if row.runtime_id in asking]


async def settle(fleet: Fleet, row: Row, verb: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Approve, deny or answer what an agent on another machine asks, and return the approval in our names for it.

    If it asks several things, `ref` in `params` is the id of one, or its end.

    Raises Refusal if there is no Covey there or the agent asks nothing, and the AgentError of that Covey.
    """
    executor = node_of(fleet, row)
    if executor is None:
        raise Refusal(
            NOT_SUPPORTED,
            f"{row.ref} is on {row.target}, where no Covey takes the requests of its hooks",
            f"Answer it in its pane, or run Covey there: ssh {row.target} covey up",
        )
    there = await ask(executor, row.target, LISTING)
    asked = [one for one in there["items"] if is_same(one, row)]
    named = [one for one in asked if len(params["ref"]) >= SHORTEST_END and one["id"].endswith(params["ref"].upper())]
    asked = named or asked
    if not asked:
        raise Refusal(
            NOTHING_ASKED,
            f"{row.agent} in {row.ref} asks nothing that can be answered through its hook; it is {row.state}",
            f"See why: covey why runtime:{row.runtime_id}",
        )
    if len(asked) > 1:
        shown = "; ".join(f"{one['id'][-6:]} ({one['tool']})" for one in asked)
        raise user_error(
            f"{row.ref} asks {len(asked)} things at once",
            f"Use the id of one of them: {shown}",
            error="E_REF_AMBIGUOUS",
            field="ref",
        )
    words = [verb, asked[0]["id"], "--yes", f"--if-runtime={asked[0]['runtime_id']}", *_flags(params)]
    return _in_our_names(await decide(executor, row.target, words), row)


def _flags(params: Mapping[str, Any]) -> list[str]:
    flags = [f"--{name}={params[name]}" for name in ("message", "text") if params.get(name)]
    flags += [f"--option={one}" for one in params.get("option") or ()]
    return [*flags, *(["--always"] if params.get("always") else [])]
