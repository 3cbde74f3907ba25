// Generated from Covey's contract by `./run python -m sdk.generate`; do not edit.

export interface ActionSnapshot {
  action_id: string;
  runtime_id: string;
  ref: string;
  agent: string;
  pane_epoch: string;
  state: string;
  state_version: number;
  observed_at: string;
  expires_at: string;
}

export interface Adapter {
  agent: string;
  title: string;
  origin: string;
  contract_version: number;
  capabilities: Record<string, boolean>;
  integration: HookInstallation;
  tested: Array<string>;
  installed: Array<InstalledProgram>;
  running: Array<RunningVersion>;
  drift: Array<VersionDrift>;
}

export interface AdapterList {
  items: Array<Adapter>;
  problems: Array<AdapterProblem>;
}

export interface AdapterProblem {
  problem: string;
  suggestion: string;
}

export interface AgentBrief {
  pane_id: string;
  runtime_id: string;
  agent: string;
  state: AgentState;
  reason: string;
  confidence: Confidence;
  detail: string;
  ref: string;
  age_ms: number;
}

export interface AgentKindRollup {
  agent: string;
  top_state: AgentState;
  age_ms: number;
  needs_action: boolean;
  total: number;
  waiting: number;
  running: number;
  by_state: Record<string, number>;
}

export interface AgentList {
  schema_version: string;
  generated_at: string;
  filters: Filters;
  summary: FleetSummary;
  targets: Array<Target>;
  items: Array<AgentRow>;
}

export interface AgentRow {
  identity: PaneIdentity;
  ref: string;
  runtime_id: string;
  agent: string;
  state: AgentState;
  reason: string;
  confidence: Confidence;
  since: string;
  as_of: string;
  detail: string;
  cwd: string;
  pid: number | null;
  window_name: string;
  window_index: number;
  pane_index: number;
  title: string;
  socket: string;
  version: string;
  version_note: string;
  server: string;
  state_version: number;
  needs_action: boolean;
  evidence: Array<Evidence>;
  age_ms: number;
}

export interface AgentScreen {
  ref: string;
  agent: string;
  state: string;
  composer: string;
  lines: Array<string>;
  coloured: Array<string>;
  turns?: Array<Turn>;
}

export type AgentState = "error" | "waiting_approval" | "waiting_input" | "running" | "completed" | "idle" | "unknown";

export interface Answer {
  outcome: "waiting" | "answered" | "asks" | "no_answer" | "error" | "done" | "not_sent" | "gone" | "timeout";
  receipt: Receipt;
  state: string;
  reply: string;
  why: string;
}

export interface Approval {
  id: string;
  status: ApprovalStatus;
  kind: ApprovalKind;
  runtime_id: string;
  ref: string;
  target: string;
  agent: string;
  pid: number;
  tool: string;
  command: string;
  left_out: number;
  tool_kind: ToolKind;
  shell_command: string;
  paths: Array<string>;
  deep: boolean;
  runs_in: string;
  unread: string;
  folder: string;
  helper: boolean;
  on_screen: boolean;
  questions: Array<Question>;
  opened_at: string;
  expires_at: string;
  closed_at: string | null;
  decision: "" | "allow" | "deny" | "answer";
  message: string;
  always: boolean;
  via: "" | "hook" | "terminal" | "policy";
  by: Record<string, unknown>;
  why: string;
  input: Record<string, unknown>;
  suggestions: Array<Record<string, unknown>>;
  age_ms: number;
  commands: Array<string>;
}

export type ApprovalKind = "approval" | "plan" | "question";

export interface ApprovalList {
  open: number;
  presence: Presence;
  items: Array<Approval>;
  others: Array<WaitingAgent>;
}

export type ApprovalStatus = "open" | "answered" | "withdrawn" | "expired";

export interface Attachment {
  snapshot: ActionSnapshot;
  target: string;
  ssh_target: string;
  socket: string;
  session_id: string;
  session_name: string;
  window_id: string;
  pane_id: string;
  client: string;
  went: boolean;
  nested: boolean;
  command: Array<string>;
}

export interface AttentionItem {
  id: string;
  key: string;
  kind: AttentionKind;
  source: string;
  title: string;
  detail: string;
  data: Record<string, unknown>;
  opened_at: string;
  updated_at: string;
  times: number;
  closed_at: string | null;
  closed_why: string;
  command: string;
  age_ms: number;
}

export type AttentionKind = "approval" | "question" | "error" | "beat" | "other";

export interface AttentionList {
  items: Array<AttentionItem>;
  open: number;
}

export interface AttentionStatus {
  open: number;
  titles: Array<string>;
  notify_problem: string;
  channels: Array<NotificationChannel>;
}

export interface AuditCaller {
  uid: number | null;
  pid: number | null;
  program: string;
  transport: string;
  subsystem: string;
  surface: string;
}

