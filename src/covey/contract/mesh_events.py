"""The events of a peer of a mesh. Their names are those of the API that other programs know.

They are in the journal of the peer, not in that of the node, so they have a table of their own.
"""

from __future__ import annotations

from covey.contract.event_kind import EventKind
from covey.contract.kernel_events import AUDIT_BEGUN, AUDIT_CALL, Lifecycle
from covey.contract.mesh_services import EVENTS as SERVICE_EVENTS
from covey.contract.mesh_shapes import KIND, MESH_RECEIPT, MESSAGE, PRESENCE, ROLE
from covey.contract.operation import optional, shape

MESH = Lifecycle(KIND)
MESSAGE_RECEIVED = EventKind(
    "message",
    "A message is in the inbox: one to this member, one of a topic it subscribes to, or a broadcast.",
    subject="id",
    data=MESSAGE,
)
PEER_JOIN = EventKind(
    "peer_join",
    "A member has come online.",
    subject="member",
    data=shape(name="string", status=PRESENCE, summary="string"),
)
PEER_LEAVE = EventKind(
    "peer_leave",
    "A member has gone offline. `said`: it told so itself; otherwise its connection was lost.",
    subject="member",
    data=shape(name="string", said="boolean"),
)
MEMBER_JOINED = EventKind(
    "member_joined", "Somebody has joined the mesh.", subject="member", data=shape(name="string", role=ROLE)
)
MEMBER_RENAMED = EventKind(
    "member_renamed", "A member has another name.", subject="member", data=shape(old="string", name="string")
)
MEMBER_REVOKED = EventKind(
    "member_revoked",
    "A member was removed from the mesh, or has left it. Nothing is accepted from it any more.",
    subject="member",
    data=shape(name="string", left="boolean"),
)
DISCONNECT = EventKind(
    "disconnect",
    "The connection to the broker was lost. Messages wait in the outbox.",
    data=shape(server="string", reason="string"),
)
RECONNECT = EventKind(
    "reconnect",
    "There is a connection to the broker again; also the first one after the start.",
    data=shape(server="string", away_s=optional("number")),
)
HOOK_EXECUTED = EventKind(
    "hook_executed",
    "A hook has run. `exit` is null if it could not be started or was ended; `message` is the id of the message that "
    "it ran for, `outcome` what was done with what it printed.",
    subject="hook",
    data=shape(
        event="string",
        exit=optional("integer"),
        duration_ms="number",
        timed_out="boolean",
        message=optional("string"),
        outcome="string",
    ),
)
RECEIPT_CHANGED = EventKind(
    "receipt", "More is proven about a message that was sent from here.", subject="id", data=MESH_RECEIPT
)
TOPIC_KEY_ROTATED = EventKind(
    "topic_key_rotated",
    "The keys of all topics are new, because a member was removed.",
    data=shape(epoch="integer"),
)

PEER_EVENTS = (
    MESSAGE_RECEIVED,
    PEER_JOIN,
    PEER_LEAVE,
    MEMBER_JOINED,
    MEMBER_RENAMED,
    MEMBER_REVOKED,
    DISCONNECT,
    RECONNECT,
    HOOK_EXECUTED,
    RECEIPT_CHANGED,
    TOPIC_KEY_ROTATED,
    *SERVICE_EVENTS,
)
"""What the peer's subsystem declares."""
MESH_EVENTS = (*MESH.events, AUDIT_BEGUN, AUDIT_CALL, *PEER_EVENTS)
"""Everything in the journal of a peer."""
