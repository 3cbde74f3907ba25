"""Reminders: messages that come at a time, to this member or to others."""

from __future__ import annotations

from covey.contract.event_kind import EventKind
from covey.contract.mesh_messages import peer_operation
from covey.contract.mesh_services.holding import AS_AGENT, HOLDER
from covey.contract.operation import Parameter, array, optional, shape

REMINDER = shape(
    "MeshReminder",
    id="string",
    message="string",
    to="string",
    at=optional("string"),
    cron=optional("string"),
    tz="string",
    next_at=optional("string"),
    created_by=HOLDER,
    created_at="string",
    private="boolean",
)
"""`at` or `cron` says when. `next_at` is null when it does not come any more. `private`: it is for this member alone,
and no other can read it."""
FIRED = EventKind(
    "reminder_fired",
    "A reminder has come: its message is in the inbox. `late_s`: so many seconds after it was due, because this peer "
    "did not run; `missed`: so many earlier times passed meanwhile.",
    subject="id",
    data=shape(
        id="string",
        message="string",
        due_at="string",
        late_s="number",
        missed="integer",
        by=HOLDER,
        message_id="string",
    ),
)

GROUPS = {"mesh reminder": "Messages that come at a time."}
EVENTS = (FIRED,)
OPERATIONS = (
    peer_operation(
        "mesh.remind",
        "Have a message come at a time: to you, to another member, a group or everybody.",
        cli=["mesh", "remind"],
        method="POST",
        route="/v1/scheduling/remind",
        description="It comes into the inbox of each recipient, by its own peer, also without a connection then. Times "
        "that pass while that peer does not run are made up for by one message, which says how late it is.",
        when_to_use="Call it to be told, or to tell others, something later.",
        parameters=[
            Parameter("message", "What it says.", required=True, positional=True, content="raw"),
            Parameter("in", "After so long, such as 90m.", content="text"),
            Parameter(
                "at", "At this time, such as 2026-01-31T14:05:00Z; without a zone in that of tz.", content="text"
            ),
            Parameter("cron", "At the times of this cron expression, such as '0 9 * * 1-5'.", content="text"),
            Parameter(
                "tz",
                "The time zone of at and cron, such as Europe/Berlin; without it that of the peer's machine.",
                content="text",
            ),
            Parameter("to", "@name, @name/agent, @group or * for everybody; without it, you.", content="text"),
            AS_AGENT,
        ],
        result=REMINDER,
        mutating=True,
        mcp=True,
        cold=True,
        no_consent="a reminder is a message",
    ),
    peer_operation(
        "mesh.reminder.list",
        "List reminders, the next one first.",
        cli=["mesh", "reminders"],
        route="/v1/scheduling/reminders",
        parameters=[
            Parameter("limit", "At most so many.", type="int", default=100, short="-n", minimum=1, maximum=1000)
        ],
        result=shape("MeshReminders", items=array(REMINDER), more="boolean"),
        idempotent=True,
        mcp=True,
        cold=True,
    ),
    peer_operation(
        "mesh.reminder.cancel",
        "Cancel a reminder of yours.",
        cli=["mesh", "reminder", "cancel"],
        method="POST",
        route="/v1/scheduling/cancel",
        parameters=[Parameter("id", "The id of the reminder.", required=True, positional=True, content="id")],
        result=REMINDER,
        mutating=True,
        mcp=True,
        cold=True,
        no_consent="a reminder is a message",
    ),
)
LOCAL_OPERATIONS = ()
