"""The operation about the past of the fleet: its agents at a time, and whether their states follow from the signals."""

from __future__ import annotations

from covey.contract.fleet import OPERATIONS
from covey.contract.fleet_shapes import AGE, ROW, listing
from covey.contract.operation import Operation, Parameter, array, optional, shape

COUNT = {"type": "integer", "minimum": 0}
OUTCOME = shape("StateOutcome", state="string", reason="string", confidence="string", detail="string")
CHECK = shape(
    "ReplayCheck",
    schema_version="string",
    generated_at="string",
    since="string",
    matches="boolean",
    signals=COUNT,
    changes=COUNT,
    unknown=COUNT,
    mismatched=COUNT,
    late=COUNT,
    mismatches=array(
        shape(
            "ReplayMismatch",
            cursor="integer",
            runtime_id="string",
            at="string",
            why="string",
            recorded=optional(OUTCOME),
            derived=optional(OUTCOME),
        )
    ),
    latest=array(shape("LateChange", runtime_id="string", due="string", late_ms=AGE, derived=optional(OUTCOME))),
)

REPLAY = Operation(
    "replay",
    "Show the fleet as it was at a time, or check that its states follow from the recorded signals.",
    cli=["replay"],
    route="/v1/replay",
    description="With --at, the list of agents as `covey ps` showed it then, from the journal; ages count up to that "
    "time; title and place of a pane are those of its last change of state. With --check, every signal in the journal "
    "is evaluated again, and each recorded state must result again: `matches` says whether it did, `mismatches` where "
    "it did not; `late` counts changes that were due by time and recorded more than a second later (a machine that "
    "slept), `unknown` the agents that are older than the journal. Exit code 3: they do not match. How far back the "
    "journal reaches is set by events.max_days and events.max_mb.",
    when_to_use="Call it to see what the agents were doing at some time in the past.",
    parameters=[
        Parameter("at", "When: a time such as 2026-01-31T14:05:00Z, or how long ago: 10m."),
        Parameter("check", "Derive all states from the signals again, and compare.", type="bool", default=False),
        Parameter("since", "Check only what happened since then: a time, or how long ago."),
        *next(operation for operation in OPERATIONS if operation.name == "list.panes").parameters,
    ],
    result={"type": "object", "anyOf": [listing("PastAgentList", ROW, at="string"), CHECK]},
    idempotent=True,
    examples=[("covey replay --at 10m", "What was going on ten minutes ago?", 2)],
)
