"""The shapes of what the operations of the fleet return."""

from __future__ import annotations

from covey.contract.approvals import PRESENCE
from covey.contract.operation import Omittable, array, mapping, one_of, optional, shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STATES = ["error", "waiting_approval", "waiting_input", "running", "completed", "idle", "unknown"]
"""The states of an agent, by precedence; `covey.fleet.state.model` has them as a type."""
STATE = one_of("AgentState", STATES)
CONFIDENCE = one_of("Confidence", ["high", "medium", "low"])
HEALTH = one_of("Health", ["ok", "degraded", "down"])
TARGET_KIND = one_of("TargetKind", ["local", "ssh"])
AGE = {"type": "integer", "minimum": 0}
COUNTS = mapping("integer")

RECORDED_EVIDENCE = shape("RecordedEvidence", source="string", state=STATE, evidence="string", at="string")
EVIDENCE = shape("Evidence", **RECORDED_EVIDENCE["properties"], age_ms=AGE)
DETAILED_EVIDENCE = shape("DetailedEvidence", **EVIDENCE["properties"], detail="string")
OVERRULED_EVIDENCE = shape("OverruledEvidence", **DETAILED_EVIDENCE["properties"], why="string")

_AGENT = {
    "identity": shape("PaneIdentity", target="string", session_name="string", window_id="string", pane_id="string"),
    "ref": "string",
    "runtime_id": "string",
    "agent": "string",
    "state": STATE,
    "reason": "string",
    "confidence": CONFIDENCE,
    "since": "string",
    "as_of": "string",
    "detail": "string",
    "cwd": "string",
    "pid": optional("integer"),
    "window_name": "string",
    "window_index": "integer",
    "pane_index": "integer",
    "title": "string",
    "socket": "string",
    "version": "string",
    "version_note": "string",
    "server": "string",
    "state_version": "integer",
    "needs_action": "boolean",
}
AGENT_RECORD = shape("AgentRecord", **_AGENT, evidence=array(RECORDED_EVIDENCE))
"""An agent at the time of an event, without ages."""
WATCHED_AGENT = shape("WatchedAgent", **_AGENT, evidence=array(RECORDED_EVIDENCE), age_ms=AGE)
"""An agent in a stream: its evidence has ages in a snapshot, but not in a change."""
ROW = shape("AgentRow", **_AGENT, evidence=array(EVIDENCE), age_ms=AGE)

_ROLLUP = {
    "top_state": STATE,
    "age_ms": AGE,
    "needs_action": "boolean",
    "total": "integer",
    "waiting": "integer",
    "running": "integer",
    "by_state": COUNTS,
}
AGENT_BRIEF = shape(
    "AgentBrief",
    pane_id="string",
    runtime_id="string",
    agent="string",
    state=STATE,
    reason="string",
    confidence=CONFIDENCE,
    detail="string",
    ref="string",
    age_ms=AGE,
)
WINDOW = shape(
    "Window",
    identity=shape("WindowIdentity", target="string", session_name="string", window_id="string"),
    socket="string",
    window_name="string",
    window_index="integer",
    **_ROLLUP,
    agents=Omittable(array(AGENT_BRIEF)),
)
SESSION = shape(
    "Session",
    identity=shape("SessionIdentity", target=optional("string"), session_name="string"),
    socket=optional("string"),
    **_ROLLUP,
    targets=array(shape("TargetRollup", target="string", **_ROLLUP)),
    agents=Omittable(array(shape("AgentKindRollup", agent="string", **_ROLLUP))),
)
SUMMARY = shape(
    "FleetSummary", total="integer", needs_action="integer", by_state=COUNTS, by_agent=COUNTS, by_target=COUNTS
)
FILTERS = shape(
    "Filters",
    target="string",
    target_session="string",
    session="string",
    socket="string",
    cwd="string",
    state=array(STATE),
    agent_type=array("string"),
    needs_action="boolean",
)
NODE = {
    "type": "string",
    "description": "The Covey on that machine: `ok` and its version if it reports hooks and files, otherwise `none`.",
}
TARGET = shape("Target", target="string", health=HEALTH, reason="string", sockets=array("string"), node=NODE)
KNOWN_TARGET = shape(
    "ConfiguredTarget",
    target="string",
    kind=TARGET_KIND,
    ssh_target="string",
    is_default="boolean",
    health=HEALTH,
    reason="string",
    node=NODE,
    last_seen_at=optional("string"),
)
FLEET_STATUS = shape("FleetStatus", targets=array(TARGET), summary=SUMMARY, presence=PRESENCE, approvals="integer")


def listing(name: str, item: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return the named shape of a list of `item`."""
    return shape(
        name,
        schema_version="string",
        generated_at="string",
        filters=FILTERS,
        summary=SUMMARY,
        targets=array(TARGET),
        items=array(item),
        **more,
    )
