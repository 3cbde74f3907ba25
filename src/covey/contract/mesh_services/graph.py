"""The graph: a property graph that all members of a mesh share, in Cypher."""

from __future__ import annotations

from covey.contract.event_kind import EventKind
from covey.contract.mesh_messages import peer_operation
from covey.contract.mesh_services.connection import CONNECTION
from covey.contract.operation import Parameter, array, optional, shape

COUNTERS = shape(
    "MeshGraphCounters",
    nodes_created="integer",
    nodes_deleted="integer",
    relationships_created="integer",
    relationships_deleted="integer",
    properties_set="integer",
    labels_added="integer",
)
RESULT = shape(
    "MeshGraphResult",
    rows=array({"type": "object"}),
    truncated="boolean",
    wrote="boolean",
    applied="boolean",
    counters=optional(COUNTERS),
    sequence="integer",
    caught_up="boolean",
    connection=CONNECTION,
)
"""A node is `{id, labels, properties}`, a relation `{id, type, start, end, properties}`.

`sequence` is how far this peer has applied the log; unless `caught_up`, there may be more, which without a
`connection` is not known. `applied` is false for a
write that is stored and not applied here yet."""
NOT_APPLIED = shape("MeshGraphNotApplied", sequence="integer", author="string", outcome="string", reason="string")
STATUS = shape(
    "MeshGraphStatus",
    engine="string",
    sequence="integer",
    caught_up="boolean",
    connection=CONNECTION,
    problem=optional("string"),
    nodes="integer",
    relationships="integer",
    entries="integer",
    failed="integer",
    not_applied=array(NOT_APPLIED),
    crashes="integer",
    digest="string",
)
"""Peers with the same `sequence` have the same `digest`."""
CHANGED = EventKind(
    "graph_changed",
    "Statements of members have changed the graph. It is told while this peer uses the graph.",
    subject="graph",
    data=shape(sequence="integer", statements="integer"),
)

GROUPS = {"mesh graph": "A property graph that all members of a mesh share."}
EVENTS = (CHANGED,)
OPERATIONS = (
    peer_operation(
        "mesh.graph.query",
        "Read or write the graph that all members share, in Cypher.",
        cli=["mesh", "graph", "query"],
        method="POST",
        route="/v1/graph/query",
        description="What only reads is answered by this peer's own replica, also without a connection. What writes is "
        "tried out, stored in the log of the mesh, and answered when this peer has applied it; every peer applies the "
        "log in the same order. Time and chance are bound by the writer, who may also use $__now and $__uuid. LOAD CSV "
        "is refused.",
        when_to_use="Call it to keep and find how things are related: who works on what, what depends on what.",
        parameters=[
            Parameter(
                "cypher",
                "The statement, such as MATCH (n:Task) RETURN n; - is standard input.",
                required=True,
                positional=True,
                content="raw",
            ),
            Parameter("params", "A JSON object with the values of $name.", type="object", content="raw"),
            Parameter(
                "limit", "At most so many rows.", type="int", default=1000, short="-n", minimum=1, maximum=10_000
            ),
            Parameter(
                "timeout_s",
                "How long a statement may take to read, or to be tried out, in seconds.",
                type="float",
                default=5.0,
                minimum=0,
                maximum=20,
            ),
        ],
        result=RESULT,
        mutating=True,
        mcp=True,
        cold=True,
        no_consent="shared data is never consent",
    ),
    peer_operation(
        "mesh.graph.status",
        "Show how large the graph is, how far this peer has applied its log, and what was not applied.",
        cli=["mesh", "graph", "status"],
        route="/v1/graph/status",
        result=STATUS,
        idempotent=True,
        cold=True,
    ),
)
LOCAL_OPERATIONS = ()
