"""`covey mesh task take` and `covey mesh lease acquire`: they go on asking as long as the caller wants to wait."""

from __future__ import annotations

import time

from covey.cli.perform import ask, show
from covey.contract.mesh_messages import LONGEST_WAIT_S
from murli import EXIT_CONFLICT, EXIT_NOT_FOUND, AgentError, writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home


def take(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Take a task. Exit code 5 if there is none for the caller."""
    result = _waited(home, operation, params, lambda found: found["task"] is not None)
    show(operation, result)
    return 0 if result["task"] is not None else EXIT_NOT_FOUND


def acquire(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Acquire a lease. Raises the conflict if somebody else has it until the end."""
    show(operation, _waited(home, operation, params, lambda _: True))
    return 0


def _waited(home: Home, operation: Operation, params: dict[str, Any], is_had: Callable[[Any], bool]) -> Any:
    """Return what the peer answers when the caller has what it wants, or when its time is over."""
    from covey.kernel.moments import seconds

    length = seconds(params["wait"], "wait")
    limit, out = time.monotonic() + length, writer()
    if length and out.is_tty:
        out.log(f"waiting for at most {params['wait']}")
    while True:
        left = max(limit - time.monotonic(), 0.0)
        try:
            result = ask(home, operation, {**params, "wait": f"{min(left, LONGEST_WAIT_S):.3f}s"})
        except AgentError as error:
            if error.code != EXIT_CONFLICT or time.monotonic() >= limit:
                raise
            continue
        if is_had(result) or time.monotonic() >= limit:
            return result
