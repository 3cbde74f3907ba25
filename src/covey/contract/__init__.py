"""Everything Covey can do, declared once.

Routes, command line verbs, OpenAPI, schemas and reference pages all come from this table. The events are in
`covey.contract.events`.
"""

from __future__ import annotations

from covey.contract import (
    actions,
    approvals,
    attention,
    beats,
    dialogs,
    fleet,
    fleet_shapes,
    keeper,
    kernel,
    mcp,
    mesh,
    mesh_shapes,
    navigation,
    policy,
    replay,
)
from covey.contract.operation import Operation, Parameter

API_VERSION = "1"

OPERATIONS: tuple[Operation, ...] = (
    *kernel.with_status(
        {
            "fleet": fleet_shapes.FLEET_STATUS,
            "attention": attention.ATTENTION_STATUS,
            "beats": beats.BEATS_STATUS,
            "keeper": keeper.KEEPER_STATUS,
            "mcp": mcp.MCP_STATUS,
            "mesh": mesh_shapes.MESH_STATUS,
        }
    ),
    *fleet.OPERATIONS,
    replay.REPLAY,
    *actions.OPERATIONS,
    *approvals.OPERATIONS,
    *policy.OPERATIONS,
    *dialogs.OPERATIONS,
    *beats.OPERATIONS,
    *attention.OPERATIONS,
    *keeper.OPERATIONS,
    *navigation.OPERATIONS,
    *mcp.OPERATIONS,
    *mesh.OPERATIONS,
)
NODE_OPERATIONS: tuple[Operation, ...] = tuple(operation for operation in OPERATIONS if operation.served_by == "node")
"""What the node serves, and what is local. Other daemons may have operations at the same routes."""
GROUPS: dict[str, str] = {
    **kernel.GROUPS,
    **fleet.GROUPS,
    **actions.GROUPS,
    **policy.GROUPS,
    **dialogs.GROUPS,
    **beats.GROUPS,
    **attention.GROUPS,
    **keeper.GROUPS,
    **mesh.GROUPS,
}
"""What the words that begin several commands stand for."""

__all__ = ["API_VERSION", "GROUPS", "NODE_OPERATIONS", "OPERATIONS", "Operation", "Parameter"]
