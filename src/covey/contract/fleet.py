"""The operations of the fleet: who is where, in what state, and how we know."""

from __future__ import annotations

from covey.contract.fleet_shapes import AGE, CLAIM, ROW, SESSION, STATE, STATES, SUMMARY, TARGET, WINDOW, listing
from covey.contract.operation import Operation, Parameter, array, optional, shape
from covey.contract.targets import TARGETS

GROUPS = {
    "list": "List agents by pane, window or session.",
    "adapters": "Look at what Covey knows about agent programs.",
    "target": "Add, connect, list and remove the hosts whose agents are seen.",
}


def _switch(name: str, text: str) -> Parameter:
    return Parameter(name, text, type="bool", default=False)


REF = Parameter(
    "ref",
    "Which agent: %14, api, api:2.1, host@work/api (in tmux -L work), pane:<target>/<session>/<window>/<pane> or runtime:<id>.",
    positional=True,
)
TARGET_FLAGS = [
    Parameter("target", "Only this target."),
    _switch("all_targets", "All targets, as without this flag."),
]
SESSION_FLAGS = [
    Parameter("target_session", "Only this session of this target: <target>/<session>."),
    Parameter("session", "Only sessions of this name."),
]
SOCKET = Parameter("socket", "Only this tmux server: its name as for tmux -L, or the path of its socket.")
STATE_FLAG = Parameter(
    "state",
    f"Only agents in this state, or in several with commas between. One of: {', '.join(STATES)}; repeatable.",
    multiple=True,
)
ROW_FLAGS = [
    SOCKET,
    Parameter("cwd", "Only agents that work in this folder or below.", content="raw"),
    STATE_FLAG,
    Parameter("agent_type", "Only this kind of agent, such as claude; repeatable.", multiple=True),
    _switch("needs_action", "Only agents that wait for a person or have failed."),
]
AGENT = Parameter("agent", "Name of an agent program, such as claude.", required=True, positional=True, content="id")
INTEGRATED = ["claude", "codex", "copilot", "cursor", "gemini", "opencode"]
"""Agents that can be told to tell."""