export interface AuditEntry {
  cursor: number;
  at: string;
  who: AuditCaller;
  operation: string;
  about: string;
  snapshot: Record<string, unknown> | null;
  status: "done" | "refused" | "failed" | "cut_off" | "under_way";
  outcome: string;
  error: string | null;
}

export interface AuditTrail {
  items: Array<AuditEntry>;
  earlier: number | null;
}

export interface Back {
  client: string;
  place: string;
  detached: boolean;
}

export interface Backup {
  path: string;
  bytes: number;
}

export interface Beat {
  name: string;
  workspace: string;
  file: string;
  agent: string;
  model: string;
  schedule: string;
  tz: string;
  state: "scheduled" | "running" | "queued" | "paused" | "parked" | "broken";
  reason: string;
  next_at: string | null;
  late_s: number | null;
  streak: number;
  skipped: number;
  last: BeatRun | null;
  today: BeatSpending;
  month: BeatSpending;
  budget: BeatBudget;
}

export interface BeatBudget {
  run_usd: number | null;
  day_usd: number | null;
  month_usd: number | null;
  run_tokens: number | null;
  day_tokens: number | null;
  month_tokens: number | null;
}

export interface BeatCost {
  name: string;
  today: BeatSpending;
  month: BeatSpending;
  total: BeatSpending;
  budget: BeatBudget;
}

export interface BeatCosts {
  items: Array<BeatCost>;
  others: OtherCosts;
  today: BeatSpending;
  month: BeatSpending;
  total: BeatSpending;
  limits: SpendingLimits;
}

export interface BeatList {
  items: Array<Beat>;
  problems: Array<BeatProblem>;
  running: number;
  limit: number;
  count: number;
  next: NextBeat | null;
  today: BeatSpending;
  month: BeatSpending;
}

export type BeatOutcome = "ok" | "attention" | "error";

export interface BeatProblem {
  file: string;
  message: string;
}

export interface BeatRun {
  run: string;
  beat: string;
  workspace: string;
  agent: string;
  why: "schedule" | "hand";
  state: "queued" | "running" | "done";
  slot: string | null;
  queued_at: string;
  began_at: string | null;
  ended_at: string | null;
  duration_ms: number | null;
  outcome: BeatOutcome | null;
  summary: string;
  error_kind: string;
  error: string;
  retry_at: string | null;
  probe: string;
  denials: Array<string>;
  cost_usd: number | null;
  cost_estimated: boolean;
  tokens: number | null;
  num_turns: number | null;
  looked_at: string | null;
  missed: number;
  timeout_s: number;
}

export interface BeatRunList {
  items: Array<BeatRun>;
}

export interface BeatRunWithTurns {
  run: string;
  beat: string;
  workspace: string;
  agent: string;
  why: "schedule" | "hand";
  state: "queued" | "running" | "done";
  slot: string | null;
  queued_at: string;
  began_at: string | null;
  ended_at: string | null;
  duration_ms: number | null;
  outcome: BeatOutcome | null;
  summary: string;
  error_kind: string;
  error: string;
  retry_at: string | null;
  probe: string;
  denials: Array<string>;
  cost_usd: number | null;
  cost_estimated: boolean;
  tokens: number | null;
  num_turns: number | null;
  looked_at: string | null;
  missed: number;
  timeout_s: number;
  turns: Array<Record<string, unknown>>;
}

export interface BeatSpending {
  runs: number;
  cost_usd: number;
  tokens: number;
}

export interface BeatsStatus {
  total: number;
  by_state: Record<string, number>;
  reasons: Array<string>;
  next: NextBeat | null;
}

export interface ChangedSetting {
  key: string;
  old: unknown;
  new: unknown;
  needs_restart: boolean;
}

export interface ChannelMessage {
  id: number;
  channel: string;
  text: string;
  at: string;
  again: boolean;
}

export interface ChannelTest {
  items: Array<TestedChannel>;
}

export interface ChannelWrite {
  channel: string;
  bytes: number;
}

export interface ChildProcess {
  name: string;
  state: string;
  pid: number | null;
  restarts: number;
}

export type Confidence = "high" | "medium" | "low";

export interface ConfigStatus {
  generation: number;
  problems: Array<string>;
  needs_restart: Array<string>;
}

export interface ConfiguredTarget {
  target: string;
  kind: TargetKind;
  ssh_target: string;
  is_default: boolean;
  health: Health;
  reason: string;
  node: string;
  last_seen_at: string | null;
}

export interface Conversation {
  runtime_id: string;
  agent: string;
  id: string;
  transcript: string;
}

export interface DetailedEvidence {
  source: string;
  state: AgentState;
  evidence: string;
  at: string;
  age_ms: number;
  detail: string;
}

export interface Diagnosis {
  ok: boolean;
  findings: Array<Finding>;
}

