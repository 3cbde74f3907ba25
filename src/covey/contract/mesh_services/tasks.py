"""Tasks: work that the members of a mesh hand to each other, each done by exactly one."""

from __future__ import annotations

from covey.contract.event_kind import EventKind
from covey.contract.mesh_messages import peer_operation
from covey.contract.mesh_services.holding import AS_AGENT, HOLDER, WAIT, ttl
from covey.contract.mesh_services.watching import watching
from covey.contract.mesh_shapes import PRIORITIES, PRIORITY
from covey.contract.operation import Parameter, array, one_of, optional, shape

STATUSES = ["open", "claimed", "completed", "failed"]
STATUS = one_of("MeshTaskStatus", STATUSES)
TASK = shape(
    "MeshTask",
    id="string",
    title="string",
    description="string",
    status=STATUS,
    priority=PRIORITY,
    tags=array("string"),
    assignee=optional("string"),
    depends_on=array("string"),
    blocked_by=array("string"),
    created_by=HOLDER,
    created_at="string",
    claimed_by=optional(HOLDER),
    until=optional("string"),
    claims="integer",
    result={},
    reason="string",
    ended_by=optional(HOLDER),
    ended_at=optional("string"),
    revision="integer",
)
"""`blocked_by`: tasks that have to be completed before. `until` is when the claim expires, `claims` how often it was
claimed. `result` is what `complete` was given, `reason` what `fail` was."""
ID = Parameter("id", "The id of the task.", required=True, positional=True, content="id")
TAGS = Parameter("tags", "A word to find it by; repeatable.", multiple=True, content="text")
CLAIM_TTL = ttl("30m")
_EVENT = {"title": "string", "priority": PRIORITY, "tags": array("string"), "assignee": optional("string")}
_WHO = {"by": HOLDER, "revision": "integer"}
CREATED = EventKind("task_created", "There is a new task.", subject="id", data=shape(id="string", **_EVENT, **_WHO))
ASSIGNED = EventKind(
    "task_assigned",
    "A task is assigned to somebody now; `yours`: to this member, or to a group that it is in.",
    subject="id",
    data=shape(id="string", **_EVENT, yours="boolean", description="string", **_WHO),
)
CLAIMED = EventKind(
    "task_claimed",
    "Somebody has begun to work on a task.",
    subject="id",
    data=shape(id="string", title="string", until="string", **_WHO),
)
COMPLETED = EventKind(
    "task_completed",
    "A task is done.",
    subject="id",
    data=shape(id="string", title="string", result={}, **_WHO),
)
FAILED = EventKind(
    "task_failed",
    "A task was given up; tasks that depend on it wait until it is released.",
    subject="id",
    data=shape(id="string", title="string", reason="string", **_WHO),
)
RELEASED = EventKind(
    "task_released",
    "A task is open again: its claim was given back, or it is to be tried again.",
    subject="id",
    data=shape(id="string", title="string", **_WHO),
)

