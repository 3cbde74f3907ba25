"""What the operations and events of a mesh carry."""

from __future__ import annotations

from covey.contract.operation import Omittable, array, one_of, optional, shape

KIND = "mesh"
"""The kind of daemon that a peer is."""
MEMBERSHIP_FILE = "membership.json"
"""The file in the folder of a peer that is there as long as its user is a member of the mesh."""
AUTHORITY_FILE = "authority.json"
"""The file in the folder of the peer that created the mesh."""
RUNGS = ["stored", "at_broker", "in_inbox", "seen"]
PRIORITIES = ["now", "next", "low"]
STATUSES = ["idle", "working", "dnd"]

RUNG = one_of("MeshRung", RUNGS)
"""What is proven about a message: it is in our outbox, stored by the broker, in the inbox of its recipient, or was read
by the recipient's agent."""
DELIVERY = one_of("MeshDelivery", ["pending", "inflight", "done", "dead", "dropped"])
"""Where a message is in the outbox; `done`: the broker has stored it, `dead`: we have given up on it."""
ROLE = one_of("MeshRole", ["authority", "admin", "member", "reader"])
PRIORITY = one_of("MeshPriority", PRIORITIES)
PRESENCE = one_of("MeshPresence", STATUSES)
WANTED = one_of("PeerWanted", ["up", "down", "service"])
"""Who keeps a peer running: the node, nobody, or the system's service manager."""
META = {"type": "object", "description": "As the sender has given it."}

RECIPIENT = shape("MeshRecipient", member="string", name="string", id="string", online=optional("boolean"), rung=RUNG)
"""One copy of a message; `id` is the id of that copy. `online` is null where nobody has asked: see `wait`."""
SEND_ANSWER = shape(
    "MeshSendAnswer",
    id="string",
    ids=array("string"),
    to="string",
    recipients=array(RECIPIENT),
    rung=RUNG,
    status="string",
    queued="boolean",
    replayed="boolean",
)
"""`id` is the first of `ids`. `status` says in words what `rung` proves. `queued`: it waits for the broker or for a
recipient that is offline. `replayed`: the key was used before, and nothing was sent again."""
BATCH_ITEM = shape("MeshBatchItem", answer=optional(SEND_ANSWER), error=optional("object"))
MESSAGE = shape(
    "MeshMessage",
    cursor="integer",
    id="string",
    mesh="string",
    kind={"type": "string", "enum": ["direct", "topic", "broadcast"]},
    **{"from": "string"},
    from_name="string",
    from_agent="string",
    to_agent="string",
    topic=optional("string"),
    text="string",
    priority=PRIORITY,
    meta=META,
    reply_to_id=optional("string"),
    mentions=array("string"),
    mentioned="boolean",
    hops="integer",
    sent_at="string",
    received_at="string",
    late="boolean",
)
"""A message in the inbox. `from` is the sender's member key, `late` that it came after messages that were sent later,
`mentioned` that this member is among its mentions."""
HELD = shape("MeshHeld", member="string", name="string", messages="integer", until="string")
"""Direct messages of a member that have come and wait for earlier ones. `until` is when the last of them is shown at
the latest."""
GROUP = shape("MeshGroup", name="string", role="string")
PROFILE = shape(
    "MeshProfile",
    member="string",
    name="string",
    summary="string",
    status=PRESENCE,
    visible="boolean",
    avatar="string",
    groups=array(GROUP),
)
PEER = shape(
    "MeshPeer",
    member="string",
    name="string",
    role=ROLE,
    you="boolean",
    online="boolean",
    status=PRESENCE,
    summary="string",
    avatar="string",
    groups=array(GROUP),
    seen_at=optional("string"),
)
"""`seen_at` is when the mesh last heard of it; null if it never did."""
MEMBER = shape(
    "MeshMember",
    member="string",
    name="string",
    role=ROLE,
    you="boolean",
    joined_at="string",
    revoked_at=optional("string"),
    key="string",
)
"""`key` is the id of the key with which messages to this member are sealed."""
TOPIC = shape("MeshTopic", name="string", subscribed="boolean", messages="integer", last_at=optional("string"))
OUTBOX_ROW = shape(
    "MeshOutboxRow",
    id="string",
    to="string",
    member="string",
    kind={"type": "string", "enum": ["direct", "topic", "broadcast"]},
    state=DELIVERY,
    rung=RUNG,
    attempts="integer",
    bytes="integer",
    accepted_at="string",
    next_attempt_at=optional("string"),
    delivered_at=optional("string"),
    error="string",
)
"""A row of the outbox. Its text is not shown: it is kept sealed."""
MESH_RECEIPT = shape(
    "MeshReceipt",
    id="string",
    to="string",
    member="string",
    online=optional("boolean"),
    rung=RUNG,
    state=DELIVERY,
    status="string",
    accepted_at="string",
    delivered_at=optional("string"),
    received_at=optional("string"),
    seen_at=optional("string"),
    refused="boolean",
    attempts="integer",
    error="string",
)
"""`delivered_at` is when the broker had stored it, `received_at` when it was in the recipient's inbox. `refused`: its
agent did not get it, or nobody can know that; `status` says why, and no more will come."""
INVITE = shape(
    "MeshInvite",
    id="string",
    role=ROLE,
    uses="integer",
    left="integer",
    made_at="string",
    expires_at="string",
    revoked="boolean",
    joined=array("string"),
)
MADE_INVITE = shape("MadeInvite", **{"token": "string", **INVITE["properties"]})
"""An invite with the text that is pasted. That text is shown once and is not kept."""