export interface DialogAnswer {
  snapshot: ActionSnapshot;
  fingerprint: string;
  option: DialogOption;
  gone: boolean;
  why: string;
  state: string;
  next: string;
}

export interface DialogOption {
  number: number;
  label: string;
  means: string;
  marked: boolean;
  keys: Array<string>;
}

export interface EventsStatus {
  cursor: number;
  subscribers: number;
}

export interface Evidence {
  source: string;
  state: AgentState;
  evidence: string;
  at: string;
  age_ms: number;
}

export interface Explanation {
  item: AgentRow;
  because: DetailedEvidence | null;
  agrees: Array<DetailedEvidence>;
  overruled: Array<OverruledEvidence>;
  caveat: string;
  would_change: string;
}

export interface FailingAdapter {
  name: string;
  session: string;
  restarts: number;
  last_line: string;
  log: string;
}

export interface Filters {
  target: string;
  target_session: string;
  session: string;
  socket: string;
  cwd: string;
  state: Array<AgentState>;
  agent_type: Array<string>;
  needs_action: boolean;
}

export interface Finding {
  section: string;
  name: string;
  status: "ok" | "warn" | "fail";
  detail: string;
  fix: string;
}

export interface FleetStatus {
  targets: Array<Target>;
  summary: FleetSummary;
  presence: Presence;
  approvals: number;
}

export interface FleetSummary {
  total: number;
  needs_action: number;
  by_state: Record<string, number>;
  by_agent: Record<string, number>;
  by_target: Record<string, number>;
}

export interface Forgotten {
  name: string;
  messages: number;
  worktree: string;
  removed: boolean;
  why: string;
}

export type Health = "ok" | "degraded" | "down";

export interface HealthCheck {
  ok: boolean;
  version: string;
  uptime_s: number;
}

export interface HookInstallation {
  state: string;
  file: string;
  detail: string;
}

export interface HooksStatus {
  enabled: boolean;
  running: number;
  queued: number;
  fired: number;
  failed: number;
}

export interface InboxStatus {
  messages: number;
  bytes: number;
  held: number;
  held_from: Array<MeshHeld>;
  unreadable: number;
}

export interface InstalledProgram {
  path: string;
  version: string;
  note: string;
}

export interface Interruption {
  snapshot: ActionSnapshot;
  state: string;
  stopped: boolean;
}

export interface JoinedMesh {
  slug: string;
  mesh: string;
  member: string;
  name: string;
  role: MeshRole;
  servers: Array<string>;
  wanted: PeerWanted;
  state: string;
  pid: number | null;
  restarts: number;
  connected: boolean | null;
  queue_depth: number | null;
  problem: string;
}

export interface JoinedMeshes {
  items: Array<JoinedMesh>;
  broker: MeshBroker | null;
}

export interface KeeperRecord {
  at: string;
  kind: string;
  text: string;
}

export interface KeeperRecords {
  items: Array<KeeperRecord>;
}

export interface KeeperStatus {
  sessions: number;
  running: number;
  waiting: number;
  mcp: string | null;
  problems: Array<string>;
  failing_adapters: Array<FailingAdapter>;
}

export interface KeptChannel {
  name: string;
  incoming: boolean;
  outgoing: boolean;
  taken: number;
  refused: number;
}

export interface KeptChannels {
  items: Array<KeptChannel>;
  not_served: number;
}

export interface KeptPath {
  name: string;
  path: string;
}

export type KeptPhase = "starting" | "running" | "waits" | "stopped";

export interface KeptSession {
  name: string;
  agent: string;
  phase: KeptPhase;
  why: string;
  state: AgentState | null;
  ref: string;
  runtime_id: string;
  cwd: string;
  args: Array<string>;
  variables: Array<string>;
  model: string;
  permission_mode: string;
  worktree: string;
  branch: string;
  keep: boolean;
  conversation: string;
  transcript: string;
  socket: string;
  pane_id: string;
  path: string;
  restarts: number;
  waiting: number;
  created_at: string;
  started_at: string | null;
  starts_at: string | null;
  notes: Array<string>;
}

export interface KeptSessions {
  items: Array<KeptSession>;
}

export interface KeptStatus {
  session: KeptSession;
  channels: Array<KeptChannel>;
  not_served: number;
  messages: Array<ChannelMessage>;
  failing_adapters: Array<FailingAdapter>;
}

export interface Killed {
  snapshot: ActionSnapshot;
  signal: string;
  pid: number;
  ended: boolean;
}

export interface LateChange {
  runtime_id: string;
  due: string;
  late_ms: number;
  derived: StateOutcome | null;
}

export interface LeftMesh {
  slug: string;
  told: boolean;
  path: string;
}

export interface LoopStatus {
  blocked: number;
  longest_s: number;
}

export interface MadeInvite {
  token: string;
  id: string;
  role: MeshRole;
  uses: number;
  left: number;
  made_at: string;
  expires_at: string;
  revoked: boolean;
  joined: Array<string>;
}

