"""The operations for what agents ask a person, answered through their hooks."""

from __future__ import annotations

from covey.contract.operation import Operation, Parameter, array, one_of, optional, shape

TOOL_KINDS = ["shell", "patch", "file", "web", "mcp", "other"]
STATUSES = ["open", "answered", "withdrawn", "expired"]
QUESTION = shape("Question", text="string", options=array("string"), several="boolean")
APPROVAL_FIELDS = {
    "id": "string",
    "status": one_of("ApprovalStatus", STATUSES),
    "kind": one_of("ApprovalKind", ["approval", "plan", "question"]),
    "runtime_id": "string",
    "ref": "string",
    "target": "string",
    "agent": "string",
    "pid": "integer",
    "tool": "string",
    "command": {
        "type": "string",
        "description": "The whole input as a person reads it: the command, change, plan or questions, and below it "
        "every other key, on a line that begins with a bullet. What hides or deceives is spelt out, such as \\u202e.",
    },
    "left_out": {
        "type": "integer",
        "minimum": 0,
        "description": "Characters of `command` that an event or a closed approval does not have; else 0.",
    },
    "tool_kind": one_of("ToolKind", TOOL_KINDS),
    "shell_command": {"type": "string", "description": "The command for a shell; empty for other tools."},
    "paths": array("string"),
    "deep": {"type": "boolean", "description": "Whether it reaches what is below its paths, as a search does."},
    "runs_in": {"type": "string", "description": "The folder in which it runs, if its input names one."},
    "unread": {"type": "string", "description": "Why Covey does not understand its input; then no rule allows it."},
    "folder": "string",
    "helper": {"type": "boolean", "description": "Whether a helper of the agent asks."},
    "on_screen": {"type": "boolean", "description": "Whether the agent shows its dialog meanwhile."},
    "questions": array(QUESTION),
    "opened_at": "string",
    "expires_at": {"type": "string", "description": "Then it is left to the terminal."},
    "closed_at": optional("string"),
    "decision": {"type": "string", "enum": ["", "allow", "deny", "answer"]},
    "message": {"type": "string", "description": "What the model was told, or the answer."},
    "always": "boolean",
    "via": {"type": "string", "enum": ["", "hook", "terminal", "policy"]},
    "by": {"type": "object", "description": "Who decided: uid, pid and transport, or the rule of the policy."},
    "why": {"type": "string", "description": "Why it was withdrawn, or why the policy decided so."},
}
RECORDED_APPROVAL = shape(
    "RecordedApproval",
    **APPROVAL_FIELDS,
    input={"type": "object", "description": "The input of the tool; empty if it was too long to be kept."},
)
"""An approval in an event."""
APPROVAL = shape(
    "Approval",
    **APPROVAL_FIELDS,
    input={"type": "object", "description": "The input of the tool, as the agent gave it."},
    suggestions=array({"type": "object", "description": "A rule that the agent offers to remember."}),
    age_ms={"type": "integer", "minimum": 0},
    commands={"type": "array", "items": {"type": "string"}, "description": "What settles it, while it is open."},
)
WAITING_AGENT = shape(
    "WaitingAgent",
    runtime_id="string",
    ref="string",
    target="string",
    agent="string",
    state="string",
    detail="string",
    command={"type": "string", "description": "What shows the dialog."},
)
PRESENCE_FIELDS = {"away": "boolean", "since": "string", "until": optional("string")}
PRESENCE = shape("Presence", **PRESENCE_FIELDS)
_REF = Parameter(
    "ref",
    "The agent that asks: %14, api, api:2.1 or runtime:<id>; or the id of the approval, of which the end is enough.",
    required=True,
    positional=True,
)
_IF_RUNTIME = Parameter("if_runtime", "Only if this agent asks and no later one: runtime:<id> or <id>.")
_TOO_LATE = (
    "Exit code 7 if it was too late: approval_answered, approval_withdrawn (the person at the terminal was first, or "
    "the agent went on), approval_expired. Nothing happens then."
)

