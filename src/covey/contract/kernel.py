"""The operations of the daemon itself."""

from __future__ import annotations

from covey.contract.operation import Operation, Parameter, array, optional, shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

GROUPS = {"config": "Read and change the configuration.", "service": "Run Covey as a background service of this user."}

EVENT = shape(
    "Event",
    cursor="integer",
    id="string",
    time="number",
    at={"type": "string", "format": "date-time"},
    kind="string",
    subject="string",
    data={"type": "object", "description": "Depends on the kind; each kind has its own shape."},
    source="string",
)
SETTING = shape(
    "Setting",
    key="string",
    value={},
    default={},
    source={"type": "string", "enum": ["default", "file"]},
    help="string",
    restart="boolean",
)
CHANGED_SETTING = shape("ChangedSetting", key="string", old={}, new={}, needs_restart="boolean")
SERVICE_CHANGE = shape("ServiceChange", path="string", changed="boolean")
FINDING = shape(
    "Finding",
    section="string",
    name="string",
    status={"type": "string", "enum": ["ok", "warn", "fail"]},
    detail="string",
    fix="string",
)
AUDIT_ENTRY = shape(
    "AuditEntry",
    cursor="integer",
    at="string",
    who=shape(
        "AuditCaller",
        uid=optional("integer"),
        pid=optional("integer"),
        program="string",
        transport="string",
        subsystem="string",
        surface="string",
    ),
    operation="string",
    about="string",
    snapshot=optional("object"),
    status={"type": "string", "enum": ["done", "refused", "failed", "cut_off", "under_way"]},
    outcome="string",
    error=optional("string"),
)
KEY = Parameter("key", "Name of a setting, such as log.level.", required=True, positional=True, content="id")


def _health(fields: Mapping[str, Any]) -> Operation:
    return Operation(
        "health",
        "Check whether the daemon answers.",
        cli=["health"],
        route="/v1/health",
        result=shape("HealthCheck", ok="boolean", version="string", uptime_s="number", **fields),
        idempotent=True,
        mcp=False,
    )


def _status(parts: Mapping[str, Any]) -> Operation:
    return Operation(
        "status",
        "Show the status of the daemon.",
        cli=["status"],
        route="/v1/status",
        when_to_use="Call it first to see whether Covey runs and what it looks after.",
        result=shape(
            "Status",
            version="string",
            pid="integer",
            uptime_s="number",
            rss_bytes="integer",
            cpu_seconds="number",
            home="string",
            tcp_port=optional("integer"),
            events=shape("EventsStatus", cursor="integer", subscribers="integer"),
            config=shape("ConfigStatus", generation="integer", problems=array("string"), needs_restart=array("string")),
            problems=array("string"),
            loop=shape("LoopStatus", blocked="integer", longest_s="number"),
            children=array(
                shape("ChildProcess", name="string", state="string", pid=optional("integer"), restarts="integer")
            ),
            **parts,
        ),
        idempotent=True,
        examples=[("covey status", "The status of the daemon; exit code 2 if it does not run", 2)],
    )


