"""Files: shared with all members of a mesh or sealed for some, in chunks, and fetched again where they are needed."""

from __future__ import annotations

from covey.contract.event_kind import EventKind
from covey.contract.mesh_messages import peer_operation
from covey.contract.operation import Parameter, array, optional, shape

LONGEST_WAIT_S = 25
STATES = ["waiting", "hashing", "uploading", "downloading", "done", "failed"]
DIRECTIONS = ["up", "down"]
ID = Parameter("id", "The id of the file.", required=True, positional=True, content="id")
WAIT = Parameter(
    "wait_s",
    f"Answer when it is done, or after so many seconds (at most {LONGEST_WAIT_S}) with how far it is; it goes on.",
    type="float",
    default=0.0,
    minimum=0,
    maximum=LONGEST_WAIT_S,
)
DETACH = Parameter("detach", "Do not wait until it is done.", type="bool", default=False)
FILE = shape(
    "MeshFile",
    id="string",
    name="string",
    size="integer",
    sha256="string",
    message="string",
    author="string",
    author_name="string",
    to=array("string"),
    to_names=array("string"),
    at="string",
    expires_at=optional("string"),
)
"""`to` are the members for whom it is sealed; none: all members may read it."""
TRANSFER = shape(
    "MeshFileTransfer",
    transfer="string",
    id="string",
    direction={"type": "string", "enum": DIRECTIONS},
    state={"type": "string", "enum": STATES},
    name="string",
    path="string",
    size="integer",
    done_bytes="integer",
    reason="string",
    error="string",
    began_at="string",
    ended_at=optional("string"),
)
"""`id` is that of the file, `transfer` that of this transfer. `reason` says why it waits or has failed."""
SHARED = EventKind(
    "file_shared",
    "A file was shared that this member may read.",
    subject="id of the file",
    data=shape(**{name: value for name, value in FILE["properties"].items() if name != "id"}),
)
DELETED = EventKind(
    "file_deleted",
    "A file that this member could read was deleted, or has expired; `by` is who has removed it.",
    subject="id of the file",
    data=shape(author="string", by="string"),
)
TRANSFERRED = EventKind(
    "file_transferred",
    "A file was shared from here or fetched to here, or that has failed: see `state`.",
    subject="id of the transfer",
    data=shape(
        **{name: value for name, value in TRANSFER["properties"].items() if name not in ("began_at", "ended_at")}
    ),
)

GROUPS = {"mesh file": "Files that members of a mesh share."}
EVENTS = (SHARED, DELETED, TRANSFERRED)
OPERATIONS = (
    peer_operation(
        "mesh.file.share",
        "Share a file with the members of the mesh, or with some of them.",
        cli=["mesh", "file", "share"],
        method="POST",
        route="/v1/file/share",
        description="It is sealed and stored at the broker in chunks; what was interrupted goes on by itself, also "
        "after a crash. Those in `to` get a message with its id, and only they and you can read it; without `to` all "
        "members can. It is removed after some days (files.expire_days) unless it is persistent. Content that is at "
        "the broker already is not stored again.",
        when_to_use="Call it to give a file to agents on other machines: a build, a log, a picture.",
        parameters=[
            Parameter("path", "The file.", required=True, positional=True, path=True),
            Parameter("to", "@name, member key or @group; repeatable. All members without it.", multiple=True),
            Parameter("message", "A text for those who get it.", default="", content="raw"),
            Parameter("persistent", "Keep it until it is deleted.", type="bool", default=False),
            WAIT,
        ],
        client_parameters=[DETACH],
        result=TRANSFER,
        mutating=True,
        mcp=True,
        no_consent="who gets it is a member; see docs/mesh-security.md",
    ),
    peer_operation(
        "mesh.file.get",
        "Fetch a file that was shared.",
        cli=["mesh", "file", "get"],
        route="/v1/file/get",
        description="It is written into a partial file (mode 600) and gets its name when it is whole and its hash is "
        "right. What was interrupted goes on by itself. An existing file is not replaced without `force`.",
        when_to_use="Call it with the id from a message or from mesh.file.list; wait_s waits until the file is there.",
        parameters=[
            ID,
            Parameter(
                "out",
                "Where to write it: a file, or a folder in which it has its own name.",
                default=".",
                path=True,
                short="-o",
            ),
            Parameter("force", "Replace a file that is there.", type="bool", default=False, consent=True),
            WAIT,
        ],
        client_parameters=[DETACH],
        result=TRANSFER,
        mutating=True,
        mcp=True,
        no_consent="a file is fetched to a new path; to replace one is consent",
    ),
    peer_operation(
        "mesh.file.list",
        "List the files that are shared with you, the newest first.",
        cli=["mesh", "file", "list"],
        route="/v1/file/list",
        parameters=[
            Parameter("limit", "At most so many.", type="int", default=50, short="-n", minimum=1, maximum=1000),
            Parameter("before", "Older ones: the `next` of the answer before.", type="float"),
        ],
        result=shape("MeshFiles", items=array(FILE), next=optional("number")),
        idempotent=True,
        mcp=True,
        cold=True,
    ),
    peer_operation(
        "mesh.file.delete",
        "Delete a file that you have shared, for everybody.",
        cli=["mesh", "file", "delete"],
        method="POST",
        route="/v1/file/delete",
        description="It cannot be fetched from then on, and its chunks are removed from the broker by the peer of the "
        "mesh's authority. Copies that others have fetched stay where they are.",
        parameters=[ID],
        result=shape("MeshFileDeleted", id="string"),
        mutating=True,
        destructive=True,
        mcp=True,
        no_consent="a shared file is withdrawn",
    ),
    peer_operation(
        "mesh.file.status",
        "Show how far files are that are shared from here or fetched to here.",
        cli=["mesh", "file", "status"],
        route="/v1/file/status",
        parameters=[
            Parameter("transfer", "The id of one transfer; all without it.", positional=True, content="id"),
            WAIT,
        ],
        result=shape("MeshFileTransfers", items=array(TRANSFER)),
        idempotent=True,
        mcp=True,
    ),
)
LOCAL_OPERATIONS = ()
