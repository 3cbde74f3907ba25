"""The operations of a mesh: those of a peer, those of the node that keeps peers running, and local ones.

A peer is a daemon of its own, one for each mesh; its operations may have the routes of the node's.
"""

from __future__ import annotations

from covey.contract import mesh_services
from covey.contract.mesh_local import ALL, LOCAL_OPERATIONS, MESH_SLUG
from covey.contract.mesh_members import MEMBERS
from covey.contract.mesh_messages import MESSAGES
from covey.contract.mesh_shapes import BROKER, MESH_ROW
from covey.contract.operation import Operation, Parameter, array, optional, shape

GROUPS = {
    "mesh": "Talk to peers on other machines: encrypted, durable, without a server of somebody else's.",
    "mesh topic": "Messages for all who subscribe.",
    "mesh groups": "Groups of members that are written to together.",
    "mesh outbox": "Messages that were sent from here.",
    "mesh keys": "The keys of this member.",
    "mesh service": "Run a peer as a service of its own, without the node.",
    **mesh_services.GROUPS,
}
"""By the words of the group."""
NEW_NAME = Parameter("name", "The name of this member; the name of the host without it.")
NAMED_MESH = Parameter("slug", "The slug of the mesh.", required=True, positional=True, content="id")
ROWS = shape("JoinedMeshes", items=array(MESH_ROW), broker=optional(BROKER))

PEER_OPERATIONS = (*MESSAGES, *MEMBERS, *mesh_services.OPERATIONS)
"""What a peer serves."""
NODE_OPERATIONS = (
    Operation(
        "mesh.create",
        "Create a mesh, and be its first member.",
        cli=["mesh", "create"],
        method="POST",
        route="/v1/mesh",
        description="Without --nats the broker is a program of this home, which the node keeps running, at first on "
        "loopback only: `covey mesh expose` opens it to other machines. With --nats it is a server of yours.",
        parameters=[
            Parameter("slug", "A short name, such as team.", required=True, positional=True, content="id"),
            NEW_NAME,
            Parameter("nats", "Address of a NATS server to use; repeatable.", multiple=True, content="raw"),
            Parameter("operator", "File with the keys of that server's operator.", path=True),
            Parameter("replicas", "Copies of each message in a cluster.", type="int", default=1, minimum=1, maximum=5),
        ],
        result=MESH_ROW,
        mutating=True,
        guard=False,
        mcp=False,
        consent=True,
        examples=[("covey mesh create team", "A mesh of your own; exit code 2 if the daemon does not run", 2)],
    ),
    Operation(
        "mesh.join",
        "Join a mesh with an invite.",
        cli=["mesh", "join"],
        method="POST",
        route="/v1/mesh/join",
        parameters=[
            Parameter(
                "token",
                "The text of the invite; - reads it from standard input.",
                required=True,
                positional=True,
                sensitive=True,
                content="raw",
            ),
            NEW_NAME,
            Parameter("slug", "Another slug than the invite's, if you have one of that name.", content="id"),
        ],
        result=MESH_ROW,
        mutating=True,
        guard=False,
        mcp=False,
        consent=True,
    ),
    Operation(
        "mesh.leave",
        "Leave a mesh: the others are told, and the peer here ends.",
        cli=["mesh", "leave"],
        method="POST",
        route="/v1/mesh/leave",
        description="The inbox and the keys stay in a folder that the answer names; remove it when you like.",
        parameters=[NAMED_MESH],
        result=shape("LeftMesh", slug="string", told="boolean", path="string"),
        mutating=True,
        destructive=True,
        mcp=False,
        consent=True,
    ),
    Operation(
        "mesh.reset",
        "Remove a mesh from this machine: keys, inbox, outbox and all. Nobody is told.",
        cli=["mesh", "reset"],
        method="POST",
        route="/v1/mesh/reset",
        description="For a peer whose mesh is gone. The identity cannot be had back; export it before if you may want "
        "it: `covey mesh keys export`.",
        parameters=[NAMED_MESH],
        result=shape("ResetMesh", slug="string", removed="boolean"),
        mutating=True,
        destructive=True,
        mcp=False,
        consent=True,
    ),
    Operation(
        "mesh.up",
        "Keep a peer running, from now on.",
        cli=["mesh", "up"],
        method="POST",
        route="/v1/mesh/up",
        parameters=[MESH_SLUG, ALL],
        result=ROWS,
        mutating=True,
        idempotent=True,
        guard=False,
        mcp=False,
        no_consent="who is a member was decided before",
    ),
    Operation(
        "mesh.down",
        "End a peer. It stays down, over restarts of the daemon too, until `covey mesh up`.",
        cli=["mesh", "down"],
        method="POST",
        route="/v1/mesh/down",
        description="With --all the broker of this home ends too, and members elsewhere are without it; `covey mesh "
        "up` starts both again.",
        parameters=[MESH_SLUG, ALL],
        result=ROWS,
        mutating=True,
        idempotent=True,
        guard=False,
        mcp=False,
        no_consent="less runs",
    ),
    Operation(
        "mesh.list",
        "List the meshes that were joined, their peers, and the broker.",
        cli=["mesh", "ps"],
        route="/v1/mesh",
        offline=True,
        result=ROWS,
        idempotent=True,
        mcp=False,
        examples=[("covey mesh ps", "Every mesh and its peer", 0)],
    ),
    Operation(
        "mesh.expose",
        "Open the broker of this home to other machines, with TLS.",
        cli=["mesh", "expose"],
        method="POST",
        route="/v1/mesh/expose",
        description="Makes a certificate for the names, signed by a CA of this home that every invite carries, and "
        "restarts the broker. Invites that are made from then on have the new address. Without --listen it shows what "
        "is open; --off closes it.",
        parameters=[
            Parameter(
                "listen",
                "Address to listen at, such as 0.0.0.0:4222 or 10.0.0.5; without a port, the one it has.",
                content="raw",
            ),
            Parameter("websocket", "Address for WebSocket clients, such as 0.0.0.0:8443.", content="raw"),
            Parameter("names", "A host name or address by which others reach it; repeatable.", multiple=True),
            Parameter("off", "Listen on loopback only.", type="bool", default=False),
        ],
        result=BROKER,
        mutating=True,
        guard=False,
        mcp=False,
        consent=True,
    ),
)
"""What the node serves."""
OPERATIONS = (*PEER_OPERATIONS, *NODE_OPERATIONS, *LOCAL_OPERATIONS, *mesh_services.LOCAL_OPERATIONS)
