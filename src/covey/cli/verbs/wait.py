"""`covey wait`: until an agent is in a state. The exit code tells how it ended."""

from __future__ import annotations

import time

from covey.cli.following import LOST, following
from murli import EXIT_NOT_FOUND, AgentError, timed_out, tool_error, writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home


def wait(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Exit code 0: it is so; 4: the time is up; 5: the agent has ended, or there is none."""
    out, began = writer(), time.monotonic()
    wanted = " or ".join(params["state"])
    limit = f", at most {params['timeout']}" if params["timeout"] else ""
    for message in following(home.socket, operation, lambda: params):
        result = message["data"]
        if message.get("event") == LOST:
            out.progress("the daemon does not answer, waiting for it", stage="waiting")
            continue
        if message.get("event") != "done":
            out.progress(f"{told(result['items'])}, waiting for {wanted}{limit} ({time.monotonic() - began:.0f}s)", stage="waiting")
            continue
        if result["outcome"] == "timeout":
            raise timed_out(f"{told(result['items'])}, not {wanted}, after {params['timeout']}", "Wait longer, or see `covey ps`.")
        if result["outcome"] == "gone":
            raise AgentError(
                f"{told(result['items'])}: it has ended before it was {wanted}",
                code=EXIT_NOT_FOUND,
                error="E_AGENT_GONE",
                suggestion="See `covey ps` for those that there are.",
            )
        out.success(told(result["items"]), result)
        return 0
    raise tool_error("the daemon has stopped before it was so", "Run `covey up`, then wait again.")


def told(items: list[dict[str, Any]]) -> str:
    """Who is how, in few words."""
    from covey.cli.cells import clean

    if len(items) == 1:
        item = items[0]
        return clean(f"{item['agent']} {item['identity']['pane_id']} is {item['state']}")
    states = [item["state"] for item in items]
    return ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states)) or "no agents"
