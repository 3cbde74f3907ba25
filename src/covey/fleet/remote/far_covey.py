"""Commands of the Covey on another machine, run over the connection to it."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

from covey.agents.turns import Turn
from covey.consent.person import JUDGED_BY
from covey.fleet.actions.refusal import TARGET_UNREACHABLE, Refusal
from covey.hosts.errors import HostError
from covey.hosts.executor import run
from murli import AgentError, tool_error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from covey.fleet.answers.view import Row
    from covey.fleet.fleet import Fleet
    from covey.hosts.executor import Executor

LIMIT_S = 12.0
"""For one command there."""
# As for the feed of that node: the path of a command over ssh is a short one.
_START = 'PATH="$PATH:$HOME/.local/bin"; export PATH; date +%s; exec covey "$@"'
_AS_PERSON = f"{JUDGED_BY}=far; export {JUDGED_BY}; {_START}"
"""As `_START`, for what a person of this machine has decided."""


def node_of(fleet: Fleet, row: Row) -> Executor | None:
    """Return the machine of an agent if it is another one and a Covey runs there."""
    watch = fleet.watches[row.target]
    is_here = row.target == fleet.watches.local_name
    return None if is_here or not watch.status.node.startswith("ok") else watch.executor


async def ask(executor: Executor, target: str, words: Sequence[str], limit_s: float = LIMIT_S) -> Any:
    """Run covey on another machine and return its result. Raises its AgentError."""
    return (await _asked(executor, target, words, limit_s))[0]


async def decide(executor: Executor, target: str, words: Sequence[str]) -> Any:
    """As `ask`, for a decision of a person: the guard of this node has found one behind its caller."""
    return (await _asked(executor, target, words, LIMIT_S, _AS_PERSON))[0]


async def far_turns(fleet: Fleet, row: Row) -> list[Turn] | None:
    """Return the last turns of an agent on another machine, dated by our clock; None if they cannot be read there.

    Raises AgentError if that machine cannot be asked.
    """
    executor = node_of(fleet, row)
    if executor is None:
        return None
    listed = await ask(executor, row.target, ["list", "panes"])
    there = next((one for one in listed["items"] if is_same(one, row)), None)
    if there is None:
        return None
    try:
        seen, ahead = await _asked(executor, row.target, ["view", f"runtime:{there['runtime_id']}", "--turn"], LIMIT_S)
    except AgentError as error:
        if error.error == "not_supported":
            return None
        raise
    return [
        Turn(prompt=one["prompt"], reply=one["reply"], at=_seconds(one["at"]) - ahead if one["at"] else 0.0)
        for one in seen["turns"]
    ]


def is_same(there: Mapping[str, Any], row: Row) -> bool:
    """Return whether what another Covey says of an agent is about this one."""
    return bool((there["pid"], there["agent"]) == (row.pid, row.agent))


async def _asked(
    executor: Executor, target: str, words: Sequence[str], limit_s: float, start: str = _START
) -> tuple[Any, float]:
    """Return the result of a command there, and by how many seconds the clock there is ahead of that of this machine.

    The second is exact to about a second.
    """
    try:
        code, out, complaints = await run(
            executor, ["sh", "-c", start, "covey", *words, "--output", "json"], deadline_s=limit_s
        )
    except HostError as error:
        raise Refusal(
            TARGET_UNREACHABLE,
            f"{target} cannot be asked: {error}",
            f"Look at it: covey target connect {target}",
        ) from error
    try:
        if code == 0:
            before, _, _ = out.partition("{")
            ahead = int(before.split()[-1]) - datetime.now().astimezone().timestamp()
            return _document(out)["result"], ahead
        raise AgentError.from_envelope(_document(complaints))
    except (ValueError, KeyError, TypeError, IndexError):
        raise tool_error(
            f"the Covey on {target} gave no answer that could be read (exit code {code})",
            f"Try it there: ssh {target} covey {words[0]}",
        ) from None


def _document(text: str) -> Any:
    """Return the JSON object in what a program printed, after whatever a login printed before it."""
    return json.loads(text[text.index("{") :])


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
