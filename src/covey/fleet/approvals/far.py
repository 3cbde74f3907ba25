"""Approvals of agents on other machines: listed and settled by the Covey of that machine, over the connection to it."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from covey.fleet.actions.refusal import NOT_SUPPORTED, TARGET_UNREACHABLE, Refusal
from covey.fleet.approvals.approval import OPEN, settling
from covey.fleet.approvals.refusal import NOTHING_ASKED
from covey.hosts.errors import HostError
from covey.hosts.executor import run
from murli import AgentError, tool_error, user_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from covey.fleet.answers.view import Row
    from covey.fleet.fleet import Fleet
    from covey.hosts.executor import Executor

LIMIT_S = 12.0
"""For one command there."""
LIST_S = 4.0
"""For a list: a host that hangs does not hide what is asked elsewhere."""
LISTING = ["approvals", "--here"]
"""Only of its own agents: two hosts that see each other would ask in a circle."""
# As for the feed of that node: the path of a command over ssh is a short one.
_START = 'PATH="$PATH:$HOME/.local/bin"; export PATH; exec covey "$@"'


async def listed(fleet: Fleet, agents: Iterable[Row]) -> list[dict[str, Any]]:
    """Return what those of the agents that are on other machines ask there, in our names for them.

    A machine without a Covey, and one that does not answer in time, adds nothing.
    """
    rows: dict[str, list[Row]] = {}
    for row in agents:
        if _node_of(fleet, row) is not None:
            rows.setdefault(row.target, []).append(row)
    found = await asyncio.gather(*(_listed(fleet, there) for there in rows.values()))
    return [one for there in found for one in there]


async def _listed(fleet: Fleet, rows: Sequence[Row]) -> list[dict[str, Any]]:
    executor = _node_of(fleet, rows[0])
    assert executor
    try:
        asked = (await _covey(executor, rows[0].target, LISTING, LIST_S))["items"]
        by_process = {(row.pid, row.agent): row for row in rows}
        return [
            _in_our_names(one, row) for one in asked if (row := by_process.get((one["pid"], one["agent"]))) is not None
        ]
    except (AgentError, KeyError, TypeError):
        return []


def _node_of(fleet: Fleet, row: Row) -> Executor | None:
    """Return the machine of an agent if it is another one and a Covey runs there."""
    watch = fleet.watches[row.target]
    is_here = row.target == fleet.watches.local_name
    return None if is_here or not watch.status.node.startswith("ok") else watch.executor


def _in_our_names(approval: dict[str, Any], row: Row) -> dict[str, Any]:
    commands = settling(f"runtime:{row.runtime_id}", question=bool(approval["questions"]))
    return {
        **approval,
        "runtime_id": row.runtime_id,
        "ref": row.ref,
        "target": row.target,
        "commands": commands if approval["status"] == OPEN else [],
    }


async def settle(fleet: Fleet, row: Row, verb: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Approve, deny or answer what an agent on another machine asks, and return the approval in our names for it.

    Raises Refusal if there is no Covey there or the agent asks nothing, and the AgentError of that Covey.
    """
    executor = _node_of(fleet, row)
    if executor is None:
        raise Refusal(
            NOT_SUPPORTED,
            f"{row.ref} is on {row.target}, where no Covey takes the requests of its hooks",
            f"Answer it in its pane, or run Covey there: ssh {row.target} covey up",
        )
    there = await _covey(executor, row.target, LISTING)
    asked = [one for one in there["items"] if one["pid"] == row.pid and one["agent"] == row.agent]
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
            f"Answer them there: ssh {row.target} covey {verb} <id>, one of {shown}",
            error="E_REF_AMBIGUOUS",
            field="ref",
        )
    words = [verb, asked[0]["id"], "--yes", f"--if-runtime={asked[0]['runtime_id']}", *_flags(params)]
    return _in_our_names(await _covey(executor, row.target, words), row)


def _flags(params: Mapping[str, Any]) -> list[str]:
    flags = [f"--{name}={params[name]}" for name in ("message", "text") if params.get(name)]
    flags += [f"--option={one}" for one in params.get("option") or ()]
    return [*flags, *(["--always"] if params.get("always") else [])]


async def _covey(executor: Executor, target: str, words: list[str], limit_s: float = LIMIT_S) -> Any:
    """Run covey on another machine and return its result. Raises its AgentError."""
    try:
        code, out, complaints = await run(
            executor, ["sh", "-c", _START, "covey", *words, "--output", "json"], deadline_s=limit_s
        )
    except HostError as error:
        raise Refusal(
            TARGET_UNREACHABLE,
            f"{target} cannot be asked: {error}",
            f"Look at it: covey target connect {target}",
        ) from error
    try:
        if code == 0:
            return _document(out)["result"]
        raise AgentError.from_envelope(_document(complaints))
    except (ValueError, KeyError, TypeError):
        raise tool_error(
            f"the Covey on {target} gave no answer that could be read (exit code {code})",
            f"Try it there: ssh {target} covey {words[0]}",
        ) from None


def _document(text: str) -> Any:
    """Return the JSON object in what a program printed, after whatever a login printed before it."""
    return json.loads(text[text.index("{") :])