OPERATIONS = (
    Operation(
        "up",
        "Start the daemon.",
        cli=["up"],
        aliases=["start"],
        local="it starts the process that would serve it",
        description="Starts the daemon in the background and returns when it is ready. Does nothing if it runs "
        "already.",
        parameters=[
            Parameter(
                "foreground", "Stay in the foreground, for supervisors such as systemd.", type="bool", default=False
            )
        ],
        result=shape("StartedDaemon", pid="integer", already_running="boolean", version="string"),
        mutating=True,
        idempotent=True,
        guard=False,
        mcp=False,
        no_consent="it runs with the rights of the caller, and the daemon does nothing",
    ),
    Operation(
        "down",
        "Stop the daemon.",
        cli=["down"],
        aliases=["stop"],
        method="POST",
        route="/v1/down",
        description="Stops the daemon and the processes it supervises. Agents in tmux keep running. "
        "On the command line, a daemon that does not answer is sent SIGTERM, and after that SIGKILL.",
        result=shape(
            "StoppedDaemon",
            pid=optional("integer"),
            stopping="boolean",
            how={"type": "string", "enum": ["none", "asked", "terminated", "killed"]},
        ),
        mutating=True,
        idempotent=True,
        guard=False,
        mcp=False,
        no_consent="agents then ask at their terminals, as without Covey",
    ),
    _status({}),
    _health({}),
    Operation(
        "reload",
        "Read the configuration again.",
        cli=["reload"],
        method="POST",
        route="/v1/reload",
        description="Reads config.toml again without dropping a connection. A broken edit is reported and the last "
        "good configuration stays in force.",
        result=shape("ReloadedConfig", generation="integer", changed=array("string"), needs_restart=array("string")),
        mutating=True,
        idempotent=True,
        guard=False,
        mcp=False,
        no_consent="it reads the file that counts already",
    ),
    Operation(
        "config.list",
        "List every setting, its value and where it comes from.",
        cli=["config", "list"],
        route="/v1/config",
        offline=True,
        result=shape("SettingList", items=array(SETTING)),
        idempotent=True,
        examples=[("covey config list", "Every setting", 0)],
    ),
    Operation(
        "config.get",
        "Show one setting.",
        cli=["config", "get"],
        route="/v1/config/{key}",
        offline=True,
        parameters=[KEY],
        result=SETTING,
        idempotent=True,
        examples=[("covey config get log.level", "One setting", 0)],
    ),
    Operation(
        "config.set",
        "Change one setting in config.toml, keeping its comments.",
        cli=["config", "set"],
        method="PUT",
        route="/v1/config/{key}",
        offline=True,
        parameters=[
            KEY,
            Parameter("value", "The new value, as TOML or as plain text.", required=True, positional=True),
        ],
        result=CHANGED_SETTING,
        mutating=True,
        idempotent=True,
        guard=False,
        mcp=False,
        examples=[("covey config set log.level debug", "Log more", 0)],
        no_consent="each setting says whether it is",
    ),
    Operation(
        "config.unset",
        "Remove a setting from config.toml, so that its default applies.",
        cli=["config", "unset"],
        method="DELETE",
        route="/v1/config/{key}",
        offline=True,
        parameters=[KEY],
        result=CHANGED_SETTING,
        mutating=True,
        idempotent=True,
        guard=False,
        mcp=False,
        examples=[("covey config unset log.level", "Back to the default", 0)],
        no_consent="each setting says whether it is",
    ),
    Operation(
        "events",
        "Show what has happened, and what happens.",
        cli=["events"],
        route="/v1/events",
        description="Every event has a cursor. Ask for what came after the last cursor you saw, and nothing is missed "
        "or repeated. On the command line, without --since and --limit: the last 50. Over HTTP: everything that is "
        "kept, as server-sent events. The stream ends with the newest event, unless `follow=true` or `Accept: "
        "text/event-stream` asks for more; it is resumable by Last-Event-ID. A client that resumes with a "
        "Last-Event-ID of another journal (the database was replaced) gets an event named covey.reset, then "
        "everything.",
        parameters=[
            Parameter("follow", "Go on with new events as they come.", type="bool", default=False, short="-f"),
            Parameter(
                "since",
                "Only events after this cursor, or this time: 10m (ago), or 2026-01-31T14:05:00Z. 0: all that are "
                "kept.",
                default="",
            ),
            Parameter(
                "limit",
                "Only the last N of them, before those that come.",
                type="int",
                short="-n",
                minimum=0,
                maximum=1_000_000,
            ),
            Parameter("kind", "Only events of this kind, or with this prefix (fleet.*); repeatable.", multiple=True),
        ],
        result=EVENT,
        streaming=True,
        media="text/event-stream",
        idempotent=True,
        examples=[
            (
                "covey events --since 10m",
                "What happened in the last ten minutes; exit code 2 if the daemon does not run",
                2,
            )
        ],
    ),
    Operation(
        "audit.list",
        "Show who did what: each call that changed something, or was refused.",
        cli=["audit"],
        route="/v1/audit",
        description="The newest last, one entry for each call. `who` is the process at the other end, `snapshot` what "
        "the call acted on, `outcome` what came of it. A call that failed may have been "
        "done in part. One that was cut off began to act, and the daemon ended before it did. "
        "Reading, and dry runs, are not recorded. Entries are kept as long as events are.",
        parameters=[
            Parameter("since", "Only what happened since then: 1h ago, or 2026-01-31T14:05:00Z.", default=""),
            Parameter("operation", "Only calls of this operation, such as send; repeatable.", multiple=True),
            Parameter("limit", "Only the last N.", type="int", default=50, short="-n", minimum=1, maximum=1000),
            Parameter(
                "before", "Only entries before this cursor: `earlier` of the answer before.", type="int", minimum=0
            ),
        ],
        result=shape("AuditTrail", items=array(AUDIT_ENTRY), earlier=optional("integer")),
        idempotent=True,
        examples=[
            ("covey audit --since 1h", "What was done in the last hour; exit code 2 if the daemon does not run", 2)
        ],
    ),
    Operation(
        "metrics",
        "Print the metrics for Prometheus.",
        cli=["metrics"],
        route="/v1/metrics",
        media="text/plain",
        page=True,
        result={"type": "string"},
        idempotent=True,
        mcp=False,
    ),
    Operation(
        "openapi",
        "Print the OpenAPI document of the local API.",
        cli=["openapi"],
        route="/v1/openapi.json",
        offline=True,
        page=True,
        result={"type": "object"},
        idempotent=True,
        mcp=False,
        examples=[
            ("covey openapi", "The document; > openapi.json writes it to a file", 0),
            ("covey openapi --fields info", "What the API is called", 0),
        ],
    ),
    Operation(
        "doctor",
        "Find what is missing or wrong, and the command that fixes it.",
        cli=["doctor"],
        route="/v1/doctor",
        offline=True,
        result=shape("Diagnosis", ok="boolean", findings=array(FINDING)),
        idempotent=True,
        examples=[("covey doctor", "Is everything here?", 0)],
    ),
    Operation(
        "backup",
        "Copy the daemon's database to a new file, while it runs.",
        cli=["backup"],
        method="POST",
        route="/v1/backup",
        parameters=[
            Parameter("path", "File to write; it must not exist yet.", required=True, positional=True, path=True)
        ],
        result=shape("Backup", path="string", bytes="integer"),
        mutating=True,
        guard=False,
        mcp=False,
        no_consent="it writes a new file, and replaces none",
    ),
    Operation(
        "logs",
        "Show the daemon's log.",
        cli=["logs"],
        local="it reads the log file, also when the daemon is down",
        parameters=[
            Parameter("follow", "Go on with new lines as they come.", type="bool", default=False, short="-f"),
            Parameter(
                "lines", "How many lines to show.", type="int", default=50, short="-n", minimum=0, maximum=1_000_000
            ),
        ],
        result=array("object"),
        idempotent=True,
        mcp=False,
        examples=[("covey logs -n 20", "The last lines of the log", 0)],
    ),
    Operation(
        "service.install",
        "Install the service, so that Covey starts with your session.",
        cli=["service", "install"],
        local="it talks to the system's service manager",
        result=SERVICE_CHANGE,
        mutating=True,
        idempotent=True,
        dry_run=True,
        guard=False,
        mcp=False,
        examples=[("covey service install --dry-run", "See the unit it would write", 0)],
        no_consent="it runs with the rights of the caller, and the daemon does nothing",
    ),
    Operation(
        "service.uninstall",
        "Remove the service.",
        cli=["service", "uninstall"],
        local="it talks to the system's service manager",
        result=SERVICE_CHANGE,
        mutating=True,
        idempotent=True,
        dry_run=True,
        guard=False,
        mcp=False,
        examples=[("covey service uninstall --dry-run", "See what it would remove", 0)],
        no_consent="it runs with the rights of the caller, and the daemon does nothing",
    ),
    Operation(
        "service.status",
        "Show whether the service is installed and running.",
        cli=["service", "status"],
        local="it talks to the system's service manager",
        result=shape("ServiceStatus", installed="boolean", path="string", active="string"),
        idempotent=True,
        mcp=False,
        examples=[("covey service status", "Is it installed?", 0)],
    ),
    Operation(
        "completion",
        "Print the completion script for your shell.",
        cli=["completion"],
        local="it prints a script",
        parameters=[Parameter("shell", "Your shell.", required=True, positional=True, enum=["bash", "zsh", "fish"])],
        result={"type": "string"},
        page=True,
        idempotent=True,
        mcp=False,
        examples=[("covey completion bash", "For bash: covey completion bash >> ~/.bashrc", 0)],
    ),
)


def with_status(parts: Mapping[str, Any], health: Mapping[str, Any] | None = None) -> tuple[Operation, ...]:
    """Return the operations of a daemon in whose status each subsystem has a part, by name and shape.

    `health` has the shapes of the fields that subsystems add to its health.
    """
    made = {"status": _status(parts), **({"health": _health(health)} if health else {})}
    return tuple(made.get(operation.name, operation) for operation in OPERATIONS)
