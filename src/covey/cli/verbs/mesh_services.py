"""Verbs of the services of a mesh that do more than ask the peer."""

from __future__ import annotations

from covey.cli.message_text import STDIN, read_text
from covey.cli.perform import ask, show
from covey.contract import OPERATIONS
from covey.contract.mesh_shapes import KIND
from covey.kernel import given_json
from murli import user_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home

BY_NAME = {operation.name: operation for operation in OPERATIONS}
WATCHED = {
    "mesh.lease.watch": ["lease_acquired", "lease_released"],
    "mesh.memory.watch": ["memory_changed"],
    "mesh.state.watch": ["state_changed"],
    "mesh.task.watch": [
        "task_created",
        "task_assigned",
        "task_claimed",
        "task_completed",
        "task_failed",
        "task_released",
    ],
    "mesh.vector.watch": ["vector_changed"],
}
"""The kinds of events that each verb `watch` shows."""


def set_state(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Set a value: text, or JSON if the caller says so."""
    text = params["value"]
    value: Any = read_text(STDIN, "value") if text == STDIN else text
    if params["as_json"]:
        try:
            value = given_json.parse(value, "value")
        except ValueError as error:
            raise user_error(
                f"the value is not JSON: {error}", "Leave --as-json out for text.", field="value"
            ) from None
    show(operation, ask(home, operation, {**params, "value": value}))
    return 0


def keep_text(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Remember a text, store one in a collection, or execute one as a statement: an argument, or standard input."""
    field = next(name for name in ("content", "text", "cypher") if name in params)
    if params[field] == STDIN:
        params = {**params, field: read_text(STDIN, field)}
    show(operation, ask(home, operation, params))
    return 0


def watch(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Follow the events of a service."""
    from covey.cli.peer import token_for
    from covey.cli.render_mesh_changes import change_line
    from covey.cli.verbs.events import events_of
    from covey.kernel.seat_choice import chosen_seat

    seat = chosen_seat(home, KIND, params["mesh"])
    asked: dict[str, Any] = {"follow": True, "since": params["since"], "limit": None if params["since"] else 0}
    asked["kind"] = WATCHED[operation.name]
    return events_of(seat, BY_NAME["events"], asked, token=token_for(seat), line_of=change_line)