export interface McpStatus {
  act: boolean;
  http: string | null;
}

export interface MeshBatchAnswer {
  items: Array<MeshBatchItem>;
  accepted: number;
  refused: number;
}

export interface MeshBatchItem {
  answer: MeshSendAnswer | null;
  error: Record<string, unknown> | null;
}

export interface MeshBroker {
  state: string;
  pid: number | null;
  restarts: number;
  version: string;
  url: string;
  listen: Array<string>;
  names: Array<string>;
  fingerprint: string;
}

export interface MeshCollection {
  collection: string;
  texts: number;
  models: Array<string>;
  without_vector: number;
}

export interface MeshCollections {
  items: Array<MeshCollection>;
  embedder: MeshEmbedder;
}

export interface MeshConnection {
  connected: boolean;
  since: string | null;
  reason: string | null;
}

export type MeshDelivery = "pending" | "inflight" | "done" | "dead" | "dropped";

export interface MeshDropped {
  ids: Array<string>;
}

export interface MeshEmbedder {
  tier: "minilm" | "static" | "none";
  model: string | null;
  note: string;
}

export interface MeshExport {
  path: string;
  documents: number;
}

export interface MeshFile {
  id: string;
  name: string;
  size: number;
  sha256: string;
  message: string;
  author: string;
  author_name: string;
  to: Array<string>;
  to_names: Array<string>;
  at: string;
  expires_at: string | null;
}

export interface MeshFileDeleted {
  id: string;
}

export interface MeshFileTransfer {
  transfer: string;
  id: string;
  direction: "up" | "down";
  state: "waiting" | "hashing" | "uploading" | "downloading" | "done" | "failed";
  name: string;
  path: string;
  size: number;
  done_bytes: number;
  reason: string;
  error: string;
  began_at: string;
  ended_at: string | null;
}

export interface MeshFileTransfers {
  items: Array<MeshFileTransfer>;
}

export interface MeshFiles {
  items: Array<MeshFile>;
  next: number | null;
}

export interface MeshFound {
  items: Array<MeshMessage>;
  indexed: boolean;
}

export interface MeshGraphCounters {
  nodes_created: number;
  nodes_deleted: number;
  relationships_created: number;
  relationships_deleted: number;
  properties_set: number;
  labels_added: number;
}

export interface MeshGraphNotApplied {
  sequence: number;
  author: string;
  outcome: string;
  reason: string;
}

export interface MeshGraphResult {
  rows: Array<Record<string, unknown>>;
  truncated: boolean;
  wrote: boolean;
  applied: boolean;
  counters: MeshGraphCounters | null;
  sequence: number;
  caught_up: boolean;
  connection: MeshConnection;
}

export interface MeshGraphStatus {
  engine: string;
  sequence: number;
  caught_up: boolean;
  connection: MeshConnection;
  problem: string | null;
  nodes: number;
  relationships: number;
  entries: number;
  failed: number;
  not_applied: Array<MeshGraphNotApplied>;
  crashes: number;
  digest: string;
}

export interface MeshGroup {
  name: string;
  role: string;
}

export interface MeshGroups {
  items: Array<MeshGroup>;
}

export interface MeshHealthCheck {
  ok: boolean;
  version: string;
  uptime_s: number;
  connected: boolean;
  lag_ms: number | null;
  queue_depth: number;
  mesh: string;
  member_pubkey: string;
}

export interface MeshHeartbeat {
  member: string;
  status: string;
  until: string;
}

export interface MeshHeld {
  member: string;
  name: string;
  messages: number;
  until: string;
}

export interface MeshHolder {
  member: string;
  name: string;
  agent: string;
  label: string;
  yours: boolean;
}

export interface MeshImport {
  written: number;
  same: number;
  left: number;
  skipped: number;
}

export interface MeshInbox {
  items: Array<MeshMessage>;
  cursor: number;
  more: boolean;
  held_from: Array<MeshHeld>;
}

export interface MeshInstalledSkill {
  name: string;
  version: string;
  author: string;
  author_name: string;
  agent: string;
  path: string;
  at: string;
}

export interface MeshInvite {
  id: string;
  role: MeshRole;
  uses: number;
  left: number;
  made_at: string;
  expires_at: string;
  revoked: boolean;
  joined: Array<string>;
}

export interface MeshInvites {
  items: Array<MeshInvite>;
}

export interface MeshKeyRotated {
  member: string;
  key: string;
  number: number;
}

export interface MeshLease {
  name: string;
  holder: MeshHolder;
  note: string;
  acquired_at: string;
  until: string;
  revision: number;
}

export interface MeshLeases {
  items: Array<MeshLease>;
  next: string | null;
}

