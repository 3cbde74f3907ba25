"""An approval of an agent on another machine, settled by the Covey of that machine, over the connection to it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from covey.fleet.actions.refusal import NOT_SUPPORTED, TARGET_UNREACHABLE, Refusal
from covey.fleet.approvals.refusal import NOTHING_ASKED
from covey.hosts.errors import HostError
from covey.hosts.executor import run
from murli import AgentError, tool_error, user_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.fleet.answers.view import Row
    from covey.fleet.fleet import Fleet
    from covey.hosts.executor import Executor

LIMIT_S = 12.0
"""For one command there."""
# As for the feed of that node: the path of a command over ssh is a short one.
_START = 'PATH="$PATH:$HOME/.local/bin"; export PATH; exec covey "$@"'


async def settle(fleet: Fleet, row: Row, verb: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Approve, deny or answer what an agent on another machine asks, and return the approval in our names for it.

    Raises Refusal if there is no Covey there or the agent asks nothing, and the AgentError of that Covey.
    """
    watch = fleet.watches[row.target]
    if watch.executor is None or not watch.status.node.startswith("ok"):
        raise Refusal(
            NOT_SUPPORTED,
            f"{row.ref} is on {row.target}, where no Covey takes the requests of its hooks",
            f"Answer it in its pane, or run Covey there: ssh {row.target} covey up",
        )
    listed = await _covey(watch.executor, row, ["approvals"])
    asked = [one for one in listed["items"] if one["pid"] == row.pid and one["agent"] == row.agent]
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
    settled: dict[str, Any] = await _covey(watch.executor, row, words)
    return {**settled, "runtime_id": row.runtime_id, "ref": row.ref, "target": row.target}


def _flags(params: Mapping[str, Any]) -> list[str]:
    flags = [f"--{name}={params[name]}" for name in ("message", "text") if params.get(name)]
    flags += [f"--option={one}" for one in params.get("option") or ()]
    return [*flags, *(["--always"] if params.get("always") else [])]


async def _covey(executor: Executor, row: Row, words: list[str]) -> Any:
    """Run covey on another machine and return its result. Raises its AgentError."""
    try:
        code, out, complaints = await run(
            executor, ["sh", "-c", _START, "covey", *words, "--output", "json"], deadline_s=LIMIT_S
        )
    except HostError as error:
        raise Refusal(
            TARGET_UNREACHABLE,
            f"{row.target} cannot be asked: {error}",
            f"Look at it: covey target connect {row.target}",
        ) from error
    try:
        if code == 0:
            return _document(out)["result"]
        raise AgentError.from_envelope(_document(complaints))
    except (ValueError, KeyError, TypeError):
        raise tool_error(
            f"the Covey on {row.target} gave no answer that could be read (exit code {code})",
            f"Try it there: ssh {row.target} covey {words[0]}",
        ) from None


def _document(text: str) -> Any:
    """Return the JSON object in what a program printed, after whatever a login printed before it."""
    return json.loads(text[text.index("{") :])
