"""The operations of the keeper: agents that are kept running, and the channels through which they are reached."""

from __future__ import annotations

from covey.contract.actions import RUNG
from covey.contract.fleet_shapes import STATE
from covey.contract.operation import Omittable, Operation, Parameter, array, one_of, optional, shape

GROUPS = {"keep": "Keep agents running, feed them from channels, and hear what they say."}
KEPT_AGENTS = ["claude", "codex", "gemini", "copilot", "opencode"]
PHASE = one_of("KeptPhase", ["starting", "running", "waits", "stopped"])
"""`waits`: the agent has crashed and is started again at `starts_at`."""
NAME = Parameter("name", "The name of the session; without it, the one of the setting keeper.session.", positional=True)
NAMED = Parameter("name", "The name of the session.", required=True, positional=True)
KEPT_SESSION = shape(
    "KeptSession",
    name="string",
    agent="string",
    phase=PHASE,
    why="string",
    state=optional(STATE),
    ref="string",
    runtime_id="string",
    cwd="string",
    args=array("string"),
    variables=array("string"),
    model="string",
    permission_mode="string",
    worktree="string",
    branch="string",
    keep="boolean",
    conversation="string",
    transcript="string",
    socket="string",
    pane_id="string",
    path="string",
    restarts="integer",
    waiting="integer",
    created_at="string",
    started_at=optional("string"),
    starts_at=optional("string"),
    notes=array("string"),
)
CHANNEL = shape(
    "KeptChannel", name="string", incoming="boolean", outgoing="boolean", taken="integer", refused="integer"
)
MESSAGE = shape("ChannelMessage", id="integer", channel="string", text="string", at="string", again="boolean")
ADAPTER = shape("FailingAdapter", name="string", session="string", restarts="integer", last_line="string", log="string")
"""An adapter of the configuration that ends again and again."""
KEEPER_STATUS = shape(
    "KeeperStatus",
    sessions="integer",
    running="integer",
    waiting="integer",
    mcp=optional("string"),
    problems=array("string"),
    failing_adapters=array(ADAPTER),
)
RECORD = shape("KeeperRecord", at="string", kind="string", text="string")


def _named(verb: str) -> str:
    return f"/v1/keep/{{name}}/{verb}"


