"""What the operations of the fleet answer with."""

from __future__ import annotations

from covey.contract.operation import array, optional, shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STATES = ["error", "waiting_approval", "waiting_input", "running", "completed", "idle", "unknown"]
STATE = {"type": "string", "enum": STATES}
HEALTH = {"type": "string", "enum": ["ok", "degraded", "down"]}
AGE = {"type": "integer", "minimum": 0}
COUNTS = {"type": "object", "additionalProperties": {"type": "integer"}}

EVIDENCE = shape(source="string", state=STATE, evidence="string", at="string", age_ms=AGE)
CLAIM = shape(**EVIDENCE["properties"], detail="string")
ROW = shape(
    identity=shape(target="string", session_name="string", window_id="string", pane_id="string"),
    ref="string",
    runtime_id="string",
    agent="string",
    state=STATE,
    reason="string",
    confidence={"type": "string", "enum": ["high", "medium", "low"]},
    since="string",
    age_ms=AGE,
    as_of="string",
    detail="string",
    cwd="string",
    pid=optional("integer"),
    window_name="string",
    window_index="integer",
    pane_index="integer",
    title="string",
    socket="string",
    version="string",
    version_note="string",
    server="string",
    state_version="integer",
    needs_action="boolean",
    evidence=array(EVIDENCE),
)
ROLLUP = {
    "top_state": STATE,
    "age_ms": AGE,
    "needs_action": "boolean",
    "total": "integer",
    "waiting": "integer",
    "running": "integer",
    "by_state": COUNTS,
}
WINDOW = shape(
    identity=shape(target="string", session_name="string", window_id="string"),
    socket="string",
    window_name="string",
    window_index="integer",
    **ROLLUP,
)
SESSION = shape(
    identity=shape(target=optional("string"), session_name="string"),
    socket=optional("string"),
    **ROLLUP,
    targets=array(shape(target="string", **ROLLUP)),
)
SUMMARY = shape(total="integer", needs_action="integer", by_state=COUNTS, by_agent=COUNTS, by_target=COUNTS)
NODE = {
    "type": "string",
    "description": "The Covey on that machine: `ok` and its version if it tells of hooks and files, else `none`.",
}
TARGET = shape(target="string", health=HEALTH, reason="string", sockets=array("string"), node=NODE)
KNOWN_TARGET = shape(
    target="string",
    kind={"type": "string", "enum": ["local", "ssh"]},
    ssh_target="string",
    is_default="boolean",
    health=HEALTH,
    reason="string",
    node=NODE,
    last_seen_at=optional("string"),
)


def listing(item: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The answer of a list."""
    return shape(
        schema_version="string",
        generated_at="string",
        filters="object",
        summary=SUMMARY,
        targets=array(TARGET),
        items=array(item),
        **more,
    )
