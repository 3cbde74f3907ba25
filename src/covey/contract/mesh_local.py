"""The operations of a mesh that the command performs itself: they ask a peer, or need none."""

from __future__ import annotations

from covey.contract.kernel import SERVICE_CHANGE
from covey.contract.mesh_messages import SLUG
from covey.contract.mesh_shapes import PEER_PROCESS
from covey.contract.operation import Operation, Parameter, array, shape

MESH_SLUG = Parameter("slug", "The slug of the mesh; needed if there are several.", positional=True, content="id")
ALL = Parameter("all", "All meshes that were joined.", type="bool", default=False)
PASSPHRASE_FILE = Parameter(
    "passphrase_file",
    "A file with the passphrase in its first line; - is standard input. Without it COVEY_MESH_PASSPHRASE is taken, or "
    "you are asked.",
    content="raw",
)

LOCAL_OPERATIONS = (
    Operation(
        "mesh.status",
        "Show how a peer is: connection, queue, inbox, hooks.",
        cli=["mesh", "status"],
        local="it asks the peer, and answers also when there is none",
        parameters=[MESH_SLUG, ALL],
        result=shape("PeerProcesses", items=array(PEER_PROCESS)),
        idempotent=True,
        mcp=False,
    ),
    Operation(
        "mesh.logs",
        "Show the log of a peer.",
        cli=["mesh", "logs"],
        local="it reads the log file, also when the peer is down",
        parameters=[
            MESH_SLUG,
            Parameter("follow", "Go on with new lines as they come.", type="bool", default=False, short="-f"),
            Parameter(
                "lines", "How many lines to show.", type="int", default=50, short="-n", minimum=0, maximum=1_000_000
            ),
        ],
        result=array("object"),
        idempotent=True,
        mcp=False,
    ),
    Operation(
        "mesh.reload",
        "Make a peer read its configuration again, without losing its connection.",
        cli=["mesh", "reload"],
        local="it asks the peer",
        parameters=[MESH_SLUG, ALL],
        result=shape(
            "ReloadedPeers", items=array(shape("ReloadedPeer", slug="string", changed=array("string"), error="string"))
        ),
        mutating=True,
        idempotent=True,
        guard=False,
        mcp=False,
        no_consent="it reads the file that counts already",
    ),
    Operation(
        "mesh.metrics",
        "Print the metrics of a peer for Prometheus.",
        cli=["mesh", "metrics"],
        local="it asks the peer",
        parameters=[MESH_SLUG],
        result={"type": "string"},
        page=True,
        idempotent=True,
        mcp=False,
    ),
    Operation(
        "mesh.events",
        "Show what has happened at a peer, and what happens.",
        cli=["mesh", "events"],
        local="it reads the stream of the peer",
        parameters=[
            MESH_SLUG,
            Parameter("follow", "Go on with new events as they come.", type="bool", default=False, short="-f"),
            Parameter("since", "Only events after this cursor, or from this long ago: 10m.", default=""),
            Parameter("limit", "Only the last N of them.", type="int", short="-n", minimum=0, maximum=1_000_000),
            Parameter("kind", "Only events of this kind, such as message; repeatable.", multiple=True),
        ],
        result={"type": "object"},
        streaming=True,
        idempotent=True,
        mcp=False,
    ),
    Operation(
        "mesh.run",
        "Be the peer of a mesh in the foreground, for supervisors such as systemd.",
        cli=["mesh", "run"],
        local="it is the process that would serve it",
        parameters=[MESH_SLUG],
        result={"type": "string", "description": "Nothing: it ends with the peer."},
        page=True,
        mutating=True,
        guard=False,
        mcp=False,
        no_consent="it runs with the rights of the caller, and the daemon does nothing",
    ),
    Operation(
        "mesh.keys.export",
        "Write the identity of this member to a file, sealed with a passphrase.",
        cli=["mesh", "keys", "export"],
        local="the passphrase and the keys do not leave this process",
        parameters=[
            Parameter("path", "File to write; it must not exist yet.", required=True, positional=True, path=True),
            PASSPHRASE_FILE,
        ],
        client_parameters=[SLUG],
        seat_parameter=SLUG.name,
        result=shape("ExportedKeys", slug="string", member="string", path="string"),
        mutating=True,
        guard=False,
        mcp=False,
        consent=True,
    ),
    Operation(
        "mesh.keys.import",
        "Take an exported identity into this home, to move a member to another machine.",
        cli=["mesh", "keys", "import"],
        local="the passphrase and the keys do not leave this process",
        description="The peer that had it must not run any more: two peers with one identity would answer for each "
        "other. If the node runs, it starts the peer here, as after `covey mesh join`: `running` says whether it did.",
        parameters=[
            Parameter("path", "The exported file.", required=True, positional=True, path=True),
            PASSPHRASE_FILE,
            Parameter("slug", "Another slug than the one it was exported from.", content="id"),
        ],
        result=shape("ImportedKeys", slug="string", member="string", path="string", running="boolean"),
        mutating=True,
        guard=False,
        mcp=False,
        consent=True,
    ),
    Operation(
        "mesh.service.install",
        "Install a service that keeps this peer running, instead of the node.",
        cli=["mesh", "service", "install"],
        local="it talks to the system's service manager",
        parameters=[MESH_SLUG],
        result=SERVICE_CHANGE,
        mutating=True,
        idempotent=True,
        dry_run=True,
        guard=False,
        mcp=False,
        examples=[("covey mesh service install team --dry-run", "See the unit it would write", 0)],
        no_consent="it runs with the rights of the caller, and the daemon does nothing",
    ),
    Operation(
        "mesh.service.uninstall",
        "Remove the service of a peer; the node keeps it running again.",
        cli=["mesh", "service", "uninstall"],
        local="it talks to the system's service manager",
        parameters=[MESH_SLUG],
        result=SERVICE_CHANGE,
        mutating=True,
        idempotent=True,
        dry_run=True,
        guard=False,
        mcp=False,
        examples=[("covey mesh service uninstall team --dry-run", "See what it would remove", 0)],
        no_consent="it runs with the rights of the caller, and the daemon does nothing",
    ),
    Operation(
        "mesh.service.status",
        "Show whether a peer has a service, and whether that runs.",
        cli=["mesh", "service", "status"],
        local="it talks to the system's service manager",
        parameters=[MESH_SLUG],
        result=shape("PeerServiceStatus", installed="boolean", path="string", active="string"),
        idempotent=True,
        mcp=False,
    ),
)
