"""The events of the fleet: agents, what their sources said, and the targets they run on."""

from __future__ import annotations

from covey.contract.event_kind import EventKind
from covey.contract.fleet_shapes import AGENT_RECORD, HEALTH, STATE, TARGET_KIND
from covey.contract.operation import Omittable, array, mapping, optional, shape

RULES = shape("StateRules", edge_ttl="number", settle="number", stands="number", completed_for="number")
CLAIM = shape(
    "Claim",
    source="string",
    state=STATE,
    at="number",
    level="boolean",
    strength="integer",
    reason="string",
    detail="string",
    previous="string",
    evidence="string",
    caveat="string",
    prompt_digest=Omittable("string"),
)
SIGNAL = shape(
    "Signal",
    runtime_id="string",
    source="string",
    dedupe_key="string",
    event_id="string",
    event_time="number",
    ingested_at="number",
    source_seq=optional("integer"),
    claim=optional(CLAIM),
)
HEALTH_RECORD = shape("TargetHealth", target="string", health=HEALTH, reason="string")
AGENT_CHANGE = shape("AgentChange", **AGENT_RECORD["properties"], previous=optional(STATE), late=Omittable("boolean"))

FLEET_STARTED = EventKind(
    "fleet.started",
    "The daemon begins to observe the fleet. It carries the rules for states, the targets, and the agents that the "
    "last daemon knew with what each source claimed; agents are left out if there are too many for one event.",
    data=shape(
        rules=RULES,
        targets=array(HEALTH_RECORD),
        rows=Omittable(array(AGENT_RECORD)),
        claims=Omittable(mapping(array(CLAIM))),
        cursors=Omittable(mapping(array(SIGNAL))),
    ),
)
FLEET_STOPPED = EventKind("fleet.stopped", "The daemon no longer observes the fleet.")
FLEET_PICTURE = EventKind(
    "fleet.picture",
    "The whole fleet at once, and what it follows from: whoever reads the journal can begin here. With `gap`, events "
    "before it could not be written.",
    data=shape(
        rules=RULES,
        targets=array(HEALTH_RECORD),
        rows=array(AGENT_RECORD),
        claims=mapping(array(CLAIM)),
        cursors=mapping(array(SIGNAL)),
        gap="boolean",
    ),
)
AGENT_STARTED = EventKind(
    "agent.started",
    "A new agent was seen. With `late`, its start could not be written when it was seen.",
    subject="runtime_id",
    data=AGENT_CHANGE,
)
AGENT_STATE = EventKind(
    "agent.state",
    "An agent's state, reason, detail or confidence has changed. `previous` is the state before.",
    subject="runtime_id",
    data=AGENT_CHANGE,
)
AGENT_ENDED = EventKind(
    "agent.ended",
    "An agent has ended, or is no longer observed. `why` says which.",
    subject="runtime_id",
    data=shape(**AGENT_RECORD["properties"], previous=STATE, why="string"),
)
AGENT_SIGNAL = EventKind(
    "agent.signal",
    "A source said something about an agent. Without a claim it has nothing to say any more. What is not `applied` "
    "came too late to count, or is `only_claimed`: an unverified hook, while a request of the agent was held.",
    subject="runtime_id",
    data=shape(**SIGNAL["properties"], applied="boolean", only_claimed=Omittable("boolean")),
)
TARGET_ADDED = EventKind(
    "target.added",
    "A target is observed from now on.",
    subject="target",
    data=shape(**HEALTH_RECORD["properties"], kind=TARGET_KIND),
)
TARGET_REMOVED = EventKind(
    "target.removed", "A target is no longer observed.", subject="target", data=shape(target="string")
)
TARGET_HEALTH = EventKind(
    "target.health",
    "A target can be reached better or worse than before, or the reason has changed.",
    subject="target",
    data=shape(**HEALTH_RECORD["properties"], previous=HEALTH),
)

EVENTS = (
    FLEET_STARTED,
    FLEET_STOPPED,
    FLEET_PICTURE,
    AGENT_STARTED,
    AGENT_STATE,
    AGENT_ENDED,
    AGENT_SIGNAL,
    TARGET_ADDED,
    TARGET_REMOVED,
    TARGET_HEALTH,
)
