"""The operations that act on exactly one agent, or refuse."""

from __future__ import annotations

from covey.contract.fleet import REF
from covey.contract.operation import Omittable, Operation, Parameter, array, optional, shape

GROUPS = {"receipts": "See how far messages to agents have come, wait for answers, and take messages back."}

AGENT_REF = Parameter(REF.name, REF.help, required=True, positional=True)
CONDITIONS = [
    Parameter("if_runtime", "Only if it is this agent and no later one: runtime:<id> or <id>."),
    Parameter("if_state", "Only if it is in this state, or in one of several; repeatable.", multiple=True),
    Parameter("if_updated_within", "Only if its state was confirmed within this time, such as 10s."),
    Parameter(
        "force_stale",
        "Act although its state is another one, or old. Never on another agent.",
        type="bool",
        default=False,
    ),
]
RUNG = {"type": "string", "enum": ["accepted", "typed", "submitted", "seen", "answered"]}
RECEIPT_FIELDS = {
    "id": "string",
    "runtime_id": "string",
    "ref": "string",
    "agent": "string",
    "lane": "string",
    "text": "string",
    "bytes": "integer",
    "rung": RUNG,
    "open": "boolean",
    "why": "string",
    "evidence": "string",
    "created_at": "string",
    "updated_at": "string",
    "position": Omittable("integer"),
    "expires_at": Omittable("string"),
}
RECEIPT = shape("Receipt", **RECEIPT_FIELDS)
ANSWER = shape(
    "Answer",
    outcome={
        "type": "string",
        "enum": ["waiting", "answered", "asks", "no_answer", "error", "done", "not_sent", "gone", "timeout"],
    },
    receipt=RECEIPT,
    state="string",
    reply="string",
    why="string",
)
TURN = shape("Turn", prompt="string", reply="string", at=optional("string"))
RECEIPT_ID = Parameter("id", "The id of the receipt, or its end.", required=True, positional=True)
SNAPSHOT = shape(
    "ActionSnapshot",
    action_id="string",
    runtime_id="string",
    ref="string",
    agent="string",
    pane_epoch="string",
    state="string",
    state_version="integer",
    observed_at="string",
    expires_at="string",
)

OPERATIONS = (
    Operation(
        "send",
        "Send a message to one agent, or refuse.",
        cli=["send"],
        method="POST",
        route="/v1/send",
        description="Pastes the text into the agent's empty composer and submits it. What must hold is checked by tmux "
        "in the command that types: the same pane, process and program, no mode of tmux, the composer still there. "
        "Refused while the agent asks something, while somebody's words stand in its composer, and for texts that it "
        "would run as commands. The receipt names the last rung that is proven: accepted, typed, submitted, seen. With "
        "--when-ready the message waits for what passes, in order and over restarts of the daemon.",
        when_to_use="Call it to give an agent a task or an answer in words. It never approves anything.",
        parameters=[
            AGENT_REF,
            Parameter("text", "The message; several lines are one message.", content="raw"),
            Parameter(
                "file", "On the command line: take the message from this file; - is standard input.", content="raw"
            ),
            Parameter(
                "as_command",
                "Send it although the agent will run it as a command.",
                type="bool",
                default=False,
                consent=True,
            ),
            Parameter(
                "check_only", "Check everything and type nothing, as --dry-run does.", type="bool", default=False
            ),
            Parameter(
                "when_ready", "Let it wait instead of refusing it, if the reason may pass.", type="bool", default=False
            ),
            Parameter("wait", "On the command line: wait for the answer and print it.", type="bool", default=False),
            Parameter("timeout", "How long it may wait, such as 10m; 1h without it."),
            *CONDITIONS,
        ],
        result=shape(
            "SendResult",
            receipt=optional(RECEIPT),
            snapshot=SNAPSHOT,
            stripped="integer",
            waits_for=Omittable("string"),
            answer=Omittable(ANSWER),
        ),
        mutating=True,
        dry_run=True,
        examples=[
            (
                "covey send api --text 'run the tests' --dry-run",
                "Could the agent in session api be given a task?",
                0,
            )
        ],
        no_consent="the message says that it comes from an agent",
    ),
    Operation(
        "view",
        "Show the screen of one agent, or its last turns.",
        cli=["view"],
        aliases=["view-output"],
        route="/v1/view",
        parameters=[
            AGENT_REF,
            Parameter("lines", "Only the last lines.", type="int", default=200, minimum=1, maximum=2000),
            Parameter(
                "turn", "Show the last prompts and replies from its transcript instead.", type="bool", default=False
            ),
        ],
        result=shape(
            "AgentScreen",
            ref="string",
            agent="string",
            state="string",
            composer="string",
            lines=array("string"),
            coloured=array("string"),
            turns=Omittable(array(TURN)),
        ),
        idempotent=True,
    ),
    Operation(
        "interrupt",
        "Stop the turn of one agent, as a person at its terminal would.",
        cli=["interrupt"],
        method="POST",
        route="/v1/interrupt",
        description="Presses the key with which the agent lets itself be interrupted, if it works and asks nothing. "
        "Waits until it has come to rest.",
        parameters=[AGENT_REF, *CONDITIONS],
        result=shape("Interruption", snapshot=SNAPSHOT, state="string", stopped="boolean"),
        mutating=True,
        no_consent="the agent stops, and is allowed nothing",
    ),
    Operation(
        "kill",
        "Send a signal to one agent.",
        cli=["kill"],
        method="POST",
        route="/v1/kill",
        description="The signal goes to the process that was seen, and never to a later one with the same number.",
        parameters=[
            AGENT_REF,
            Parameter("signal", "Which signal.", enum=["INT", "TERM", "KILL"], default="INT"),
            *CONDITIONS,
        ],
        result=shape("Killed", snapshot=SNAPSHOT, signal="string", pid="integer", ended="boolean"),
        mutating=True,
        destructive=True,
        no_consent="the agent ends, and is allowed nothing",
    ),
    Operation(
        "receipts.list",
        "List the messages that were sent, the latest first.",
        cli=["receipts", "list"],
        route="/v1/receipts",
        parameters=[Parameter("limit", "How many.", type="int", default=50, minimum=1, maximum=1000)],
        result=shape("ReceiptList", items=array(RECEIPT)),
        idempotent=True,
    ),
    Operation(
        "receipts.wait",
        "Wait for the answer to a message.",
        cli=["receipts", "wait"],
        route="/v1/receipts/{id}/wait",
        description="Ends when the agent has finished the turn that the message began, asks something, or has ended. "
        "Exit code 0: it has answered; 3: it came to something else; 4: the time is up; 5: the agent has ended. Over "
        "HTTP the last server-sent event, named done, carries the result.",
        when_to_use="Call it after send, with the id of the receipt.",
        parameters=[RECEIPT_ID, Parameter("timeout", "How long to wait at most, such as 10m; without it, for ever.")],
        result=ANSWER,
        streaming=True,
        media="text/event-stream",
        idempotent=True,
    ),
    Operation(
        "receipts.cancel",
        "Take back a message that waits for its agent.",
        cli=["receipts", "cancel"],
        method="POST",
        route="/v1/receipts/{id}/cancel",
        description="Refused if it does not wait any more. Nothing was typed for a message that is taken back.",
        parameters=[RECEIPT_ID],
        result=RECEIPT,
        mutating=True,
        no_consent="a message is not delivered",
    ),
)
