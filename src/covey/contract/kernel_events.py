"""The events of the daemon itself."""

from __future__ import annotations

from covey.contract.event_kind import EventKind
from covey.contract.operation import array, optional, shape

NODE_STARTED = EventKind("node.started", "The daemon is ready.", data=shape(version="string", pid="integer"))
NODE_RELOADED = EventKind(
    "node.reloaded",
    "The daemon has read a changed configuration. `changed` names the settings.",
    data=shape(changed=array("string")),
)
NODE_STOPPING = EventKind("node.stopping", "The daemon begins to stop.")
AUDIT_CALL = EventKind(
    "audit.call",
    "An operation that changes something was called, and has been performed or refused. `about` is what its path "
    "names, `error` the code of the error, if there was one; the rest is the caller.",
    subject="operation",
    data=shape(
        about="string",
        error=optional("string"),
        transport={"type": "string", "enum": ["unix", "tcp", "internal"]},
        uid=optional("integer"),
        pid=optional("integer"),
        subsystem="string",
    ),
)

EVENTS = (NODE_STARTED, NODE_RELOADED, NODE_STOPPING, AUDIT_CALL)