export interface MeshMcpAnswer {
  server: string;
  tool: string;
  owner: string;
  owner_name: string;
  is_error: boolean;
  content: Array<Record<string, unknown>>;
  structured: Record<string, unknown> | null;
  ms: number;
}

export interface MeshMcpServer {
  server: string;
  description: string;
  owner: string;
  owner_name: string;
  own: boolean;
  open: boolean;
  tools: Array<MeshMcpTool>;
  revision: number;
  at: string;
}

export interface MeshMcpServers {
  items: Array<MeshMcpServer>;
}

export interface MeshMcpTool {
  name: string;
  description: string;
  input_schema: Record<string, unknown> | null;
}

export interface MeshMcpUnregistered {
  server: string;
}

export interface MeshMember {
  member: string;
  name: string;
  role: MeshRole;
  you: boolean;
  joined_at: string;
  revoked_at: string | null;
  key: string;
}

export interface MeshMembers {
  items: Array<MeshMember>;
  mesh: string;
  epoch: number;
}

export interface MeshMemories {
  items: Array<MeshMemory>;
  next: string | null;
}

export interface MeshMemory {
  id: string;
  content: string;
  tags: Array<string>;
  author: string;
  author_name: string;
  at: string;
  rewritten_by: string | null;
  model: string | null;
}

export interface MeshMemoryForgotten {
  id: string;
}

export interface MeshMemoryHit {
  id: string;
  content: string;
  tags: Array<string>;
  author: string;
  author_name: string;
  at: string;
  rewritten_by: string | null;
  model: string | null;
  found_by: Array<"words" | "meaning">;
  score: number;
  similarity: number | null;
}

export interface MeshMemoryRemembered {
  id: string;
  content: string;
  tags: Array<string>;
  author: string;
  author_name: string;
  at: string;
  rewritten_by: string | null;
  model: string | null;
  embedder: MeshEmbedder;
}

export interface MeshMessage {
  cursor: number;
  id: string;
  mesh: string;
  kind: "direct" | "topic" | "broadcast";
  from: string;
  from_name: string;
  from_agent: string;
  to_agent: string;
  topic: string | null;
  text: string;
  priority: MeshPriority;
  meta: Record<string, unknown>;
  reply_to_id: string | null;
  mentions: Array<string>;
  mentioned: boolean;
  hops: number;
  sent_at: string;
  received_at: string;
  late: boolean;
}

export interface MeshNodeStatus {
  joined: number;
  running: number;
  broker: string | null;
  problems: Array<string>;
}

export interface MeshOutbox {
  items: Array<MeshOutboxRow>;
  pending: number;
  dead: number;
  oldest_at: string | null;
}

export interface MeshOutboxRow {
  id: string;
  to: string;
  member: string;
  kind: "direct" | "topic" | "broadcast";
  state: MeshDelivery;
  rung: MeshRung;
  attempts: number;
  bytes: number;
  accepted_at: string;
  next_attempt_at: string | null;
  delivered_at: string | null;
  error: string;
}

export interface MeshPeer {
  member: string;
  name: string;
  role: MeshRole;
  you: boolean;
  online: boolean;
  status: MeshPresence;
  summary: string;
  avatar: string;
  groups: Array<MeshGroup>;
  seen_at: string | null;
}

export interface MeshPeers {
  items: Array<MeshPeer>;
  online: number;
}

export type MeshPresence = "idle" | "working" | "dnd";

export type MeshPriority = "now" | "next" | "low";

export interface MeshProfile {
  member: string;
  name: string;
  summary: string;
  status: MeshPresence;
  visible: boolean;
  avatar: string;
  groups: Array<MeshGroup>;
}

export interface MeshRecall {
  items: Array<MeshMemoryHit>;
  embedder: MeshEmbedder;
  left_out: number;
}

export interface MeshReceipt {
  id: string;
  to: string;
  member: string;
  online: boolean | null;
  rung: MeshRung;
  state: MeshDelivery;
  status: string;
  accepted_at: string;
  delivered_at: string | null;
  received_at: string | null;
  seen_at: string | null;
  refused: boolean;
  attempts: number;
  error: string;
}

export interface MeshRecipient {
  member: string;
  name: string;
  id: string;
  online: boolean | null;
  rung: MeshRung;
}

export interface MeshReembedding {
  model: string | null;
  running: boolean;
  total: number;
  done: number;
  failed: number;
  error: string;
}

export interface MeshReminder {
  id: string;
  message: string;
  to: string;
  at: string | null;
  cron: string | null;
  tz: string;
  next_at: string | null;
  created_by: MeshHolder;
  created_at: string;
  private: boolean;
}

export interface MeshReminders {
  items: Array<MeshReminder>;
  more: boolean;
}

export interface MeshRenamed {
  member: string;
  old: string;
  name: string;
}

export interface MeshRequeued {
  ids: Array<string>;
}

export interface MeshRevoked {
  member: string;
  name: string;
  invite: string;
  epoch: number | null;
}

