"""The types of what the daemons return.

Generated from Covey's contract by `./run python -m sdk.generate`; do not edit.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class ActionSnapshot(TypedDict):
    action_id: str
    runtime_id: str
    ref: str
    agent: str
    pane_epoch: str
    state: str
    state_version: int
    observed_at: str
    expires_at: str


class Adapter(TypedDict):
    agent: str
    title: str
    origin: str
    contract_version: int
    capabilities: dict[str, bool]
    integration: HookInstallation
    tested: list[str]
    installed: list[InstalledProgram]
    running: list[RunningVersion]
    drift: list[VersionDrift]


class AdapterList(TypedDict):
    items: list[Adapter]
    problems: list[AdapterProblem]


class AdapterProblem(TypedDict):
    problem: str
    suggestion: str


class AgentBrief(TypedDict):
    pane_id: str
    runtime_id: str
    agent: str
    state: AgentState
    reason: str
    confidence: Confidence
    detail: str
    ref: str
    age_ms: int


class AgentKindRollup(TypedDict):
    agent: str
    top_state: AgentState
    age_ms: int
    needs_action: bool
    total: int
    waiting: int
    running: int
    by_state: dict[str, int]


class AgentList(TypedDict):
    schema_version: str
    generated_at: str
    filters: Filters
    summary: FleetSummary
    targets: list[Target]
    items: list[AgentRow]


class AgentRow(TypedDict):
    identity: PaneIdentity
    ref: str
    runtime_id: str
    agent: str
    state: AgentState
    reason: str
    confidence: Confidence
    since: str
    as_of: str
    detail: str
    cwd: str
    pid: int | None
    window_name: str
    window_index: int
    pane_index: int
    title: str
    socket: str
    version: str
    version_note: str
    server: str
    state_version: int
    needs_action: bool
    evidence: list[Evidence]
    age_ms: int


class AgentScreen(TypedDict):
    ref: str
    agent: str
    state: str
    composer: str
    lines: list[str]
    coloured: list[str]
    turns: NotRequired[list[Turn]]


AgentState = Literal["error", "waiting_approval", "waiting_input", "running", "completed", "idle", "unknown"]


class Answer(TypedDict):
    outcome: Literal["waiting", "answered", "asks", "no_answer", "error", "done", "not_sent", "gone", "timeout"]
    receipt: Receipt
    state: str
    reply: str
    why: str


class Approval(TypedDict):
    id: str
    status: ApprovalStatus
    kind: ApprovalKind
    runtime_id: str
    ref: str
    target: str
    agent: str
    pid: int
    tool: str
    command: str
    left_out: int
    tool_kind: ToolKind
    shell_command: str
    paths: list[str]
    deep: bool
    runs_in: str
    unread: str
    folder: str
    helper: bool
    on_screen: bool
    questions: list[Question]
    opened_at: str
    expires_at: str
    closed_at: str | None
    decision: Literal["", "allow", "deny", "answer"]
    message: str
    always: bool
    via: Literal["", "hook", "terminal", "policy"]
    by: dict[str, Any]
    why: str
    input: dict[str, Any]
    suggestions: list[dict[str, Any]]
    age_ms: int
    commands: list[str]


ApprovalKind = Literal["approval", "plan", "question"]


class ApprovalList(TypedDict):
    open: int
    presence: Presence
    items: list[Approval]
    others: list[WaitingAgent]


ApprovalStatus = Literal["open", "answered", "withdrawn", "expired"]


class Attachment(TypedDict):
    snapshot: ActionSnapshot
    target: str
    ssh_target: str
    socket: str
    session_id: str
    session_name: str
    window_id: str
    pane_id: str
    client: str
    went: bool
    nested: bool
    command: list[str]


class AttentionItem(TypedDict):
    id: str
    key: str
    kind: AttentionKind
    source: str
    title: str
    detail: str
    data: dict[str, Any]
    opened_at: str
    updated_at: str
    times: int
    closed_at: str | None
    closed_why: str
    command: str
    age_ms: int


AttentionKind = Literal["approval", "question", "error", "beat", "other"]


class AttentionList(TypedDict):
    items: list[AttentionItem]
    open: int


class AttentionStatus(TypedDict):
    open: int
    titles: list[str]
    notify_problem: str
    channels: list[NotificationChannel]


class AuditCaller(TypedDict):
    uid: int | None
    pid: int | None
    program: str
    transport: str
    subsystem: str
    surface: str


class AuditEntry(TypedDict):
    cursor: int
    at: str
    who: AuditCaller
    operation: str
    about: str
    snapshot: dict[str, Any] | None
    status: Literal["done", "refused", "failed", "cut_off", "under_way"]
    outcome: str
    error: str | None


class AuditTrail(TypedDict):
    items: list[AuditEntry]
    earlier: int | None


class Back(TypedDict):
    client: str
    place: str
    detached: bool


class Backup(TypedDict):
    path: str
    bytes: int


class Beat(TypedDict):
    name: str
    workspace: str
    file: str
    agent: str
    model: str
    schedule: str
    tz: str
    state: Literal["scheduled", "running", "queued", "paused", "parked", "broken"]
    reason: str
    next_at: str | None
    late_s: float | None
    streak: int
    skipped: int
    last: BeatRun | None
    today: BeatSpending
    month: BeatSpending
    budget: BeatBudget


class BeatBudget(TypedDict):
    run_usd: float | None
    day_usd: float | None
    month_usd: float | None
    run_tokens: int | None
    day_tokens: int | None
    month_tokens: int | None


class BeatCost(TypedDict):
    name: str
    today: BeatSpending
    month: BeatSpending
    total: BeatSpending
    budget: BeatBudget


class BeatCosts(TypedDict):
    items: list[BeatCost]
    others: OtherCosts
    today: BeatSpending
    month: BeatSpending
    total: BeatSpending
    limits: SpendingLimits


class BeatList(TypedDict):
    items: list[Beat]
    problems: list[BeatProblem]
    running: int
    limit: int
    count: int
    next: NextBeat | None
    today: BeatSpending
    month: BeatSpending


BeatOutcome = Literal["ok", "attention", "error"]


class BeatProblem(TypedDict):
    file: str
    message: str


class BeatRun(TypedDict):
    run: str
    beat: str
    workspace: str
    agent: str
    why: Literal["schedule", "hand"]
    state: Literal["queued", "running", "done"]
    slot: str | None
    queued_at: str
    began_at: str | None
    ended_at: str | None
    duration_ms: int | None
    outcome: BeatOutcome | None
    summary: str
    error_kind: str
    error: str
    retry_at: str | None
    probe: str
    denials: list[str]
    cost_usd: float | None
    cost_estimated: bool
    tokens: int | None
    num_turns: int | None
    looked_at: str | None
    missed: int
    timeout_s: float


class BeatRunList(TypedDict):
    items: list[BeatRun]


class BeatRunWithTurns(TypedDict):
    run: str
    beat: str
    workspace: str
    agent: str
    why: Literal["schedule", "hand"]
    state: Literal["queued", "running", "done"]
    slot: str | None
    queued_at: str
    began_at: str | None
    ended_at: str | None
    duration_ms: int | None
    outcome: BeatOutcome | None
    summary: str
    error_kind: str
    error: str
    retry_at: str | None
    probe: str
    denials: list[str]
    cost_usd: float | None
    cost_estimated: bool
    tokens: int | None
    num_turns: int | None
    looked_at: str | None
    missed: int
    timeout_s: float
    turns: list[dict[str, Any]]


class BeatSpending(TypedDict):
    runs: int
    cost_usd: float
    tokens: int


class BeatsStatus(TypedDict):
    total: int
    by_state: dict[str, int]
    reasons: list[str]
    next: NextBeat | None


class ChangedSetting(TypedDict):
    key: str
    old: Any
    new: Any
    needs_restart: bool


class ChannelMessage(TypedDict):
    id: int
    channel: str
    text: str
    at: str
    again: bool


class ChannelTest(TypedDict):
    items: list[TestedChannel]


class ChannelWrite(TypedDict):
    channel: str
    bytes: int


class ChildProcess(TypedDict):
    name: str
    state: str
    pid: int | None
    restarts: int


Confidence = Literal["high", "medium", "low"]


class ConfigStatus(TypedDict):
    generation: int
    problems: list[str]
    needs_restart: list[str]


class ConfiguredTarget(TypedDict):
    target: str
    kind: TargetKind
    ssh_target: str
    is_default: bool
    health: Health
    reason: str
    node: str
    last_seen_at: str | None


class Conversation(TypedDict):
    runtime_id: str
    agent: str
    id: str
    transcript: str


class DetailedEvidence(TypedDict):
    source: str
    state: AgentState
    evidence: str
    at: str
    age_ms: int
    detail: str


class Diagnosis(TypedDict):
    ok: bool
    findings: list[Finding]


class DialogAnswer(TypedDict):
    snapshot: ActionSnapshot
    fingerprint: str
    option: DialogOption
    gone: bool
    why: str
    state: str
    next: str


class DialogOption(TypedDict):
    number: int
    label: str
    means: str
    marked: bool
    keys: list[str]


class EventsStatus(TypedDict):
    cursor: int
    subscribers: int


class Evidence(TypedDict):
    source: str
    state: AgentState
    evidence: str
    at: str
    age_ms: int


class Explanation(TypedDict):
    item: AgentRow
    because: DetailedEvidence | None
    agrees: list[DetailedEvidence]
    overruled: list[OverruledEvidence]
    caveat: str
    would_change: str


class FailingAdapter(TypedDict):
    name: str
    session: str
    restarts: int
    last_line: str
    log: str


class Filters(TypedDict):
    target: str
    target_session: str
    session: str
    socket: str
    cwd: str
    state: list[AgentState]
    agent_type: list[str]
    needs_action: bool


class Finding(TypedDict):
    section: str
    name: str
    status: Literal["ok", "warn", "fail"]
    detail: str
    fix: str


class FleetStatus(TypedDict):
    targets: list[Target]
    summary: FleetSummary
    presence: Presence
    approvals: int


class FleetSummary(TypedDict):
    total: int
    needs_action: int
    by_state: dict[str, int]
    by_agent: dict[str, int]
    by_target: dict[str, int]


class Forgotten(TypedDict):
    name: str
    messages: int
    worktree: str
    removed: bool
    why: str


Health = Literal["ok", "degraded", "down"]


class HealthCheck(TypedDict):
    ok: bool
    version: str
    uptime_s: float


class HookInstallation(TypedDict):
    state: str
    file: str
    detail: str


class HooksStatus(TypedDict):
    enabled: bool
    running: int
    queued: int
    fired: int
    failed: int


class InboxStatus(TypedDict):
    messages: int
    bytes: int
    held: int
    held_from: list[MeshHeld]
    unreadable: int


class InstalledProgram(TypedDict):
    path: str
    version: str
    note: str


class Interruption(TypedDict):
    snapshot: ActionSnapshot
    state: str
    stopped: bool


class JoinedMesh(TypedDict):
    slug: str
    mesh: str
    member: str
    name: str
    role: MeshRole
    servers: list[str]
    wanted: PeerWanted
    state: str
    pid: int | None
    restarts: int
    connected: bool | None
    queue_depth: int | None
    problem: str


class JoinedMeshes(TypedDict):
    items: list[JoinedMesh]
    broker: MeshBroker | None


class KeeperRecord(TypedDict):
    at: str
    kind: str
    text: str


class KeeperRecords(TypedDict):
    items: list[KeeperRecord]


class KeeperStatus(TypedDict):
    sessions: int
    running: int
    waiting: int
    mcp: str | None
    problems: list[str]
    failing_adapters: list[FailingAdapter]


class KeptChannel(TypedDict):
    name: str
    incoming: bool
    outgoing: bool
    taken: int
    refused: int


class KeptChannels(TypedDict):
    items: list[KeptChannel]
    not_served: int


class KeptPath(TypedDict):
    name: str
    path: str


KeptPhase = Literal["starting", "running", "waits", "stopped"]


class KeptSession(TypedDict):
    name: str
    agent: str
    phase: KeptPhase
    why: str
    state: AgentState | None
    ref: str
    runtime_id: str
    cwd: str
    args: list[str]
    variables: list[str]
    model: str
    permission_mode: str
    worktree: str
    branch: str
    keep: bool
    conversation: str
    transcript: str
    socket: str
    pane_id: str
    path: str
    restarts: int
    waiting: int
    created_at: str
    started_at: str | None
    starts_at: str | None
    notes: list[str]


class KeptSessions(TypedDict):
    items: list[KeptSession]


class KeptStatus(TypedDict):
    session: KeptSession
    channels: list[KeptChannel]
    not_served: int
    messages: list[ChannelMessage]
    failing_adapters: list[FailingAdapter]


class Killed(TypedDict):
    snapshot: ActionSnapshot
    signal: str
    pid: int
    ended: bool


class LateChange(TypedDict):
    runtime_id: str
    due: str
    late_ms: int
    derived: StateOutcome | None


class LeftMesh(TypedDict):
    slug: str
    told: bool
    path: str


class LoopStatus(TypedDict):
    blocked: int
    longest_s: float


class MadeInvite(TypedDict):
    token: str
    id: str
    role: MeshRole
    uses: int
    left: int
    made_at: str
    expires_at: str
    revoked: bool
    joined: list[str]


class McpStatus(TypedDict):
    act: bool
    http: str | None


class MeshBatchAnswer(TypedDict):
    items: list[MeshBatchItem]
    accepted: int
    refused: int


class MeshBatchItem(TypedDict):
    answer: MeshSendAnswer | None
    error: dict[str, Any] | None


class MeshBroker(TypedDict):
    state: str
    pid: int | None
    restarts: int
    version: str
    url: str
    listen: list[str]
    names: list[str]
    fingerprint: str


class MeshCollection(TypedDict):
    collection: str
    texts: int
    models: list[str]
    without_vector: int


class MeshCollections(TypedDict):
    items: list[MeshCollection]
    embedder: MeshEmbedder


class MeshConnection(TypedDict):
    connected: bool
    since: str | None
    reason: str | None


MeshDelivery = Literal["pending", "inflight", "done", "dead", "dropped"]


class MeshDropped(TypedDict):
    ids: list[str]


class MeshEmbedder(TypedDict):
    tier: Literal["minilm", "static", "none"]
    model: str | None
    note: str


class MeshExport(TypedDict):
    path: str
    documents: int


class MeshFile(TypedDict):
    id: str
    name: str
    size: int
    sha256: str
    message: str
    author: str
    author_name: str
    to: list[str]
    to_names: list[str]
    at: str
    expires_at: str | None


class MeshFileDeleted(TypedDict):
    id: str


class MeshFileTransfer(TypedDict):
    transfer: str
    id: str
    direction: Literal["up", "down"]
    state: Literal["waiting", "hashing", "uploading", "downloading", "done", "failed"]
    name: str
    path: str
    size: int
    done_bytes: int
    reason: str
    error: str
    began_at: str
    ended_at: str | None


class MeshFileTransfers(TypedDict):
    items: list[MeshFileTransfer]


class MeshFiles(TypedDict):
    items: list[MeshFile]
    next: float | None


class MeshFound(TypedDict):
    items: list[MeshMessage]
    indexed: bool


class MeshGraphCounters(TypedDict):
    nodes_created: int
    nodes_deleted: int
    relationships_created: int
    relationships_deleted: int
    properties_set: int
    labels_added: int


class MeshGraphNotApplied(TypedDict):
    sequence: int
    author: str
    outcome: str
    reason: str


class MeshGraphResult(TypedDict):
    rows: list[dict[str, Any]]
    truncated: bool
    wrote: bool
    applied: bool
    counters: MeshGraphCounters | None
    sequence: int
    caught_up: bool
    connection: MeshConnection


class MeshGraphStatus(TypedDict):
    engine: str
    sequence: int
    caught_up: bool
    connection: MeshConnection
    problem: str | None
    nodes: int
    relationships: int
    entries: int
    failed: int
    not_applied: list[MeshGraphNotApplied]
    crashes: int
    digest: str


class MeshGroup(TypedDict):
    name: str
    role: str


class MeshGroups(TypedDict):
    items: list[MeshGroup]


class MeshHealthCheck(TypedDict):
    ok: bool
    version: str
    uptime_s: float
    connected: bool
    lag_ms: float | None
    queue_depth: int
    mesh: str
    member_pubkey: str


class MeshHeartbeat(TypedDict):
    member: str
    status: str
    until: str


class MeshHeld(TypedDict):
    member: str
    name: str
    messages: int
    until: str


class MeshHolder(TypedDict):
    member: str
    name: str
    agent: str
    label: str
    yours: bool


class MeshImport(TypedDict):
    written: int
    same: int
    left: int
    skipped: int


class MeshInbox(TypedDict):
    items: list[MeshMessage]
    cursor: int
    more: bool
    held_from: list[MeshHeld]


class MeshInstalledSkill(TypedDict):
    name: str
    version: str
    author: str
    author_name: str
    agent: str
    path: str
    at: str


class MeshInvite(TypedDict):
    id: str
    role: MeshRole
    uses: int
    left: int
    made_at: str
    expires_at: str
    revoked: bool
    joined: list[str]


class MeshInvites(TypedDict):
    items: list[MeshInvite]


class MeshKeyRotated(TypedDict):
    member: str
    key: str
    number: int


class MeshLease(TypedDict):
    name: str
    holder: MeshHolder
    note: str
    acquired_at: str
    until: str
    revision: int


class MeshLeases(TypedDict):
    items: list[MeshLease]
    next: str | None


class MeshMcpAnswer(TypedDict):
    server: str
    tool: str
    owner: str
    owner_name: str
    is_error: bool
    content: list[dict[str, Any]]
    structured: dict[str, Any] | None
    ms: float


class MeshMcpServer(TypedDict):
    server: str
    description: str
    owner: str
    owner_name: str
    own: bool
    open: bool
    tools: list[MeshMcpTool]
    revision: int
    at: str


class MeshMcpServers(TypedDict):
    items: list[MeshMcpServer]


class MeshMcpTool(TypedDict):
    name: str
    description: str
    input_schema: dict[str, Any] | None


class MeshMcpUnregistered(TypedDict):
    server: str


class MeshMember(TypedDict):
    member: str
    name: str
    role: MeshRole
    you: bool
    joined_at: str
    revoked_at: str | None
    key: str


class MeshMembers(TypedDict):
    items: list[MeshMember]
    mesh: str
    epoch: int


class MeshMemories(TypedDict):
    items: list[MeshMemory]
    next: str | None


class MeshMemory(TypedDict):
    id: str
    content: str
    tags: list[str]
    author: str
    author_name: str
    at: str
    rewritten_by: str | None
    model: str | None


class MeshMemoryForgotten(TypedDict):
    id: str


class MeshMemoryHit(TypedDict):
    id: str
    content: str
    tags: list[str]
    author: str
    author_name: str
    at: str
    rewritten_by: str | None
    model: str | None
    found_by: list[Literal["words", "meaning"]]
    score: float
    similarity: float | None


class MeshMemoryRemembered(TypedDict):
    id: str
    content: str
    tags: list[str]
    author: str
    author_name: str
    at: str
    rewritten_by: str | None
    model: str | None
    embedder: MeshEmbedder


MeshMessage = TypedDict(
    "MeshMessage",
    {
        "cursor": "int",
        "id": "str",
        "mesh": "str",
        "kind": "Literal['direct', 'topic', 'broadcast']",
        "from": "str",
        "from_name": "str",
        "from_agent": "str",
        "to_agent": "str",
        "topic": "str | None",
        "text": "str",
        "priority": "MeshPriority",
        "meta": "dict[str, Any]",
        "reply_to_id": "str | None",
        "mentions": "list[str]",
        "mentioned": "bool",
        "hops": "int",
        "sent_at": "str",
        "received_at": "str",
        "late": "bool",
    },
)


class MeshNodeStatus(TypedDict):
    joined: int
    running: int
    broker: str | None
    problems: list[str]


class MeshOutbox(TypedDict):
    items: list[MeshOutboxRow]
    pending: int
    dead: int
    oldest_at: str | None


class MeshOutboxRow(TypedDict):
    id: str
    to: str
    member: str
    kind: Literal["direct", "topic", "broadcast"]
    state: MeshDelivery
    rung: MeshRung
    attempts: int
    bytes: int
    accepted_at: str
    next_attempt_at: str | None
    delivered_at: str | None
    error: str


class MeshPeer(TypedDict):
    member: str
    name: str
    role: MeshRole
    you: bool
    online: bool
    status: MeshPresence
    summary: str
    avatar: str
    groups: list[MeshGroup]
    seen_at: str | None


class MeshPeers(TypedDict):
    items: list[MeshPeer]
    online: int


MeshPresence = Literal["idle", "working", "dnd"]

MeshPriority = Literal["now", "next", "low"]


class MeshProfile(TypedDict):
    member: str
    name: str
    summary: str
    status: MeshPresence
    visible: bool
    avatar: str
    groups: list[MeshGroup]


class MeshRecall(TypedDict):
    items: list[MeshMemoryHit]
    embedder: MeshEmbedder
    left_out: int


class MeshReceipt(TypedDict):
    id: str
    to: str
    member: str
    online: bool | None
    rung: MeshRung
    state: MeshDelivery
    status: str
    accepted_at: str
    delivered_at: str | None
    received_at: str | None
    seen_at: str | None
    refused: bool
    attempts: int
    error: str


class MeshRecipient(TypedDict):
    member: str
    name: str
    id: str
    online: bool | None
    rung: MeshRung


class MeshReembedding(TypedDict):
    model: str | None
    running: bool
    total: int
    done: int
    failed: int
    error: str


class MeshReminder(TypedDict):
    id: str
    message: str
    to: str
    at: str | None
    cron: str | None
    tz: str
    next_at: str | None
    created_by: MeshHolder
    created_at: str
    private: bool


class MeshReminders(TypedDict):
    items: list[MeshReminder]
    more: bool


class MeshRenamed(TypedDict):
    member: str
    old: str
    name: str


class MeshRequeued(TypedDict):
    ids: list[str]


class MeshRevoked(TypedDict):
    member: str
    name: str
    invite: str
    epoch: int | None


MeshRole = Literal["authority", "admin", "member", "reader"]

MeshRung = Literal["stored", "at_broker", "in_inbox", "seen"]


class MeshSendAnswer(TypedDict):
    id: str
    ids: list[str]
    to: str
    recipients: list[MeshRecipient]
    rung: MeshRung
    status: str
    queued: bool
    replayed: bool


class MeshServiceUsage(TypedDict):
    name: str
    documents: int
    bytes: int


class MeshServices(TypedDict):
    items: list[MeshServiceUsage]
    documents: int
    bytes: int
    caught_up: bool
    refused: int
    digest: str
    connection: MeshConnection


class MeshServicesStatus(TypedDict):
    documents: int
    bytes: int
    caught_up: bool
    refused: int


class MeshSkill(TypedDict):
    name: str
    version: str
    description: str
    files: list[MeshSkillFile]
    bytes: int
    inline: bool
    author: str
    author_name: str
    revision: int
    at: str


class MeshSkillDeployed(TypedDict):
    skill: MeshSkill
    left_out: list[str]


class MeshSkillFile(TypedDict):
    path: str
    sha256: str
    size: int
    mode: str


class MeshSkillPlan(TypedDict):
    skill: MeshSkill
    agent: str
    path: str
    plan: str
    replaces: str | None
    installed: bool


class MeshSkillRemoved(TypedDict):
    name: str
    revision: int


class MeshSkillShown(TypedDict):
    skill: MeshSkill
    file: str
    text: str | None


class MeshSkillUninstalled(TypedDict):
    name: str
    path: str
    removed: list[str]
    kept: list[str]


class MeshSkills(TypedDict):
    items: list[MeshSkill]
    installed: list[MeshInstalledSkill]


class MeshState(TypedDict):
    items: list[MeshStateEntry]
    next: str | None


class MeshStateDeleted(TypedDict):
    key: str
    scope: Literal["mesh", "member"]
    revision: int


class MeshStateEntry(TypedDict):
    key: str
    scope: Literal["mesh", "member"]
    value: Any
    revision: int
    author: str
    author_name: str
    at: str


class MeshStatus(TypedDict):
    version: str
    pid: int
    uptime_s: float
    rss_bytes: int
    cpu_seconds: float
    home: str
    tcp_port: int | None
    events: EventsStatus
    config: ConfigStatus
    problems: list[str]
    loop: LoopStatus
    children: list[ChildProcess]
    mesh: PeerStatus


class MeshTask(TypedDict):
    id: str
    title: str
    description: str
    status: MeshTaskStatus
    priority: MeshPriority
    tags: list[str]
    assignee: str | None
    depends_on: list[str]
    blocked_by: list[str]
    created_by: MeshHolder
    created_at: str
    claimed_by: MeshHolder | None
    until: str | None
    claims: int
    result: Any
    reason: str
    ended_by: MeshHolder | None
    ended_at: str | None
    revision: int


MeshTaskStatus = Literal["open", "claimed", "completed", "failed"]


class MeshTaskTaken(TypedDict):
    task: MeshTask | None
    open: int
    blocked: int
    claimed: int


class MeshTasks(TypedDict):
    items: list[MeshTask]
    next: str | None


class MeshTopic(TypedDict):
    name: str
    subscribed: bool
    messages: int
    last_at: str | None


class MeshTopics(TypedDict):
    items: list[MeshTopic]


class MeshVectorDeleted(TypedDict):
    id: str
    collection: str


class MeshVectorHit(TypedDict):
    id: str
    collection: str
    text: str
    metadata: dict[str, Any]
    author: str
    author_name: str
    at: str
    rewritten_by: str | None
    model: str | None
    found_by: list[Literal["words", "meaning"]]
    similarity: float | None


class MeshVectorHits(TypedDict):
    items: list[MeshVectorHit]
    embedder: MeshEmbedder
    left_out: int


class MeshVectorStored(TypedDict):
    id: str
    collection: str
    text: str
    metadata: dict[str, Any]
    author: str
    author_name: str
    at: str
    rewritten_by: str | None
    model: str | None
    embedder: MeshEmbedder


class Next(TypedDict):
    item: AttentionItem | None
    attachment: Attachment | None


class NextBeat(TypedDict):
    name: str
    at: str


class NotificationChannel(TypedDict):
    name: str
    kind: str
    problem: str
    held: int


class Origin(TypedDict):
    agent: str
    pane_id: str


class OtherCosts(TypedDict):
    today: BeatSpending
    month: BeatSpending
    total: BeatSpending


class OutboxStatus(TypedDict):
    pending: int
    dead: int
    bytes: int
    oldest_s: float | None


class OverruledEvidence(TypedDict):
    source: str
    state: AgentState
    evidence: str
    at: str
    age_ms: int
    detail: str
    why: str


class PaneIdentity(TypedDict):
    target: str
    session_name: str
    window_id: str
    pane_id: str


class PastAgentList(TypedDict):
    schema_version: str
    generated_at: str
    filters: Filters
    summary: FleetSummary
    targets: list[Target]
    items: list[AgentRow]
    at: str


class PeerStatus(TypedDict):
    slug: str
    mesh: str
    member: str
    name: str
    role: MeshRole
    connected: bool
    server: str
    servers: list[str]
    lag_ms: float | None
    reconnects: int
    reason: str
    members: int
    online: int
    epoch: int
    outbox: OutboxStatus
    inbox: InboxStatus
    hooks: HooksStatus
    services: MeshServicesStatus
    problems: list[str]


PeerWanted = Literal["up", "down", "service"]


class PolicyDecision(TypedDict):
    effect: PolicyEffect
    rule: str
    why: str


PolicyEffect = Literal["allow", "deny", "ask"]


class PolicyProblem(TypedDict):
    rule: int
    line: int
    message: str


class PolicyRule(TypedDict):
    name: str
    effect: PolicyEffect
    conditions: dict[str, str]


class PolicyRules(TypedDict):
    items: list[PolicyRule]
    problems: list[PolicyProblem]


class PolicyTrial(TypedDict):
    items: list[TriedRequest]
    total: int
    allow: int
    deny: int
    ask: int
    changed: int
    against: int
    problems: list[PolicyProblem]


class Presence(TypedDict):
    away: bool
    since: str
    until: str | None


class Question(TypedDict):
    text: str
    options: list[str]
    several: bool


class Receipt(TypedDict):
    id: str
    runtime_id: str
    ref: str
    agent: str
    lane: str
    text: str
    bytes: int
    rung: Literal["accepted", "typed", "submitted", "seen", "answered"]
    open: bool
    why: str
    evidence: str
    created_at: str
    updated_at: str
    position: NotRequired[int]
    expires_at: NotRequired[str]


class ReceiptList(TypedDict):
    items: list[Receipt]


class RecordedEvidence(TypedDict):
    source: str
    state: AgentState
    evidence: str
    at: str


class ReloadedConfig(TypedDict):
    generation: int
    changed: list[str]
    needs_restart: list[str]


class RemovedTarget(TypedDict):
    target: str
    removed: bool


class ReplayCheck(TypedDict):
    schema_version: str
    generated_at: str
    since: str
    matches: bool
    signals: int
    changes: int
    unknown: int
    mismatched: int
    late: int
    mismatches: list[ReplayMismatch]
    latest: list[LateChange]


class ReplayMismatch(TypedDict):
    cursor: int
    runtime_id: str
    at: str
    why: str
    recorded: StateOutcome | None
    derived: StateOutcome | None


class RequestedBeatRun(TypedDict):
    run: str
    beat: str
    workspace: str
    agent: str
    why: Literal["schedule", "hand"]
    state: Literal["queued", "running", "done"]
    slot: str | None
    queued_at: str
    began_at: str | None
    ended_at: str | None
    duration_ms: int | None
    outcome: BeatOutcome | None
    summary: str
    error_kind: str
    error: str
    retry_at: str | None
    probe: str
    denials: list[str]
    cost_usd: float | None
    cost_estimated: bool
    tokens: int | None
    num_turns: int | None
    looked_at: str | None
    missed: int
    timeout_s: float
    turns: NotRequired[list[dict[str, Any]]]


class ResetMesh(TypedDict):
    slug: str
    removed: bool


class ResumedBeats(TypedDict):
    items: list[Beat]


class RunningVersion(TypedDict):
    version: str
    count: int
    note: str


class ScreenReport(TypedDict):
    agent: str
    state: AgentState
    reason: str
    detail: str
    rule: str
    evidence: str
    caveat: str
    tried: list[TriedRule]
    report: str


class SendResult(TypedDict):
    receipt: Receipt | None
    snapshot: ActionSnapshot
    stripped: int
    waits_for: NotRequired[str]
    answer: NotRequired[Answer]


class Session(TypedDict):
    identity: SessionIdentity
    socket: str | None
    top_state: AgentState
    age_ms: int
    needs_action: bool
    total: int
    waiting: int
    running: int
    by_state: dict[str, int]
    targets: list[TargetRollup]
    agents: NotRequired[list[AgentKindRollup]]


class SessionIdentity(TypedDict):
    target: str | None
    session_name: str


class SessionList(TypedDict):
    schema_version: str
    generated_at: str
    filters: Filters
    summary: FleetSummary
    targets: list[Target]
    items: list[Session]
    group_by: str


class Setting(TypedDict):
    key: str
    value: Any
    default: Any
    source: Literal["default", "file"]
    help: str
    restart: bool


class SettingList(TypedDict):
    items: list[Setting]


class ShownDialog(TypedDict):
    snapshot: ActionSnapshot
    kind: str
    title: str
    text: list[str]
    options: list[DialogOption]
    fingerprint: str


class SpendingLimits(TypedDict):
    day_usd: float
    month_usd: float


class StateOutcome(TypedDict):
    state: str
    reason: str
    confidence: str
    detail: str


class Status(TypedDict):
    version: str
    pid: int
    uptime_s: float
    rss_bytes: int
    cpu_seconds: float
    home: str
    tcp_port: int | None
    events: EventsStatus
    config: ConfigStatus
    problems: list[str]
    loop: LoopStatus
    children: list[ChildProcess]
    fleet: FleetStatus
    attention: AttentionStatus
    beats: BeatsStatus
    keeper: KeeperStatus
    mcp: McpStatus
    mesh: MeshNodeStatus


class StatusBar(TypedDict):
    text: str
    needs_action: int
    total: int
    down: list[str]


class StoppedDaemon(TypedDict):
    pid: int | None
    stopping: bool
    how: Literal["none", "asked", "terminated", "killed"]


class Target(TypedDict):
    target: str
    health: Health
    reason: str
    sockets: list[str]
    node: str


TargetKind = Literal["local", "ssh"]


class TargetList(TypedDict):
    items: list[ConfiguredTarget]


class TargetRollup(TypedDict):
    target: str
    top_state: AgentState
    age_ms: int
    needs_action: bool
    total: int
    waiting: int
    running: int
    by_state: dict[str, int]


class TestedChannel(TypedDict):
    name: str
    kind: str
    problem: str


class TmuxAlert(TypedDict):
    clients: int
    problems: list[str]


ToolKind = Literal["shell", "patch", "file", "web", "mcp", "other"]


class TriedRequest(TypedDict):
    at: str
    ref: str
    agent: str
    tool: str
    command: str
    paths: list[str]
    target: str
    folder: str
    outcome: str
    via: str
    decided: PolicyEffect
    effect: PolicyEffect
    rule: str
    why: str
    changed: bool
    against: bool


class TriedRule(TypedDict):
    source: str
    rule: str
    state: str
    why: str


class Turn(TypedDict):
    prompt: str
    reply: str
    at: str | None


class VersionDrift(TypedDict):
    version: str
    counts: dict[str, int]
    alarming: bool


class WaitResult(TypedDict):
    outcome: Literal["waiting", "met", "timeout", "gone"]
    states: list[AgentState]
    waited_ms: int
    items: list[WatchedAgent]


class WaitingAgent(TypedDict):
    runtime_id: str
    ref: str
    target: str
    agent: str
    state: str
    detail: str
    command: str


class WatchMessage(TypedDict):
    schema_version: str
    generated_at: str
    cursor: int
    scope: str
    filters: Filters
    event: str
    previous: AgentState | None
    summary: FleetSummary | None
    targets: list[Target]
    items: list[WatchedAgent | Window | Session]


class WatchedAgent(TypedDict):
    identity: PaneIdentity
    ref: str
    runtime_id: str
    agent: str
    state: AgentState
    reason: str
    confidence: Confidence
    since: str
    as_of: str
    detail: str
    cwd: str
    pid: int | None
    window_name: str
    window_index: int
    pane_index: int
    title: str
    socket: str
    version: str
    version_note: str
    server: str
    state_version: int
    needs_action: bool
    evidence: list[RecordedEvidence]
    age_ms: int


class Window(TypedDict):
    identity: WindowIdentity
    socket: str
    window_name: str
    window_index: int
    top_state: AgentState
    age_ms: int
    needs_action: bool
    total: int
    waiting: int
    running: int
    by_state: dict[str, int]
    agents: NotRequired[list[AgentBrief]]


class WindowIdentity(TypedDict):
    target: str
    session_name: str
    window_id: str


class WindowList(TypedDict):
    schema_version: str
    generated_at: str
    filters: Filters
    summary: FleetSummary
    targets: list[Target]
    items: list[Window]
