"""`covey wait`: waits until an agent is in a state. The exit code says how the wait ended."""

from __future__ import annotations

import time

from covey.cli.following import LOST, PATIENCE_S, following
from covey.kernel.client import Interrupted, NotAnswered, NotRunning, start_anew
from murli import EXIT_NOT_FOUND, AgentError, timed_out, tool_error, writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home

GRACE_S = 2.0
"""How much later than the timeout the daemon may report it."""


def wait(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Wait, and return 0 if the state was reached. Raises with code 4 after the timeout, 5 if the agent has ended."""
    from covey.kernel.moments import seconds

    out, began = writer(), time.monotonic()
    most = seconds(params["timeout"], "timeout") if params["timeout"] is not None else None

    def left() -> dict[str, Any]:
        """Return the parameters, with the time that is left, for a connection that is made again."""
        return params if most is None else {**params, "timeout": f"{max(began + most - time.monotonic(), 0.0):.3f}s"}

    wanted = " or ".join(params["state"] or []).replace(",", " or ")
    goal = f"for {wanted}" if wanted else "until it needs you or is done"
    longest = _with_unit(params["timeout"])
    limit = f", at most {longest}" if longest else ""
    for message in _until(home.node.socket, operation, left, most):
        result = message["data"]
        if message.get("event") == LOST:
            out.progress("the daemon does not answer, waiting for it", stage="waiting")
            continue
        if message.get("event") != "done":
            out.progress(
                f"{summary(result['items'])}, waiting {goal}{limit} ({time.monotonic() - began:.0f}s)", stage="waiting"
            )
            continue
        if result["outcome"] == "timeout":
            raise timed_out(
                f"not {wanted or 'done, nor in need of you,'} within {longest}: {summary(result['items'])}",
                "Wait longer, or see `covey ps`.",
            )
        if result["outcome"] == "gone":
            raise AgentError(
                f"{_names(result['items'])} ended before it was {wanted}",
                code=EXIT_NOT_FOUND,
                error="agent_gone",
                suggestion="Run `covey ps` to see the agents that are running.",
            )
        out.success(summary(result["items"]), result)
        return 0
    raise tool_error("the daemon has stopped before it was so", "Run `covey up`, then wait again.")


def _until(
    path: str, operation: Operation, left: Callable[[], dict[str, Any]], most: float | None
) -> Iterator[dict[str, Any]]:
    """Yield the messages. Raises `timed_out` if the daemon is still gone or silent after the timeout."""
    began = time.monotonic()
    patience, deadline = (PATIENCE_S, None) if most is None else (min(PATIENCE_S, most), began + most + GRACE_S)
    try:
        yield from following(path, operation, left, patience=patience, deadline=deadline)
    except NotAnswered:
        if most is None or time.monotonic() - began < most:
            raise
        raise timed_out("the time is up, and the daemon does not answer", start_anew()) from None
    except (Interrupted, NotRunning):
        if most is None or time.monotonic() - began < most:
            raise
        raise timed_out(
            "the time is up, and the daemon has stopped meanwhile", "Run `covey up`, then wait again."
        ) from None


def _with_unit(duration: str | None) -> str:
    """Return a duration as it was given; a number without a unit means seconds."""
    return f"{duration}s" if duration and duration[-1].isdigit() else duration or ""


def _names(items: list[dict[str, Any]]) -> str:
    from covey.cli.cells import clean

    return clean(", ".join(f"{item['agent']} {item['identity']['pane_id']}" for item in items)) or "the last agent"


def summary(items: list[dict[str, Any]]) -> str:
    """Return one line about agents: name, pane and state of a single one, or how many are in each state."""
    from covey.cli.cells import clean

    if len(items) == 1:
        item = items[0]
        return clean(f"{item['agent']} {item['identity']['pane_id']} is {item['state']}")
    states = [item["state"] for item in items]
    return ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states)) or "no agents"
