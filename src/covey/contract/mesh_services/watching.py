"""The verb `watch` of a service: it follows those events of the peer that are about the service."""

from __future__ import annotations

from covey.contract.operation import Operation, Parameter


def watching(service: str, summary: str) -> Operation:
    """Return the operation `mesh.<service>.watch`. It exists on the command line only."""
    return Operation(
        f"mesh.{service}.watch",
        summary,
        cli=["mesh", service, "watch"],
        local="it reads the stream of the peer",
        description="Programs read GET /v1/events with `kind` and `follow` instead.",
        parameters=[
            Parameter("mesh", "The slug of the mesh; needed if there are several.", content="id"),
            Parameter("since", "Also the events after this cursor, or from this long ago: 10m.", default=""),
        ],
        result={"type": "object"},
        streaming=True,
        idempotent=True,
        mcp=False,
    )
