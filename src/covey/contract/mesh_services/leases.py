"""Leases: names and files that one agent at a time works on, so that others leave them alone."""

from __future__ import annotations

from covey.contract.event_kind import EventKind
from covey.contract.mesh_messages import peer_operation
from covey.contract.mesh_services.holding import AS_AGENT, HOLDER, WAIT, ttl
from covey.contract.mesh_services.watching import watching
from covey.contract.operation import Parameter, array, optional, shape

LEASE = shape(
    "MeshLease", name="string", holder=HOLDER, note="string", acquired_at="string", until="string", revision="integer"
)
"""`name` is the canonical one: all hosts that mean the same file of a repository have the same."""
NAME = Parameter("name", "A name of your choice, such as deploy/web.", positional=True, content="text")
PATH = Parameter(
    "path",
    "A file instead of a name. In a git repository it is named by the repository and the path in it, so that other "
    "hosts mean the same.",
    path=True,
    content="raw",
)
LEASE_TTL = ttl("10m")
_EVENT = {"name": "string", "holder": HOLDER, "note": "string"}
ACQUIRED = EventKind(
    "lease_acquired", "Somebody has a lease now.", subject="name", data=shape(**_EVENT, until="string")
)
RELEASED = EventKind("lease_released", "A lease was given back.", subject="name", data=shape(**_EVENT))

GROUPS = {"mesh lease": "Names and files that one agent at a time works on."}
EVENTS = (ACQUIRED, RELEASED)
OPERATIONS = (
    peer_operation(
        "mesh.lease.acquire",
        "Acquire a lease on a name or a file: of several who do so, exactly one gets it.",
        cli=["mesh", "lease", "acquire"],
        method="POST",
        route="/v1/lease/acquire",
        description="It is advice: nothing is locked, and whoever asks first is told who has it. It ends when it is "
        "released or its time is over. If somebody else has it, that is a conflict that says who and until when.",
        when_to_use="Call it before you change files that other agents may change too.",
        parameters=[
            NAME,
            PATH,
            LEASE_TTL,
            Parameter("note", "What you do, for others to see.", default="", content="text"),
            WAIT,
            AS_AGENT,
        ],
        result=LEASE,
        mutating=True,
        mcp=True,
        cold=True,
        no_consent="a lease is advice",
    ),
    peer_operation(
        "mesh.lease.renew",
        "Keep a lease for longer.",
        cli=["mesh", "lease", "renew"],
        method="POST",
        route="/v1/lease/renew",
        parameters=[NAME, PATH, LEASE_TTL, AS_AGENT],
        result=LEASE,
        mutating=True,
        mcp=True,
        cold=True,
        no_consent="a lease is advice",
    ),
    peer_operation(
        "mesh.lease.release",
        "Give a lease back.",
        cli=["mesh", "lease", "release"],
        method="POST",
        route="/v1/lease/release",
        parameters=[NAME, PATH, AS_AGENT],
        result=LEASE,
        mutating=True,
        mcp=True,
        cold=True,
        no_consent="a lease is advice",
    ),
    peer_operation(
        "mesh.lease.list",
        "List the leases that somebody has now, by name.",
        cli=["mesh", "leases"],
        route="/v1/lease/list",
        when_to_use="Call it to see what other agents work on.",
        parameters=[
            Parameter("prefix", "Names that begin so.", default="", positional=True),
            Parameter("after", "Names after this one: the `next` of the answer before.", default=""),
            Parameter("limit", "At most so many.", type="int", default=100, short="-n", minimum=1, maximum=1000),
        ],
        result=shape("MeshLeases", items=array(LEASE), next=optional("string")),
        idempotent=True,
        mcp=True,
        cold=True,
    ),
)
LOCAL_OPERATIONS = (watching("lease", "Show who acquires and releases leases, as it happens."),)
