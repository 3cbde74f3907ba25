"""The operations of the beats: scheduled prompts that stay silent unless it matters."""

from __future__ import annotations

from covey.contract.operation import Omittable, Operation, Parameter, array, mapping, one_of, optional, shape

GROUPS = {"beats": "See the scheduled prompts: when they run, what they found, what they cost."}

OUTCOMES = ["ok", "attention", "error"]
TURN = {"type": "object", "description": "One message of the conversation, as the agent reported it."}
BUDGET = shape(
    "BeatBudget",
    run_usd=optional("number"),
    day_usd=optional("number"),
    month_usd=optional("number"),
    run_tokens=optional("integer"),
    day_tokens=optional("integer"),
    month_tokens=optional("integer"),
)
SPENT = shape("BeatSpending", runs="integer", cost_usd="number", tokens="integer")
RUN = shape(
    "BeatRun",
    run="string",
    beat="string",
    workspace="string",
    agent="string",
    why={"type": "string", "enum": ["schedule", "hand"]},
    state={"type": "string", "enum": ["queued", "running", "done"]},
    slot=optional("string"),
    queued_at="string",
    began_at=optional("string"),
    ended_at=optional("string"),
    duration_ms=optional("integer"),
    outcome=optional(one_of("BeatOutcome", OUTCOMES)),
    summary="string",
    error_kind="string",
    error="string",
    retry_at=optional("string"),
    probe="string",
    denials=array("string"),
    cost_usd=optional("number"),
    cost_estimated="boolean",
    tokens=optional("integer"),
    num_turns=optional("integer"),
    looked_at=optional("string"),
    missed="integer",
    timeout_s="number",
)
RUN_WITH_TURNS = shape("BeatRunWithTurns", **RUN["properties"], turns=array(TURN))
BEAT = shape(
    "Beat",
    name="string",
    workspace="string",
    file="string",
    agent="string",
    model="string",
    schedule="string",
    tz="string",
    state={"type": "string", "enum": ["scheduled", "running", "queued", "paused", "parked", "broken"]},
    reason="string",
    next_at=optional("string"),
    late_s=optional("number"),
    streak="integer",
    skipped="integer",
    last=optional(RUN),
    today=SPENT,
    month=SPENT,
    budget=BUDGET,
)
NEXT = optional(shape("NextBeat", name="string", at="string"))
BEATS_STATUS = shape("BeatsStatus", total="integer", by_state=mapping("integer"), reasons=array("string"), next=NEXT)
NAME = Parameter("name", "Name of a beat.", required=True, positional=True, content="id")

