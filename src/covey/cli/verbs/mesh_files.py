"""`covey mesh file share` and `get`: they show how far the peer is, until it is done."""

from __future__ import annotations

import time

from covey.cli.perform import ask, show
from covey.contract import OPERATIONS
from murli import EXIT_CONFLICT, EXIT_NOT_FOUND, EXIT_PERMISSION, EXIT_TOOL_ERROR, AgentError, writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home

BY_NAME = {operation.name: operation for operation in OPERATIONS}
ENDED = ("done", "failed")
PERSON_S, AGENT_S = 0.2, 2.0
"""How long one question waits at the peer: how often progress is shown on a terminal, and to programs."""
CODES = {"not_found": EXIT_NOT_FOUND, "file_gone": EXIT_NOT_FOUND, "conflict": EXIT_CONFLICT}
BAR = 24


def transfer(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Begin a transfer, and unless it is to go on by itself, show how far it is until it has ended."""
    found = ask(home, operation, params)
    if not params["detach"]:
        found = _ended(home, params, found)
    if found["state"] == "failed":
        raise AgentError(
            found["reason"],
            code=CODES.get(found["error"], EXIT_PERMISSION if "permission" in found["error"] else EXIT_TOOL_ERROR),
            error=found["error"] or "tool_error",
            suggestion="See `covey mesh file status`.",
        )
    show(operation, found)
    return 0


def _ended(home: Home, params: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """Return a transfer when it has ended. Raises AgentError if the peer is gone: it goes on with the peer."""
    out, began, first = writer(), time.monotonic(), found["done_bytes"]
    asked = {"transfer": found["transfer"], "wait_s": PERSON_S if out.is_tty else AGENT_S, "mesh": params["mesh"]}
    while found["state"] not in ENDED:
        (found,) = ask(home, BY_NAME["mesh.file.status"], asked)["items"]
        if found["state"] not in ENDED:
            _progress(found, first, time.monotonic() - began)
    return found


def _progress(found: dict[str, Any], first: int, took_s: float) -> None:
    done, size = found["done_bytes"], found["size"]
    share = done / size if size else 0.0
    rate = (done - first) / took_s if took_s > 0 else 0.0
    filled = round(share * BAR)
    bar = f"{'━' * filled}{' ' * (BAR - filled)} " if writer().is_tty and done else ""
    writer().progress(
        f"{bar}{found['reason'] or found['name']}",
        stage=found["state"],
        current=done,
        total=size,
        percent=round(100 * share, 1),
        eta_ms=int((size - done) / rate * 1000) if rate > 0 else 0,
    )
