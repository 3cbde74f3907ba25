"""The operations of the attention queue: what needs a person."""

from __future__ import annotations

from covey.contract.operation import Operation, Parameter, array, one_of, optional, shape

GROUPS = {"attention": "See what needs you, and close what is done."}

KINDS = ("approval", "question", "error", "beat", "other")
"""What an item is about, the most blocking first."""
ITEM_KIND = one_of("AttentionKind", KINDS)
ITEM_COMMAND = {"type": "string", "description": "The command that settles it."}
ITEM_FIELDS = {
    "id": "string",
    "key": "string",
    "kind": ITEM_KIND,
    "source": "string",
    "title": "string",
    "detail": "string",
    "data": {"type": "object", "description": "What else the asker gave, such as the beat and the run."},
    "opened_at": "string",
    "updated_at": "string",
    "times": "integer",
    "closed_at": optional("string"),
    "closed_why": "string",
    "command": ITEM_COMMAND,
}
ITEM = shape("AttentionItem", **ITEM_FIELDS, age_ms="integer")
CHANNEL = shape("NotificationChannel", name="string", kind="string", problem="string", held="integer")
ATTENTION_STATUS = shape(
    "AttentionStatus", open="integer", titles=array("string"), notify_problem="string", channels=array(CHANNEL)
)

OPERATIONS = (
    Operation(
        "attention.list",
        "List what needs you, the most blocking and longest waiting first.",
        cli=["attention", "list"],
        route="/v1/attention",
        aliases=["needs"],
        description="Everything that asked for a person and was neither settled nor closed since: approvals, then "
        "questions, errors, beats and the rest; of each kind the oldest first. Each item has the `command` that "
        "settles it. Asked again, it is the same item.",
        when_to_use="Call it to see whether anything waits for a person.",
        parameters=[
            Parameter("all", "Closed items too.", type="bool", default=False),
            Parameter("limit", "How many.", type="int", default=50, minimum=1, maximum=1000),
        ],
        result=shape("AttentionList", items=array(ITEM), open="integer"),
        idempotent=True,
    ),
    Operation(
        "attention.done",
        "Close an item: somebody has seen to it.",
        cli=["attention", "done"],
        method="POST",
        route="/v1/attention/done",
        description="Closes the item. If it is asked for again afterwards, a new one is opened. An agent that waits is "
        "answered in its pane: its item is closed by itself.",
        parameters=[
            Parameter(
                "item", "Id of an item, enough of its end to know it, or its key.", required=True, positional=True
            )
        ],
        result=ITEM,
        mutating=True,
        idempotent=True,
        guard=False,
        no_consent="the item is put away, and nothing is answered",
    ),
    Operation(
        "attention.test",
        "Send a test notification through every channel.",
        cli=["attention", "test"],
        method="POST",
        route="/v1/attention/test",
        description="Through `attention.notify` and every [[attention.channel]], whatever their rules say, and reports "
        "what came of it.",
        parameters=[],
        result=shape(
            "ChannelTest", items=array(shape("TestedChannel", name="string", kind="string", problem="string"))
        ),
        mutating=True,
        mcp=False,
        no_consent="it says on channels of the user that it is a test",
    ),
)