PEER_HEALTH = {
    "connected": {"type": "boolean"},
    "lag_ms": optional("number"),
    "queue_depth": {"type": "integer"},
    "mesh": {"type": "string"},
    "member_pubkey": {"type": "string"},
}
"""What the health of a peer has besides what every daemon's has. `lag_ms` is the last round trip to the broker."""
PEER_STATUS = shape(
    "PeerStatus",
    slug="string",
    mesh="string",
    member="string",
    name="string",
    role=ROLE,
    connected="boolean",
    server="string",
    servers=array("string"),
    lag_ms=optional("number"),
    reconnects="integer",
    reason="string",
    members="integer",
    online="integer",
    epoch="integer",
    outbox=shape("OutboxStatus", pending="integer", dead="integer", bytes="integer", oldest_s=optional("number")),
    inbox=shape(
        "InboxStatus",
        messages="integer",
        bytes="integer",
        held="integer",
        held_from=array(HELD),
        unreadable="integer",
    ),
    hooks=shape(
        "HooksStatus", enabled="boolean", running="integer", queued="integer", fired="integer", failed="integer"
    ),
    services=shape("MeshServicesStatus", documents="integer", bytes="integer", caught_up="boolean", refused="integer"),
    problems=array("string"),
)
"""A peer's part of its status. `reason` is why it is not connected, `epoch` that of the topic keys."""
MESH_ROW = shape(
    "JoinedMesh",
    slug="string",
    mesh="string",
    member="string",
    name="string",
    role=ROLE,
    servers=array("string"),
    wanted=WANTED,
    state="string",
    pid=optional("integer"),
    restarts="integer",
    connected=optional("boolean"),
    queue_depth=optional("integer"),
    problem="string",
)
"""A mesh that this user has joined, and the process of its peer. `state` is the supervisor's word, `problem` what is
wrong with its files."""
BROKER = shape(
    "MeshBroker",
    state="string",
    pid=optional("integer"),
    restarts="integer",
    version="string",
    url="string",
    listen=array("string"),
    names=array("string"),
    fingerprint="string",
)
"""The broker in this home: the addresses beyond loopback at which it listens, and the names in its certificate."""
MESH_STATUS = shape(
    "MeshNodeStatus",
    joined="integer",
    running="integer",
    broker=optional("string"),
    problems=array("string"),
)
"""The node's part of the status: its peers, and the state of the broker, null without one."""
PEER_PROCESS = shape(
    "PeerProcess",
    slug="string",
    running="boolean",
    version="string",
    pid=optional("integer"),
    uptime_s=optional("number"),
    rss_bytes=optional("integer"),
    wanted=WANTED,
    why="string",
    peer=Omittable(PEER_STATUS),
)
"""One peer as `covey mesh status` shows it; `why` says why there is no `peer`."""
