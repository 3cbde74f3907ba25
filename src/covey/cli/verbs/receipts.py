"""`covey receipts wait`, and the end of `covey send --wait`: waits for the answer to a message."""

from __future__ import annotations

import time

from covey.cli.following import LOST, following
from covey.cli.perform import show
from covey.contract import OPERATIONS
from murli import EXIT_NOT_FOUND, EXIT_PARTIAL, AgentError, timed_out, tool_error, writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home


def wait(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Wait for an answer and show it. Exit code 3 if it came to something else."""
    answer = await_answer(home, params["id"], params["timeout"])
    show(operation, answer)
    return exit_code(answer)


def exit_code(answer: dict[str, Any]) -> int:
    """Return 0 for an answer, 3 for anything else that a message came to."""
    return 0 if answer["outcome"] == "answered" else EXIT_PARTIAL


def await_answer(home: Home, receipt_id: str, timeout: str | None) -> dict[str, Any]:
    """Return what a message came to. Raises with code 4 after the timeout, with 5 if the agent has ended."""
    from covey.kernel.moments import seconds

    out, began = writer(), time.monotonic()
    most = seconds(timeout, "timeout") if timeout is not None else None
    operation = next(one for one in OPERATIONS if one.name == "receipts.wait")

    def left() -> dict[str, Any]:
        """Return the parameters, with the time that is left, for a connection that is made again."""
        rest = None if most is None else f"{max(began + most - time.monotonic(), 0.0):.3f}s"
        return {"id": receipt_id, "timeout": rest}

    for message in following(home.node.socket, operation, left):
        if message.get("event") == LOST:
            out.progress("the daemon does not answer, waiting for it", stage="waiting")
            continue
        answer: dict[str, Any] = message["data"]
        if message.get("event") != "done":
            receipt = answer["receipt"]
            about = answer["why"] or f"{receipt['agent']} is {answer['state']}"
            out.progress(f"{receipt['rung']}: {about} ({time.monotonic() - began:.0f}s)", stage="waiting")
        elif answer["outcome"] == "timeout":
            raise timed_out(
                f"there is no answer yet: it is {answer['receipt']['rung']} {answer['why']}".rstrip(),
                f"Wait longer: covey receipts wait {answer['receipt']['id']}",
            )
        elif answer["outcome"] == "gone":
            raise AgentError(
                "the agent has ended, and its answer was not read",
                code=EXIT_NOT_FOUND,
                error="agent_gone",
                suggestion="See who is there: covey ps",
            )
        else:
            return answer
    raise tool_error("the daemon has stopped before there was an answer", "Run `covey up`, then wait again.")
