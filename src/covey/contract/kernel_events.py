"""The events of the daemon itself."""

from __future__ import annotations

from covey.contract.event_kind import EventKind
from covey.contract.operation import Omittable, array, optional, shape


class Lifecycle:
    """The events of the life of one kind of daemon, such as `node.started`."""

    def __init__(self, daemon: str) -> None:
        self.started = EventKind(
            f"{daemon}.started", "The daemon is ready.", data=shape(version="string", pid="integer")
        )
        self.reloaded = EventKind(
            f"{daemon}.reloaded",
            "The daemon has read a changed configuration. `changed` names the settings.",
            data=shape(changed=array("string")),
        )
        self.stopping = EventKind(f"{daemon}.stopping", "The daemon begins to stop.")

    @property
    def events(self) -> tuple[EventKind, ...]:
        return self.started, self.reloaded, self.stopping


NODE = Lifecycle("node")
_CALLER = {
    "transport": {"type": "string", "enum": ["unix", "tcp", "internal"]},
    "uid": optional("integer"),
    "pid": optional("integer"),
    "subsystem": "string",
    "program": "string",
    "surface": {"type": "string", "enum": ["cli", "mcp", "http", "internal"]},
    "scope": Omittable("string"),
}
AUDIT_BEGUN = EventKind(
    "audit.begun",
    "An operation is about to act on what `snapshot` describes. Its end is an audit.call with the cursor of this event "
    "as `begun`; without one, the daemon has ended in the middle.",
    subject="operation",
    data=shape(about="string", snapshot={"type": "object"}, **_CALLER),
)
AUDIT_CALL = EventKind(
    "audit.call",
    "An operation that changes something was called, and has been performed or refused. `about` is what it was called "
    "for, `snapshot` what it acted on, `outcome` what came of it, `error` the code of the error, if there was one; the "
    "rest is the caller.",
    subject="operation",
    data=shape(
        about="string",
        snapshot=optional("object"),
        outcome="string",
        error=optional("string"),
        begun=optional("integer"),
        **_CALLER,
    ),
)

EVENTS = (*NODE.events, AUDIT_BEGUN, AUDIT_CALL)
"""The kernel's events in a node."""