OPERATIONS = (
    Operation(
        "approvals",
        "List what agents ask you and Covey can answer, the oldest first.",
        cli=["approvals"],
        route="/v1/approvals",
        description="Agents that are integrated ask through their hooks: Claude Code always, Codex, Copilot CLI and "
        "helpers while you are away, because they would not show a dialog meanwhile. Those on other hosts are asked "
        "for if a Covey runs there. `others` are agents that wait for an answer that no hook can give.",
        when_to_use="Call it to see what agents ask for, in full, before you approve or deny anything.",
        parameters=[
            Parameter("all", "Closed ones too, the latest first.", type="bool", default=False),
            Parameter("limit", "How many.", type="int", default=50, minimum=1, maximum=1000),
            Parameter("here", "Only agents of this machine: no other host is asked.", type="bool", default=False),
        ],
        result=shape(
            "ApprovalList", open="integer", presence=PRESENCE, items=array(APPROVAL), others=array(WAITING_AGENT)
        ),
        idempotent=True,
    ),
    Operation(
        "approve",
        "Let one agent do what it asks for.",
        cli=["approve"],
        method="POST",
        route="/v1/approve",
        description=f"Answers through the agent's hook; no key is pressed. {_TOO_LATE}",
        parameters=[
            _REF,
            Parameter(
                "always",
                "Also accept the rule that the agent suggests, so that it does not ask again; Claude Code only.",
                type="bool",
                default=False,
            ),
            _IF_RUNTIME,
        ],
        result=APPROVAL,
        mutating=True,
        consent=True,
        mcp=False,
    ),
    Operation(
        "deny",
        "Refuse what one agent asks for. Its turn goes on.",
        cli=["deny"],
        method="POST",
        route="/v1/deny",
        description=f"Answers through the agent's hook; no key is pressed. {_TOO_LATE}",
        parameters=[_REF, Parameter("message", "What the model is told.", content="text"), _IF_RUNTIME],
        result=APPROVAL,
        mutating=True,
        consent=True,
        mcp=False,
    ),
    Operation(
        "answer",
        "Answer the question of one agent.",
        cli=["answer"],
        method="POST",
        route="/v1/answer",
        description="With --option for one of the answers that it offers, by its words or its number; once for each "
        "question, in their order, and with commas between where several may be chosen. With --text for an answer in "
        f"your own words. {_TOO_LATE}",
        parameters=[
            _REF,
            Parameter("option", "An answer that is offered; repeatable.", multiple=True, content="text"),
            Parameter("text", "An answer in your own words.", content="text"),
            _IF_RUNTIME,
        ],
        result=APPROVAL,
        mutating=True,
        consent=True,
        mcp=False,
    ),
    Operation(
        "away",
        "Say that you are away from your terminals: what agents ask waits for `covey approve`.",
        cli=["away"],
        method="POST",
        route="/v1/away",
        description="Codex, Copilot CLI and helpers of agents show no dialog while their request can be answered from "
        "elsewhere. So they are held back only while you are away.",
        parameters=[Parameter("for", "For how long, such as 2h; without it, until `covey here`.")],
        result=PRESENCE,
        mutating=True,
        consent=True,
        idempotent=True,
        guard=False,
        mcp=False,
    ),
    Operation(
        "here",
        "Say that you are back: agents show their dialogs again.",
        cli=["here"],
        method="POST",
        route="/v1/here",
        result=PRESENCE,
        mutating=True,
        consent=True,
        idempotent=True,
        guard=False,
        mcp=False,
    ),
    Operation(
        "hooks.decision",
        "Wait for the decision about what an agent asks in a hook.",
        cli=[],
        method="POST",
        route="/v1/hooks/{agent}/decision",
        description="Headers and body as for a delivery of the hook. The stream has a message `covey.decision` whose "
        "data the hook prints; it ends without one if there is no decision, at the latest after Covey-Deadline-Ms. "
        "Closing the connection withdraws the request.",
        parameters=[Parameter("agent", "The agent program.", required=True, content="id")],
        payload=True,
        result={"type": "object"},
        streaming=True,
        media="text/event-stream",
        mutating=True,
        guard=False,
        mcp=False,
        no_consent="an agent asks, and does not answer",
    ),
)
