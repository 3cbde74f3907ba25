"""`covey approve`: who names an agent, and not one request, sees what would be approved before it is."""

from __future__ import annotations

from covey.cli.perform import agreed, ask, show
from murli import AgentError, cancelled, writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home

ID_END = 4
"""Characters that are taken for the end of an id."""


def approve(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Approve one request; on a terminal, the one that was shown and no later one."""
    out = writer()
    if out.is_tty and not out.forced:
        params = {**params, "ref": _seen(home, params["ref"])}
    show(operation, ask(home, operation, params))
    return 0


def _seen(home: Home, ref: str) -> str:
    """Return the id of the request that a person has seen, or the name as it is if the daemon has to judge it."""
    from covey.contract import OPERATIONS

    operations = {operation.name: operation for operation in OPERATIONS}
    items = ask(home, operations["approvals"], {})["items"]
    if len(ref) >= ID_END and any(item["id"].endswith(ref.upper()) for item in items):
        return ref
    try:
        runtime_id = ask(home, operations["why"], {"ref": ref})["item"]["runtime_id"]
    except AgentError:
        return ref
    asked = [item for item in items if item["runtime_id"] == runtime_id]
    if len(asked) != 1:
        return ref
    from covey.cli.render_approvals import request
    from covey.cli.text import Paint, columns

    shown = "\n".join(request(asked[0], Paint(columns(), colour=False)))
    if not agreed(f"{shown}\nApprove it? [y/N] "):
        raise cancelled("Nothing was approved.")
    return str(asked[0]["id"])