OPERATIONS = (
    Operation(
        "list.panes",
        "List every agent, who needs you first.",
        cli=["list", "panes"],
        aliases=["ps"],
        route="/v1/panes",
        description="One row for each agent in a pane: where, in which state, since when, how sure and by which evidence. "
        "--agent alone asks for JSON as everywhere; with a value (--agent claude) it is --agent-type.",
        when_to_use="Call it to see which agents run and which of them wait for a person.",
        parameters=[
            *TARGET_FLAGS,
            *SESSION_FLAGS,
            *ROW_FLAGS,
            Parameter(
                "sort",
                "The order: who needs you first, by how long, by place, by kind of agent or by folder.",
                enum=["needs", "age", "where", "agent", "folder"],
                default="needs",
            ),
            _switch("wide", "On a terminal, show every column: version, pane, whole folder and confidence too."),
        ],
        result=listing(ROW),
        idempotent=True,
        examples=[("covey ps --needs-action", "Who needs me?", 2)],
    ),
    Operation(
        "list.windows",
        "List the windows that hold agents, with the top state of each.",
        cli=["list", "windows"],
        route="/v1/windows",
        parameters=[
            *TARGET_FLAGS,
            *SESSION_FLAGS,
            SOCKET,
            _switch("with_agent_status", "Name the agents of each window and their states."),
        ],
        result=listing(WINDOW),
        idempotent=True,
    ),
    Operation(
        "list.sessions",
        "List the sessions that hold agents, with counts by state.",
        cli=["list", "sessions"],
        route="/v1/sessions",
        parameters=[
            *TARGET_FLAGS,
            SOCKET,
            _switch("agent_summary", "Count by kind of agent as well."),
            Parameter(
                "group_by",
                "Keep sessions of the same name on different targets apart, or merge them.",
                enum=["target-session", "session-name"],
                default="target-session",
            ),
        ],
        result=listing(SESSION, group_by="string"),
        idempotent=True,
    ),
    Operation(
        "watch",
        "Show the agents, and every change as it comes.",
        cli=["watch"],
        route="/v1/watch",
        description="On a terminal a table that stays up to date; q leaves it, ? shows its keys. Through a pipe one JSON object a line. The first tells how "
        "things are (event snapshot), the others what has changed (agent.state, agent.started, agent.ended; for windows and sessions changed, gone); "
        "generated_at of a change is its own time. With a filter a change is told if the agent matches before or after it. A stream that ends, as "
        "with --once, has a result as its last line. Over HTTP a stream of server-sent events, resumable by Last-Event-ID.",
        parameters=[
            *TARGET_FLAGS,
            *SESSION_FLAGS,
            *ROW_FLAGS,
            Parameter("scope", "What a row stands for.", enum=["panes", "windows", "sessions"], default="panes"),
            Parameter(
                "format", "How the command line shows it; table on a terminal, else jsonl.", enum=["table", "jsonl"]
            ),
            Parameter("interval", "Tell everything anew this often, such as 5s; a table does so every 2s anyway."),
            Parameter(
                "since", "Begin with the changes since then: a time, how long ago (10m), or a cursor (cursor:42)."
            ),
            _switch("once", "Tell how things are and end."),
        ],
        result=shape(
            schema_version="string",
            generated_at="string",
            cursor="integer",
            scope="string",
            filters="object",
            event="string",
            previous=optional("string"),
            summary={"anyOf": [SUMMARY, {"type": "null"}]},
            targets=array(TARGET),
            items=array("object"),
        ),
        streaming=True,
        media="text/event-stream",
        idempotent=True,
        mcp=False,
    ),
    Operation(
        "why",
        "Say why an agent is shown in its state: what decided, what agrees, what was overruled.",
        cli=["why"],
        route="/v1/why",
        parameters=[Parameter("ref", REF.help, required=True, positional=True)],
        result=shape(
            item=ROW,
            because={"anyOf": [CLAIM, {"type": "null"}]},
            agrees=array(CLAIM),
            overruled=array(shape(**CLAIM["properties"], why="string")),
            caveat="string",
            would_change="string",
        ),
        idempotent=True,
    ),
    Operation(
        "wait",
        "Wait until an agent needs you or is done, or is in a state.",
        cli=["wait"],
        route="/v1/wait",
        description="Ends at once if it is so already. Exit code 0: it is so; 4: the time is up; 5: there is no such agent, or it has ended. Over HTTP the "
        "last server-sent event, named done, carries the result.",
        when_to_use="Call it instead of asking again and again.",
        parameters=[
            REF,
            _switch("any", "Wait for any agent."),
            _switch("all", "Wait for all agents that there are."),
            Parameter(
                "state",
                f"The state to wait for, or several with commas between. One of: {', '.join(STATES)}; repeatable. "
                "Without it, until the agent needs you, is done or is gone.",
                multiple=True,
            ),
            Parameter("timeout", "How long to wait at most, such as 30s or 10m; without it, for ever."),
        ],
        result=shape(
            outcome={"type": "string", "enum": ["waiting", "met", "timeout", "gone"]},
            states=array("string"),
            waited_ms=AGE,
            items=array(ROW),
        ),
        streaming=True,
        media="text/event-stream",
        idempotent=True,
    ),
    Operation(
        "bar",
        "Print the fleet on one line, for a status bar.",
        cli=["bar"],
        route="/v1/bar",
        description="For tmux: set -g status-right '#(covey bar --format tmux)'. For the menu bar of macOS, a SwiftBar plugin that calls "
        "covey bar --format swiftbar.",
        parameters=[
            Parameter("target", "Only this target."),
            Parameter("format", "For whom.", enum=["plain", "tmux", "swiftbar"], default="plain"),
        ],
        result=shape(text="string", needs_action="integer", total="integer", down=array("string")),
        page=True,
        idempotent=True,
        mcp=False,
    ),
    Operation(
        "adapters.list",
        "List the agent programs that Covey knows, and what it can tell of each.",
        cli=["adapters", "list"],
        route="/v1/adapters",
        description="For each: what it can tell, whether its hooks are installed, the versions that were measured, those that are installed and those that "
        "run now, and what of a running version could not be understood.",
        result=shape(
            items=array(
                shape(
                    agent="string",
                    title="string",
                    origin="string",
                    contract_version="integer",
                    capabilities={"type": "object", "additionalProperties": {"type": "boolean"}},
                    integration=shape(state="string", file="string", detail="string"),
                    tested=array("string"),
                    installed=array(shape(path="string", version="string", note="string")),
                    running=array(shape(version="string", count="integer", note="string")),
                    drift=array(
                        shape(
                            version="string",
                            counts={"type": "object", "additionalProperties": {"type": "integer"}},
                            alarming="boolean",
                        )
                    ),
                )
            ),
            problems=array(shape(problem="string", suggestion="string")),
        ),
        idempotent=True,
    ),
    Operation(
        "adapters.explain",
        "Read a screen and say which state it shows and which pattern says so, as a report for whoever mends it.",
        cli=["adapters", "explain"],
        method="POST",
        route="/v1/adapters/explain",
        description="With --pane, the screen of a running agent is looked at, and the report names versions, sizes and what each source says. With --screen "
        "and the name of an agent, a saved screen is read: the command line needs no daemon for that and reads the descriptions in Covey's home as they are "
        "now. Rules for the title are tried only if one is given.",
        parameters=[
            Parameter(
                "agent",
                "Name of an agent program, such as claude; not needed with --pane.",
                positional=True,
                content="id",
            ),
            Parameter("pane", "A running agent: %14, api, api:2.1 or runtime:<id>."),
            Parameter(
                "screen",
                "The screen as text, also with escapes as capture-pane -e writes it; on the command line a file that holds it, or - for standard input.",
                content="raw",
            ),
            _switch("redact", "Hide every letter and digit that the agent shows."),
            Parameter("title", "The terminal's title.", content="raw"),
            Parameter("agent_version", "Version of the agent; without it, the newest that is known."),
        ],
        result=shape(
            agent="string",
            state=STATE,
            reason="string",
            detail="string",
            rule="string",
            evidence="string",
            caveat="string",
            tried=array(shape(source="string", rule="string", state="string", why="string")),
            report="string",
        ),
        idempotent=True,
        mcp=False,
        examples=[
            ("covey adapters explain --pane %5", "Make a bug report about an agent whose screen is not understood", 2)
        ],
    ),
    Operation(
        "integrate",
        "Have an agent program tell Covey itself what it does, or no longer.",
        cli=["integrate"],
        local="it edits the settings of programs in the caller's own environment, which a daemon does not have",
        description="Adds Covey's hooks to the settings of the agent, keeps everything else in the file, and leaves a copy of what was there. Only "
        "events that the installed version knows are written; a version of which that is not known is refused, with the reason. Without hooks Covey "
        "reads titles, session files, transcripts and screens.",
        parameters=[
            Parameter("agent", "The agent program.", required=True, positional=True, enum=INTEGRATED),
            _switch("remove", "Take the hooks out again."),
            _switch("any_version", "Write the hooks even if it is not known that the installed version accepts them."),
            _switch("verbose", "With --dry-run, tell every line that would change."),
        ],
        result=shape(
            agent="string",
            state="string",
            changed="boolean",
            files=array(
                shape(path="string", change="string", about="string", backup=optional("string"), diff="string")
            ),
            notes=array("string"),
            programs=array(shape(path="string", version="string")),
        ),
        mutating=True,
        idempotent=True,
        dry_run=True,
        guard=False,
        mcp=False,
        examples=[("covey integrate claude --dry-run", "See what it would change", 0)],
    ),
    Operation(
        "hooks",
        "Take in what an agent's hook says.",
        cli=[],
        method="POST",
        route="/v1/hooks/{agent}",
        description="The body is the payload as the agent gave it. Headers tell where it comes from: X-Covey-Pane and X-Covey-Tmux (as in the environment), "
        "X-Covey-Pid (the hook's ancestors), X-Covey-At (when, in milliseconds since 1970), X-Covey-Id (told twice, it counts once), X-Covey-Host. "
        "The answer comes when what it says is in the journal; 503 means not now: keep it, and bring it again under the same id.",
        parameters=[Parameter("agent", AGENT.help, required=True, content="id")],
        payload=True,
        result={"type": "object"},
        mutating=True,
        guard=False,
        mcp=False,
    ),
    *TARGETS,
)
