"""The operations that bring a person to an agent and back, and those that reach people at their terminals."""

from __future__ import annotations

from covey.contract.actions import AGENT_REF, CONDITIONS, SNAPSHOT
from covey.contract.attention import ITEM
from covey.contract.operation import Operation, Parameter, array, optional, shape

PLACE = [
    Parameter(
        "client",
        "The tmux client that goes there, by its name (#{client_name}), for key bindings; without it, the one that "
        "you are in.",
    ),
    Parameter(
        "tmux",
        "The values of TMUX and TMUX_PANE where you are, with a comma between; the command line fills it in.",
        content="raw",
    ),
    Parameter(
        "terminal", "The terminal that can attach, such as /dev/pts/3; the command line fills it in.", content="raw"
    ),
]
ATTACHMENT = shape(
    "Attachment",
    snapshot=SNAPSHOT,
    target="string",
    ssh_target="string",
    socket="string",
    session_id="string",
    session_name="string",
    window_id="string",
    pane_id="string",
    client="string",
    went="boolean",
    nested="boolean",
    command=array("string"),
)
IN_ANSWER = (
    "`went`: a tmux client shows the agent now, and `client` names it. Otherwise `command` goes there from a terminal; "
    "`nested`: that terminal is inside another tmux."
)

OPERATIONS = (
    Operation(
        "attach",
        "Go to the pane of one agent.",
        cli=["attach"],
        method="POST",
        route="/v1/attach",
        description="Inside the same tmux server, your client is switched to the session, window and pane of the "
        "agent. Anywhere else, your terminal attaches, over ssh if the agent is on another machine. tmux checks in the "
        "same command that it is still the same agent. Without a terminal nothing is done, and the answer has the "
        f"command. {IN_ANSWER}",
        parameters=[AGENT_REF, CONDITIONS[0], *PLACE],
        result=ATTACHMENT,
        mutating=True,
        guard=False,
        mcp=False,
        no_consent="it shows a pane",
    ),
    Operation(
        "next",
        "Go to the agent that needs you most; again: to the one after it.",
        cli=["next"],
        method="POST",
        route="/v1/next",
        description="The first agent in `covey needs`, or the one after the agent that you are at. `covey back` "
        f"returns. Without a terminal nothing is done, and the answer says which agent it is. {IN_ANSWER}",
        parameters=PLACE,
        result=shape("Next", item=optional(ITEM), attachment=optional(ATTACHMENT)),
        mutating=True,
        guard=False,
        mcp=False,
        no_consent="it shows a pane",
    ),
    Operation(
        "back",
        "Return to where you were before `covey next` or `covey attach`.",
        cli=["back"],
        method="POST",
        route="/v1/back",
        description="After several of them in a row: to where you were before the first. A terminal that was attached "
        "from outside of that tmux server is detached.",
        parameters=PLACE[:2],
        result=shape("Back", client="string", place="string", detached="boolean"),
        mutating=True,
        guard=False,
        mcp=False,
        no_consent="it shows a pane",
    ),
    Operation(
        "tmux.alert",
        "Alert the people at the tmux clients of this machine.",
        cli=[],
        method="POST",
        route="/v1/tmux/alert",
        description="Shows a text on the message line of every attached client, or rings the bell of its terminal. "
        "Nothing is typed into any pane.",
        parameters=[
            Parameter("text", "For the message line; none if it is empty.", default="", content="raw"),
            Parameter("bell", "Ring the bell of the terminal.", type="bool", default=False),
        ],
        result=shape("TmuxAlert", clients="integer", problems=array("string")),
        mutating=True,
        guard=False,
        mcp=False,
        no_consent="it shows a text",
    ),
)
