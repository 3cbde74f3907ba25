"""The operations of the attention queue: what needs a person."""

from __future__ import annotations

from covey.contract.operation import Operation, Parameter, array, optional, shape

GROUPS = {"attention": "See what needs you, and put away what is done."}

ITEM = shape(
    id="string",
    key="string",
    source="string",
    title="string",
    detail="string",
    data={"type": "object", "description": "What else the asker said, such as the beat and the run."},
    opened_at="string",
    updated_at="string",
    times="integer",
    closed_at=optional("string"),
    closed_why="string",
    age_ms="integer",
)

OPERATIONS = (
    Operation(
        "attention.list",
        "List what needs you, the latest first.",
        cli=["attention", "list"],
        route="/v1/attention",
        aliases=["needs"],
        description="What has asked for a person and has not been settled or done since. Asked again, it is the same item.",
        when_to_use="Call it to see whether anything waits for a person.",
        parameters=[
            Parameter("all", "Those that are closed too.", type="bool", default=False),
            Parameter("limit", "How many.", type="int", default=50, minimum=1, maximum=1000),
        ],
        result=shape(items=array(ITEM), open="integer"),
        idempotent=True,
    ),
    Operation(
        "attention.done",
        "Put an item away: somebody has seen to it.",
        cli=["attention", "done"],
        method="POST",
        route="/v1/attention/done",
        description="Closes the item. What asks again afterwards opens a new one. An agent that waits is answered in its pane: its item goes by itself.",
        parameters=[
            Parameter(
                "item", "Id of an item, enough of its end to know it, or its key.", required=True, positional=True
            )
        ],
        result=ITEM,
        mutating=True,
        idempotent=True,
        guard=False,
    ),
)