export type MeshRole = "authority" | "admin" | "member" | "reader";

export type MeshRung = "stored" | "at_broker" | "in_inbox" | "seen";

export interface MeshSendAnswer {
  id: string;
  ids: Array<string>;
  to: string;
  recipients: Array<MeshRecipient>;
  rung: MeshRung;
  status: string;
  queued: boolean;
  replayed: boolean;
}

export interface MeshServiceUsage {
  name: string;
  documents: number;
  bytes: number;
}

export interface MeshServices {
  items: Array<MeshServiceUsage>;
  documents: number;
  bytes: number;
  caught_up: boolean;
  refused: number;
  digest: string;
  connection: MeshConnection;
}

export interface MeshServicesStatus {
  documents: number;
  bytes: number;
  caught_up: boolean;
  refused: number;
}

export interface MeshSkill {
  name: string;
  version: string;
  description: string;
  files: Array<MeshSkillFile>;
  bytes: number;
  inline: boolean;
  author: string;
  author_name: string;
  revision: number;
  at: string;
}

export interface MeshSkillDeployed {
  skill: MeshSkill;
  left_out: Array<string>;
}

export interface MeshSkillFile {
  path: string;
  sha256: string;
  size: number;
  mode: string;
}

export interface MeshSkillPlan {
  skill: MeshSkill;
  agent: string;
  path: string;
  plan: string;
  replaces: string | null;
  installed: boolean;
}

export interface MeshSkillRemoved {
  name: string;
  revision: number;
}

export interface MeshSkillShown {
  skill: MeshSkill;
  file: string;
  text: string | null;
}

export interface MeshSkillUninstalled {
  name: string;
  path: string;
  removed: Array<string>;
  kept: Array<string>;
}

export interface MeshSkills {
  items: Array<MeshSkill>;
  installed: Array<MeshInstalledSkill>;
}

export interface MeshState {
  items: Array<MeshStateEntry>;
  next: string | null;
}

export interface MeshStateDeleted {
  key: string;
  scope: "mesh" | "member";
  revision: number;
}

export interface MeshStateEntry {
  key: string;
  scope: "mesh" | "member";
  value: unknown;
  revision: number;
  author: string;
  author_name: string;
  at: string;
}

export interface MeshStatus {
  version: string;
  pid: number;
  uptime_s: number;
  rss_bytes: number;
  cpu_seconds: number;
  home: string;
  tcp_port: number | null;
  events: EventsStatus;
  config: ConfigStatus;
  problems: Array<string>;
  loop: LoopStatus;
  children: Array<ChildProcess>;
  mesh: PeerStatus;
}

export interface MeshTask {
  id: string;
  title: string;
  description: string;
  status: MeshTaskStatus;
  priority: MeshPriority;
  tags: Array<string>;
  assignee: string | null;
  depends_on: Array<string>;
  blocked_by: Array<string>;
  created_by: MeshHolder;
  created_at: string;
  claimed_by: MeshHolder | null;
  until: string | null;
  claims: number;
  result: unknown;
  reason: string;
  ended_by: MeshHolder | null;
  ended_at: string | null;
  revision: number;
}

export type MeshTaskStatus = "open" | "claimed" | "completed" | "failed";

export interface MeshTaskTaken {
  task: MeshTask | null;
  open: number;
  blocked: number;
  claimed: number;
}

export interface MeshTasks {
  items: Array<MeshTask>;
  next: string | null;
}

export interface MeshTopic {
  name: string;
  subscribed: boolean;
  messages: number;
  last_at: string | null;
}

export interface MeshTopics {
  items: Array<MeshTopic>;
}

export interface MeshVectorDeleted {
  id: string;
  collection: string;
}

export interface MeshVectorHit {
  id: string;
  collection: string;
  text: string;
  metadata: Record<string, unknown>;
  author: string;
  author_name: string;
  at: string;
  rewritten_by: string | null;
  model: string | null;
  found_by: Array<"words" | "meaning">;
  similarity: number | null;
}

export interface MeshVectorHits {
  items: Array<MeshVectorHit>;
  embedder: MeshEmbedder;
  left_out: number;
}

export interface MeshVectorStored {
  id: string;
  collection: string;
  text: string;
  metadata: Record<string, unknown>;
  author: string;
  author_name: string;
  at: string;
  rewritten_by: string | null;
  model: string | null;
  embedder: MeshEmbedder;
}

export interface Next {
  item: AttentionItem | null;
  attachment: Attachment | null;
}

export interface NextBeat {
  name: string;
  at: string;
}

export interface NotificationChannel {
  name: string;
  kind: string;
  problem: string;
  held: number;
}

export interface Origin {
  agent: string;
  pane_id: string;
}

export interface OtherCosts {
  today: BeatSpending;
  month: BeatSpending;
  total: BeatSpending;
}

