"""The operations of the fleet: which agents run, where, in which state, and by which evidence."""

from __future__ import annotations

from covey.contract.fleet_shapes import (
    AGE,
    COUNTS,
    DETAILED_EVIDENCE,
    FILTERS,
    OVERRULED_EVIDENCE,
    ROW,
    SESSION,
    STATE,
    STATES,
    SUMMARY,
    TARGET,
    WATCHED_AGENT,
    WINDOW,
    listing,
)
from covey.contract.operation import Operation, Parameter, array, mapping, optional, shape
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
    "Which agent: %14, api, api:2.1, host@work/api (in tmux -L work), pane:<target>/<session>/<window>/<pane> or "
    "runtime:<id>.",
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
"""Agents with installable hooks."""

OPERATIONS = (
    Operation(
        "list.panes",
        "List every agent, those that need you first.",
        cli=["list", "panes"],
        aliases=["ps"],
        route="/v1/panes",
        description="One row for each agent in a pane: its place, its state, since when, how certain that is, and the "
        "evidence. --agent alone asks for JSON as everywhere; with a value (--agent claude) it is --agent-type.",
        when_to_use="Call it to see which agents run and which of them wait for a person.",
        parameters=[
            *TARGET_FLAGS,
            *SESSION_FLAGS,
            *ROW_FLAGS,
            Parameter(
                "sort",
                "The order: agents that need you first, by age, by place, by kind of agent or by folder.",
                enum=["needs", "age", "where", "agent", "folder"],
                default="needs",
            ),
            _switch("wide", "On a terminal, show every column: version, pane, whole folder and confidence too."),
        ],
        result=listing("AgentList", ROW),
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
        result=listing("WindowList", WINDOW),
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
        result=listing("SessionList", SESSION, group_by="string"),
        idempotent=True,
    ),
    Operation(
        "watch",
        "Show the agents, and every change as it comes.",
        cli=["watch"],
        route="/v1/watch",
        description="On a terminal, a table that stays up to date; q leaves it, ? shows its keys. Through a pipe, one "
        "JSON object per line. The first is a snapshot of all agents (event snapshot), the others are changes "
        "(agent.state, agent.started, agent.ended; for windows and sessions changed, gone); generated_at of a change "
        "is the time of the change. With a filter, a change is shown if the agent matches before or after it. A "
        "stream that ends, as with --once, has a result as its last line. Over HTTP, a stream of server-sent events, "
        "resumable by Last-Event-ID.",
        parameters=[
            *TARGET_FLAGS,
            *SESSION_FLAGS,
            *ROW_FLAGS,
            Parameter("scope", "What a row stands for.", enum=["panes", "windows", "sessions"], default="panes"),
            Parameter(
                "format", "How the command line shows it; table on a terminal, else jsonl.", enum=["table", "jsonl"]
            ),
            Parameter("interval", "Repeat the snapshot this often, such as 5s; a table does so every 2s anyway."),
            Parameter(
                "since", "Begin with the changes since then: a time, how long ago (10m), or a cursor (cursor:42)."
            ),
            _switch("once", "Show the snapshot and end."),
        ],
        result=shape(
            "WatchMessage",
            schema_version="string",
            generated_at="string",
            cursor="integer",
            scope="string",
            filters=FILTERS,
            event="string",
            previous=optional(STATE),
            summary=optional(SUMMARY),
            targets=array(TARGET),
            items=array({"anyOf": [WATCHED_AGENT, WINDOW, SESSION]}),
        ),
        streaming=True,
        media="text/event-stream",
        idempotent=True,
        mcp=False,
    ),
    Operation(
        "why",
        "Explain the state of an agent: which source decided, which agree, which were overruled.",
        cli=["why"],
        route="/v1/why",
        parameters=[Parameter("ref", REF.help, required=True, positional=True)],
        result=shape(
            "Explanation",
            item=ROW,
            because=optional(DETAILED_EVIDENCE),
            agrees=array(DETAILED_EVIDENCE),
            overruled=array(OVERRULED_EVIDENCE),
            caveat="string",
            would_change="string",
        ),
        idempotent=True,
    ),
    Operation(
        "conversation",
        "Tell which conversation an agent has, and in which file it keeps it.",
        cli=[],
        route="/v1/conversation",
        description="`id` and `transcript` are empty as long as they are not known. An agent on another machine has a "
        "file there, which is not told.",
        parameters=[Parameter("ref", REF.help, required=True, positional=True)],
        result=shape("Conversation", runtime_id="string", agent="string", id="string", transcript="string"),
        idempotent=True,
    ),
    Operation(
        "wait",
        "Wait until an agent needs you or is done, or is in a state.",
        cli=["wait"],
        route="/v1/wait",
        description="Ends at once if the agent is in that state already. Exit code 0: it is; 4: the time is up; 5: "
        "there is no such agent, or it has ended. Over HTTP the last server-sent event, named done, carries the "
        "result.",
        when_to_use="Call it instead of polling.",
        parameters=[
            REF,
            _switch("any", "Wait for any agent."),
            _switch("all", "Wait for all agents that run now."),
            Parameter(
                "state",
                f"The state to wait for, or several with commas between. One of: {', '.join(STATES)}; repeatable. "
                "Without it, until the agent needs you, is done or is gone.",
                multiple=True,
            ),
            Parameter("timeout", "How long to wait at most, such as 30s or 10m; without it, for ever."),
        ],
        result=shape(
            "WaitResult",
            outcome={"type": "string", "enum": ["waiting", "met", "timeout", "gone"]},
            states=array(STATE),
            waited_ms=AGE,
            items=array(WATCHED_AGENT),
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
        description="For tmux: set -g status-right '#(covey bar --format tmux)'. For the menu bar of macOS, a "
        "SwiftBar plugin that calls covey bar --format swiftbar.",
        parameters=[
            Parameter("target", "Only this target."),
            Parameter("format", "For whom.", enum=["plain", "tmux", "swiftbar"], default="plain"),
        ],
        result=shape("StatusBar", text="string", needs_action="integer", total="integer", down=array("string")),
        page=True,
        idempotent=True,
        mcp=False,
    ),
    Operation(
        "adapters.list",
        "List the agent programs that Covey knows, and what it can detect of each.",
        cli=["adapters", "list"],
        route="/v1/adapters",
        description="For each: what can be detected, whether its hooks are installed, the versions that were "
        "measured, those that are installed and those that run now, and what of a running version could not be "
        "understood.",
        result=shape(
            "AdapterList",
            items=array(
                shape(
                    "Adapter",
                    agent="string",
                    title="string",
                    origin="string",
                    contract_version="integer",
                    capabilities=mapping("boolean"),
                    integration=shape("HookInstallation", state="string", file="string", detail="string"),
                    tested=array("string"),
                    installed=array(shape("InstalledProgram", path="string", version="string", note="string")),
                    running=array(shape("RunningVersion", version="string", count="integer", note="string")),
                    drift=array(shape("VersionDrift", version="string", counts=COUNTS, alarming="boolean")),
                )
            ),
            problems=array(shape("AdapterProblem", problem="string", suggestion="string")),
        ),
        idempotent=True,
    ),
    Operation(
        "adapters.explain",
        "Read a screen, and report which state it shows and which pattern matched.",
        cli=["adapters", "explain"],
        method="POST",
        route="/v1/adapters/explain",
        description="With --pane, the screen of a running agent is read, and the report names versions, sizes and "
        "what each source says. With --screen and the name of an agent, a saved screen is read: the command line "
        "needs no daemon for that and reads the descriptions in Covey's home as they are now. Rules for the title are "
        "tried only if one is given.",
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
                "The screen as text, also with escapes as capture-pane -e writes it; on the command line a file that "
                "holds it, or - for standard input.",
                content="raw",
            ),
            _switch("redact", "Hide every letter and digit that the agent shows."),
            Parameter("title", "The terminal's title.", content="raw"),
            Parameter("agent_version", "Version of the agent; without it, the newest that is known."),
        ],
        result=shape(
            "ScreenReport",
            agent="string",
            state=STATE,
            reason="string",
            detail="string",
            rule="string",
            evidence="string",
            caveat="string",
            tried=array(shape("TriedRule", source="string", rule="string", state="string", why="string")),
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
        "Install Covey's hooks into an agent program, or remove them.",
        cli=["integrate"],
        local="it edits the settings of programs in the caller's own environment, which a daemon does not have",
        description="Adds Covey's hooks to the settings of the agent, keeps everything else in the file, and leaves a "
        "copy of what was there. Only events that the installed version knows are written; a version of which that is "
        "not known is refused, with the reason. Without hooks Covey reads titles, session files, transcripts and "
        "screens.",
        parameters=[
            Parameter("agent", "The agent program.", required=True, positional=True, enum=INTEGRATED),
            Parameter("remove", "Remove the hooks again.", type="bool", default=False, consent=True),
            _switch("any_version", "Write the hooks even if it is not known that the installed version accepts them."),
            _switch("verbose", "With --dry-run, show every line that would change."),
        ],
        result=shape(
            "Integration",
            agent="string",
            state="string",
            changed="boolean",
            files=array(
                shape(
                    "ChangedFile",
                    path="string",
                    change="string",
                    about="string",
                    backup=optional("string"),
                    diff="string",
                )
            ),
            notes=array("string"),
            programs=array(shape("ProgramVersion", path="string", version="string")),
        ),
        mutating=True,
        idempotent=True,
        dry_run=True,
        guard=False,
        mcp=False,
        examples=[("covey integrate claude --dry-run", "See what it would change", 0)],
        no_consent="hooks only let Covey see more; to remove them is consent",
    ),
    Operation(
        "origin",
        "Tell which agent has started a process.",
        cli=[],
        route="/v1/origin",
        description="For programs that leave a decision to a person, and are asked over a socket. `agent` is empty if "
        "no agent of this machine has started it, or none that Covey sees.",
        parameters=[Parameter("pid", "The process.", type="int", required=True, minimum=1)],
        result=shape("Origin", agent="string", pane_id="string"),
        idempotent=True,
        mcp=False,
    ),
    Operation(
        "hooks",
        "Accept a delivery of an agent's hook.",
        cli=[],
        method="POST",
        route="/v1/hooks/{agent}",
        description="The body is the payload as the agent gave it. Headers say where it comes from: X-Covey-Pane and "
        "X-Covey-Tmux (as in the environment), X-Covey-Pid (the hook's ancestors, compared with those of the sender), "
        "X-Covey-At (when, in milliseconds since 1970), X-Covey-Id (a delivery that is repeated under its id counts "
        "once), X-Covey-Host. The answer comes when the delivery is in the journal. 503 means that it was not "
        "accepted: keep it, and deliver it again under the same id.",
        parameters=[Parameter("agent", AGENT.help, required=True, content="id")],
        payload=True,
        result={"type": "object"},
        mutating=True,
        guard=False,
        mcp=False,
        no_consent="an agent reports what it does itself",
    ),
    *TARGETS,
)
