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
)
GROUPS: dict[str, str] = {
    **kernel.GROUPS,
    **fleet.GROUPS,
    **actions.GROUPS,
    **policy.GROUPS,
    **dialogs.GROUPS,
    **beats.GROUPS,
    **attention.GROUPS,
    **keeper.GROUPS,
}

__all__ = ["API_VERSION", "GROUPS", "OPERATIONS", "Operation", "Parameter"]