OPERATIONS = (
    Operation(
        "init",
        "Write a first HEARTBEAT.md.",
        cli=["init"],
        local="it writes a file into a folder of yours",
        description="Creates HEARTBEAT.md in the folder: a head that says when it runs, and instructions to be "
        "replaced by yours. An existing file is left alone (exit code 7). `scheduled` says whether the folder is in "
        "config.toml already; `covey beats add` adds it, and agrees to the options of the file.",
        when_to_use="Call it once in a folder that is to be looked after on a schedule.",
        examples=[("covey init api", "A HEARTBEAT.md for the folder api", 5)],
        parameters=[
            Parameter("path", "The workspace; this folder if left out.", positional=True, default=".", path=True)
        ],
        result=shape("NewHeartbeat", workspace="string", file="string", config="string", scheduled="boolean"),
        mutating=True,
        guard=False,
        mcp=False,
        no_consent="it runs with the rights of the caller, and the daemon does nothing",
    ),
    Operation(
        "beat",
        "Run a heartbeat now, and show what it found.",
        cli=["beat"],
        method="POST",
        route="/v1/beats/run",
        description="Runs the HEARTBEAT.md of a folder once, whether it is scheduled or not, and waits for its "
        "outcome: in the daemon if it runs, otherwise here. Exit code 0 if there is an answer, be it ok or attention: "
        "see `outcome`. Without an answer, an error beat_<kind> with exit code 3 (max_turns, budget), 4 (timeout), 5 "
        "(agent_missing, prompt_missing), 6 (auth), 8 (rate_limit; retry_after_ms if the provider said when), 9 "
        "(interrupted), or 2 (crash, api, probe). Interrupted, it leaves a run of the daemon going and ends one of "
        "its own. With `verbose` the result has the conversation as `turns`. Over HTTP the answer comes when the run "
        "is queued; its events beat.started, beat.step and beat.finished have its id as subject.",
        when_to_use="Call it to try a HEARTBEAT.md, or to run it now instead of at the next due time.",
        examples=[
            (
                "covey beat api --verbose",
                "Run the heartbeat of the folder api, with each tool call, then the conversation",
                7,
            ),
            ("covey beat --name nightly", "One of several beats of this folder", 7),
        ],
        parameters=[
            Parameter("path", "The workspace; this folder if left out.", positional=True, default=".", path=True),
            Parameter("name", "Which beat, if the workspace has several.", content="id"),
            Parameter(
                "verbose",
                "Show each tool call while it runs and the conversation afterwards, and keep that in the log.",
                type="bool",
                default=False,
                short="-V",
            ),
        ],
        result=shape("RequestedBeatRun", **RUN["properties"], turns=Omittable(array(TURN))),
        mutating=True,
        guard=False,
        mcp=False,
        consent=True,
    ),
    Operation(
        "beats.list",
        "List the beats: next run, last outcome, streak, cost.",
        cli=["beats", "list"],
        route="/v1/beats",
        description="Every beat that config.toml and the folders in it name, also those that cannot run; `problems` "
        "says what is wrong with them, and where. `state`: scheduled, running, queued (too many run), paused (by hand "
        "or by its budget), parked (after errors, or until the provider serves again), broken. `today` and `month` "
        "are the totals of `covey beats cost`, `count` is the number of beats, whatever --limit leaves of them. While "
        "no daemon runs it is what was recorded last, and `next_at` is null.",
        when_to_use="Call it to see whether the schedules work and what they found.",
        examples=[("covey beats list --fields name,state,next_at,last.outcome", "The most important fields", 0)],
        result=shape(
            "BeatList",
            items=array(BEAT),
            problems=array(shape("BeatProblem", file="string", message="string")),
            running="integer",
            limit="integer",
            count="integer",
            next=NEXT,
            today=SPENT,
            month=SPENT,
        ),
        idempotent=True,
        offline=True,
    ),
    Operation(
        "beats.history",
        "List past runs, newest first.",
        cli=["beats", "history"],
        route="/v1/beats/runs",
        description="Includes runs that are due or going on: their outcome is null. A run that was due and not begun, "
        "because its beat was paused, has no outcome either: its `error_kind` is withdrawn.",
        when_to_use="Call it to see what a beat found lately, and when it failed.",
        examples=[
            ("covey beats history", "The last 50 runs", 0),
            ("covey beats history --outcome attention", "Runs that needed a person", 0),
        ],
        parameters=[
            Parameter("name", "Only those of this beat.", positional=True, content="id"),
            Parameter("outcome", "Only those with this outcome.", enum=OUTCOMES),
            Parameter(
                "limit",
                "How many runs to list: a whole number from 1 to 1000, such as --limit 20.",
                type="int",
                default=50,
                minimum=1,
                maximum=1000,
            ),
        ],
        result=shape("BeatRunList", items=array(RUN)),
        idempotent=True,
        offline=True,
    ),
    Operation(
        "beats.show",
        "Show one run: what was said, which tools were called, how long it took and what it cost.",
        cli=["beats", "show"],
        route="/v1/beats/runs/{run}",
        when_to_use="Call it to learn why a run ended as it did.",
        description="`turns` is the conversation: what the agent said, its `toolCalls` with input, output and "
        "`durationMs`, and the result.",
        examples=[("covey beats show 8PW7T3", "The run whose id ends so", 5)],
        parameters=[
            Parameter(
                "run", "Id of a run, or enough of its end to know it.", required=True, positional=True, content="id"
            )
        ],
        result=RUN_WITH_TURNS,
        idempotent=True,
        offline=True,
    ),
    Operation(
        "beats.cost",
        "Show what the beats have cost, and what their budgets allow.",
        cli=["beats", "cost"],
        route="/v1/beats/cost",
        description="As far as agents report it: some report dollars, some only tokens. Days and months are those of "
        "the beat's time zone, for all together those of this machine. `others`: runs by hand of folders that are not "
        "on the schedule, or no longer; they are part of the total, and of what beats.day_usd and beats.month_usd "
        "limit.",
        when_to_use="Call it before a schedule is made denser, or when a bill surprises.",
        examples=[("covey beats cost --fields today,month,limits", "All beats together", 0)],
        result=shape(
            "BeatCosts",
            items=array(shape("BeatCost", name="string", today=SPENT, month=SPENT, total=SPENT, budget=BUDGET)),
            others=shape("OtherCosts", today=SPENT, month=SPENT, total=SPENT),
            today=SPENT,
            month=SPENT,
            total=SPENT,
            limits=shape("SpendingLimits", day_usd="number", month_usd="number"),
        ),
        idempotent=True,
        offline=True,
    ),
    Operation(
        "beats.add",
        "Put the heartbeats of a folder on the schedule.",
        cli=["beats", "add"],
        local="it reads a folder of yours and adds to config.toml",
        description="Adds a [[beats.workspace]] with the folder to config.toml, unless it is there already. A beat "
        "that could not run (an option that is misspelt, no schedule) is refused, with the file and the line. What "
        "the heads of its files say is agreed to: a beat whose head says something else later, such as a different "
        "probe or budget, is broken until this is called again. A running daemon has it at once. To take it off the "
        "schedule, remove those lines.",
        when_to_use="Call it once for a folder whose HEARTBEAT.md is to run by itself, and after its options changed.",
        examples=[("covey beats add api", "The folder api from now on", 7)],
        parameters=[
            Parameter("path", "The workspace; this folder if left out.", positional=True, default=".", path=True)
        ],
        result=shape(
            "AddedWorkspace",
            workspace="string",
            config="string",
            added="boolean",
            agreed=array(shape("AgreedBeat", name="string", file="string", options=array("string"))),
        ),
        mutating=True,
        idempotent=True,
        guard=False,
        mcp=False,
        consent=True,
    ),
    Operation(
        "beats.import_murmur",
        "Import the workspaces of a murmur configuration.",
        cli=["beats", "import"],
        local="it reads a file of yours and adds to config.toml",
        description="Adds a [[beats.workspace]] for each workspace that is not there yet; the rest of config.toml "
        "stays as it is, and a second import changes nothing. `problems` lists what could not be imported; `left_out` "
        "counts the workspaces. Exit code 3 if some were left out, 1 if all were. A running daemon has them at once.",
        examples=[("covey beats import", "All workspaces of murmur", 7)],
        parameters=[Parameter("path", "The old file; ~/.murmur/config.json if left out.", positional=True, path=True)],
        result=shape(
            "MurmurImport",
            source="string",
            file="string",
            imported=array("string"),
            present=array("string"),
            problems=array("string"),
            left_out="integer",
        ),
        mutating=True,
        idempotent=True,
        guard=False,
        mcp=False,
        consent=True,
    ),
    Operation(
        "beats.pause",
        "Stop running a beat until it is resumed.",
        cli=["beats", "pause"],
        method="POST",
        route="/v1/beats/pause",
        description="A run that is going on ends by itself. `covey beat` still runs it by hand.",
        examples=[("covey beats pause api", "No runs of api until it is resumed", 2)],
        parameters=[NAME],
        result=BEAT,
        mutating=True,
        idempotent=True,
        guard=False,
        no_consent="less is run",
    ),
    Operation(
        "beats.resume",
        "Run a beat again that was paused, by hand or by its budget.",
        cli=["beats", "resume"],
        method="POST",
        route="/v1/beats/resume",
        description="A beat that its budget has paused runs on until the budget is exceeded once more, counted from "
        "now. One that is parked after errors runs again at its next due time. Raising beats.day_usd, beats.month_usd "
        "or the budget in its HEARTBEAT.md lets a beat go on by itself.",
        examples=[
            ("covey beats resume api", "Back to its schedule", 2),
            ("covey beats resume --all", "All that are paused or parked", 2),
        ],
        parameters=[
            Parameter("name", "Name of a beat.", positional=True, content="id"),
            Parameter("all", "All beats that are paused or parked.", type="bool", default=False),
        ],
        result=shape("ResumedBeats", items=array(BEAT)),
        mutating=True,
        idempotent=True,
        guard=False,
        consent=True,
    ),
)