export interface OutboxStatus {
  pending: number;
  dead: number;
  bytes: number;
  oldest_s: number | null;
}

export interface OverruledEvidence {
  source: string;
  state: AgentState;
  evidence: string;
  at: string;
  age_ms: number;
  detail: string;
  why: string;
}

export interface PaneIdentity {
  target: string;
  session_name: string;
  window_id: string;
  pane_id: string;
}

export interface PastAgentList {
  schema_version: string;
  generated_at: string;
  filters: Filters;
  summary: FleetSummary;
  targets: Array<Target>;
  items: Array<AgentRow>;
  at: string;
}

export interface PeerStatus {
  slug: string;
  mesh: string;
  member: string;
  name: string;
  role: MeshRole;
  connected: boolean;
  server: string;
  servers: Array<string>;
  lag_ms: number | null;
  reconnects: number;
  reason: string;
  members: number;
  online: number;
  epoch: number;
  outbox: OutboxStatus;
  inbox: InboxStatus;
  hooks: HooksStatus;
  services: MeshServicesStatus;
  problems: Array<string>;
}

export type PeerWanted = "up" | "down" | "service";

export interface PolicyDecision {
  effect: PolicyEffect;
  rule: string;
  why: string;
}

export type PolicyEffect = "allow" | "deny" | "ask";

export interface PolicyProblem {
  rule: number;
  line: number;
  message: string;
}

export interface PolicyRule {
  name: string;
  effect: PolicyEffect;
  conditions: Record<string, string>;
}

export interface PolicyRules {
  items: Array<PolicyRule>;
  problems: Array<PolicyProblem>;
}

export interface PolicyTrial {
  items: Array<TriedRequest>;
  total: number;
  allow: number;
  deny: number;
  ask: number;
  changed: number;
  against: number;
  problems: Array<PolicyProblem>;
}

export interface Presence {
  away: boolean;
  since: string;
  until: string | null;
}

export interface Question {
  text: string;
  options: Array<string>;
  several: boolean;
}

export interface Receipt {
  id: string;
  runtime_id: string;
  ref: string;
  agent: string;
  lane: string;
  text: string;
  bytes: number;
  rung: "accepted" | "typed" | "submitted" | "seen" | "answered";
  open: boolean;
  why: string;
  evidence: string;
  created_at: string;
  updated_at: string;
  position?: number;
  expires_at?: string;
}

export interface ReceiptList {
  items: Array<Receipt>;
}

export interface RecordedEvidence {
  source: string;
  state: AgentState;
  evidence: string;
  at: string;
}

export interface ReloadedConfig {
  generation: number;
  changed: Array<string>;
  needs_restart: Array<string>;
}

export interface RemovedTarget {
  target: string;
  removed: boolean;
}

export interface ReplayCheck {
  schema_version: string;
  generated_at: string;
  since: string;
  matches: boolean;
  signals: number;
  changes: number;
  unknown: number;
  mismatched: number;
  late: number;
  mismatches: Array<ReplayMismatch>;
  latest: Array<LateChange>;
}

export interface ReplayMismatch {
  cursor: number;
  runtime_id: string;
  at: string;
  why: string;
  recorded: StateOutcome | null;
  derived: StateOutcome | null;
}

export interface RequestedBeatRun {
  run: string;
  beat: string;
  workspace: string;
  agent: string;
  why: "schedule" | "hand";
  state: "queued" | "running" | "done";
  slot: string | null;
  queued_at: string;
  began_at: string | null;
  ended_at: string | null;
  duration_ms: number | null;
  outcome: BeatOutcome | null;
  summary: string;
  error_kind: string;
  error: string;
  retry_at: string | null;
  probe: string;
  denials: Array<string>;
  cost_usd: number | null;
  cost_estimated: boolean;
  tokens: number | null;
  num_turns: number | null;
  looked_at: string | null;
  missed: number;
  timeout_s: number;
  turns?: Array<Record<string, unknown>>;
}

export interface ResetMesh {
  slug: string;
  removed: boolean;
}

export interface ResumedBeats {
  items: Array<Beat>;
}

export interface RunningVersion {
  version: string;
  count: number;
  note: string;
}

export interface ScreenReport {
  agent: string;
  state: AgentState;
  reason: string;
  detail: string;
  rule: string;
  evidence: string;
  caveat: string;
  tried: Array<TriedRule>;
  report: string;
}

export interface SendResult {
  receipt: Receipt | null;
  snapshot: ActionSnapshot;
  stripped: number;
  waits_for?: string;
  answer?: Answer;
}

export interface Session {
  identity: SessionIdentity;
  socket: string | null;
  top_state: AgentState;
  age_ms: number;
  needs_action: boolean;
  total: number;
  waiting: number;
  running: number;
  by_state: Record<string, number>;
  targets: Array<TargetRollup>;
  agents?: Array<AgentKindRollup>;
}

