"""State: values under keys, shared by all members of a mesh or kept for this member alone."""

from __future__ import annotations

from covey.contract.event_kind import EventKind
from covey.contract.mesh_messages import peer_operation
from covey.contract.mesh_services.watching import watching
from covey.contract.operation import Parameter, array, optional, shape

SCOPES = ["mesh", "member"]
SCOPE = Parameter(
    "scope",
    "mesh: all members share it; member: it is sealed for this member alone, on all its hosts.",
    enum=SCOPES,
    default="mesh",
)
KEY = Parameter("key", "The key, such as deploy/web/version.", required=True, positional=True, content="text")
EXPECT = Parameter(
    "expect",
    "Only if the value still has this revision; 0: only if there is none. Otherwise it is a conflict.",
    type="int",
    minimum=0,
)
ENTRY = shape(
    "MeshStateEntry",
    key="string",
    scope={"type": "string", "enum": SCOPES},
    value={},
    revision="integer",
    author="string",
    author_name="string",
    at="string",
)
"""`revision` grows with every change of any document of the mesh; `author` is who wrote this value."""
CHANGED = EventKind(
    "state_changed",
    "A value of the shared state has changed, or was deleted: then `value` is null and `deleted` true.",
    subject="key",
    data=shape(
        key="string",
        scope={"type": "string", "enum": SCOPES},
        value={},
        deleted="boolean",
        revision="integer",
        author="string",
        author_name="string",
    ),
)

GROUPS = {"mesh state": "Values under keys that all members of a mesh share."}
EVENTS = (CHANGED,)
OPERATIONS = (
    peer_operation(
        "mesh.state.set",
        "Set a value of the state that all members share.",
        cli=["mesh", "state", "set"],
        method="POST",
        route="/v1/state/set",
        description="The value is any JSON value of at most 256 KB; on the command line it is text, or JSON with "
        "--as-json. With `expect` it is set only if nobody has changed it since it was read.",
        when_to_use="Call it to leave a value where every agent of the mesh finds it.",
        parameters=[
            KEY,
            Parameter(
                "value", "The value; - is standard input.", type="json", required=True, positional=True, content="raw"
            ),
            SCOPE,
            EXPECT,
        ],
        client_parameters=[Parameter("as_json", "The value is JSON, not text.", type="bool", default=False)],
        result=ENTRY,
        mutating=True,
        mcp=True,
        cold=True,
        no_consent="shared data is never consent",
    ),
    peer_operation(
        "mesh.state.get",
        "Return a value of the shared state.",
        cli=["mesh", "state", "get"],
        route="/v1/state/get",
        description="It is read from the replica of this peer: at once, also without a connection.",
        when_to_use="Call it to read what another agent has left under a key.",
        parameters=[KEY, SCOPE],
        result=ENTRY,
        idempotent=True,
        mcp=True,
        cold=True,
    ),
    peer_operation(
        "mesh.state.list",
        "List the values of the shared state, by key.",
        cli=["mesh", "state", "list"],
        route="/v1/state/list",
        parameters=[
            Parameter("prefix", "Keys that begin so.", default="", positional=True),
            Parameter("scope", "Of the mesh, of this member, or both without it.", enum=SCOPES),
            Parameter("after", "Keys after this one: the `next` of the answer before.", default=""),
            Parameter("limit", "At most so many.", type="int", default=100, short="-n", minimum=1, maximum=1000),
        ],
        result=shape("MeshState", items=array(ENTRY), next=optional("string")),
        idempotent=True,
        mcp=True,
        cold=True,
    ),
    peer_operation(
        "mesh.state.delete",
        "Delete a value of the shared state.",
        cli=["mesh", "state", "delete"],
        method="POST",
        route="/v1/state/delete",
        parameters=[KEY, SCOPE, EXPECT],
        result=shape("MeshStateDeleted", key="string", scope={"type": "string", "enum": SCOPES}, revision="integer"),
        mutating=True,
        mcp=True,
        cold=True,
        no_consent="shared data is never consent",
    ),
)
LOCAL_OPERATIONS = (watching("state", "Show how values of the shared state change, as they change."),)
