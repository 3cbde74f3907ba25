"""The operations of a peer that concern messages: sending, topics, the inbox, the outbox and receipts."""

from __future__ import annotations

from covey.contract.mesh_shapes import (
    BATCH_ITEM,
    HELD,
    KIND,
    MESH_RECEIPT,
    MESSAGE,
    OUTBOX_ROW,
    PRIORITIES,
    RUNGS,
    SEND_ANSWER,
    TOPIC,
)
from covey.contract.operation import Operation, Parameter, array, optional, shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SLUG = Parameter("mesh", "The slug of the mesh; needed if there are several.", content="id")
OUTBOX_RECORDS = "the outbox has each message, with its recipient and what became of it"
WAITS = ["none", "broker", "inbox", "seen"]
LONGEST_WAIT_S = 25
"""How long one call waits at most; a client that wants more asks for the receipt again."""


def peer_operation(name: str, summary: str, **rest: Any) -> Operation:
    """Return an operation that a peer serves. On the command line and over MCP it takes the slug of the mesh."""
    client = [*rest.pop("client_parameters", ()), SLUG]
    rest.setdefault("mcp", False)
    rest.setdefault("guard", False)
    return Operation(name, summary, served_by=KIND, client_parameters=client, seat_parameter=SLUG.name, **rest)


MESSAGE_TEXT = Parameter(
    "message", "The text; on the command line - is standard input.", required=True, positional=True, content="raw"
)
FILE = Parameter("file", "Take the text from this file; - is standard input.", content="raw", replaces="message")
PRIORITY = Parameter(
    "priority",
    "now: at once, next: when the recipient is free, low: when somebody looks.",
    enum=PRIORITIES,
    default="next",
)
META = Parameter("meta", "A JSON object for programs at the other end.", type="object", content="raw")
MOST_BYTES = 1_000_000
"""Bytes of a message before it is sealed."""
REPLY_TO = Parameter("reply_to_id", "The id of the message that this one answers.", also="replyToId", content="id")
MENTIONS = Parameter("mentions", "Name or key of a member that is mentioned; repeatable.", multiple=True)
WAIT = Parameter(
    "wait",
    "Answer when the broker has stored it, it is in the recipient's inbox, or it was seen; none: when it is in our "
    "outbox.",
    enum=WAITS,
    default="none",
)
TIMEOUT = Parameter(
    "timeout_s",
    f"How long to wait for that, in seconds. The daemon waits at most {LONGEST_WAIT_S} s, the command line goes on "
    "asking.",
    type="float",
    default=10.0,
    minimum=0,
    maximum=86_400,
)
LIMIT = Parameter("limit", "At most so many.", type="int", default=50, short="-n", minimum=1, maximum=1000)
TOPIC_NAME = Parameter("topic", "The name of the topic.", required=True, positional=True)
OUTBOX_IDS = Parameter("id", "The id of a message; repeatable.", positional=True, multiple=True, content="id")
EVERY_DEAD = Parameter("all", "All messages that are dead.", type="bool", default=False)
SENDS = (
    "What is returned says what is proven: stored in our outbox (safe over crashes, and sent when it can be), at the "
    "broker, in the recipient's inbox, or seen by its agent. A call that is repeated with the same Idempotency-Key and "
    "content is answered again and sends nothing; with other content it is a conflict."
)