export interface SessionIdentity {
  target: string | null;
  session_name: string;
}

export interface SessionList {
  schema_version: string;
  generated_at: string;
  filters: Filters;
  summary: FleetSummary;
  targets: Array<Target>;
  items: Array<Session>;
  group_by: string;
}

export interface Setting {
  key: string;
  value: unknown;
  default: unknown;
  source: "default" | "file";
  help: string;
  restart: boolean;
}

export interface SettingList {
  items: Array<Setting>;
}

export interface ShownDialog {
  snapshot: ActionSnapshot;
  kind: string;
  title: string;
  text: Array<string>;
  options: Array<DialogOption>;
  fingerprint: string;
}

export interface SpendingLimits {
  day_usd: number;
  month_usd: number;
}

export interface StateOutcome {
  state: string;
  reason: string;
  confidence: string;
  detail: string;
}

export interface Status {
  version: string;
  pid: number;
  uptime_s: number;
  rss_bytes: number;
  cpu_seconds: number;
  home: string;
  tcp_port: number | null;
  events: EventsStatus;
  config: ConfigStatus;
  problems: Array<string>;
  loop: LoopStatus;
  children: Array<ChildProcess>;
  fleet: FleetStatus;
  attention: AttentionStatus;
  beats: BeatsStatus;
  keeper: KeeperStatus;
  mcp: McpStatus;
  mesh: MeshNodeStatus;
}

export interface StatusBar {
  text: string;
  needs_action: number;
  total: number;
  down: Array<string>;
}

export interface StoppedDaemon {
  pid: number | null;
  stopping: boolean;
  how: "none" | "asked" | "terminated" | "killed";
}

export interface Target {
  target: string;
  health: Health;
  reason: string;
  sockets: Array<string>;
  node: string;
}

export type TargetKind = "local" | "ssh";

export interface TargetList {
  items: Array<ConfiguredTarget>;
}

export interface TargetRollup {
  target: string;
  top_state: AgentState;
  age_ms: number;
  needs_action: boolean;
  total: number;
  waiting: number;
  running: number;
  by_state: Record<string, number>;
}

export interface TestedChannel {
  name: string;
  kind: string;
  problem: string;
}

export interface TmuxAlert {
  clients: number;
  problems: Array<string>;
}

export type ToolKind = "shell" | "patch" | "file" | "web" | "mcp" | "other";

export interface TriedRequest {
  at: string;
  ref: string;
  agent: string;
  tool: string;
  command: string;
  paths: Array<string>;
  target: string;
  folder: string;
  outcome: string;
  via: string;
  decided: PolicyEffect;
  effect: PolicyEffect;
  rule: string;
  why: string;
  changed: boolean;
  against: boolean;
}

export interface TriedRule {
  source: string;
  rule: string;
  state: string;
  why: string;
}

export interface Turn {
  prompt: string;
  reply: string;
  at: string | null;
}

export interface VersionDrift {
  version: string;
  counts: Record<string, number>;
  alarming: boolean;
}

export interface WaitResult {
  outcome: "waiting" | "met" | "timeout" | "gone";
  states: Array<AgentState>;
  waited_ms: number;
  items: Array<WatchedAgent>;
}

export interface WaitingAgent {
  runtime_id: string;
  ref: string;
  target: string;
  agent: string;
  state: string;
  detail: string;
  command: string;
}

export interface WatchMessage {
  schema_version: string;
  generated_at: string;
  cursor: number;
  scope: string;
  filters: Filters;
  event: string;
  previous: AgentState | null;
  summary: FleetSummary | null;
  targets: Array<Target>;
  items: Array<WatchedAgent | Window | Session>;
}

export interface WatchedAgent {
  identity: PaneIdentity;
  ref: string;
  runtime_id: string;
  agent: string;
  state: AgentState;
  reason: string;
  confidence: Confidence;
  since: string;
  as_of: string;
  detail: string;
  cwd: string;
  pid: number | null;
  window_name: string;
  window_index: number;
  pane_index: number;
  title: string;
  socket: string;
  version: string;
  version_note: string;
  server: string;
  state_version: number;
  needs_action: boolean;
  evidence: Array<RecordedEvidence>;
  age_ms: number;
}

export interface Window {
  identity: WindowIdentity;
  socket: string;
  window_name: string;
  window_index: number;
  top_state: AgentState;
  age_ms: number;
  needs_action: boolean;
  total: number;
  waiting: number;
  running: number;
  by_state: Record<string, number>;
  agents?: Array<AgentBrief>;
}

export interface WindowIdentity {
  target: string;
  session_name: string;
  window_id: string;
}

export interface WindowList {
  schema_version: string;
  generated_at: string;
  filters: Filters;
  summary: FleetSummary;
  targets: Array<Target>;
  items: Array<Window>;
}