GROUPS = {"mesh task": "Work that members hand to each other, each done by one."}
EVENTS = (CREATED, ASSIGNED, CLAIMED, COMPLETED, FAILED, RELEASED)
OPERATIONS = (
    peer_operation(
        "mesh.task.create",
        "Create a task that a member of the mesh or its agent can claim.",
        cli=["mesh", "task", "create"],
        method="POST",
        route="/v1/task/create",
        when_to_use="Call it to hand work to others: whoever claims it first does it.",
        parameters=[
            Parameter("title", "What is to be done, on one line.", required=True, positional=True, content="text"),
            Parameter("description", "What one has to know to do it.", default="", content="raw"),
            Parameter("assignee", "Only for @name, @name/agent or @group; without it, for anybody.", content="text"),
            Parameter(
                "priority",
                "now: before all others, next: as they come, low: when there is nothing else.",
                enum=PRIORITIES,
                default="next",
            ),
            TAGS,
            Parameter(
                "depends_on",
                "The id of a task that has to be completed before; repeatable.",
                multiple=True,
                content="id",
            ),
            AS_AGENT,
        ],
        result=TASK,
        mutating=True,
        mcp=True,
        cold=True,
        no_consent="a task is a wish, and never consent",
    ),
    peer_operation(
        "mesh.task.take",
        "Claim the best open task: by priority, then the oldest one.",
        cli=["mesh", "task", "take"],
        method="POST",
        route="/v1/task/take",
        description="Tasks that are assigned to somebody else or wait for others are left out. The claim expires "
        "unless it is renewed; then somebody else may take the task. Without a task, `task` is null and the counts "
        "say why; the command line then exits with 5.",
        when_to_use="Call it to get your next task; complete, fail or release it when you are done with it.",
        parameters=[
            Parameter("tags", "Only with this tag; repeatable, all have to match.", multiple=True),
            CLAIM_TTL,
            WAIT,
            AS_AGENT,
        ],
        result=shape("MeshTaskTaken", task=optional(TASK), open="integer", blocked="integer", claimed="integer"),
        mutating=True,
        mcp=True,
        cold=True,
        no_consent="a task is a wish, and never consent",
    ),
    peer_operation(
        "mesh.task.claim",
        "Claim a task: of several who do so, exactly one gets it.",
        cli=["mesh", "task", "claim"],
        method="POST",
        route="/v1/task/claim",
        description="A task that is claimed already is a conflict that says by whom and until when.",
        parameters=[ID, CLAIM_TTL, AS_AGENT],
        result=TASK,
        mutating=True,
        mcp=True,
        cold=True,
        no_consent="a task is a wish, and never consent",
    ),
    peer_operation(
        "mesh.task.renew",
        "Keep a claimed task for longer.",
        cli=["mesh", "task", "renew"],
        method="POST",
        route="/v1/task/renew",
        when_to_use="Call it while you still work on a task, before its claim expires.",
        parameters=[ID, CLAIM_TTL, AS_AGENT],
        result=TASK,
        mutating=True,
        mcp=True,
        cold=True,
        no_consent="a task is a wish, and never consent",
    ),
    peer_operation(
        "mesh.task.complete",
        "Say that a task is done, with its result.",
        cli=["mesh", "task", "complete"],
        method="POST",
        route="/v1/task/complete",
        description="It has to be claimed by the caller, or by nobody.",
        parameters=[
            ID,
            Parameter(
                "result", "What came of it: any JSON value, text on the command line.", type="json", positional=True
            ),
            AS_AGENT,
        ],
        result=TASK,
        mutating=True,
        mcp=True,
        cold=True,
        no_consent="a task is a wish, and never consent",
    ),
    peer_operation(
        "mesh.task.fail",
        "Give a task up: it cannot be done, or is not wanted any more.",
        cli=["mesh", "task", "fail"],
        method="POST",
        route="/v1/task/fail",
        parameters=[ID, Parameter("reason", "Why.", default="", positional=True, content="raw"), AS_AGENT],
        result=TASK,
        mutating=True,
        mcp=True,
        cold=True,
        no_consent="a task is a wish, and never consent",
    ),
    peer_operation(
        "mesh.task.release",
        "Make a task open again: give back its claim, or have a failed one tried again.",
        cli=["mesh", "task", "release"],
        method="POST",
        route="/v1/task/release",
        parameters=[ID, AS_AGENT],
        result=TASK,
        mutating=True,
        mcp=True,
        cold=True,
        no_consent="a task is a wish, and never consent",
    ),
    peer_operation(
        "mesh.task.assign",
        "Assign a task to somebody else, or to anybody.",
        cli=["mesh", "task", "assign"],
        method="POST",
        route="/v1/task/assign",
        parameters=[
            ID,
            Parameter(
                "assignee",
                "@name, @name/agent or @group; without it, anybody may claim it.",
                positional=True,
                content="text",
            ),
            AS_AGENT,
        ],
        result=TASK,
        mutating=True,
        cold=True,
        no_consent="a task is a wish, and never consent",
    ),
    peer_operation(
        "mesh.task.show",
        "Show a task.",
        cli=["mesh", "task", "show"],
        route="/v1/task/show",
        parameters=[ID],
        result=TASK,
        idempotent=True,
        mcp=True,
        cold=True,
    ),
    peer_operation(
        "mesh.task.list",
        "List tasks: those that are to be done, or those with a status.",
        cli=["mesh", "task", "list"],
        route="/v1/task/list",
        description="It is read from the replica of this peer. The best open task comes first.",
        parameters=[
            Parameter("status", "Only with this status; repeatable.", enum=STATUSES, multiple=True),
            Parameter("mine", "Only those that this member has claimed.", type="bool", default=False),
            Parameter("tags", "Only with this tag; repeatable, all have to match.", multiple=True),
            Parameter("after", "Tasks after this one: the `next` of the answer before.", content="id"),
            Parameter("limit", "At most so many.", type="int", default=100, short="-n", minimum=1, maximum=1000),
        ],
        result=shape("MeshTasks", items=array(TASK), next=optional("string")),
        idempotent=True,
        mcp=True,
        cold=True,
    ),
)
LOCAL_OPERATIONS = (watching("task", "Show what becomes of tasks, as it happens."),)
