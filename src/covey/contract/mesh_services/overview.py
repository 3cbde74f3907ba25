"""What the services of a mesh keep, and how it is taken out and brought in again."""

from __future__ import annotations

from covey.contract.mesh_messages import peer_operation
from covey.contract.mesh_services.connection import CONNECTION
from covey.contract.operation import Operation, Parameter, array, shape

SERVICE_USAGE = shape("MeshServiceUsage", name="string", documents="integer", bytes="integer")
OVERVIEW = shape(
    "MeshServices",
    items=array(SERVICE_USAGE),
    documents="integer",
    bytes="integer",
    caught_up="boolean",
    refused="integer",
    digest="string",
    connection=CONNECTION,
)
"""`caught_up`: the replica has what the broker had when the last connection was made. `refused` counts messages that
were no documents of members. Peers that are caught up have the same `digest`."""
SERVICE = Parameter("service", "Only this service, such as memory; repeatable.", multiple=True)

GROUPS = {"mesh services": "What the members of a mesh share, in all services."}
EVENTS = ()
OPERATIONS = (
    peer_operation(
        "mesh.services.list",
        "Show what each service keeps, and whether the replica here is complete.",
        cli=["mesh", "services", "list"],
        route="/v1/services",
        result=OVERVIEW,
        idempotent=True,
        cold=True,
    ),
    peer_operation(
        "mesh.services.export",
        "Write what the members share to a file, a JSON object in each line.",
        cli=["mesh", "services", "export"],
        method="POST",
        route="/v1/services/export",
        description="The file has the values in the clear, and only you can read it. What this member keeps for itself "
        "alone is in it too.",
        parameters=[
            Parameter("path", "File to write; it must not exist yet.", required=True, positional=True, path=True),
            SERVICE,
        ],
        result=shape("MeshExport", path="string", documents="integer"),
        mutating=True,
        no_consent="it writes a new file of what the caller can read",
    ),
    peer_operation(
        "mesh.services.import",
        "Share what such a file holds, as this member.",
        cli=["mesh", "services", "import"],
        method="POST",
        route="/v1/services/import",
        description="What is there already with the same value is left as it is. What is there with another value is "
        "left too, and counted, unless --replace is given. Reminders become this member's. Skipped is what makes no "
        "sense here: reminders that are past or for somebody who is not here, leases of others. Skills, tools, files "
        "and the graph are not in such files.",
        parameters=[
            Parameter("path", "File that was exported.", required=True, positional=True, path=True),
            SERVICE,
            Parameter("replace", "Replace what is there with another value.", type="bool", default=False),
        ],
        result=shape("MeshImport", written="integer", same="integer", left="integer", skipped="integer"),
        mutating=True,
        consent=True,
    ),
)
LOCAL_OPERATIONS: tuple[Operation, ...] = ()