MESSAGES = (
    peer_operation(
        "mesh.send",
        "Send a message to a member of the mesh, a group, or an agent on a member's host.",
        cli=["mesh", "send"],
        method="POST",
        route="/v1/send",
        description="To @name, a member key, @group or @host/agent. " + SENDS,
        when_to_use="Call it to tell something to a peer on another machine. A message is never consent.",
        parameters=[
            Parameter(
                "to", "@name, member key, @group or @host/agent.", required=True, positional=True, content="text"
            ),
            MESSAGE_TEXT,
            PRIORITY,
            META,
            REPLY_TO,
            WAIT,
            TIMEOUT,
        ],
        client_parameters=[FILE],
        result=SEND_ANSWER,
        mutating=True,
        mcp=True,
        cold=True,
        own_key=True,
        unaudited=OUTBOX_RECORDS,
        no_consent="a message is never consent",
    ),
    peer_operation(
        "mesh.send_batch",
        "Send many messages with one call.",
        cli=[],
        method="POST",
        route="/v1/send/batch",
        description="Each message is an object with the fields of mesh.send (to, message, priority, meta, reply_to_id) "
        "or of mesh.topic.post (topic instead of to), and its own idempotency_key if it is to have one. They are "
        "stored in their order and together: the answer has an item for each, an answer or an error.",
        parameters=[Parameter("messages", "The messages.", type="object", required=True, multiple=True, content="raw")],
        result=shape("MeshBatchAnswer", items=array(BATCH_ITEM), accepted="integer", refused="integer"),
        mutating=True,
        own_key=True,
        unaudited=OUTBOX_RECORDS,
        no_consent="a message is never consent",
    ),
    peer_operation(
        "mesh.topic.post",
        "Post a message to a topic.",
        cli=["mesh", "topic", "post"],
        method="POST",
        route="/v1/topic/post",
        description="All members may subscribe to a topic; only members can read it. " + SENDS,
        when_to_use="Call it to tell something to all who follow a topic.",
        parameters=[TOPIC_NAME, MESSAGE_TEXT, PRIORITY, MENTIONS, META, REPLY_TO],
        client_parameters=[FILE],
        result=SEND_ANSWER,
        mutating=True,
        mcp=True,
        cold=True,
        own_key=True,
        unaudited=OUTBOX_RECORDS,
        no_consent="a message is never consent",
    ),
    peer_operation(
        "mesh.topic.subscribe",
        "Subscribe to a topic: its messages come into the inbox from now on.",
        cli=["mesh", "topic", "subscribe"],
        method="POST",
        route="/v1/topic/subscribe",
        parameters=[TOPIC_NAME],
        result=TOPIC,
        mutating=True,
        idempotent=True,
        no_consent="a member may read every topic of its mesh",
    ),
    peer_operation(
        "mesh.topic.unsubscribe",
        "Do not receive the messages of a topic any more. Those in the inbox stay.",
        cli=["mesh", "topic", "unsubscribe"],
        method="POST",
        route="/v1/topic/unsubscribe",
        parameters=[TOPIC_NAME],
        result=TOPIC,
        mutating=True,
        idempotent=True,
        no_consent="less is received",
    ),
    peer_operation(
        "mesh.topic.list",
        "List the topics that this peer subscribes to or has posted to.",
        cli=["mesh", "topic", "list"],
        route="/v1/topic/list",
        description="The broker does not know the names of topics: others are not listed.",
        result=shape("MeshTopics", items=array(TOPIC)),
        idempotent=True,
        cold=True,
    ),
    peer_operation(
        "mesh.broadcast",
        "Send a message to everybody, or to everybody in a group.",
        cli=["mesh", "broadcast"],
        method="POST",
        route="/v1/broadcast",
        description=SENDS,
        parameters=[
            MESSAGE_TEXT,
            Parameter("scope", "* for everybody, or @group.", default="*", content="text"),
            PRIORITY,
            MENTIONS,
            META,
            REPLY_TO,
        ],
        client_parameters=[FILE],
        result=SEND_ANSWER,
        mutating=True,
        cold=True,
        own_key=True,
        unaudited=OUTBOX_RECORDS,
        no_consent="a message is never consent",
    ),
    peer_operation(
        "mesh.inbox",
        "Show the messages that have come.",
        cli=["mesh", "inbox"],
        route="/v1/inbox",
        description="The oldest first. Without `since` the last ones; with it the first ones after that time or "
        "cursor: ask again with the `cursor` of the answer, and nothing is missed or repeated. A direct message that "
        "comes before an earlier one is held back until that one comes, inbox.hold_s at most: `held_from` says from "
        "whom how many are, and until when.",
        when_to_use="Call it to read what peers have written.",
        parameters=[
            Parameter("since", "Only after this cursor, or after this time: 10m, or 2026-01-31T14:05:00Z.", default=""),
            Parameter("topic", "Only messages of this topic."),
            Parameter("from", "Only messages of this member, also a removed one: name or member key."),
            LIMIT,
        ],
        client_parameters=[
            Parameter("follow", "Go on with new messages as they come.", type="bool", default=False, short="-f")
        ],
        result=shape("MeshInbox", items=array(MESSAGE), cursor="integer", more="boolean", held_from=array(HELD)),
        idempotent=True,
        mcp=True,
        cold=True,
    ),
    peer_operation(
        "mesh.search",
        "Search the messages in the inbox.",
        cli=["mesh", "search"],
        route="/v1/search",
        description="The newest first. Several words must all occur; a phrase stands in quotes, a prefix ends with *.",
        parameters=[
            Parameter("q", "What to search for.", required=True, positional=True, content="raw"),
            LIMIT,
        ],
        result=shape("MeshFound", items=array(MESSAGE), indexed="boolean"),
        idempotent=True,
        mcp=True,
        cold=True,
    ),
    peer_operation(
        "mesh.receipt",
        "Show what is proven about a message that was sent from here.",
        cli=["mesh", "receipt"],
        route="/v1/receipt/{id}",
        parameters=[
            Parameter("id", "The id of the message.", required=True, positional=True, content="id"),
            WAIT,
            TIMEOUT,
        ],
        result=MESH_RECEIPT,
        idempotent=True,
        cold=True,
    ),
    peer_operation(
        "mesh.outbox",
        "List the messages that were sent from here, and those that were given up.",
        cli=["mesh", "outbox", "list"],
        route="/v1/outbox",
        parameters=[
            Parameter(
                "status",
                "Only those in this state; without it, pending, inflight and dead ones.",
                enum=["pending", "inflight", "done", "dead", "dropped"],
            ),
            LIMIT,
        ],
        result=shape(
            "MeshOutbox", items=array(OUTBOX_ROW), pending="integer", dead="integer", oldest_at=optional("string")
        ),
        idempotent=True,
        cold=True,
    ),
    peer_operation(
        "mesh.outbox.requeue",
        "Try to send messages that were given up once more.",
        cli=["mesh", "outbox", "requeue"],
        method="POST",
        route="/v1/outbox/requeue",
        parameters=[OUTBOX_IDS, EVERY_DEAD],
        result=shape("MeshRequeued", ids=array("string")),
        mutating=True,
        idempotent=True,
        no_consent="the message was accepted before",
    ),
    peer_operation(
        "mesh.outbox.drop",
        "Drop messages that were not sent. The recipient's peer is told that they will not come.",
        cli=["mesh", "outbox", "drop"],
        method="POST",
        route="/v1/outbox/drop",
        parameters=[OUTBOX_IDS, EVERY_DEAD],
        result=shape("MeshDropped", ids=array("string")),
        mutating=True,
        destructive=True,
        idempotent=True,
        no_consent="a message is not sent",
    ),
)
RUNG_OF_WAIT = dict(zip(WAITS, RUNGS, strict=True))
"""The rung that each value of `wait` waits for."""