OPERATIONS = (
    Operation(
        "keep.start",
        "Start an agent in a tmux session of its own, and keep it running.",
        cli=["keep", "start"],
        method="POST",
        route="/v1/keep",
        description="You attach to the session as to any other. An agent that crashes is started again, in the same "
        "pane and with the same conversation; one that you end (/exit, `covey keep stop`, tmux kill-session) is not. A "
        "session that exists and has ended is started again with what it was started with; other settings need "
        "`covey keep forget` first. Messages in the FIFO `in` of the folder that `covey keep path` prints are given to "
        "the agent when it is ready.",
        when_to_use="Call it to have an agent that is there tomorrow, too.",
        parameters=[
            NAME,
            Parameter(
                "args",
                "Arguments of the agent's own, after --.",
                positional=True,
                multiple=True,
                content="raw",
                consent=True,
            ),
            Parameter("agent", "Which agent; claude unless said otherwise.", enum=KEPT_AGENTS),
            Parameter("cwd", "The folder in which it works; your own without it.", default=".", path=True),
            Parameter(
                "env",
                "A variable for the agent, as NAME=VALUE, or NAME for the daemon's own value; repeatable. Values are "
                "kept in Covey's database.",
                multiple=True,
                content="raw",
                sensitive=True,
                consent=True,
            ),
            Parameter("model", "The model, as the agent calls it."),
            Parameter("permission_mode", "The agent's permission mode, in its own words.", consent=True),
            Parameter("worktree", "Work in a new git worktree of the folder.", type="bool", default=False),
            Parameter("branch", "The branch of that worktree; made if it is missing. keep/<name> without it."),
            Parameter("keep", "Start it again after a restart of the machine, too.", type="bool", default=False),
        ],
        result=KEPT_SESSION,
        mutating=True,
        guard=False,
        examples=[("covey keep start reviewer --agent codex --cwd ~/src/api", "Keep a Codex in that folder.", 2)],
        mcp=False,
        no_consent="the agent asks for what it does, unless a parameter says otherwise",
    ),
    Operation(
        "keep.stop",
        "End a kept agent and its tmux session. It is not started again.",
        cli=["keep", "stop"],
        method="POST",
        route=_named("stop"),
        description="What the agent left running is ended too. Messages that wait for it go on waiting.",
        parameters=[NAMED],
        result=KEPT_SESSION,
        mutating=True,
        destructive=True,
        idempotent=True,
        mcp=False,
        no_consent="the agent ends",
    ),
    Operation(
        "keep.restart",
        "End a kept agent and start it again, with its conversation.",
        cli=["keep", "restart"],
        method="POST",
        route=_named("restart"),
        parameters=[NAMED],
        result=KEPT_SESSION,
        mutating=True,
        destructive=True,
        mcp=False,
        no_consent="it is started as it was",
    ),
    Operation(
        "keep.list",
        "List the kept sessions.",
        cli=["keep", "list"],
        route="/v1/keep",
        parameters=[],
        result=shape("KeptSessions", items=array(KEPT_SESSION)),
        idempotent=True,
    ),
    Operation(
        "keep.status",
        "Show one kept session: its agent, its channels and what waits for it.",
        cli=["keep", "status"],
        route="/v1/keep/{name}",
        parameters=[NAMED],
        result=shape(
            "KeptStatus",
            session=KEPT_SESSION,
            channels=array(CHANNEL),
            not_served="integer",
            messages=array(MESSAGE),
            failing_adapters=array(ADAPTER),
        ),
        idempotent=True,
    ),
    Operation(
        "keep.attach",
        "Attach your terminal to a kept session.",
        cli=["keep", "attach"],
        local="it is your terminal that attaches",
        parameters=[NAME],
        result={"type": "string", "description": "What tmux shows."},
        page=True,
        mcp=False,
    ),
    Operation(
        "keep.logs",
        "Show what happened to a kept session, the latest last.",
        cli=["keep", "logs"],
        route=_named("logs"),
        parameters=[
            NAMED,
            Parameter("limit", "How many records.", type="int", default=50, minimum=1, maximum=1000),
        ],
        result=shape("KeeperRecords", items=array(RECORD)),
        idempotent=True,
    ),
    Operation(
        "keep.rename",
        "Give a kept session another name.",
        cli=["keep", "rename"],
        method="POST",
        route=_named("rename"),
        description="Its tmux session and its folder of channels are renamed too. FIFOs in the folder move with it, "
        "and programs that have them open go on; Covey's own adapters end, and those of the new name start.",
        parameters=[NAMED, Parameter("new_name", "The new name.", required=True, positional=True)],
        result=KEPT_SESSION,
        mutating=True,
        guard=False,
        mcp=False,
        no_consent="the session stays as it is",
    ),
    Operation(
        "keep.forget",
        "Forget a kept session that has ended, and the messages that wait for it.",
        cli=["keep", "forget"],
        method="POST",
        route=_named("forget"),
        description="The conversation stays where the agent keeps it. A worktree is removed if nothing in it is "
        "changed, unless it was there before; its branch stays. `why` says why "
        "it was not removed.",
        parameters=[NAMED],
        result=shape(
            "Forgotten", name="string", messages="integer", worktree="string", removed="boolean", why="string"
        ),
        mutating=True,
        destructive=True,
        mcp=False,
        no_consent="the session ends",
    ),
    Operation(
        "keep.path",
        "Print the folder with the channels of a kept session.",
        cli=["keep", "path"],
        route="/v1/keep-path",
        description='For scripts: channels=$(covey keep path) || exit; echo hello > "$channels/in"',
        parameters=[NAME],
        result=shape("KeptPath", name="string", path="string"),
        idempotent=True,
        page=True,
        mcp=False,
    ),
    Operation(
        "keep.channels",
        "List the channels of a kept session.",
        cli=["keep", "channels"],
        route=_named("channels"),
        description="Incoming channels are FIFOs called in.<name>, outgoing ones out.<name>; adapters make them. "
        "A session has at most 256 channels; `not_served` is the number of FIFOs beyond them, which are not read.",
        parameters=[NAMED],
        result=shape("KeptChannels", items=array(CHANNEL), not_served="integer"),
        idempotent=True,
    ),
    Operation(
        "keep.send",
        "Send a message out on a channel of a kept session, as its agent does with send_to_channel.",
        cli=["keep", "send"],
        method="POST",
        route=_named("send"),
        description="Refused if there is no such outgoing channel, or nobody reads it.",
        parameters=[
            NAMED,
            Parameter("channel", "The name of the channel.", required=True, positional=True),
            Parameter("message", "The text.", required=True, positional=True, content="raw"),
        ],
        result=shape("ChannelWrite", channel="string", bytes="integer"),
        mutating=True,
        guard=False,
        mcp=False,
        no_consent="it writes out on a channel, as the agent may",
    ),
)
DELIVERED = shape(
    "KeeperDelivery",
    name="string",
    channels=array("string"),
    messages="integer",
    rung=RUNG,
    again=Omittable("boolean"),
    receipt="string",
)
