"""What the members of a mesh share: the operations and events of each service, which a peer serves."""

from __future__ import annotations

from covey.contract.mesh_services import (
    files,
    graph,
    leases,
    mcp,
    memory,
    overview,
    reminders,
    skill,
    state,
    tasks,
    vector,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from covey.contract.event_kind import EventKind
    from covey.contract.operation import Operation

_PARTS = (overview, state, skill, tasks, leases, files, memory, vector, reminders, mcp, graph)
OPERATIONS: tuple[Operation, ...] = tuple(operation for part in _PARTS for operation in part.OPERATIONS)
LOCAL_OPERATIONS: tuple[Operation, ...] = tuple(operation for part in _PARTS for operation in part.LOCAL_OPERATIONS)
"""Those of the command line alone."""
EVENTS: tuple[EventKind, ...] = tuple(event for part in _PARTS for event in part.EVENTS)
GROUPS: dict[str, str] = {words: summary for part in _PARTS for words, summary in part.GROUPS.items()}
