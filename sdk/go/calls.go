// Code generated from Covey's contract by `./run python -m sdk.generate`. DO NOT EDIT.

package covey

import (
	"context"
	"encoding/json"
	"iter"
)

// ActionSnapshot is a shape of the contract.
type ActionSnapshot struct {
	ActionID     string `json:"action_id"`
	RuntimeID    string `json:"runtime_id"`
	Ref          string `json:"ref"`
	Agent        string `json:"agent"`
	PaneEpoch    string `json:"pane_epoch"`
	State        string `json:"state"`
	StateVersion int64  `json:"state_version"`
	ObservedAt   string `json:"observed_at"`
	ExpiresAt    string `json:"expires_at"`
}

// Adapter is a shape of the contract.
type Adapter struct {
	Agent           string             `json:"agent"`
	Title           string             `json:"title"`
	Origin          string             `json:"origin"`
	ContractVersion int64              `json:"contract_version"`
	Capabilities    map[string]bool    `json:"capabilities"`
	Integration     HookInstallation   `json:"integration"`
	Tested          []string           `json:"tested"`
	Installed       []InstalledProgram `json:"installed"`
	Running         []RunningVersion   `json:"running"`
	Drift           []VersionDrift     `json:"drift"`
}

// AdapterList is a shape of the contract.
type AdapterList struct {
	Items    []Adapter        `json:"items"`
	Problems []AdapterProblem `json:"problems"`
}

// AdapterProblem is a shape of the contract.
type AdapterProblem struct {
	Problem    string `json:"problem"`
	Suggestion string `json:"suggestion"`
}

// AgentBrief is a shape of the contract.
type AgentBrief struct {
	PaneID     string     `json:"pane_id"`
	RuntimeID  string     `json:"runtime_id"`
	Agent      string     `json:"agent"`
	State      AgentState `json:"state"`
	Reason     string     `json:"reason"`
	Confidence Confidence `json:"confidence"`
	Detail     string     `json:"detail"`
	Ref        string     `json:"ref"`
	AgeMS      int64      `json:"age_ms"`
}

// AgentKindRollup is a shape of the contract.
type AgentKindRollup struct {
	Agent       string           `json:"agent"`
	TopState    AgentState       `json:"top_state"`
	AgeMS       int64            `json:"age_ms"`
	NeedsAction bool             `json:"needs_action"`
	Total       int64            `json:"total"`
	Waiting     int64            `json:"waiting"`
	Running     int64            `json:"running"`
	ByState     map[string]int64 `json:"by_state"`
}

// AgentList is a shape of the contract.
type AgentList struct {
	SchemaVersion string       `json:"schema_version"`
	GeneratedAt   string       `json:"generated_at"`
	Filters       Filters      `json:"filters"`
	Summary       FleetSummary `json:"summary"`
	Targets       []Target     `json:"targets"`
	Items         []AgentRow   `json:"items"`
}

// AgentRow is a shape of the contract.
type AgentRow struct {
	Identity     PaneIdentity `json:"identity"`
	Ref          string       `json:"ref"`
	RuntimeID    string       `json:"runtime_id"`
	Agent        string       `json:"agent"`
	State        AgentState   `json:"state"`
	Reason       string       `json:"reason"`
	Confidence   Confidence   `json:"confidence"`
	Since        string       `json:"since"`
	AsOf         string       `json:"as_of"`
	Detail       string       `json:"detail"`
	Cwd          string       `json:"cwd"`
	PID          *int64       `json:"pid"`
	WindowName   string       `json:"window_name"`
	WindowIndex  int64        `json:"window_index"`
	PaneIndex    int64        `json:"pane_index"`
	Title        string       `json:"title"`
	Socket       string       `json:"socket"`
	Version      string       `json:"version"`
	VersionNote  string       `json:"version_note"`
	Server       string       `json:"server"`
	StateVersion int64        `json:"state_version"`
	NeedsAction  bool         `json:"needs_action"`
	Evidence     []Evidence   `json:"evidence"`
	AgeMS        int64        `json:"age_ms"`
}

// AgentScreen is a shape of the contract.
type AgentScreen struct {
	Ref      string   `json:"ref"`
	Agent    string   `json:"agent"`
	State    string   `json:"state"`
	Composer string   `json:"composer"`
	Lines    []string `json:"lines"`
	Coloured []string `json:"coloured"`
	Turns    []Turn   `json:"turns,omitempty"`
}

// AgentState is one of the values below.
type AgentState string

const (
	AgentStateError           AgentState = "error"
	AgentStateWaitingApproval AgentState = "waiting_approval"
	AgentStateWaitingInput    AgentState = "waiting_input"
	AgentStateRunning         AgentState = "running"
	AgentStateCompleted       AgentState = "completed"
	AgentStateIdle            AgentState = "idle"
	AgentStateUnknown         AgentState = "unknown"
)

// Answer is a shape of the contract.
type Answer struct {
	Outcome string  `json:"outcome"`
	Receipt Receipt `json:"receipt"`
	State   string  `json:"state"`
	Reply   string  `json:"reply"`
	Why     string  `json:"why"`
}

// Approval is a shape of the contract.
type Approval struct {
	ID           string           `json:"id"`
	Status       ApprovalStatus   `json:"status"`
	Kind         ApprovalKind     `json:"kind"`
	RuntimeID    string           `json:"runtime_id"`
	Ref          string           `json:"ref"`
	Target       string           `json:"target"`
	Agent        string           `json:"agent"`
	PID          int64            `json:"pid"`
	Tool         string           `json:"tool"`
	Command      string           `json:"command"`
	LeftOut      int64            `json:"left_out"`
	ToolKind     ToolKind         `json:"tool_kind"`
	ShellCommand string           `json:"shell_command"`
	Paths        []string         `json:"paths"`
	Deep         bool             `json:"deep"`
	RunsIn       string           `json:"runs_in"`
	Unread       string           `json:"unread"`
	Folder       string           `json:"folder"`
	Helper       bool             `json:"helper"`
	OnScreen     bool             `json:"on_screen"`
	Questions    []Question       `json:"questions"`
	OpenedAt     string           `json:"opened_at"`
	ExpiresAt    string           `json:"expires_at"`
	ClosedAt     *string          `json:"closed_at"`
	Decision     string           `json:"decision"`
	Message      string           `json:"message"`
	Always       bool             `json:"always"`
	Via          string           `json:"via"`
	By           map[string]any   `json:"by"`
	Why          string           `json:"why"`
	Input        map[string]any   `json:"input"`
	Suggestions  []map[string]any `json:"suggestions"`
	AgeMS        int64            `json:"age_ms"`
	Commands     []string         `json:"commands"`
}

// ApprovalKind is one of the values below.
type ApprovalKind string

const (
	ApprovalKindApproval ApprovalKind = "approval"
	ApprovalKindPlan     ApprovalKind = "plan"
	ApprovalKindQuestion ApprovalKind = "question"
)

// ApprovalList is a shape of the contract.
type ApprovalList struct {
	Open     int64          `json:"open"`
	Presence Presence       `json:"presence"`
	Items    []Approval     `json:"items"`
	Others   []WaitingAgent `json:"others"`
}

// ApprovalStatus is one of the values below.
type ApprovalStatus string

const (
	ApprovalStatusOpen      ApprovalStatus = "open"
	ApprovalStatusAnswered  ApprovalStatus = "answered"
	ApprovalStatusWithdrawn ApprovalStatus = "withdrawn"
	ApprovalStatusExpired   ApprovalStatus = "expired"
)

// Attachment is a shape of the contract.
type Attachment struct {
	Snapshot    ActionSnapshot `json:"snapshot"`
	Target      string         `json:"target"`
	SshTarget   string         `json:"ssh_target"`
	Socket      string         `json:"socket"`
	SessionID   string         `json:"session_id"`
	SessionName string         `json:"session_name"`
	WindowID    string         `json:"window_id"`
	PaneID      string         `json:"pane_id"`
	Client      string         `json:"client"`
	Went        bool           `json:"went"`
	Nested      bool           `json:"nested"`
	Command     []string       `json:"command"`
}

// AttentionItem is a shape of the contract.
type AttentionItem struct {
	ID        string         `json:"id"`
	Key       string         `json:"key"`
	Kind      AttentionKind  `json:"kind"`
	Source    string         `json:"source"`
	Title     string         `json:"title"`
	Detail    string         `json:"detail"`
	Data      map[string]any `json:"data"`
	OpenedAt  string         `json:"opened_at"`
	UpdatedAt string         `json:"updated_at"`
	Times     int64          `json:"times"`
	ClosedAt  *string        `json:"closed_at"`
	ClosedWhy string         `json:"closed_why"`
	Command   string         `json:"command"`
	AgeMS     int64          `json:"age_ms"`
}

// AttentionKind is one of the values below.
type AttentionKind string

const (
	AttentionKindApproval AttentionKind = "approval"
	AttentionKindQuestion AttentionKind = "question"
	AttentionKindError    AttentionKind = "error"
	AttentionKindBeat     AttentionKind = "beat"
	AttentionKindOther    AttentionKind = "other"
)

// AttentionList is a shape of the contract.
type AttentionList struct {
	Items []AttentionItem `json:"items"`
	Open  int64           `json:"open"`
}

// AttentionStatus is a shape of the contract.
type AttentionStatus struct {
	Open          int64                 `json:"open"`
	Titles        []string              `json:"titles"`
	NotifyProblem string                `json:"notify_problem"`
	Channels      []NotificationChannel `json:"channels"`
}

// AuditCaller is a shape of the contract.
type AuditCaller struct {
	Uid       *int64 `json:"uid"`
	PID       *int64 `json:"pid"`
	Program   string `json:"program"`
	Transport string `json:"transport"`
	Subsystem string `json:"subsystem"`
	Surface   string `json:"surface"`
}

// AuditEntry is a shape of the contract.
type AuditEntry struct {
	Cursor    int64          `json:"cursor"`
	At        string         `json:"at"`
	Who       AuditCaller    `json:"who"`
	Operation string         `json:"operation"`
	About     string         `json:"about"`
	Snapshot  map[string]any `json:"snapshot"`
	Status    string         `json:"status"`
	Outcome   string         `json:"outcome"`
	Error     *string        `json:"error"`
}

// AuditTrail is a shape of the contract.
type AuditTrail struct {
	Items   []AuditEntry `json:"items"`
	Earlier *int64       `json:"earlier"`
}

// Back is a shape of the contract.
type Back struct {
	Client   string `json:"client"`
	Place    string `json:"place"`
	Detached bool   `json:"detached"`
}

// Backup is a shape of the contract.
type Backup struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// Beat is a shape of the contract.
type Beat struct {
	Name      string       `json:"name"`
	Workspace string       `json:"workspace"`
	File      string       `json:"file"`
	Agent     string       `json:"agent"`
	Model     string       `json:"model"`
	Schedule  string       `json:"schedule"`
	Tz        string       `json:"tz"`
	State     string       `json:"state"`
	Reason    string       `json:"reason"`
	NextAt    *string      `json:"next_at"`
	LateS     *float64     `json:"late_s"`
	Streak    int64        `json:"streak"`
	Skipped   int64        `json:"skipped"`
	Last      *BeatRun     `json:"last"`
	Today     BeatSpending `json:"today"`
	Month     BeatSpending `json:"month"`
	Budget    BeatBudget   `json:"budget"`
}

// BeatBudget is a shape of the contract.
type BeatBudget struct {
	RunUSD      *float64 `json:"run_usd"`
	DayUSD      *float64 `json:"day_usd"`
	MonthUSD    *float64 `json:"month_usd"`
	RunTokens   *int64   `json:"run_tokens"`
	DayTokens   *int64   `json:"day_tokens"`
	MonthTokens *int64   `json:"month_tokens"`
}

// BeatCost is a shape of the contract.
type BeatCost struct {
	Name   string       `json:"name"`
	Today  BeatSpending `json:"today"`
	Month  BeatSpending `json:"month"`
	Total  BeatSpending `json:"total"`
	Budget BeatBudget   `json:"budget"`
}

// BeatCosts is a shape of the contract.
type BeatCosts struct {
	Items  []BeatCost     `json:"items"`
	Others OtherCosts     `json:"others"`
	Today  BeatSpending   `json:"today"`
	Month  BeatSpending   `json:"month"`
	Total  BeatSpending   `json:"total"`
	Limits SpendingLimits `json:"limits"`
}

// BeatList is a shape of the contract.
type BeatList struct {
	Items    []Beat        `json:"items"`
	Problems []BeatProblem `json:"problems"`
	Running  int64         `json:"running"`
	Limit    int64         `json:"limit"`
	Count    int64         `json:"count"`
	Next     *NextBeat     `json:"next"`
	Today    BeatSpending  `json:"today"`
	Month    BeatSpending  `json:"month"`
}

// BeatOutcome is one of the values below.
type BeatOutcome string

const (
	BeatOutcomeOk        BeatOutcome = "ok"
	BeatOutcomeAttention BeatOutcome = "attention"
	BeatOutcomeError     BeatOutcome = "error"
)

// BeatProblem is a shape of the contract.
type BeatProblem struct {
	File    string `json:"file"`
	Message string `json:"message"`
}

// BeatRun is a shape of the contract.
type BeatRun struct {
	Run           string       `json:"run"`
	Beat          string       `json:"beat"`
	Workspace     string       `json:"workspace"`
	Agent         string       `json:"agent"`
	Why           string       `json:"why"`
	State         string       `json:"state"`
	Slot          *string      `json:"slot"`
	QueuedAt      string       `json:"queued_at"`
	BeganAt       *string      `json:"began_at"`
	EndedAt       *string      `json:"ended_at"`
	DurationMS    *int64       `json:"duration_ms"`
	Outcome       *BeatOutcome `json:"outcome"`
	Summary       string       `json:"summary"`
	ErrorKind     string       `json:"error_kind"`
	Error         string       `json:"error"`
	RetryAt       *string      `json:"retry_at"`
	Probe         string       `json:"probe"`
	Denials       []string     `json:"denials"`
	CostUSD       *float64     `json:"cost_usd"`
	CostEstimated bool         `json:"cost_estimated"`
	Tokens        *int64       `json:"tokens"`
	NumTurns      *int64       `json:"num_turns"`
	LookedAt      *string      `json:"looked_at"`
	Missed        int64        `json:"missed"`
	TimeoutS      float64      `json:"timeout_s"`
}

// BeatRunList is a shape of the contract.
type BeatRunList struct {
	Items []BeatRun `json:"items"`
}

// BeatRunWithTurns is a shape of the contract.
type BeatRunWithTurns struct {
	Run           string           `json:"run"`
	Beat          string           `json:"beat"`
	Workspace     string           `json:"workspace"`
	Agent         string           `json:"agent"`
	Why           string           `json:"why"`
	State         string           `json:"state"`
	Slot          *string          `json:"slot"`
	QueuedAt      string           `json:"queued_at"`
	BeganAt       *string          `json:"began_at"`
	EndedAt       *string          `json:"ended_at"`
	DurationMS    *int64           `json:"duration_ms"`
	Outcome       *BeatOutcome     `json:"outcome"`
	Summary       string           `json:"summary"`
	ErrorKind     string           `json:"error_kind"`
	Error         string           `json:"error"`
	RetryAt       *string          `json:"retry_at"`
	Probe         string           `json:"probe"`
	Denials       []string         `json:"denials"`
	CostUSD       *float64         `json:"cost_usd"`
	CostEstimated bool             `json:"cost_estimated"`
	Tokens        *int64           `json:"tokens"`
	NumTurns      *int64           `json:"num_turns"`
	LookedAt      *string          `json:"looked_at"`
	Missed        int64            `json:"missed"`
	TimeoutS      float64          `json:"timeout_s"`
	Turns         []map[string]any `json:"turns"`
}

// BeatSpending is a shape of the contract.
type BeatSpending struct {
	Runs    int64   `json:"runs"`
	CostUSD float64 `json:"cost_usd"`
	Tokens  int64   `json:"tokens"`
}

// BeatsStatus is a shape of the contract.
type BeatsStatus struct {
	Total   int64            `json:"total"`
	ByState map[string]int64 `json:"by_state"`
	Reasons []string         `json:"reasons"`
	Next    *NextBeat        `json:"next"`
}

// ChangedSetting is a shape of the contract.
type ChangedSetting struct {
	Key          string          `json:"key"`
	Old          json.RawMessage `json:"old"`
	New          json.RawMessage `json:"new"`
	NeedsRestart bool            `json:"needs_restart"`
}

// ChannelMessage is a shape of the contract.
type ChannelMessage struct {
	ID      int64  `json:"id"`
	Channel string `json:"channel"`
	Text    string `json:"text"`
	At      string `json:"at"`
	Again   bool   `json:"again"`
}

// ChannelTest is a shape of the contract.
type ChannelTest struct {
	Items []TestedChannel `json:"items"`
}

// ChannelWrite is a shape of the contract.
type ChannelWrite struct {
	Channel string `json:"channel"`
	Bytes   int64  `json:"bytes"`
}

// ChildProcess is a shape of the contract.
type ChildProcess struct {
	Name     string `json:"name"`
	State    string `json:"state"`
	PID      *int64 `json:"pid"`
	Restarts int64  `json:"restarts"`
}

// Confidence is one of the values below.
type Confidence string

const (
	ConfidenceHigh   Confidence = "high"
	ConfidenceMedium Confidence = "medium"
	ConfidenceLow    Confidence = "low"
)

// ConfigStatus is a shape of the contract.
type ConfigStatus struct {
	Generation   int64    `json:"generation"`
	Problems     []string `json:"problems"`
	NeedsRestart []string `json:"needs_restart"`
}

// ConfiguredTarget is a shape of the contract.
type ConfiguredTarget struct {
	Target     string     `json:"target"`
	Kind       TargetKind `json:"kind"`
	SshTarget  string     `json:"ssh_target"`
	IsDefault  bool       `json:"is_default"`
	Health     Health     `json:"health"`
	Reason     string     `json:"reason"`
	Node       string     `json:"node"`
	LastSeenAt *string    `json:"last_seen_at"`
}

// Conversation is a shape of the contract.
type Conversation struct {
	RuntimeID  string `json:"runtime_id"`
	Agent      string `json:"agent"`
	ID         string `json:"id"`
	Transcript string `json:"transcript"`
}

// DetailedEvidence is a shape of the contract.
type DetailedEvidence struct {
	Source   string     `json:"source"`
	State    AgentState `json:"state"`
	Evidence string     `json:"evidence"`
	At       string     `json:"at"`
	AgeMS    int64      `json:"age_ms"`
	Detail   string     `json:"detail"`
}

// Diagnosis is a shape of the contract.
type Diagnosis struct {
	Ok       bool      `json:"ok"`
	Findings []Finding `json:"findings"`
}

// DialogAnswer is a shape of the contract.
type DialogAnswer struct {
	Snapshot    ActionSnapshot `json:"snapshot"`
	Fingerprint string         `json:"fingerprint"`
	Option      DialogOption   `json:"option"`
	Gone        bool           `json:"gone"`
	Why         string         `json:"why"`
	State       string         `json:"state"`
	Next        string         `json:"next"`
}

// DialogOption is a shape of the contract.
type DialogOption struct {
	Number int64    `json:"number"`
	Label  string   `json:"label"`
	Means  string   `json:"means"`
	Marked bool     `json:"marked"`
	Keys   []string `json:"keys"`
}

// EventsStatus is a shape of the contract.
type EventsStatus struct {
	Cursor      int64 `json:"cursor"`
	Subscribers int64 `json:"subscribers"`
}

// Evidence is a shape of the contract.
type Evidence struct {
	Source   string     `json:"source"`
	State    AgentState `json:"state"`
	Evidence string     `json:"evidence"`
	At       string     `json:"at"`
	AgeMS    int64      `json:"age_ms"`
}

// Explanation is a shape of the contract.
type Explanation struct {
	Item        AgentRow            `json:"item"`
	Because     *DetailedEvidence   `json:"because"`
	Agrees      []DetailedEvidence  `json:"agrees"`
	Overruled   []OverruledEvidence `json:"overruled"`
	Caveat      string              `json:"caveat"`
	WouldChange string              `json:"would_change"`
}

// FailingAdapter is a shape of the contract.
type FailingAdapter struct {
	Name     string `json:"name"`
	Session  string `json:"session"`
	Restarts int64  `json:"restarts"`
	LastLine string `json:"last_line"`
	Log      string `json:"log"`
}

// Filters is a shape of the contract.
type Filters struct {
	Target        string       `json:"target"`
	TargetSession string       `json:"target_session"`
	Session       string       `json:"session"`
	Socket        string       `json:"socket"`
	Cwd           string       `json:"cwd"`
	State         []AgentState `json:"state"`
	AgentType     []string     `json:"agent_type"`
	NeedsAction   bool         `json:"needs_action"`
}

// Finding is a shape of the contract.
type Finding struct {
	Section string `json:"section"`
	Name    string `json:"name"`
	Status  string `json:"status"`
	Detail  string `json:"detail"`
	Fix     string `json:"fix"`
}

// FleetStatus is a shape of the contract.
type FleetStatus struct {
	Targets   []Target     `json:"targets"`
	Summary   FleetSummary `json:"summary"`
	Presence  Presence     `json:"presence"`
	Approvals int64        `json:"approvals"`
}

// FleetSummary is a shape of the contract.
type FleetSummary struct {
	Total       int64            `json:"total"`
	NeedsAction int64            `json:"needs_action"`
	ByState     map[string]int64 `json:"by_state"`
	ByAgent     map[string]int64 `json:"by_agent"`
	ByTarget    map[string]int64 `json:"by_target"`
}

// Forgotten is a shape of the contract.
type Forgotten struct {
	Name     string `json:"name"`
	Messages int64  `json:"messages"`
	Worktree string `json:"worktree"`
	Removed  bool   `json:"removed"`
	Why      string `json:"why"`
}

// Health is one of the values below.
type Health string

const (
	HealthOk       Health = "ok"
	HealthDegraded Health = "degraded"
	HealthDown     Health = "down"
)

// HealthCheck is a shape of the contract.
type HealthCheck struct {
	Ok      bool    `json:"ok"`
	Version string  `json:"version"`
	UptimeS float64 `json:"uptime_s"`
}

// HookInstallation is a shape of the contract.
type HookInstallation struct {
	State  string `json:"state"`
	File   string `json:"file"`
	Detail string `json:"detail"`
}

// HooksStatus is a shape of the contract.
type HooksStatus struct {
	Enabled bool  `json:"enabled"`
	Running int64 `json:"running"`
	Queued  int64 `json:"queued"`
	Fired   int64 `json:"fired"`
	Failed  int64 `json:"failed"`
}

// InboxStatus is a shape of the contract.
type InboxStatus struct {
	Messages   int64      `json:"messages"`
	Bytes      int64      `json:"bytes"`
	Held       int64      `json:"held"`
	HeldFrom   []MeshHeld `json:"held_from"`
	Unreadable int64      `json:"unreadable"`
}

// InstalledProgram is a shape of the contract.
type InstalledProgram struct {
	Path    string `json:"path"`
	Version string `json:"version"`
	Note    string `json:"note"`
}

// Interruption is a shape of the contract.
type Interruption struct {
	Snapshot ActionSnapshot `json:"snapshot"`
	State    string         `json:"state"`
	Stopped  bool           `json:"stopped"`
}

// JoinedMesh is a shape of the contract.
type JoinedMesh struct {
	Slug       string     `json:"slug"`
	Mesh       string     `json:"mesh"`
	Member     string     `json:"member"`
	Name       string     `json:"name"`
	Role       MeshRole   `json:"role"`
	Servers    []string   `json:"servers"`
	Wanted     PeerWanted `json:"wanted"`
	State      string     `json:"state"`
	PID        *int64     `json:"pid"`
	Restarts   int64      `json:"restarts"`
	Connected  *bool      `json:"connected"`
	QueueDepth *int64     `json:"queue_depth"`
	Problem    string     `json:"problem"`
}

// JoinedMeshes is a shape of the contract.
type JoinedMeshes struct {
	Items  []JoinedMesh `json:"items"`
	Broker *MeshBroker  `json:"broker"`
}

// KeeperRecord is a shape of the contract.
type KeeperRecord struct {
	At   string `json:"at"`
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// KeeperRecords is a shape of the contract.
type KeeperRecords struct {
	Items []KeeperRecord `json:"items"`
}

// KeeperStatus is a shape of the contract.
type KeeperStatus struct {
	Sessions        int64            `json:"sessions"`
	Running         int64            `json:"running"`
	Waiting         int64            `json:"waiting"`
	MCP             *string          `json:"mcp"`
	Problems        []string         `json:"problems"`
	FailingAdapters []FailingAdapter `json:"failing_adapters"`
}

// KeptChannel is a shape of the contract.
type KeptChannel struct {
	Name     string `json:"name"`
	Incoming bool   `json:"incoming"`
	Outgoing bool   `json:"outgoing"`
	Taken    int64  `json:"taken"`
	Refused  int64  `json:"refused"`
}

// KeptChannels is a shape of the contract.
type KeptChannels struct {
	Items     []KeptChannel `json:"items"`
	NotServed int64         `json:"not_served"`
}

// KeptPath is a shape of the contract.
type KeptPath struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

// KeptPhase is one of the values below.
type KeptPhase string

const (
	KeptPhaseStarting KeptPhase = "starting"
	KeptPhaseRunning  KeptPhase = "running"
	KeptPhaseWaits    KeptPhase = "waits"
	KeptPhaseStopped  KeptPhase = "stopped"
)

// KeptSession is a shape of the contract.
type KeptSession struct {
	Name           string      `json:"name"`
	Agent          string      `json:"agent"`
	Phase          KeptPhase   `json:"phase"`
	Why            string      `json:"why"`
	State          *AgentState `json:"state"`
	Ref            string      `json:"ref"`
	RuntimeID      string      `json:"runtime_id"`
	Cwd            string      `json:"cwd"`
	Args           []string    `json:"args"`
	Variables      []string    `json:"variables"`
	Model          string      `json:"model"`
	PermissionMode string      `json:"permission_mode"`
	Worktree       string      `json:"worktree"`
	Branch         string      `json:"branch"`
	Keep           bool        `json:"keep"`
	Conversation   string      `json:"conversation"`
	Transcript     string      `json:"transcript"`
	Socket         string      `json:"socket"`
	PaneID         string      `json:"pane_id"`
	Path           string      `json:"path"`
	Restarts       int64       `json:"restarts"`
	Waiting        int64       `json:"waiting"`
	CreatedAt      string      `json:"created_at"`
	StartedAt      *string     `json:"started_at"`
	StartsAt       *string     `json:"starts_at"`
	Notes          []string    `json:"notes"`
}

// KeptSessions is a shape of the contract.
type KeptSessions struct {
	Items []KeptSession `json:"items"`
}

// KeptStatus is a shape of the contract.
type KeptStatus struct {
	Session         KeptSession      `json:"session"`
	Channels        []KeptChannel    `json:"channels"`
	NotServed       int64            `json:"not_served"`
	Messages        []ChannelMessage `json:"messages"`
	FailingAdapters []FailingAdapter `json:"failing_adapters"`
}

// Killed is a shape of the contract.
type Killed struct {
	Snapshot ActionSnapshot `json:"snapshot"`
	Signal   string         `json:"signal"`
	PID      int64          `json:"pid"`
	Ended    bool           `json:"ended"`
}

// LateChange is a shape of the contract.
type LateChange struct {
	RuntimeID string        `json:"runtime_id"`
	Due       string        `json:"due"`
	LateMS    int64         `json:"late_ms"`
	Derived   *StateOutcome `json:"derived"`
}

// LeftMesh is a shape of the contract.
type LeftMesh struct {
	Slug string `json:"slug"`
	Told bool   `json:"told"`
	Path string `json:"path"`
}

// LoopStatus is a shape of the contract.
type LoopStatus struct {
	Blocked  int64   `json:"blocked"`
	LongestS float64 `json:"longest_s"`
}

// MadeInvite is a shape of the contract.
type MadeInvite struct {
	Token     string   `json:"token"`
	ID        string   `json:"id"`
	Role      MeshRole `json:"role"`
	Uses      int64    `json:"uses"`
	Left      int64    `json:"left"`
	MadeAt    string   `json:"made_at"`
	ExpiresAt string   `json:"expires_at"`
	Revoked   bool     `json:"revoked"`
	Joined    []string `json:"joined"`
}

// McpStatus is a shape of the contract.
type McpStatus struct {
	Act  bool    `json:"act"`
	Http *string `json:"http"`
}

// MeshBatchAnswer is a shape of the contract.
type MeshBatchAnswer struct {
	Items    []MeshBatchItem `json:"items"`
	Accepted int64           `json:"accepted"`
	Refused  int64           `json:"refused"`
}

// MeshBatchItem is a shape of the contract.
type MeshBatchItem struct {
	Answer *MeshSendAnswer `json:"answer"`
	Error  map[string]any  `json:"error"`
}

// MeshBroker is a shape of the contract.
type MeshBroker struct {
	State       string   `json:"state"`
	PID         *int64   `json:"pid"`
	Restarts    int64    `json:"restarts"`
	Version     string   `json:"version"`
	URL         string   `json:"url"`
	Listen      []string `json:"listen"`
	Names       []string `json:"names"`
	Fingerprint string   `json:"fingerprint"`
}

// MeshCollection is a shape of the contract.
type MeshCollection struct {
	Collection    string   `json:"collection"`
	Texts         int64    `json:"texts"`
	Models        []string `json:"models"`
	WithoutVector int64    `json:"without_vector"`
}

// MeshCollections is a shape of the contract.
type MeshCollections struct {
	Items    []MeshCollection `json:"items"`
	Embedder MeshEmbedder     `json:"embedder"`
}

// MeshConnection is a shape of the contract.
type MeshConnection struct {
	Connected bool    `json:"connected"`
	Since     *string `json:"since"`
	Reason    *string `json:"reason"`
}

// MeshDelivery is one of the values below.
type MeshDelivery string

const (
	MeshDeliveryPending  MeshDelivery = "pending"
	MeshDeliveryInflight MeshDelivery = "inflight"
	MeshDeliveryDone     MeshDelivery = "done"
	MeshDeliveryDead     MeshDelivery = "dead"
	MeshDeliveryDropped  MeshDelivery = "dropped"
)

// MeshDropped is a shape of the contract.
type MeshDropped struct {
	IDs []string `json:"ids"`
}

// MeshEmbedder is a shape of the contract.
type MeshEmbedder struct {
	Tier  string  `json:"tier"`
	Model *string `json:"model"`
	Note  string  `json:"note"`
}

// MeshExport is a shape of the contract.
type MeshExport struct {
	Path      string `json:"path"`
	Documents int64  `json:"documents"`
}

// MeshFile is a shape of the contract.
type MeshFile struct {
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	Size       int64    `json:"size"`
	Sha256     string   `json:"sha256"`
	Message    string   `json:"message"`
	Author     string   `json:"author"`
	AuthorName string   `json:"author_name"`
	To         []string `json:"to"`
	ToNames    []string `json:"to_names"`
	At         string   `json:"at"`
	ExpiresAt  *string  `json:"expires_at"`
}

// MeshFileDeleted is a shape of the contract.
type MeshFileDeleted struct {
	ID string `json:"id"`
}

// MeshFileTransfer is a shape of the contract.
type MeshFileTransfer struct {
	Transfer  string  `json:"transfer"`
	ID        string  `json:"id"`
	Direction string  `json:"direction"`
	State     string  `json:"state"`
	Name      string  `json:"name"`
	Path      string  `json:"path"`
	Size      int64   `json:"size"`
	DoneBytes int64   `json:"done_bytes"`
	Reason    string  `json:"reason"`
	Error     string  `json:"error"`
	BeganAt   string  `json:"began_at"`
	EndedAt   *string `json:"ended_at"`
}

// MeshFileTransfers is a shape of the contract.
type MeshFileTransfers struct {
	Items []MeshFileTransfer `json:"items"`
}

// MeshFiles is a shape of the contract.
type MeshFiles struct {
	Items []MeshFile `json:"items"`
	Next  *float64   `json:"next"`
}

// MeshFound is a shape of the contract.
type MeshFound struct {
	Items   []MeshMessage `json:"items"`
	Indexed bool          `json:"indexed"`
}

// MeshGraphCounters is a shape of the contract.
type MeshGraphCounters struct {
	NodesCreated         int64 `json:"nodes_created"`
	NodesDeleted         int64 `json:"nodes_deleted"`
	RelationshipsCreated int64 `json:"relationships_created"`
	RelationshipsDeleted int64 `json:"relationships_deleted"`
	PropertiesSet        int64 `json:"properties_set"`
	LabelsAdded          int64 `json:"labels_added"`
}

// MeshGraphNotApplied is a shape of the contract.
type MeshGraphNotApplied struct {
	Sequence int64  `json:"sequence"`
	Author   string `json:"author"`
	Outcome  string `json:"outcome"`
	Reason   string `json:"reason"`
}

// MeshGraphResult is a shape of the contract.
type MeshGraphResult struct {
	Rows       []map[string]any   `json:"rows"`
	Truncated  bool               `json:"truncated"`
	Wrote      bool               `json:"wrote"`
	Applied    bool               `json:"applied"`
	Counters   *MeshGraphCounters `json:"counters"`
	Sequence   int64              `json:"sequence"`
	CaughtUp   bool               `json:"caught_up"`
	Connection MeshConnection     `json:"connection"`
}

// MeshGraphStatus is a shape of the contract.
type MeshGraphStatus struct {
	Engine        string                `json:"engine"`
	Sequence      int64                 `json:"sequence"`
	CaughtUp      bool                  `json:"caught_up"`
	Connection    MeshConnection        `json:"connection"`
	Problem       *string               `json:"problem"`
	Nodes         int64                 `json:"nodes"`
	Relationships int64                 `json:"relationships"`
	Entries       int64                 `json:"entries"`
	Failed        int64                 `json:"failed"`
	NotApplied    []MeshGraphNotApplied `json:"not_applied"`
	Crashes       int64                 `json:"crashes"`
	Digest        string                `json:"digest"`
}

// MeshGroup is a shape of the contract.
type MeshGroup struct {
	Name string `json:"name"`
	Role string `json:"role"`
}

// MeshGroups is a shape of the contract.
type MeshGroups struct {
	Items []MeshGroup `json:"items"`
}

// MeshHealthCheck is a shape of the contract.
type MeshHealthCheck struct {
	Ok           bool     `json:"ok"`
	Version      string   `json:"version"`
	UptimeS      float64  `json:"uptime_s"`
	Connected    bool     `json:"connected"`
	LagMS        *float64 `json:"lag_ms"`
	QueueDepth   int64    `json:"queue_depth"`
	Mesh         string   `json:"mesh"`
	MemberPubkey string   `json:"member_pubkey"`
}

// MeshHeartbeat is a shape of the contract.
type MeshHeartbeat struct {
	Member string `json:"member"`
	Status string `json:"status"`
	Until  string `json:"until"`
}

// MeshHeld is a shape of the contract.
type MeshHeld struct {
	Member   string `json:"member"`
	Name     string `json:"name"`
	Messages int64  `json:"messages"`
	Until    string `json:"until"`
}

// MeshHolder is a shape of the contract.
type MeshHolder struct {
	Member string `json:"member"`
	Name   string `json:"name"`
	Agent  string `json:"agent"`
	Label  string `json:"label"`
	Yours  bool   `json:"yours"`
}

// MeshImport is a shape of the contract.
type MeshImport struct {
	Written int64 `json:"written"`
	Same    int64 `json:"same"`
	Left    int64 `json:"left"`
	Skipped int64 `json:"skipped"`
}

// MeshInbox is a shape of the contract.
type MeshInbox struct {
	Items    []MeshMessage `json:"items"`
	Cursor   int64         `json:"cursor"`
	More     bool          `json:"more"`
	HeldFrom []MeshHeld    `json:"held_from"`
}

// MeshInstalledSkill is a shape of the contract.
type MeshInstalledSkill struct {
	Name       string `json:"name"`
	Version    string `json:"version"`
	Author     string `json:"author"`
	AuthorName string `json:"author_name"`
	Agent      string `json:"agent"`
	Path       string `json:"path"`
	At         string `json:"at"`
}

// MeshInvite is a shape of the contract.
type MeshInvite struct {
	ID        string   `json:"id"`
	Role      MeshRole `json:"role"`
	Uses      int64    `json:"uses"`
	Left      int64    `json:"left"`
	MadeAt    string   `json:"made_at"`
	ExpiresAt string   `json:"expires_at"`
	Revoked   bool     `json:"revoked"`
	Joined    []string `json:"joined"`
}

// MeshInvites is a shape of the contract.
type MeshInvites struct {
	Items []MeshInvite `json:"items"`
}

// MeshKeyRotated is a shape of the contract.
type MeshKeyRotated struct {
	Member string `json:"member"`
	Key    string `json:"key"`
	Number int64  `json:"number"`
}

// MeshLease is a shape of the contract.
type MeshLease struct {
	Name       string     `json:"name"`
	Holder     MeshHolder `json:"holder"`
	Note       string     `json:"note"`
	AcquiredAt string     `json:"acquired_at"`
	Until      string     `json:"until"`
	Revision   int64      `json:"revision"`
}

// MeshLeases is a shape of the contract.
type MeshLeases struct {
	Items []MeshLease `json:"items"`
	Next  *string     `json:"next"`
}

// MeshMcpAnswer is a shape of the contract.
type MeshMcpAnswer struct {
	Server     string                       `json:"server"`
	Tool       string                       `json:"tool"`
	Owner      string                       `json:"owner"`
	OwnerName  string                       `json:"owner_name"`
	IsError    bool                         `json:"is_error"`
	Content    []map[string]json.RawMessage `json:"content"`
	Structured map[string]any               `json:"structured"`
	MS         float64                      `json:"ms"`
}

// MeshMcpServer is a shape of the contract.
type MeshMcpServer struct {
	Server      string        `json:"server"`
	Description string        `json:"description"`
	Owner       string        `json:"owner"`
	OwnerName   string        `json:"owner_name"`
	Own         bool          `json:"own"`
	Open        bool          `json:"open"`
	Tools       []MeshMcpTool `json:"tools"`
	Revision    int64         `json:"revision"`
	At          string        `json:"at"`
}

// MeshMcpServers is a shape of the contract.
type MeshMcpServers struct {
	Items []MeshMcpServer `json:"items"`
}

// MeshMcpTool is a shape of the contract.
type MeshMcpTool struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	InputSchema map[string]any `json:"input_schema"`
}

// MeshMcpUnregistered is a shape of the contract.
type MeshMcpUnregistered struct {
	Server string `json:"server"`
}

// MeshMember is a shape of the contract.
type MeshMember struct {
	Member    string   `json:"member"`
	Name      string   `json:"name"`
	Role      MeshRole `json:"role"`
	You       bool     `json:"you"`
	JoinedAt  string   `json:"joined_at"`
	RevokedAt *string  `json:"revoked_at"`
	Key       string   `json:"key"`
}

// MeshMembers is a shape of the contract.
type MeshMembers struct {
	Items []MeshMember `json:"items"`
	Mesh  string       `json:"mesh"`
	Epoch int64        `json:"epoch"`
}

// MeshMemories is a shape of the contract.
type MeshMemories struct {
	Items []MeshMemory `json:"items"`
	Next  *string      `json:"next"`
}

// MeshMemory is a shape of the contract.
type MeshMemory struct {
	ID          string   `json:"id"`
	Content     string   `json:"content"`
	Tags        []string `json:"tags"`
	Author      string   `json:"author"`
	AuthorName  string   `json:"author_name"`
	At          string   `json:"at"`
	RewrittenBy *string  `json:"rewritten_by"`
	Model       *string  `json:"model"`
}

// MeshMemoryForgotten is a shape of the contract.
type MeshMemoryForgotten struct {
	ID string `json:"id"`
}

// MeshMemoryHit is a shape of the contract.
type MeshMemoryHit struct {
	ID          string   `json:"id"`
	Content     string   `json:"content"`
	Tags        []string `json:"tags"`
	Author      string   `json:"author"`
	AuthorName  string   `json:"author_name"`
	At          string   `json:"at"`
	RewrittenBy *string  `json:"rewritten_by"`
	Model       *string  `json:"model"`
	FoundBy     []string `json:"found_by"`
	Score       float64  `json:"score"`
	Similarity  *float64 `json:"similarity"`
}

// MeshMemoryRemembered is a shape of the contract.
type MeshMemoryRemembered struct {
	ID          string       `json:"id"`
	Content     string       `json:"content"`
	Tags        []string     `json:"tags"`
	Author      string       `json:"author"`
	AuthorName  string       `json:"author_name"`
	At          string       `json:"at"`
	RewrittenBy *string      `json:"rewritten_by"`
	Model       *string      `json:"model"`
	Embedder    MeshEmbedder `json:"embedder"`
}

// MeshMessage is a shape of the contract.
type MeshMessage struct {
	Cursor     int64          `json:"cursor"`
	ID         string         `json:"id"`
	Mesh       string         `json:"mesh"`
	Kind       string         `json:"kind"`
	From       string         `json:"from"`
	FromName   string         `json:"from_name"`
	FromAgent  string         `json:"from_agent"`
	ToAgent    string         `json:"to_agent"`
	Topic      *string        `json:"topic"`
	Text       string         `json:"text"`
	Priority   MeshPriority   `json:"priority"`
	Meta       map[string]any `json:"meta"`
	ReplyToID  *string        `json:"reply_to_id"`
	Mentions   []string       `json:"mentions"`
	Mentioned  bool           `json:"mentioned"`
	Hops       int64          `json:"hops"`
	SentAt     string         `json:"sent_at"`
	ReceivedAt string         `json:"received_at"`
	Late       bool           `json:"late"`
}

// MeshNodeStatus is a shape of the contract.
type MeshNodeStatus struct {
	Joined   int64    `json:"joined"`
	Running  int64    `json:"running"`
	Broker   *string  `json:"broker"`
	Problems []string `json:"problems"`
}

// MeshOutbox is a shape of the contract.
type MeshOutbox struct {
	Items    []MeshOutboxRow `json:"items"`
	Pending  int64           `json:"pending"`
	Dead     int64           `json:"dead"`
	OldestAt *string         `json:"oldest_at"`
}

// MeshOutboxRow is a shape of the contract.
type MeshOutboxRow struct {
	ID            string       `json:"id"`
	To            string       `json:"to"`
	Member        string       `json:"member"`
	Kind          string       `json:"kind"`
	State         MeshDelivery `json:"state"`
	Rung          MeshRung     `json:"rung"`
	Attempts      int64        `json:"attempts"`
	Bytes         int64        `json:"bytes"`
	AcceptedAt    string       `json:"accepted_at"`
	NextAttemptAt *string      `json:"next_attempt_at"`
	DeliveredAt   *string      `json:"delivered_at"`
	Error         string       `json:"error"`
}

// MeshPeer is a shape of the contract.
type MeshPeer struct {
	Member  string       `json:"member"`
	Name    string       `json:"name"`
	Role    MeshRole     `json:"role"`
	You     bool         `json:"you"`
	Online  bool         `json:"online"`
	Status  MeshPresence `json:"status"`
	Summary string       `json:"summary"`
	Avatar  string       `json:"avatar"`
	Groups  []MeshGroup  `json:"groups"`
	SeenAt  *string      `json:"seen_at"`
}

// MeshPeers is a shape of the contract.
type MeshPeers struct {
	Items  []MeshPeer `json:"items"`
	Online int64      `json:"online"`
}

// MeshPresence is one of the values below.
type MeshPresence string

const (
	MeshPresenceIdle    MeshPresence = "idle"
	MeshPresenceWorking MeshPresence = "working"
	MeshPresenceDnd     MeshPresence = "dnd"
)

// MeshPriority is one of the values below.
type MeshPriority string

const (
	MeshPriorityNow  MeshPriority = "now"
	MeshPriorityNext MeshPriority = "next"
	MeshPriorityLow  MeshPriority = "low"
)

// MeshProfile is a shape of the contract.
type MeshProfile struct {
	Member  string       `json:"member"`
	Name    string       `json:"name"`
	Summary string       `json:"summary"`
	Status  MeshPresence `json:"status"`
	Visible bool         `json:"visible"`
	Avatar  string       `json:"avatar"`
	Groups  []MeshGroup  `json:"groups"`
}

// MeshRecall is a shape of the contract.
type MeshRecall struct {
	Items    []MeshMemoryHit `json:"items"`
	Embedder MeshEmbedder    `json:"embedder"`
	LeftOut  int64           `json:"left_out"`
}

// MeshReceipt is a shape of the contract.
type MeshReceipt struct {
	ID          string       `json:"id"`
	To          string       `json:"to"`
	Member      string       `json:"member"`
	Online      *bool        `json:"online"`
	Rung        MeshRung     `json:"rung"`
	State       MeshDelivery `json:"state"`
	Status      string       `json:"status"`
	AcceptedAt  string       `json:"accepted_at"`
	DeliveredAt *string      `json:"delivered_at"`
	ReceivedAt  *string      `json:"received_at"`
	SeenAt      *string      `json:"seen_at"`
	Refused     bool         `json:"refused"`
	Attempts    int64        `json:"attempts"`
	Error       string       `json:"error"`
}

// MeshRecipient is a shape of the contract.
type MeshRecipient struct {
	Member string   `json:"member"`
	Name   string   `json:"name"`
	ID     string   `json:"id"`
	Online *bool    `json:"online"`
	Rung   MeshRung `json:"rung"`
}

// MeshReembedding is a shape of the contract.
type MeshReembedding struct {
	Model   *string `json:"model"`
	Running bool    `json:"running"`
	Total   int64   `json:"total"`
	Done    int64   `json:"done"`
	Failed  int64   `json:"failed"`
	Error   string  `json:"error"`
}

// MeshReminder is a shape of the contract.
type MeshReminder struct {
	ID        string     `json:"id"`
	Message   string     `json:"message"`
	To        string     `json:"to"`
	At        *string    `json:"at"`
	Cron      *string    `json:"cron"`
	Tz        string     `json:"tz"`
	NextAt    *string    `json:"next_at"`
	CreatedBy MeshHolder `json:"created_by"`
	CreatedAt string     `json:"created_at"`
	Private   bool       `json:"private"`
}

// MeshReminders is a shape of the contract.
type MeshReminders struct {
	Items []MeshReminder `json:"items"`
	More  bool           `json:"more"`
}

// MeshRenamed is a shape of the contract.
type MeshRenamed struct {
	Member string `json:"member"`
	Old    string `json:"old"`
	Name   string `json:"name"`
}

// MeshRequeued is a shape of the contract.
type MeshRequeued struct {
	IDs []string `json:"ids"`
}

// MeshRevoked is a shape of the contract.
type MeshRevoked struct {
	Member string `json:"member"`
	Name   string `json:"name"`
	Invite string `json:"invite"`
	Epoch  *int64 `json:"epoch"`
}

// MeshRole is one of the values below.
type MeshRole string

const (
	MeshRoleAuthority MeshRole = "authority"
	MeshRoleAdmin     MeshRole = "admin"
	MeshRoleMember    MeshRole = "member"
	MeshRoleReader    MeshRole = "reader"
)

// MeshRung is one of the values below.
type MeshRung string

const (
	MeshRungStored   MeshRung = "stored"
	MeshRungAtBroker MeshRung = "at_broker"
	MeshRungInInbox  MeshRung = "in_inbox"
	MeshRungSeen     MeshRung = "seen"
)

// MeshSendAnswer is a shape of the contract.
type MeshSendAnswer struct {
	ID         string          `json:"id"`
	IDs        []string        `json:"ids"`
	To         string          `json:"to"`
	Recipients []MeshRecipient `json:"recipients"`
	Rung       MeshRung        `json:"rung"`
	Status     string          `json:"status"`
	Queued     bool            `json:"queued"`
	Replayed   bool            `json:"replayed"`
}

// MeshServiceUsage is a shape of the contract.
type MeshServiceUsage struct {
	Name      string `json:"name"`
	Documents int64  `json:"documents"`
	Bytes     int64  `json:"bytes"`
}

// MeshServices is a shape of the contract.
type MeshServices struct {
	Items      []MeshServiceUsage `json:"items"`
	Documents  int64              `json:"documents"`
	Bytes      int64              `json:"bytes"`
	CaughtUp   bool               `json:"caught_up"`
	Refused    int64              `json:"refused"`
	Digest     string             `json:"digest"`
	Connection MeshConnection     `json:"connection"`
}

// MeshServicesStatus is a shape of the contract.
type MeshServicesStatus struct {
	Documents int64 `json:"documents"`
	Bytes     int64 `json:"bytes"`
	CaughtUp  bool  `json:"caught_up"`
	Refused   int64 `json:"refused"`
}

// MeshSkill is a shape of the contract.
type MeshSkill struct {
	Name        string          `json:"name"`
	Version     string          `json:"version"`
	Description string          `json:"description"`
	Files       []MeshSkillFile `json:"files"`
	Bytes       int64           `json:"bytes"`
	Inline      bool            `json:"inline"`
	Author      string          `json:"author"`
	AuthorName  string          `json:"author_name"`
	Revision    int64           `json:"revision"`
	At          string          `json:"at"`
}

// MeshSkillDeployed is a shape of the contract.
type MeshSkillDeployed struct {
	Skill   MeshSkill `json:"skill"`
	LeftOut []string  `json:"left_out"`
}

// MeshSkillFile is a shape of the contract.
type MeshSkillFile struct {
	Path   string `json:"path"`
	Sha256 string `json:"sha256"`
	Size   int64  `json:"size"`
	Mode   string `json:"mode"`
}

// MeshSkillPlan is a shape of the contract.
type MeshSkillPlan struct {
	Skill     MeshSkill `json:"skill"`
	Agent     string    `json:"agent"`
	Path      string    `json:"path"`
	Plan      string    `json:"plan"`
	Replaces  *string   `json:"replaces"`
	Installed bool      `json:"installed"`
}

// MeshSkillRemoved is a shape of the contract.
type MeshSkillRemoved struct {
	Name     string `json:"name"`
	Revision int64  `json:"revision"`
}

// MeshSkillShown is a shape of the contract.
type MeshSkillShown struct {
	Skill MeshSkill `json:"skill"`
	File  string    `json:"file"`
	Text  *string   `json:"text"`
}

// MeshSkillUninstalled is a shape of the contract.
type MeshSkillUninstalled struct {
	Name    string   `json:"name"`
	Path    string   `json:"path"`
	Removed []string `json:"removed"`
	Kept    []string `json:"kept"`
}

// MeshSkills is a shape of the contract.
type MeshSkills struct {
	Items     []MeshSkill          `json:"items"`
	Installed []MeshInstalledSkill `json:"installed"`
}

// MeshState is a shape of the contract.
type MeshState struct {
	Items []MeshStateEntry `json:"items"`
	Next  *string          `json:"next"`
}

// MeshStateDeleted is a shape of the contract.
type MeshStateDeleted struct {
	Key      string `json:"key"`
	Scope    string `json:"scope"`
	Revision int64  `json:"revision"`
}

// MeshStateEntry is a shape of the contract.
type MeshStateEntry struct {
	Key        string          `json:"key"`
	Scope      string          `json:"scope"`
	Value      json.RawMessage `json:"value"`
	Revision   int64           `json:"revision"`
	Author     string          `json:"author"`
	AuthorName string          `json:"author_name"`
	At         string          `json:"at"`
}

// MeshStatus is a shape of the contract.
type MeshStatus struct {
	Version    string         `json:"version"`
	PID        int64          `json:"pid"`
	UptimeS    float64        `json:"uptime_s"`
	RssBytes   int64          `json:"rss_bytes"`
	CpuSeconds float64        `json:"cpu_seconds"`
	Home       string         `json:"home"`
	TcpPort    *int64         `json:"tcp_port"`
	Events     EventsStatus   `json:"events"`
	Config     ConfigStatus   `json:"config"`
	Problems   []string       `json:"problems"`
	Loop       LoopStatus     `json:"loop"`
	Children   []ChildProcess `json:"children"`
	Mesh       PeerStatus     `json:"mesh"`
}

// MeshTask is a shape of the contract.
type MeshTask struct {
	ID          string          `json:"id"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Status      MeshTaskStatus  `json:"status"`
	Priority    MeshPriority    `json:"priority"`
	Tags        []string        `json:"tags"`
	Assignee    *string         `json:"assignee"`
	DependsOn   []string        `json:"depends_on"`
	BlockedBy   []string        `json:"blocked_by"`
	CreatedBy   MeshHolder      `json:"created_by"`
	CreatedAt   string          `json:"created_at"`
	ClaimedBy   *MeshHolder     `json:"claimed_by"`
	Until       *string         `json:"until"`
	Claims      int64           `json:"claims"`
	Result      json.RawMessage `json:"result"`
	Reason      string          `json:"reason"`
	EndedBy     *MeshHolder     `json:"ended_by"`
	EndedAt     *string         `json:"ended_at"`
	Revision    int64           `json:"revision"`
}

// MeshTaskStatus is one of the values below.
type MeshTaskStatus string

const (
	MeshTaskStatusOpen      MeshTaskStatus = "open"
	MeshTaskStatusClaimed   MeshTaskStatus = "claimed"
	MeshTaskStatusCompleted MeshTaskStatus = "completed"
	MeshTaskStatusFailed    MeshTaskStatus = "failed"
)

// MeshTaskTaken is a shape of the contract.
type MeshTaskTaken struct {
	Task    *MeshTask `json:"task"`
	Open    int64     `json:"open"`
	Blocked int64     `json:"blocked"`
	Claimed int64     `json:"claimed"`
}

// MeshTasks is a shape of the contract.
type MeshTasks struct {
	Items []MeshTask `json:"items"`
	Next  *string    `json:"next"`
}

// MeshTopic is a shape of the contract.
type MeshTopic struct {
	Name       string  `json:"name"`
	Subscribed bool    `json:"subscribed"`
	Messages   int64   `json:"messages"`
	LastAt     *string `json:"last_at"`
}

// MeshTopics is a shape of the contract.
type MeshTopics struct {
	Items []MeshTopic `json:"items"`
}

// MeshVectorDeleted is a shape of the contract.
type MeshVectorDeleted struct {
	ID         string `json:"id"`
	Collection string `json:"collection"`
}

// MeshVectorHit is a shape of the contract.
type MeshVectorHit struct {
	ID          string         `json:"id"`
	Collection  string         `json:"collection"`
	Text        string         `json:"text"`
	Metadata    map[string]any `json:"metadata"`
	Author      string         `json:"author"`
	AuthorName  string         `json:"author_name"`
	At          string         `json:"at"`
	RewrittenBy *string        `json:"rewritten_by"`
	Model       *string        `json:"model"`
	FoundBy     []string       `json:"found_by"`
	Similarity  *float64       `json:"similarity"`
}

// MeshVectorHits is a shape of the contract.
type MeshVectorHits struct {
	Items    []MeshVectorHit `json:"items"`
	Embedder MeshEmbedder    `json:"embedder"`
	LeftOut  int64           `json:"left_out"`
}

// MeshVectorStored is a shape of the contract.
type MeshVectorStored struct {
	ID          string         `json:"id"`
	Collection  string         `json:"collection"`
	Text        string         `json:"text"`
	Metadata    map[string]any `json:"metadata"`
	Author      string         `json:"author"`
	AuthorName  string         `json:"author_name"`
	At          string         `json:"at"`
	RewrittenBy *string        `json:"rewritten_by"`
	Model       *string        `json:"model"`
	Embedder    MeshEmbedder   `json:"embedder"`
}

// Next is a shape of the contract.
type Next struct {
	Item       *AttentionItem `json:"item"`
	Attachment *Attachment    `json:"attachment"`
}

// NextBeat is a shape of the contract.
type NextBeat struct {
	Name string `json:"name"`
	At   string `json:"at"`
}

// NotificationChannel is a shape of the contract.
type NotificationChannel struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Problem string `json:"problem"`
	Held    int64  `json:"held"`
}

// Origin is a shape of the contract.
type Origin struct {
	Agent  string `json:"agent"`
	PaneID string `json:"pane_id"`
}

// OtherCosts is a shape of the contract.
type OtherCosts struct {
	Today BeatSpending `json:"today"`
	Month BeatSpending `json:"month"`
	Total BeatSpending `json:"total"`
}

// OutboxStatus is a shape of the contract.
type OutboxStatus struct {
	Pending int64    `json:"pending"`
	Dead    int64    `json:"dead"`
	Bytes   int64    `json:"bytes"`
	OldestS *float64 `json:"oldest_s"`
}

// OverruledEvidence is a shape of the contract.
type OverruledEvidence struct {
	Source   string     `json:"source"`
	State    AgentState `json:"state"`
	Evidence string     `json:"evidence"`
	At       string     `json:"at"`
	AgeMS    int64      `json:"age_ms"`
	Detail   string     `json:"detail"`
	Why      string     `json:"why"`
}

// PaneIdentity is a shape of the contract.
type PaneIdentity struct {
	Target      string `json:"target"`
	SessionName string `json:"session_name"`
	WindowID    string `json:"window_id"`
	PaneID      string `json:"pane_id"`
}

// PastAgentList is a shape of the contract.
type PastAgentList struct {
	SchemaVersion string       `json:"schema_version"`
	GeneratedAt   string       `json:"generated_at"`
	Filters       Filters      `json:"filters"`
	Summary       FleetSummary `json:"summary"`
	Targets       []Target     `json:"targets"`
	Items         []AgentRow   `json:"items"`
	At            string       `json:"at"`
}

// PeerStatus is a shape of the contract.
type PeerStatus struct {
	Slug       string             `json:"slug"`
	Mesh       string             `json:"mesh"`
	Member     string             `json:"member"`
	Name       string             `json:"name"`
	Role       MeshRole           `json:"role"`
	Connected  bool               `json:"connected"`
	Server     string             `json:"server"`
	Servers    []string           `json:"servers"`
	LagMS      *float64           `json:"lag_ms"`
	Reconnects int64              `json:"reconnects"`
	Reason     string             `json:"reason"`
	Members    int64              `json:"members"`
	Online     int64              `json:"online"`
	Epoch      int64              `json:"epoch"`
	Outbox     OutboxStatus       `json:"outbox"`
	Inbox      InboxStatus        `json:"inbox"`
	Hooks      HooksStatus        `json:"hooks"`
	Services   MeshServicesStatus `json:"services"`
	Problems   []string           `json:"problems"`
}

// PeerWanted is one of the values below.
type PeerWanted string

const (
	PeerWantedUp      PeerWanted = "up"
	PeerWantedDown    PeerWanted = "down"
	PeerWantedService PeerWanted = "service"
)

// PolicyDecision is a shape of the contract.
type PolicyDecision struct {
	Effect PolicyEffect `json:"effect"`
	Rule   string       `json:"rule"`
	Why    string       `json:"why"`
}

// PolicyEffect is one of the values below.
type PolicyEffect string

const (
	PolicyEffectAllow PolicyEffect = "allow"
	PolicyEffectDeny  PolicyEffect = "deny"
	PolicyEffectAsk   PolicyEffect = "ask"
)

// PolicyProblem is a shape of the contract.
type PolicyProblem struct {
	Rule    int64  `json:"rule"`
	Line    int64  `json:"line"`
	Message string `json:"message"`
}

// PolicyRule is a shape of the contract.
type PolicyRule struct {
	Name       string            `json:"name"`
	Effect     PolicyEffect      `json:"effect"`
	Conditions map[string]string `json:"conditions"`
}

// PolicyRules is a shape of the contract.
type PolicyRules struct {
	Items    []PolicyRule    `json:"items"`
	Problems []PolicyProblem `json:"problems"`
}

// PolicyTrial is a shape of the contract.
type PolicyTrial struct {
	Items    []TriedRequest  `json:"items"`
	Total    int64           `json:"total"`
	Allow    int64           `json:"allow"`
	Deny     int64           `json:"deny"`
	Ask      int64           `json:"ask"`
	Changed  int64           `json:"changed"`
	Against  int64           `json:"against"`
	Problems []PolicyProblem `json:"problems"`
}

// Presence is a shape of the contract.
type Presence struct {
	Away  bool    `json:"away"`
	Since string  `json:"since"`
	Until *string `json:"until"`
}

// Question is a shape of the contract.
type Question struct {
	Text    string   `json:"text"`
	Options []string `json:"options"`
	Several bool     `json:"several"`
}

// Receipt is a shape of the contract.
type Receipt struct {
	ID        string  `json:"id"`
	RuntimeID string  `json:"runtime_id"`
	Ref       string  `json:"ref"`
	Agent     string  `json:"agent"`
	Lane      string  `json:"lane"`
	Text      string  `json:"text"`
	Bytes     int64   `json:"bytes"`
	Rung      string  `json:"rung"`
	Open      bool    `json:"open"`
	Why       string  `json:"why"`
	Evidence  string  `json:"evidence"`
	CreatedAt string  `json:"created_at"`
	UpdatedAt string  `json:"updated_at"`
	Position  *int64  `json:"position,omitempty"`
	ExpiresAt *string `json:"expires_at,omitempty"`
}

// ReceiptList is a shape of the contract.
type ReceiptList struct {
	Items []Receipt `json:"items"`
}

// RecordedEvidence is a shape of the contract.
type RecordedEvidence struct {
	Source   string     `json:"source"`
	State    AgentState `json:"state"`
	Evidence string     `json:"evidence"`
	At       string     `json:"at"`
}

// ReloadedConfig is a shape of the contract.
type ReloadedConfig struct {
	Generation   int64    `json:"generation"`
	Changed      []string `json:"changed"`
	NeedsRestart []string `json:"needs_restart"`
}

// RemovedTarget is a shape of the contract.
type RemovedTarget struct {
	Target  string `json:"target"`
	Removed bool   `json:"removed"`
}

// ReplayCheck is a shape of the contract.
type ReplayCheck struct {
	SchemaVersion string           `json:"schema_version"`
	GeneratedAt   string           `json:"generated_at"`
	Since         string           `json:"since"`
	Matches       bool             `json:"matches"`
	Signals       int64            `json:"signals"`
	Changes       int64            `json:"changes"`
	Unknown       int64            `json:"unknown"`
	Mismatched    int64            `json:"mismatched"`
	Late          int64            `json:"late"`
	Mismatches    []ReplayMismatch `json:"mismatches"`
	Latest        []LateChange     `json:"latest"`
}

// ReplayMismatch is a shape of the contract.
type ReplayMismatch struct {
	Cursor    int64         `json:"cursor"`
	RuntimeID string        `json:"runtime_id"`
	At        string        `json:"at"`
	Why       string        `json:"why"`
	Recorded  *StateOutcome `json:"recorded"`
	Derived   *StateOutcome `json:"derived"`
}

// RequestedBeatRun is a shape of the contract.
type RequestedBeatRun struct {
	Run           string           `json:"run"`
	Beat          string           `json:"beat"`
	Workspace     string           `json:"workspace"`
	Agent         string           `json:"agent"`
	Why           string           `json:"why"`
	State         string           `json:"state"`
	Slot          *string          `json:"slot"`
	QueuedAt      string           `json:"queued_at"`
	BeganAt       *string          `json:"began_at"`
	EndedAt       *string          `json:"ended_at"`
	DurationMS    *int64           `json:"duration_ms"`
	Outcome       *BeatOutcome     `json:"outcome"`
	Summary       string           `json:"summary"`
	ErrorKind     string           `json:"error_kind"`
	Error         string           `json:"error"`
	RetryAt       *string          `json:"retry_at"`
	Probe         string           `json:"probe"`
	Denials       []string         `json:"denials"`
	CostUSD       *float64         `json:"cost_usd"`
	CostEstimated bool             `json:"cost_estimated"`
	Tokens        *int64           `json:"tokens"`
	NumTurns      *int64           `json:"num_turns"`
	LookedAt      *string          `json:"looked_at"`
	Missed        int64            `json:"missed"`
	TimeoutS      float64          `json:"timeout_s"`
	Turns         []map[string]any `json:"turns,omitempty"`
}

// ResetMesh is a shape of the contract.
type ResetMesh struct {
	Slug    string `json:"slug"`
	Removed bool   `json:"removed"`
}

// ResumedBeats is a shape of the contract.
type ResumedBeats struct {
	Items []Beat `json:"items"`
}

// RunningVersion is a shape of the contract.
type RunningVersion struct {
	Version string `json:"version"`
	Count   int64  `json:"count"`
	Note    string `json:"note"`
}

// ScreenReport is a shape of the contract.
type ScreenReport struct {
	Agent    string      `json:"agent"`
	State    AgentState  `json:"state"`
	Reason   string      `json:"reason"`
	Detail   string      `json:"detail"`
	Rule     string      `json:"rule"`
	Evidence string      `json:"evidence"`
	Caveat   string      `json:"caveat"`
	Tried    []TriedRule `json:"tried"`
	Report   string      `json:"report"`
}

// SendResult is a shape of the contract.
type SendResult struct {
	Receipt  *Receipt       `json:"receipt"`
	Snapshot ActionSnapshot `json:"snapshot"`
	Stripped int64          `json:"stripped"`
	WaitsFor *string        `json:"waits_for,omitempty"`
	Answer   *Answer        `json:"answer,omitempty"`
}

// Session is a shape of the contract.
type Session struct {
	Identity    SessionIdentity   `json:"identity"`
	Socket      *string           `json:"socket"`
	TopState    AgentState        `json:"top_state"`
	AgeMS       int64             `json:"age_ms"`
	NeedsAction bool              `json:"needs_action"`
	Total       int64             `json:"total"`
	Waiting     int64             `json:"waiting"`
	Running     int64             `json:"running"`
	ByState     map[string]int64  `json:"by_state"`
	Targets     []TargetRollup    `json:"targets"`
	Agents      []AgentKindRollup `json:"agents,omitempty"`
}

// SessionIdentity is a shape of the contract.
type SessionIdentity struct {
	Target      *string `json:"target"`
	SessionName string  `json:"session_name"`
}

// SessionList is a shape of the contract.
type SessionList struct {
	SchemaVersion string       `json:"schema_version"`
	GeneratedAt   string       `json:"generated_at"`
	Filters       Filters      `json:"filters"`
	Summary       FleetSummary `json:"summary"`
	Targets       []Target     `json:"targets"`
	Items         []Session    `json:"items"`
	GroupBy       string       `json:"group_by"`
}

// Setting is a shape of the contract.
type Setting struct {
	Key     string          `json:"key"`
	Value   json.RawMessage `json:"value"`
	Default json.RawMessage `json:"default"`
	Source  string          `json:"source"`
	Help    string          `json:"help"`
	Restart bool            `json:"restart"`
}

// SettingList is a shape of the contract.
type SettingList struct {
	Items []Setting `json:"items"`
}

// ShownDialog is a shape of the contract.
type ShownDialog struct {
	Snapshot    ActionSnapshot `json:"snapshot"`
	Kind        string         `json:"kind"`
	Title       string         `json:"title"`
	Text        []string       `json:"text"`
	Options     []DialogOption `json:"options"`
	Fingerprint string         `json:"fingerprint"`
}

// SpendingLimits is a shape of the contract.
type SpendingLimits struct {
	DayUSD   float64 `json:"day_usd"`
	MonthUSD float64 `json:"month_usd"`
}

// StateOutcome is a shape of the contract.
type StateOutcome struct {
	State      string `json:"state"`
	Reason     string `json:"reason"`
	Confidence string `json:"confidence"`
	Detail     string `json:"detail"`
}

// Status is a shape of the contract.
type Status struct {
	Version    string          `json:"version"`
	PID        int64           `json:"pid"`
	UptimeS    float64         `json:"uptime_s"`
	RssBytes   int64           `json:"rss_bytes"`
	CpuSeconds float64         `json:"cpu_seconds"`
	Home       string          `json:"home"`
	TcpPort    *int64          `json:"tcp_port"`
	Events     EventsStatus    `json:"events"`
	Config     ConfigStatus    `json:"config"`
	Problems   []string        `json:"problems"`
	Loop       LoopStatus      `json:"loop"`
	Children   []ChildProcess  `json:"children"`
	Fleet      FleetStatus     `json:"fleet"`
	Attention  AttentionStatus `json:"attention"`
	Beats      BeatsStatus     `json:"beats"`
	Keeper     KeeperStatus    `json:"keeper"`
	MCP        McpStatus       `json:"mcp"`
	Mesh       MeshNodeStatus  `json:"mesh"`
}

// StatusBar is a shape of the contract.
type StatusBar struct {
	Text        string   `json:"text"`
	NeedsAction int64    `json:"needs_action"`
	Total       int64    `json:"total"`
	Down        []string `json:"down"`
}

// StoppedDaemon is a shape of the contract.
type StoppedDaemon struct {
	PID      *int64 `json:"pid"`
	Stopping bool   `json:"stopping"`
	How      string `json:"how"`
}

// Target is a shape of the contract.
type Target struct {
	Target  string   `json:"target"`
	Health  Health   `json:"health"`
	Reason  string   `json:"reason"`
	Sockets []string `json:"sockets"`
	Node    string   `json:"node"`
}

// TargetKind is one of the values below.
type TargetKind string

const (
	TargetKindLocal TargetKind = "local"
	TargetKindSsh   TargetKind = "ssh"
)

// TargetList is a shape of the contract.
type TargetList struct {
	Items []ConfiguredTarget `json:"items"`
}

// TargetRollup is a shape of the contract.
type TargetRollup struct {
	Target      string           `json:"target"`
	TopState    AgentState       `json:"top_state"`
	AgeMS       int64            `json:"age_ms"`
	NeedsAction bool             `json:"needs_action"`
	Total       int64            `json:"total"`
	Waiting     int64            `json:"waiting"`
	Running     int64            `json:"running"`
	ByState     map[string]int64 `json:"by_state"`
}

// TestedChannel is a shape of the contract.
type TestedChannel struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Problem string `json:"problem"`
}

// TmuxAlert is a shape of the contract.
type TmuxAlert struct {
	Clients  int64    `json:"clients"`
	Problems []string `json:"problems"`
}

// ToolKind is one of the values below.
type ToolKind string

const (
	ToolKindShell ToolKind = "shell"
	ToolKindPatch ToolKind = "patch"
	ToolKindFile  ToolKind = "file"
	ToolKindWeb   ToolKind = "web"
	ToolKindMCP   ToolKind = "mcp"
	ToolKindOther ToolKind = "other"
)

// TriedRequest is a shape of the contract.
type TriedRequest struct {
	At      string       `json:"at"`
	Ref     string       `json:"ref"`
	Agent   string       `json:"agent"`
	Tool    string       `json:"tool"`
	Command string       `json:"command"`
	Paths   []string     `json:"paths"`
	Target  string       `json:"target"`
	Folder  string       `json:"folder"`
	Outcome string       `json:"outcome"`
	Via     string       `json:"via"`
	Decided PolicyEffect `json:"decided"`
	Effect  PolicyEffect `json:"effect"`
	Rule    string       `json:"rule"`
	Why     string       `json:"why"`
	Changed bool         `json:"changed"`
	Against bool         `json:"against"`
}

// TriedRule is a shape of the contract.
type TriedRule struct {
	Source string `json:"source"`
	Rule   string `json:"rule"`
	State  string `json:"state"`
	Why    string `json:"why"`
}

// Turn is a shape of the contract.
type Turn struct {
	Prompt string  `json:"prompt"`
	Reply  string  `json:"reply"`
	At     *string `json:"at"`
}

// VersionDrift is a shape of the contract.
type VersionDrift struct {
	Version  string           `json:"version"`
	Counts   map[string]int64 `json:"counts"`
	Alarming bool             `json:"alarming"`
}

// WaitResult is a shape of the contract.
type WaitResult struct {
	Outcome  string         `json:"outcome"`
	States   []AgentState   `json:"states"`
	WaitedMS int64          `json:"waited_ms"`
	Items    []WatchedAgent `json:"items"`
}

// WaitingAgent is a shape of the contract.
type WaitingAgent struct {
	RuntimeID string `json:"runtime_id"`
	Ref       string `json:"ref"`
	Target    string `json:"target"`
	Agent     string `json:"agent"`
	State     string `json:"state"`
	Detail    string `json:"detail"`
	Command   string `json:"command"`
}

// WatchMessage is a shape of the contract.
type WatchMessage struct {
	SchemaVersion string            `json:"schema_version"`
	GeneratedAt   string            `json:"generated_at"`
	Cursor        int64             `json:"cursor"`
	Scope         string            `json:"scope"`
	Filters       Filters           `json:"filters"`
	Event         string            `json:"event"`
	Previous      *AgentState       `json:"previous"`
	Summary       *FleetSummary     `json:"summary"`
	Targets       []Target          `json:"targets"`
	Items         []json.RawMessage `json:"items"`
}

// WatchedAgent is a shape of the contract.
type WatchedAgent struct {
	Identity     PaneIdentity       `json:"identity"`
	Ref          string             `json:"ref"`
	RuntimeID    string             `json:"runtime_id"`
	Agent        string             `json:"agent"`
	State        AgentState         `json:"state"`
	Reason       string             `json:"reason"`
	Confidence   Confidence         `json:"confidence"`
	Since        string             `json:"since"`
	AsOf         string             `json:"as_of"`
	Detail       string             `json:"detail"`
	Cwd          string             `json:"cwd"`
	PID          *int64             `json:"pid"`
	WindowName   string             `json:"window_name"`
	WindowIndex  int64              `json:"window_index"`
	PaneIndex    int64              `json:"pane_index"`
	Title        string             `json:"title"`
	Socket       string             `json:"socket"`
	Version      string             `json:"version"`
	VersionNote  string             `json:"version_note"`
	Server       string             `json:"server"`
	StateVersion int64              `json:"state_version"`
	NeedsAction  bool               `json:"needs_action"`
	Evidence     []RecordedEvidence `json:"evidence"`
	AgeMS        int64              `json:"age_ms"`
}

// Window is a shape of the contract.
type Window struct {
	Identity    WindowIdentity   `json:"identity"`
	Socket      string           `json:"socket"`
	WindowName  string           `json:"window_name"`
	WindowIndex int64            `json:"window_index"`
	TopState    AgentState       `json:"top_state"`
	AgeMS       int64            `json:"age_ms"`
	NeedsAction bool             `json:"needs_action"`
	Total       int64            `json:"total"`
	Waiting     int64            `json:"waiting"`
	Running     int64            `json:"running"`
	ByState     map[string]int64 `json:"by_state"`
	Agents      []AgentBrief     `json:"agents,omitempty"`
}

// WindowIdentity is a shape of the contract.
type WindowIdentity struct {
	Target      string `json:"target"`
	SessionName string `json:"session_name"`
	WindowID    string `json:"window_id"`
}

// WindowList is a shape of the contract.
type WindowList struct {
	SchemaVersion string       `json:"schema_version"`
	GeneratedAt   string       `json:"generated_at"`
	Filters       Filters      `json:"filters"`
	Summary       FleetSummary `json:"summary"`
	Targets       []Target     `json:"targets"`
	Items         []Window     `json:"items"`
}

// NodeCalls has the calls of a Node.
type NodeCalls struct{ *client }

// Down: Stop the daemon.

func (c NodeCalls) Down(ctx context.Context) (StoppedDaemon, error) {
	params := map[string]any{}
	var result StoppedDaemon
	err := c.call(ctx, "POST", "/v1/down", params, true, &result)
	return result, err
}

// Status: Show the status of the daemon.

func (c NodeCalls) Status(ctx context.Context) (Status, error) {
	params := map[string]any{}
	var result Status
	err := c.call(ctx, "GET", "/v1/status", params, false, &result)
	return result, err
}

// Health: Check whether the daemon answers.

func (c NodeCalls) Health(ctx context.Context) (HealthCheck, error) {
	params := map[string]any{}
	var result HealthCheck
	err := c.call(ctx, "GET", "/v1/health", params, false, &result)
	return result, err
}

// Reload: Read the configuration again.

func (c NodeCalls) Reload(ctx context.Context) (ReloadedConfig, error) {
	params := map[string]any{}
	var result ReloadedConfig
	err := c.call(ctx, "POST", "/v1/reload", params, true, &result)
	return result, err
}

// ConfigList: List every setting, its value and where it comes from.

func (c NodeCalls) ConfigList(ctx context.Context) (SettingList, error) {
	params := map[string]any{}
	var result SettingList
	err := c.call(ctx, "GET", "/v1/config", params, false, &result)
	return result, err
}

// ConfigGet: Show one setting.

func (c NodeCalls) ConfigGet(ctx context.Context, key string) (Setting, error) {
	params := map[string]any{"key": key}
	var result Setting
	err := c.call(ctx, "GET", "/v1/config/{key}", params, false, &result)
	return result, err
}

// ConfigSet: Change one setting in config.toml, keeping its comments.

func (c NodeCalls) ConfigSet(ctx context.Context, key string, value string) (ChangedSetting, error) {
	params := map[string]any{"key": key, "value": value}
	var result ChangedSetting
	err := c.call(ctx, "PUT", "/v1/config/{key}", params, true, &result)
	return result, err
}

// ConfigUnset: Remove a setting from config.toml, so that its default applies.

func (c NodeCalls) ConfigUnset(ctx context.Context, key string) (ChangedSetting, error) {
	params := map[string]any{"key": key}
	var result ChangedSetting
	err := c.call(ctx, "DELETE", "/v1/config/{key}", params, true, &result)
	return result, err
}

// NodeAuditListOptions are what may be left out of AuditList.
type NodeAuditListOptions struct {
	// Only what happened since then: 1h ago, or 2026-01-31T14:05:00Z.
	Since *string
	// Only calls of this operation, such as send; repeatable.
	Operation []string
	// Only the last N.
	Limit *int64
	// Only entries before this cursor: `earlier` of the answer before.
	Before *int64
}

// AuditList: Show who did what: each call that changed something, or was refused.

func (c NodeCalls) AuditList(ctx context.Context, options ...NodeAuditListOptions) (AuditTrail, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Since != nil {
			params["since"] = *given.Since
		}
		if given.Operation != nil {
			params["operation"] = given.Operation
		}
		if given.Limit != nil {
			params["limit"] = *given.Limit
		}
		if given.Before != nil {
			params["before"] = *given.Before
		}
	}
	var result AuditTrail
	err := c.call(ctx, "GET", "/v1/audit", params, false, &result)
	return result, err
}

// Metrics: Print the metrics for Prometheus.

func (c NodeCalls) Metrics(ctx context.Context) (string, error) {
	params := map[string]any{}
	var result string
	err := c.call(ctx, "GET", "/v1/metrics", params, false, &result)
	return result, err
}

// Openapi: Print the OpenAPI document of the local API.

func (c NodeCalls) Openapi(ctx context.Context) (map[string]any, error) {
	params := map[string]any{}
	var result map[string]any
	err := c.call(ctx, "GET", "/v1/openapi.json", params, false, &result)
	return result, err
}

// Doctor: Find what is missing or wrong, and the command that fixes it.

func (c NodeCalls) Doctor(ctx context.Context) (Diagnosis, error) {
	params := map[string]any{}
	var result Diagnosis
	err := c.call(ctx, "GET", "/v1/doctor", params, false, &result)
	return result, err
}

// Backup: Copy the daemon's database to a new file, while it runs.

func (c NodeCalls) Backup(ctx context.Context, path string) (Backup, error) {
	params := map[string]any{"path": path}
	var result Backup
	err := c.call(ctx, "POST", "/v1/backup", params, true, &result)
	return result, err
}

// NodeListPanesOptions are what may be left out of ListPanes.
type NodeListPanesOptions struct {
	// Only this target.
	Target *string
	// All targets, as without this flag.
	AllTargets *bool
	// Only this session of this target: <target>/<session>.
	TargetSession *string
	// Only sessions of this name.
	Session *string
	// Only this tmux server: its name as for tmux -L, or the path of its socket.
	Socket *string
	// Only agents that work in this folder or below.
	Cwd *string
	// Only agents in this state, or in several with commas between. One of: error, waiting_approval, waiting_input, running, completed, idle, unknown; repeatable.
	State []string
	// Only this kind of agent, such as claude; repeatable.
	AgentType []string
	// Only agents that wait for a person or have failed.
	NeedsAction *bool
	// The order: agents that need you first, by age, by place, by kind of agent or by folder.
	Sort *string
	// On a terminal, show every column: version, pane, whole folder and confidence too.
	Wide *bool
}

// ListPanes: List every agent, those that need you first.

func (c NodeCalls) ListPanes(ctx context.Context, options ...NodeListPanesOptions) (AgentList, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Target != nil {
			params["target"] = *given.Target
		}
		if given.AllTargets != nil {
			params["all_targets"] = *given.AllTargets
		}
		if given.TargetSession != nil {
			params["target_session"] = *given.TargetSession
		}
		if given.Session != nil {
			params["session"] = *given.Session
		}
		if given.Socket != nil {
			params["socket"] = *given.Socket
		}
		if given.Cwd != nil {
			params["cwd"] = *given.Cwd
		}
		if given.State != nil {
			params["state"] = given.State
		}
		if given.AgentType != nil {
			params["agent_type"] = given.AgentType
		}
		if given.NeedsAction != nil {
			params["needs_action"] = *given.NeedsAction
		}
		if given.Sort != nil {
			params["sort"] = *given.Sort
		}
		if given.Wide != nil {
			params["wide"] = *given.Wide
		}
	}
	var result AgentList
	err := c.call(ctx, "GET", "/v1/panes", params, false, &result)
	return result, err
}

// NodeListWindowsOptions are what may be left out of ListWindows.
type NodeListWindowsOptions struct {
	// Only this target.
	Target *string
	// All targets, as without this flag.
	AllTargets *bool
	// Only this session of this target: <target>/<session>.
	TargetSession *string
	// Only sessions of this name.
	Session *string
	// Only this tmux server: its name as for tmux -L, or the path of its socket.
	Socket *string
	// Name the agents of each window and their states.
	WithAgentStatus *bool
}

// ListWindows: List the windows that hold agents, with the top state of each.

func (c NodeCalls) ListWindows(ctx context.Context, options ...NodeListWindowsOptions) (WindowList, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Target != nil {
			params["target"] = *given.Target
		}
		if given.AllTargets != nil {
			params["all_targets"] = *given.AllTargets
		}
		if given.TargetSession != nil {
			params["target_session"] = *given.TargetSession
		}
		if given.Session != nil {
			params["session"] = *given.Session
		}
		if given.Socket != nil {
			params["socket"] = *given.Socket
		}
		if given.WithAgentStatus != nil {
			params["with_agent_status"] = *given.WithAgentStatus
		}
	}
	var result WindowList
	err := c.call(ctx, "GET", "/v1/windows", params, false, &result)
	return result, err
}

// NodeListSessionsOptions are what may be left out of ListSessions.
type NodeListSessionsOptions struct {
	// Only this target.
	Target *string
	// All targets, as without this flag.
	AllTargets *bool
	// Only this tmux server: its name as for tmux -L, or the path of its socket.
	Socket *string
	// Count by kind of agent as well.
	AgentSummary *bool
	// Keep sessions of the same name on different targets apart, or merge them.
	GroupBy *string
}

// ListSessions: List the sessions that hold agents, with counts by state.

func (c NodeCalls) ListSessions(ctx context.Context, options ...NodeListSessionsOptions) (SessionList, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Target != nil {
			params["target"] = *given.Target
		}
		if given.AllTargets != nil {
			params["all_targets"] = *given.AllTargets
		}
		if given.Socket != nil {
			params["socket"] = *given.Socket
		}
		if given.AgentSummary != nil {
			params["agent_summary"] = *given.AgentSummary
		}
		if given.GroupBy != nil {
			params["group_by"] = *given.GroupBy
		}
	}
	var result SessionList
	err := c.call(ctx, "GET", "/v1/sessions", params, false, &result)
	return result, err
}

// NodeWatchOptions are what may be left out of Watch.
type NodeWatchOptions struct {
	// Only this target.
	Target *string
	// All targets, as without this flag.
	AllTargets *bool
	// Only this session of this target: <target>/<session>.
	TargetSession *string
	// Only sessions of this name.
	Session *string
	// Only this tmux server: its name as for tmux -L, or the path of its socket.
	Socket *string
	// Only agents that work in this folder or below.
	Cwd *string
	// Only agents in this state, or in several with commas between. One of: error, waiting_approval, waiting_input, running, completed, idle, unknown; repeatable.
	State []string
	// Only this kind of agent, such as claude; repeatable.
	AgentType []string
	// Only agents that wait for a person or have failed.
	NeedsAction *bool
	// What a row stands for.
	Scope *string
	// How the command line shows it; table on a terminal, else jsonl.
	Format *string
	// Repeat the snapshot this often, such as 5s; a table does so every 2s anyway.
	Interval *string
	// Begin with the changes since then: a time, how long ago (10m), or a cursor (cursor:42).
	Since *string
	// Show the snapshot and end.
	Once *bool
}

// Watch: Show the agents, and every change as it comes.

func (c NodeCalls) Watch(ctx context.Context, options ...NodeWatchOptions) iter.Seq2[WatchMessage, error] {
	params := map[string]any{}
	for _, given := range options {
		if given.Target != nil {
			params["target"] = *given.Target
		}
		if given.AllTargets != nil {
			params["all_targets"] = *given.AllTargets
		}
		if given.TargetSession != nil {
			params["target_session"] = *given.TargetSession
		}
		if given.Session != nil {
			params["session"] = *given.Session
		}
		if given.Socket != nil {
			params["socket"] = *given.Socket
		}
		if given.Cwd != nil {
			params["cwd"] = *given.Cwd
		}
		if given.State != nil {
			params["state"] = given.State
		}
		if given.AgentType != nil {
			params["agent_type"] = given.AgentType
		}
		if given.NeedsAction != nil {
			params["needs_action"] = *given.NeedsAction
		}
		if given.Scope != nil {
			params["scope"] = *given.Scope
		}
		if given.Format != nil {
			params["format"] = *given.Format
		}
		if given.Interval != nil {
			params["interval"] = *given.Interval
		}
		if given.Since != nil {
			params["since"] = *given.Since
		}
		if given.Once != nil {
			params["once"] = *given.Once
		}
	}
	return iterate[WatchMessage](ctx, c.client, "/v1/watch", params)
}

// Why: Explain the state of an agent: which source decided, which agree, which were overruled.

func (c NodeCalls) Why(ctx context.Context, ref string) (Explanation, error) {
	params := map[string]any{"ref": ref}
	var result Explanation
	err := c.call(ctx, "GET", "/v1/why", params, false, &result)
	return result, err
}

// Conversation: Tell which conversation an agent has, and in which file it keeps it.

func (c NodeCalls) Conversation(ctx context.Context, ref string) (Conversation, error) {
	params := map[string]any{"ref": ref}
	var result Conversation
	err := c.call(ctx, "GET", "/v1/conversation", params, false, &result)
	return result, err
}

// NodeWaitOptions are what may be left out of Wait.
type NodeWaitOptions struct {
	// Which agent: %14, api, api:2.1, host@work/api (in tmux -L work), pane:<target>/<session>/<window>/<pane> or runtime:<id>.
	Ref *string
	// Wait for any agent.
	Any *bool
	// Wait for all agents that run now.
	All *bool
	// The state to wait for, or several with commas between. One of: error, waiting_approval, waiting_input, running, completed, idle, unknown; repeatable. Without it, until the agent needs you, is done or is gone.
	State []string
	// How long to wait at most, such as 30s or 10m; without it, for ever.
	Timeout *string
}

// Wait: Wait until an agent needs you or is done, or is in a state.

func (c NodeCalls) Wait(ctx context.Context, options ...NodeWaitOptions) (WaitResult, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Ref != nil {
			params["ref"] = *given.Ref
		}
		if given.Any != nil {
			params["any"] = *given.Any
		}
		if given.All != nil {
			params["all"] = *given.All
		}
		if given.State != nil {
			params["state"] = given.State
		}
		if given.Timeout != nil {
			params["timeout"] = *given.Timeout
		}
	}
	var result WaitResult
	err := c.last(ctx, "/v1/wait", params, &result)
	return result, err
}

// NodeBarOptions are what may be left out of Bar.
type NodeBarOptions struct {
	// Only this target.
	Target *string
	// For whom.
	Format *string
}

// Bar: Print the fleet on one line, for a status bar.

func (c NodeCalls) Bar(ctx context.Context, options ...NodeBarOptions) (StatusBar, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Target != nil {
			params["target"] = *given.Target
		}
		if given.Format != nil {
			params["format"] = *given.Format
		}
	}
	var result StatusBar
	err := c.call(ctx, "GET", "/v1/bar", params, false, &result)
	return result, err
}

// AdaptersList: List the agent programs that Covey knows, and what it can detect of each.

func (c NodeCalls) AdaptersList(ctx context.Context) (AdapterList, error) {
	params := map[string]any{}
	var result AdapterList
	err := c.call(ctx, "GET", "/v1/adapters", params, false, &result)
	return result, err
}

// NodeAdaptersExplainOptions are what may be left out of AdaptersExplain.
type NodeAdaptersExplainOptions struct {
	// Name of an agent program, such as claude; not needed with --pane.
	Agent *string
	// A running agent: %14, api, api:2.1 or runtime:<id>.
	Pane *string
	// The screen as text, also with escapes as capture-pane -e writes it; on the command line a file that holds it, or - for standard input.
	Screen *string
	// Hide every letter and digit that the agent shows.
	Redact *bool
	// The terminal's title.
	Title *string
	// Version of the agent; without it, the newest that is known.
	AgentVersion *string
}

// AdaptersExplain: Read a screen, and report which state it shows and which pattern matched.

func (c NodeCalls) AdaptersExplain(ctx context.Context, options ...NodeAdaptersExplainOptions) (ScreenReport, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Agent != nil {
			params["agent"] = *given.Agent
		}
		if given.Pane != nil {
			params["pane"] = *given.Pane
		}
		if given.Screen != nil {
			params["screen"] = *given.Screen
		}
		if given.Redact != nil {
			params["redact"] = *given.Redact
		}
		if given.Title != nil {
			params["title"] = *given.Title
		}
		if given.AgentVersion != nil {
			params["agent_version"] = *given.AgentVersion
		}
	}
	var result ScreenReport
	err := c.call(ctx, "POST", "/v1/adapters/explain", params, false, &result)
	return result, err
}

// Origin: Tell which agent has started a process.

func (c NodeCalls) Origin(ctx context.Context, pid int64) (Origin, error) {
	params := map[string]any{"pid": pid}
	var result Origin
	err := c.call(ctx, "GET", "/v1/origin", params, false, &result)
	return result, err
}

// NodeTargetAddOptions are what may be left out of TargetAdd.
type NodeTargetAddOptions struct {
	// Host or alias as you would give it to ssh; the name of the target if left out.
	SshTarget *string
}

// TargetAdd: Add a host whose agents are to be observed.

func (c NodeCalls) TargetAdd(ctx context.Context, name string, kind string, options ...NodeTargetAddOptions) (ConfiguredTarget, error) {
	params := map[string]any{"name": name, "kind": kind}
	for _, given := range options {
		if given.SshTarget != nil {
			params["ssh_target"] = *given.SshTarget
		}
	}
	var result ConfiguredTarget
	err := c.call(ctx, "POST", "/v1/targets", params, true, &result)
	return result, err
}

// TargetConnect: Connect to a target now, and report the result.

func (c NodeCalls) TargetConnect(ctx context.Context, name string) (ConfiguredTarget, error) {
	params := map[string]any{"name": name}
	var result ConfiguredTarget
	err := c.call(ctx, "POST", "/v1/targets/{name}/connect", params, true, &result)
	return result, err
}

// TargetList: List the targets and how well each can be reached.

func (c NodeCalls) TargetList(ctx context.Context) (TargetList, error) {
	params := map[string]any{}
	var result TargetList
	err := c.call(ctx, "GET", "/v1/targets", params, false, &result)
	return result, err
}

// TargetRemove: Forget a target. Its agents keep running.

func (c NodeCalls) TargetRemove(ctx context.Context, name string) (RemovedTarget, error) {
	params := map[string]any{"name": name}
	var result RemovedTarget
	err := c.call(ctx, "DELETE", "/v1/targets/{name}", params, true, &result)
	return result, err
}

// NodeReplayOptions are what may be left out of Replay.
type NodeReplayOptions struct {
	// When: a time such as 2026-01-31T14:05:00Z, or how long ago: 10m.
	At *string
	// Derive all states from the signals again, and compare.
	Check *bool
	// Check only what happened since then: a time, or how long ago.
	Since *string
	// Only this target.
	Target *string
	// All targets, as without this flag.
	AllTargets *bool
	// Only this session of this target: <target>/<session>.
	TargetSession *string
	// Only sessions of this name.
	Session *string
	// Only this tmux server: its name as for tmux -L, or the path of its socket.
	Socket *string
	// Only agents that work in this folder or below.
	Cwd *string
	// Only agents in this state, or in several with commas between. One of: error, waiting_approval, waiting_input, running, completed, idle, unknown; repeatable.
	State []string
	// Only this kind of agent, such as claude; repeatable.
	AgentType []string
	// Only agents that wait for a person or have failed.
	NeedsAction *bool
	// The order: agents that need you first, by age, by place, by kind of agent or by folder.
	Sort *string
	// On a terminal, show every column: version, pane, whole folder and confidence too.
	Wide *bool
}

// Replay: Show the fleet as it was at a time, or check that its states follow from the recorded signals.

func (c NodeCalls) Replay(ctx context.Context, options ...NodeReplayOptions) (json.RawMessage, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.At != nil {
			params["at"] = *given.At
		}
		if given.Check != nil {
			params["check"] = *given.Check
		}
		if given.Since != nil {
			params["since"] = *given.Since
		}
		if given.Target != nil {
			params["target"] = *given.Target
		}
		if given.AllTargets != nil {
			params["all_targets"] = *given.AllTargets
		}
		if given.TargetSession != nil {
			params["target_session"] = *given.TargetSession
		}
		if given.Session != nil {
			params["session"] = *given.Session
		}
		if given.Socket != nil {
			params["socket"] = *given.Socket
		}
		if given.Cwd != nil {
			params["cwd"] = *given.Cwd
		}
		if given.State != nil {
			params["state"] = given.State
		}
		if given.AgentType != nil {
			params["agent_type"] = given.AgentType
		}
		if given.NeedsAction != nil {
			params["needs_action"] = *given.NeedsAction
		}
		if given.Sort != nil {
			params["sort"] = *given.Sort
		}
		if given.Wide != nil {
			params["wide"] = *given.Wide
		}
	}
	var result json.RawMessage
	err := c.call(ctx, "GET", "/v1/replay", params, false, &result)
	return result, err
}

// NodeSendOptions are what may be left out of Send.
type NodeSendOptions struct {
	// The message; several lines are one message.
	Text *string
	// On the command line: take the message from this file; - is standard input.
	File *string
	// Send it although the agent will run it as a command.
	AsCommand *bool
	// Check everything and type nothing, as --dry-run does.
	CheckOnly *bool
	// Let it wait instead of refusing it, if the reason may pass.
	WhenReady *bool
	// On the command line: wait for the answer and print it.
	Wait *bool
	// How long it may wait, such as 10m; 1h without it.
	Timeout *string
	// Only if it is this agent and no later one: runtime:<id> or <id>.
	IfRuntime *string
	// Only if it is in this state, or in one of several; repeatable.
	IfState []string
	// Only if its state was confirmed within this time, such as 10s.
	IfUpdatedWithin *string
	// Act although its state is another one, or old. Never on another agent.
	ForceStale *bool
}

// Send: Send a message to one agent, or refuse.

func (c NodeCalls) Send(ctx context.Context, ref string, options ...NodeSendOptions) (SendResult, error) {
	params := map[string]any{"ref": ref}
	for _, given := range options {
		if given.Text != nil {
			params["text"] = *given.Text
		}
		if given.File != nil {
			params["file"] = *given.File
		}
		if given.AsCommand != nil {
			params["as_command"] = *given.AsCommand
		}
		if given.CheckOnly != nil {
			params["check_only"] = *given.CheckOnly
		}
		if given.WhenReady != nil {
			params["when_ready"] = *given.WhenReady
		}
		if given.Wait != nil {
			params["wait"] = *given.Wait
		}
		if given.Timeout != nil {
			params["timeout"] = *given.Timeout
		}
		if given.IfRuntime != nil {
			params["if_runtime"] = *given.IfRuntime
		}
		if given.IfState != nil {
			params["if_state"] = given.IfState
		}
		if given.IfUpdatedWithin != nil {
			params["if_updated_within"] = *given.IfUpdatedWithin
		}
		if given.ForceStale != nil {
			params["force_stale"] = *given.ForceStale
		}
	}
	var result SendResult
	err := c.call(ctx, "POST", "/v1/send", params, true, &result)
	return result, err
}

// NodeViewOptions are what may be left out of View.
type NodeViewOptions struct {
	// Only the last lines.
	Lines *int64
	// Show the last prompts and replies from its transcript instead.
	Turn *bool
}

// View: Show the screen of one agent, or its last turns.

func (c NodeCalls) View(ctx context.Context, ref string, options ...NodeViewOptions) (AgentScreen, error) {
	params := map[string]any{"ref": ref}
	for _, given := range options {
		if given.Lines != nil {
			params["lines"] = *given.Lines
		}
		if given.Turn != nil {
			params["turn"] = *given.Turn
		}
	}
	var result AgentScreen
	err := c.call(ctx, "GET", "/v1/view", params, false, &result)
	return result, err
}

// NodeInterruptOptions are what may be left out of Interrupt.
type NodeInterruptOptions struct {
	// Only if it is this agent and no later one: runtime:<id> or <id>.
	IfRuntime *string
	// Only if it is in this state, or in one of several; repeatable.
	IfState []string
	// Only if its state was confirmed within this time, such as 10s.
	IfUpdatedWithin *string
	// Act although its state is another one, or old. Never on another agent.
	ForceStale *bool
}

// Interrupt: Stop the turn of one agent, as a person at its terminal would.

func (c NodeCalls) Interrupt(ctx context.Context, ref string, options ...NodeInterruptOptions) (Interruption, error) {
	params := map[string]any{"ref": ref}
	for _, given := range options {
		if given.IfRuntime != nil {
			params["if_runtime"] = *given.IfRuntime
		}
		if given.IfState != nil {
			params["if_state"] = given.IfState
		}
		if given.IfUpdatedWithin != nil {
			params["if_updated_within"] = *given.IfUpdatedWithin
		}
		if given.ForceStale != nil {
			params["force_stale"] = *given.ForceStale
		}
	}
	var result Interruption
	err := c.call(ctx, "POST", "/v1/interrupt", params, true, &result)
	return result, err
}

// NodeKillOptions are what may be left out of Kill.
type NodeKillOptions struct {
	// Which signal.
	Signal *string
	// Only if it is this agent and no later one: runtime:<id> or <id>.
	IfRuntime *string
	// Only if it is in this state, or in one of several; repeatable.
	IfState []string
	// Only if its state was confirmed within this time, such as 10s.
	IfUpdatedWithin *string
	// Act although its state is another one, or old. Never on another agent.
	ForceStale *bool
}

// Kill: Send a signal to one agent.

func (c NodeCalls) Kill(ctx context.Context, ref string, options ...NodeKillOptions) (Killed, error) {
	params := map[string]any{"ref": ref}
	for _, given := range options {
		if given.Signal != nil {
			params["signal"] = *given.Signal
		}
		if given.IfRuntime != nil {
			params["if_runtime"] = *given.IfRuntime
		}
		if given.IfState != nil {
			params["if_state"] = given.IfState
		}
		if given.IfUpdatedWithin != nil {
			params["if_updated_within"] = *given.IfUpdatedWithin
		}
		if given.ForceStale != nil {
			params["force_stale"] = *given.ForceStale
		}
	}
	var result Killed
	err := c.call(ctx, "POST", "/v1/kill", params, true, &result)
	return result, err
}

// NodeReceiptsListOptions are what may be left out of ReceiptsList.
type NodeReceiptsListOptions struct {
	// How many.
	Limit *int64
}

// ReceiptsList: List the messages that were sent, the latest first.

func (c NodeCalls) ReceiptsList(ctx context.Context, options ...NodeReceiptsListOptions) (ReceiptList, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Limit != nil {
			params["limit"] = *given.Limit
		}
	}
	var result ReceiptList
	err := c.call(ctx, "GET", "/v1/receipts", params, false, &result)
	return result, err
}

// NodeReceiptsWaitOptions are what may be left out of ReceiptsWait.
type NodeReceiptsWaitOptions struct {
	// How long to wait at most, such as 10m; without it, for ever.
	Timeout *string
}

// ReceiptsWait: Wait for the answer to a message.

func (c NodeCalls) ReceiptsWait(ctx context.Context, id string, options ...NodeReceiptsWaitOptions) (Answer, error) {
	params := map[string]any{"id": id}
	for _, given := range options {
		if given.Timeout != nil {
			params["timeout"] = *given.Timeout
		}
	}
	var result Answer
	err := c.last(ctx, "/v1/receipts/{id}/wait", params, &result)
	return result, err
}

// ReceiptsCancel: Take back a message that waits for its agent.

func (c NodeCalls) ReceiptsCancel(ctx context.Context, id string) (Receipt, error) {
	params := map[string]any{"id": id}
	var result Receipt
	err := c.call(ctx, "POST", "/v1/receipts/{id}/cancel", params, true, &result)
	return result, err
}

// NodeApprovalsOptions are what may be left out of Approvals.
type NodeApprovalsOptions struct {
	// Closed ones too, the latest first.
	All *bool
	// How many.
	Limit *int64
	// Only agents of this machine: no other host is asked.
	Here *bool
}

// Approvals: List what agents ask you and Covey can answer, the oldest first.

func (c NodeCalls) Approvals(ctx context.Context, options ...NodeApprovalsOptions) (ApprovalList, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.All != nil {
			params["all"] = *given.All
		}
		if given.Limit != nil {
			params["limit"] = *given.Limit
		}
		if given.Here != nil {
			params["here"] = *given.Here
		}
	}
	var result ApprovalList
	err := c.call(ctx, "GET", "/v1/approvals", params, false, &result)
	return result, err
}

// NodeApproveOptions are what may be left out of Approve.
type NodeApproveOptions struct {
	// Also accept the rule that the agent suggests, so that it does not ask again; Claude Code only.
	Always *bool
	// Only if this agent asks and no later one: runtime:<id> or <id>.
	IfRuntime *string
}

// Approve: Let one agent do what it asks for.

func (c NodeCalls) Approve(ctx context.Context, ref string, options ...NodeApproveOptions) (Approval, error) {
	params := map[string]any{"ref": ref}
	for _, given := range options {
		if given.Always != nil {
			params["always"] = *given.Always
		}
		if given.IfRuntime != nil {
			params["if_runtime"] = *given.IfRuntime
		}
	}
	var result Approval
	err := c.call(ctx, "POST", "/v1/approve", params, true, &result)
	return result, err
}

// NodeDenyOptions are what may be left out of Deny.
type NodeDenyOptions struct {
	// What the model is told.
	Message *string
	// Only if this agent asks and no later one: runtime:<id> or <id>.
	IfRuntime *string
}

// Deny: Refuse what one agent asks for. Its turn goes on.

func (c NodeCalls) Deny(ctx context.Context, ref string, options ...NodeDenyOptions) (Approval, error) {
	params := map[string]any{"ref": ref}
	for _, given := range options {
		if given.Message != nil {
			params["message"] = *given.Message
		}
		if given.IfRuntime != nil {
			params["if_runtime"] = *given.IfRuntime
		}
	}
	var result Approval
	err := c.call(ctx, "POST", "/v1/deny", params, true, &result)
	return result, err
}

// NodeAnswerOptions are what may be left out of Answer.
type NodeAnswerOptions struct {
	// An answer that is offered; repeatable.
	Option []string
	// An answer in your own words.
	Text *string
	// Only if this agent asks and no later one: runtime:<id> or <id>.
	IfRuntime *string
}

// Answer: Answer the question of one agent.

func (c NodeCalls) Answer(ctx context.Context, ref string, options ...NodeAnswerOptions) (Approval, error) {
	params := map[string]any{"ref": ref}
	for _, given := range options {
		if given.Option != nil {
			params["option"] = given.Option
		}
		if given.Text != nil {
			params["text"] = *given.Text
		}
		if given.IfRuntime != nil {
			params["if_runtime"] = *given.IfRuntime
		}
	}
	var result Approval
	err := c.call(ctx, "POST", "/v1/answer", params, true, &result)
	return result, err
}

// NodeAwayOptions are what may be left out of Away.
type NodeAwayOptions struct {
	// For how long, such as 2h; without it, until `covey here`.
	For *string
}

// Away: Say that you are away from your terminals: what agents ask waits for `covey approve`.

func (c NodeCalls) Away(ctx context.Context, options ...NodeAwayOptions) (Presence, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.For != nil {
			params["for"] = *given.For
		}
	}
	var result Presence
	err := c.call(ctx, "POST", "/v1/away", params, true, &result)
	return result, err
}

// Here: Say that you are back: agents show their dialogs again.

func (c NodeCalls) Here(ctx context.Context) (Presence, error) {
	params := map[string]any{}
	var result Presence
	err := c.call(ctx, "POST", "/v1/here", params, true, &result)
	return result, err
}

// PolicyList: List the rules of the policy, those that win first, and what is wrong with them.

func (c NodeCalls) PolicyList(ctx context.Context) (PolicyRules, error) {
	params := map[string]any{}
	var result PolicyRules
	err := c.call(ctx, "GET", "/v1/policy", params, false, &result)
	return result, err
}

// NodePolicyExplainOptions are what may be left out of PolicyExplain.
type NodePolicyExplainOptions struct {
	// Which agent asks, such as claude.
	Agent *string
	// The tool that it wants to use, such as Bash.
	Tool *string
	// The command that it wants to run.
	Command *string
	// A file that it wants to write or read; repeatable.
	Path []string
	// The whole input of the tool instead, a JSON object.
	Input *string
	// The machine that it runs on.
	Target *string
	// The folder that it works in.
	Folder *string
}

// PolicyExplain: Show what would be decided about a request, and by which rule.

func (c NodeCalls) PolicyExplain(ctx context.Context, options ...NodePolicyExplainOptions) (PolicyDecision, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Agent != nil {
			params["agent"] = *given.Agent
		}
		if given.Tool != nil {
			params["tool"] = *given.Tool
		}
		if given.Command != nil {
			params["command"] = *given.Command
		}
		if given.Path != nil {
			params["path"] = given.Path
		}
		if given.Input != nil {
			params["input"] = *given.Input
		}
		if given.Target != nil {
			params["target"] = *given.Target
		}
		if given.Folder != nil {
			params["folder"] = *given.Folder
		}
	}
	var result PolicyDecision
	err := c.call(ctx, "POST", "/v1/policy/explain", params, false, &result)
	return result, err
}

// NodePolicyTestOptions are what may be left out of PolicyTest.
type NodePolicyTestOptions struct {
	// Tables [[policy.rule]] as TOML, instead of those in force; on the command line a file that holds them, or - for standard input.
	Rules *string
	// How far back: 30d, or 2026-01-31T14:05:00Z.
	Since *string
	// How many requests to list.
	Limit *int64
}

// PolicyTest: Run a policy over the requests of the past, and show what would have been decided.

func (c NodeCalls) PolicyTest(ctx context.Context, options ...NodePolicyTestOptions) (PolicyTrial, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Rules != nil {
			params["rules"] = *given.Rules
		}
		if given.Since != nil {
			params["since"] = *given.Since
		}
		if given.Limit != nil {
			params["limit"] = *given.Limit
		}
	}
	var result PolicyTrial
	err := c.call(ctx, "POST", "/v1/policy/test", params, false, &result)
	return result, err
}

// DialogShow: Show what an agent asks on its screen, and the keys that would answer it.

func (c NodeCalls) DialogShow(ctx context.Context, ref string) (ShownDialog, error) {
	params := map[string]any{"ref": ref}
	var result ShownDialog
	err := c.call(ctx, "GET", "/v1/dialog", params, false, &result)
	return result, err
}

// NodeDialogAnswerOptions are what may be left out of DialogAnswer.
type NodeDialogAnswerOptions struct {
	// once, always or deny for an approval; the number of an option; or, for a question, its text.
	Choice *string
	// Your own words, for a question that takes them.
	Text *string
	// Only if it is the dialog that `covey dialog show` showed.
	Fingerprint *string
	// Only if it is this agent and no later one: runtime:<id> or <id>.
	IfRuntime *string
	// Only if it is in this state, or in one of several; repeatable.
	IfState []string
	// Only if its state was confirmed within this time, such as 10s.
	IfUpdatedWithin *string
	// Act although its state is another one, or old. Never on another agent.
	ForceStale *bool
}

// DialogAnswer: Answer what an agent asks on its screen with the keys of a person, or refuse.

func (c NodeCalls) DialogAnswer(ctx context.Context, ref string, options ...NodeDialogAnswerOptions) (DialogAnswer, error) {
	params := map[string]any{"ref": ref}
	for _, given := range options {
		if given.Choice != nil {
			params["choice"] = *given.Choice
		}
		if given.Text != nil {
			params["text"] = *given.Text
		}
		if given.Fingerprint != nil {
			params["fingerprint"] = *given.Fingerprint
		}
		if given.IfRuntime != nil {
			params["if_runtime"] = *given.IfRuntime
		}
		if given.IfState != nil {
			params["if_state"] = given.IfState
		}
		if given.IfUpdatedWithin != nil {
			params["if_updated_within"] = *given.IfUpdatedWithin
		}
		if given.ForceStale != nil {
			params["force_stale"] = *given.ForceStale
		}
	}
	var result DialogAnswer
	err := c.call(ctx, "POST", "/v1/dialog/answer", params, true, &result)
	return result, err
}

// NodeBeatOptions are what may be left out of Beat.
type NodeBeatOptions struct {
	// The workspace; this folder if left out.
	Path *string
	// Which beat, if the workspace has several.
	Name *string
	// Show each tool call while it runs and the conversation afterwards, and keep that in the log.
	Verbose *bool
}

// Beat: Run a heartbeat now, and show what it found.

func (c NodeCalls) Beat(ctx context.Context, options ...NodeBeatOptions) (RequestedBeatRun, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Path != nil {
			params["path"] = *given.Path
		}
		if given.Name != nil {
			params["name"] = *given.Name
		}
		if given.Verbose != nil {
			params["verbose"] = *given.Verbose
		}
	}
	var result RequestedBeatRun
	err := c.call(ctx, "POST", "/v1/beats/run", params, true, &result)
	return result, err
}

// BeatsList: List the beats: next run, last outcome, streak, cost.

func (c NodeCalls) BeatsList(ctx context.Context) (BeatList, error) {
	params := map[string]any{}
	var result BeatList
	err := c.call(ctx, "GET", "/v1/beats", params, false, &result)
	return result, err
}

// NodeBeatsHistoryOptions are what may be left out of BeatsHistory.
type NodeBeatsHistoryOptions struct {
	// Only those of this beat.
	Name *string
	// Only those with this outcome.
	Outcome *string
	// How many runs to list: a whole number from 1 to 1000, such as --limit 20.
	Limit *int64
}

// BeatsHistory: List past runs, newest first.

func (c NodeCalls) BeatsHistory(ctx context.Context, options ...NodeBeatsHistoryOptions) (BeatRunList, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Name != nil {
			params["name"] = *given.Name
		}
		if given.Outcome != nil {
			params["outcome"] = *given.Outcome
		}
		if given.Limit != nil {
			params["limit"] = *given.Limit
		}
	}
	var result BeatRunList
	err := c.call(ctx, "GET", "/v1/beats/runs", params, false, &result)
	return result, err
}

// BeatsShow: Show one run: what was said, which tools were called, how long it took and what it cost.

func (c NodeCalls) BeatsShow(ctx context.Context, run string) (BeatRunWithTurns, error) {
	params := map[string]any{"run": run}
	var result BeatRunWithTurns
	err := c.call(ctx, "GET", "/v1/beats/runs/{run}", params, false, &result)
	return result, err
}

// BeatsCost: Show what the beats have cost, and what their budgets allow.

func (c NodeCalls) BeatsCost(ctx context.Context) (BeatCosts, error) {
	params := map[string]any{}
	var result BeatCosts
	err := c.call(ctx, "GET", "/v1/beats/cost", params, false, &result)
	return result, err
}

// BeatsPause: Stop running a beat until it is resumed.

func (c NodeCalls) BeatsPause(ctx context.Context, name string) (Beat, error) {
	params := map[string]any{"name": name}
	var result Beat
	err := c.call(ctx, "POST", "/v1/beats/pause", params, true, &result)
	return result, err
}

// NodeBeatsResumeOptions are what may be left out of BeatsResume.
type NodeBeatsResumeOptions struct {
	// Name of a beat.
	Name *string
	// All beats that are paused or parked.
	All *bool
}

// BeatsResume: Run a beat again that was paused, by hand or by its budget.

func (c NodeCalls) BeatsResume(ctx context.Context, options ...NodeBeatsResumeOptions) (ResumedBeats, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Name != nil {
			params["name"] = *given.Name
		}
		if given.All != nil {
			params["all"] = *given.All
		}
	}
	var result ResumedBeats
	err := c.call(ctx, "POST", "/v1/beats/resume", params, true, &result)
	return result, err
}

// NodeAttentionListOptions are what may be left out of AttentionList.
type NodeAttentionListOptions struct {
	// Closed items too.
	All *bool
	// How many.
	Limit *int64
}

// AttentionList: List what needs you, the most blocking and longest waiting first.

func (c NodeCalls) AttentionList(ctx context.Context, options ...NodeAttentionListOptions) (AttentionList, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.All != nil {
			params["all"] = *given.All
		}
		if given.Limit != nil {
			params["limit"] = *given.Limit
		}
	}
	var result AttentionList
	err := c.call(ctx, "GET", "/v1/attention", params, false, &result)
	return result, err
}

// AttentionDone: Close an item: somebody has seen to it.

func (c NodeCalls) AttentionDone(ctx context.Context, item string) (AttentionItem, error) {
	params := map[string]any{"item": item}
	var result AttentionItem
	err := c.call(ctx, "POST", "/v1/attention/done", params, true, &result)
	return result, err
}

// AttentionTest: Send a test notification through every channel.

func (c NodeCalls) AttentionTest(ctx context.Context) (ChannelTest, error) {
	params := map[string]any{}
	var result ChannelTest
	err := c.call(ctx, "POST", "/v1/attention/test", params, true, &result)
	return result, err
}

// NodeKeepStartOptions are what may be left out of KeepStart.
type NodeKeepStartOptions struct {
	// The name of the session; without it, the one of the setting keeper.session.
	Name *string
	// Arguments of the agent's own, after --.
	Args []string
	// Which agent; claude unless said otherwise.
	Agent *string
	// The folder in which it works; your own without it.
	Cwd *string
	// A variable for the agent, as NAME=VALUE, or NAME for the daemon's own value; repeatable. Values are kept in Covey's database.
	Env []string
	// The model, as the agent calls it.
	Model *string
	// The agent's permission mode, in its own words.
	PermissionMode *string
	// Work in a new git worktree of the folder.
	Worktree *bool
	// The branch of that worktree; made if it is missing. keep/<name> without it.
	Branch *string
	// Start it again after a restart of the machine, too.
	Keep *bool
}

// KeepStart: Start an agent in a tmux session of its own, and keep it running.

func (c NodeCalls) KeepStart(ctx context.Context, options ...NodeKeepStartOptions) (KeptSession, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Name != nil {
			params["name"] = *given.Name
		}
		if given.Args != nil {
			params["args"] = given.Args
		}
		if given.Agent != nil {
			params["agent"] = *given.Agent
		}
		if given.Cwd != nil {
			params["cwd"] = *given.Cwd
		}
		if given.Env != nil {
			params["env"] = given.Env
		}
		if given.Model != nil {
			params["model"] = *given.Model
		}
		if given.PermissionMode != nil {
			params["permission_mode"] = *given.PermissionMode
		}
		if given.Worktree != nil {
			params["worktree"] = *given.Worktree
		}
		if given.Branch != nil {
			params["branch"] = *given.Branch
		}
		if given.Keep != nil {
			params["keep"] = *given.Keep
		}
	}
	var result KeptSession
	err := c.call(ctx, "POST", "/v1/keep", params, true, &result)
	return result, err
}

// KeepStop: End a kept agent and its tmux session. It is not started again.

func (c NodeCalls) KeepStop(ctx context.Context, name string) (KeptSession, error) {
	params := map[string]any{"name": name}
	var result KeptSession
	err := c.call(ctx, "POST", "/v1/keep/{name}/stop", params, true, &result)
	return result, err
}

// KeepRestart: End a kept agent and start it again, with its conversation.

func (c NodeCalls) KeepRestart(ctx context.Context, name string) (KeptSession, error) {
	params := map[string]any{"name": name}
	var result KeptSession
	err := c.call(ctx, "POST", "/v1/keep/{name}/restart", params, true, &result)
	return result, err
}

// KeepList: List the kept sessions.

func (c NodeCalls) KeepList(ctx context.Context) (KeptSessions, error) {
	params := map[string]any{}
	var result KeptSessions
	err := c.call(ctx, "GET", "/v1/keep", params, false, &result)
	return result, err
}

// KeepStatus: Show one kept session: its agent, its channels and what waits for it.

func (c NodeCalls) KeepStatus(ctx context.Context, name string) (KeptStatus, error) {
	params := map[string]any{"name": name}
	var result KeptStatus
	err := c.call(ctx, "GET", "/v1/keep/{name}", params, false, &result)
	return result, err
}

// NodeKeepLogsOptions are what may be left out of KeepLogs.
type NodeKeepLogsOptions struct {
	// How many records.
	Limit *int64
}

// KeepLogs: Show what happened to a kept session, the latest last.

func (c NodeCalls) KeepLogs(ctx context.Context, name string, options ...NodeKeepLogsOptions) (KeeperRecords, error) {
	params := map[string]any{"name": name}
	for _, given := range options {
		if given.Limit != nil {
			params["limit"] = *given.Limit
		}
	}
	var result KeeperRecords
	err := c.call(ctx, "GET", "/v1/keep/{name}/logs", params, false, &result)
	return result, err
}

// KeepRename: Give a kept session another name.

func (c NodeCalls) KeepRename(ctx context.Context, name string, newName string) (KeptSession, error) {
	params := map[string]any{"name": name, "new_name": newName}
	var result KeptSession
	err := c.call(ctx, "POST", "/v1/keep/{name}/rename", params, true, &result)
	return result, err
}

// KeepForget: Forget a kept session that has ended, and the messages that wait for it.

func (c NodeCalls) KeepForget(ctx context.Context, name string) (Forgotten, error) {
	params := map[string]any{"name": name}
	var result Forgotten
	err := c.call(ctx, "POST", "/v1/keep/{name}/forget", params, true, &result)
	return result, err
}

// NodeKeepPathOptions are what may be left out of KeepPath.
type NodeKeepPathOptions struct {
	// The name of the session; without it, the one of the setting keeper.session.
	Name *string
}

// KeepPath: Print the folder with the channels of a kept session.

func (c NodeCalls) KeepPath(ctx context.Context, options ...NodeKeepPathOptions) (KeptPath, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Name != nil {
			params["name"] = *given.Name
		}
	}
	var result KeptPath
	err := c.call(ctx, "GET", "/v1/keep-path", params, false, &result)
	return result, err
}

// KeepChannels: List the channels of a kept session.

func (c NodeCalls) KeepChannels(ctx context.Context, name string) (KeptChannels, error) {
	params := map[string]any{"name": name}
	var result KeptChannels
	err := c.call(ctx, "GET", "/v1/keep/{name}/channels", params, false, &result)
	return result, err
}

// KeepSend: Send a message out on a channel of a kept session, as its agent does with send_to_channel.

func (c NodeCalls) KeepSend(ctx context.Context, name string, channel string, message string) (ChannelWrite, error) {
	params := map[string]any{"name": name, "channel": channel, "message": message}
	var result ChannelWrite
	err := c.call(ctx, "POST", "/v1/keep/{name}/send", params, true, &result)
	return result, err
}

// NodeAttachOptions are what may be left out of Attach.
type NodeAttachOptions struct {
	// Only if it is this agent and no later one: runtime:<id> or <id>.
	IfRuntime *string
	// The tmux client that goes there, by its name (#{client_name}), for key bindings; without it, the one that you are in.
	Client *string
	// The values of TMUX and TMUX_PANE where you are, with a comma between; the command line fills it in.
	Tmux *string
	// The terminal that can attach, such as /dev/pts/3; the command line fills it in.
	Terminal *string
}

// Attach: Go to the pane of one agent.

func (c NodeCalls) Attach(ctx context.Context, ref string, options ...NodeAttachOptions) (Attachment, error) {
	params := map[string]any{"ref": ref}
	for _, given := range options {
		if given.IfRuntime != nil {
			params["if_runtime"] = *given.IfRuntime
		}
		if given.Client != nil {
			params["client"] = *given.Client
		}
		if given.Tmux != nil {
			params["tmux"] = *given.Tmux
		}
		if given.Terminal != nil {
			params["terminal"] = *given.Terminal
		}
	}
	var result Attachment
	err := c.call(ctx, "POST", "/v1/attach", params, true, &result)
	return result, err
}

// NodeNextOptions are what may be left out of Next.
type NodeNextOptions struct {
	// The tmux client that goes there, by its name (#{client_name}), for key bindings; without it, the one that you are in.
	Client *string
	// The values of TMUX and TMUX_PANE where you are, with a comma between; the command line fills it in.
	Tmux *string
	// The terminal that can attach, such as /dev/pts/3; the command line fills it in.
	Terminal *string
}

// Next: Go to the agent that needs you most; again: to the one after it.

func (c NodeCalls) Next(ctx context.Context, options ...NodeNextOptions) (Next, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Client != nil {
			params["client"] = *given.Client
		}
		if given.Tmux != nil {
			params["tmux"] = *given.Tmux
		}
		if given.Terminal != nil {
			params["terminal"] = *given.Terminal
		}
	}
	var result Next
	err := c.call(ctx, "POST", "/v1/next", params, true, &result)
	return result, err
}

// NodeBackOptions are what may be left out of Back.
type NodeBackOptions struct {
	// The tmux client that goes there, by its name (#{client_name}), for key bindings; without it, the one that you are in.
	Client *string
	// The values of TMUX and TMUX_PANE where you are, with a comma between; the command line fills it in.
	Tmux *string
}

// Back: Return to where you were before `covey next` or `covey attach`.

func (c NodeCalls) Back(ctx context.Context, options ...NodeBackOptions) (Back, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Client != nil {
			params["client"] = *given.Client
		}
		if given.Tmux != nil {
			params["tmux"] = *given.Tmux
		}
	}
	var result Back
	err := c.call(ctx, "POST", "/v1/back", params, true, &result)
	return result, err
}

// NodeTmuxAlertOptions are what may be left out of TmuxAlert.
type NodeTmuxAlertOptions struct {
	// For the message line; none if it is empty.
	Text *string
	// Ring the bell of the terminal.
	Bell *bool
}

// TmuxAlert: Alert the people at the tmux clients of this machine.

func (c NodeCalls) TmuxAlert(ctx context.Context, options ...NodeTmuxAlertOptions) (TmuxAlert, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Text != nil {
			params["text"] = *given.Text
		}
		if given.Bell != nil {
			params["bell"] = *given.Bell
		}
	}
	var result TmuxAlert
	err := c.call(ctx, "POST", "/v1/tmux/alert", params, true, &result)
	return result, err
}

// NodeMeshCreateOptions are what may be left out of MeshCreate.
type NodeMeshCreateOptions struct {
	// The name of this member; the name of the host without it.
	Name *string
	// Address of a NATS server to use; repeatable.
	Nats []string
	// File with the keys of that server's operator.
	Operator *string
	// Copies of each message in a cluster.
	Replicas *int64
}

// MeshCreate: Create a mesh, and be its first member.

func (c NodeCalls) MeshCreate(ctx context.Context, slug string, options ...NodeMeshCreateOptions) (JoinedMesh, error) {
	params := map[string]any{"slug": slug}
	for _, given := range options {
		if given.Name != nil {
			params["name"] = *given.Name
		}
		if given.Nats != nil {
			params["nats"] = given.Nats
		}
		if given.Operator != nil {
			params["operator"] = *given.Operator
		}
		if given.Replicas != nil {
			params["replicas"] = *given.Replicas
		}
	}
	var result JoinedMesh
	err := c.call(ctx, "POST", "/v1/mesh", params, true, &result)
	return result, err
}

// NodeMeshJoinOptions are what may be left out of MeshJoin.
type NodeMeshJoinOptions struct {
	// The name of this member; the name of the host without it.
	Name *string
	// Another slug than the invite's, if you have one of that name.
	Slug *string
}

// MeshJoin: Join a mesh with an invite.

func (c NodeCalls) MeshJoin(ctx context.Context, token string, options ...NodeMeshJoinOptions) (JoinedMesh, error) {
	params := map[string]any{"token": token}
	for _, given := range options {
		if given.Name != nil {
			params["name"] = *given.Name
		}
		if given.Slug != nil {
			params["slug"] = *given.Slug
		}
	}
	var result JoinedMesh
	err := c.call(ctx, "POST", "/v1/mesh/join", params, true, &result)
	return result, err
}

// MeshLeave: Leave a mesh: the others are told, and the peer here ends.

func (c NodeCalls) MeshLeave(ctx context.Context, slug string) (LeftMesh, error) {
	params := map[string]any{"slug": slug}
	var result LeftMesh
	err := c.call(ctx, "POST", "/v1/mesh/leave", params, true, &result)
	return result, err
}

// MeshReset: Remove a mesh from this machine: keys, inbox, outbox and all. Nobody is told.

func (c NodeCalls) MeshReset(ctx context.Context, slug string) (ResetMesh, error) {
	params := map[string]any{"slug": slug}
	var result ResetMesh
	err := c.call(ctx, "POST", "/v1/mesh/reset", params, true, &result)
	return result, err
}

// NodeMeshUpOptions are what may be left out of MeshUp.
type NodeMeshUpOptions struct {
	// The slug of the mesh; needed if there are several.
	Slug *string
	// All meshes that were joined.
	All *bool
}

// MeshUp: Keep a peer running, from now on.

func (c NodeCalls) MeshUp(ctx context.Context, options ...NodeMeshUpOptions) (JoinedMeshes, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Slug != nil {
			params["slug"] = *given.Slug
		}
		if given.All != nil {
			params["all"] = *given.All
		}
	}
	var result JoinedMeshes
	err := c.call(ctx, "POST", "/v1/mesh/up", params, true, &result)
	return result, err
}

// NodeMeshDownOptions are what may be left out of MeshDown.
type NodeMeshDownOptions struct {
	// The slug of the mesh; needed if there are several.
	Slug *string
	// All meshes that were joined.
	All *bool
}

// MeshDown: End a peer. It stays down, over restarts of the daemon too, until `covey mesh up`.

func (c NodeCalls) MeshDown(ctx context.Context, options ...NodeMeshDownOptions) (JoinedMeshes, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Slug != nil {
			params["slug"] = *given.Slug
		}
		if given.All != nil {
			params["all"] = *given.All
		}
	}
	var result JoinedMeshes
	err := c.call(ctx, "POST", "/v1/mesh/down", params, true, &result)
	return result, err
}

// MeshList: List the meshes that were joined, their peers, and the broker.

func (c NodeCalls) MeshList(ctx context.Context) (JoinedMeshes, error) {
	params := map[string]any{}
	var result JoinedMeshes
	err := c.call(ctx, "GET", "/v1/mesh", params, false, &result)
	return result, err
}

// NodeMeshExposeOptions are what may be left out of MeshExpose.
type NodeMeshExposeOptions struct {
	// Address to listen at, such as 0.0.0.0:4222 or 10.0.0.5; without a port, the one it has.
	Listen *string
	// Address for WebSocket clients, such as 0.0.0.0:8443.
	Websocket *string
	// A host name or address by which others reach it; repeatable.
	Names []string
	// Listen on loopback only.
	Off *bool
}

// MeshExpose: Open the broker of this home to other machines, with TLS.

func (c NodeCalls) MeshExpose(ctx context.Context, options ...NodeMeshExposeOptions) (MeshBroker, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Listen != nil {
			params["listen"] = *given.Listen
		}
		if given.Websocket != nil {
			params["websocket"] = *given.Websocket
		}
		if given.Names != nil {
			params["names"] = given.Names
		}
		if given.Off != nil {
			params["off"] = *given.Off
		}
	}
	var result MeshBroker
	err := c.call(ctx, "POST", "/v1/mesh/expose", params, true, &result)
	return result, err
}

// MeshCalls has the calls of a Mesh.
type MeshCalls struct{ *client }

// Down: Stop the daemon.

func (c MeshCalls) Down(ctx context.Context) (StoppedDaemon, error) {
	params := map[string]any{}
	var result StoppedDaemon
	err := c.call(ctx, "POST", "/v1/down", params, true, &result)
	return result, err
}

// Status: Show the status of the daemon.

func (c MeshCalls) Status(ctx context.Context) (MeshStatus, error) {
	params := map[string]any{}
	var result MeshStatus
	err := c.call(ctx, "GET", "/v1/status", params, false, &result)
	return result, err
}

// Health: Check whether the daemon answers.

func (c MeshCalls) Health(ctx context.Context) (MeshHealthCheck, error) {
	params := map[string]any{}
	var result MeshHealthCheck
	err := c.call(ctx, "GET", "/v1/health", params, false, &result)
	return result, err
}

// Reload: Read the configuration again.

func (c MeshCalls) Reload(ctx context.Context) (ReloadedConfig, error) {
	params := map[string]any{}
	var result ReloadedConfig
	err := c.call(ctx, "POST", "/v1/reload", params, true, &result)
	return result, err
}

// ConfigList: List every setting, its value and where it comes from.

func (c MeshCalls) ConfigList(ctx context.Context) (SettingList, error) {
	params := map[string]any{}
	var result SettingList
	err := c.call(ctx, "GET", "/v1/config", params, false, &result)
	return result, err
}

// ConfigGet: Show one setting.

func (c MeshCalls) ConfigGet(ctx context.Context, key string) (Setting, error) {
	params := map[string]any{"key": key}
	var result Setting
	err := c.call(ctx, "GET", "/v1/config/{key}", params, false, &result)
	return result, err
}

// ConfigSet: Change one setting in config.toml, keeping its comments.

func (c MeshCalls) ConfigSet(ctx context.Context, key string, value string) (ChangedSetting, error) {
	params := map[string]any{"key": key, "value": value}
	var result ChangedSetting
	err := c.call(ctx, "PUT", "/v1/config/{key}", params, true, &result)
	return result, err
}

// ConfigUnset: Remove a setting from config.toml, so that its default applies.

func (c MeshCalls) ConfigUnset(ctx context.Context, key string) (ChangedSetting, error) {
	params := map[string]any{"key": key}
	var result ChangedSetting
	err := c.call(ctx, "DELETE", "/v1/config/{key}", params, true, &result)
	return result, err
}

// MeshAuditListOptions are what may be left out of AuditList.
type MeshAuditListOptions struct {
	// Only what happened since then: 1h ago, or 2026-01-31T14:05:00Z.
	Since *string
	// Only calls of this operation, such as send; repeatable.
	Operation []string
	// Only the last N.
	Limit *int64
	// Only entries before this cursor: `earlier` of the answer before.
	Before *int64
}

// AuditList: Show who did what: each call that changed something, or was refused.

func (c MeshCalls) AuditList(ctx context.Context, options ...MeshAuditListOptions) (AuditTrail, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Since != nil {
			params["since"] = *given.Since
		}
		if given.Operation != nil {
			params["operation"] = given.Operation
		}
		if given.Limit != nil {
			params["limit"] = *given.Limit
		}
		if given.Before != nil {
			params["before"] = *given.Before
		}
	}
	var result AuditTrail
	err := c.call(ctx, "GET", "/v1/audit", params, false, &result)
	return result, err
}

// Metrics: Print the metrics for Prometheus.

func (c MeshCalls) Metrics(ctx context.Context) (string, error) {
	params := map[string]any{}
	var result string
	err := c.call(ctx, "GET", "/v1/metrics", params, false, &result)
	return result, err
}

// Openapi: Print the OpenAPI document of the local API.

func (c MeshCalls) Openapi(ctx context.Context) (map[string]any, error) {
	params := map[string]any{}
	var result map[string]any
	err := c.call(ctx, "GET", "/v1/openapi.json", params, false, &result)
	return result, err
}

// Doctor: Find what is missing or wrong, and the command that fixes it.

func (c MeshCalls) Doctor(ctx context.Context) (Diagnosis, error) {
	params := map[string]any{}
	var result Diagnosis
	err := c.call(ctx, "GET", "/v1/doctor", params, false, &result)
	return result, err
}

// Backup: Copy the daemon's database to a new file, while it runs.

func (c MeshCalls) Backup(ctx context.Context, path string) (Backup, error) {
	params := map[string]any{"path": path}
	var result Backup
	err := c.call(ctx, "POST", "/v1/backup", params, true, &result)
	return result, err
}

// MeshSendOptions are what may be left out of Send.
type MeshSendOptions struct {
	// now: at once, next: when the recipient is free, low: when somebody looks.
	Priority *string
	// A JSON object for programs at the other end.
	Meta map[string]any
	// The id of the message that this one answers.
	ReplyToID *string
	// Answer when the broker has stored it, it is in the recipient's inbox, or it was seen; none: when it is in our outbox.
	Wait *string
	// How long to wait for that, in seconds. The daemon waits at most 25 s, the command line goes on asking.
	TimeoutS *float64
}

// Send: Send a message to a member of the mesh, a group, or an agent on a member's host.

func (c MeshCalls) Send(ctx context.Context, to string, message string, options ...MeshSendOptions) (MeshSendAnswer, error) {
	params := map[string]any{"to": to, "message": message}
	for _, given := range options {
		if given.Priority != nil {
			params["priority"] = *given.Priority
		}
		if given.Meta != nil {
			params["meta"] = given.Meta
		}
		if given.ReplyToID != nil {
			params["reply_to_id"] = *given.ReplyToID
		}
		if given.Wait != nil {
			params["wait"] = *given.Wait
		}
		if given.TimeoutS != nil {
			params["timeout_s"] = *given.TimeoutS
		}
	}
	var result MeshSendAnswer
	err := c.call(ctx, "POST", "/v1/send", params, true, &result)
	return result, err
}

// SendBatch: Send many messages with one call.

func (c MeshCalls) SendBatch(ctx context.Context, messages []map[string]any) (MeshBatchAnswer, error) {
	params := map[string]any{"messages": messages}
	var result MeshBatchAnswer
	err := c.call(ctx, "POST", "/v1/send/batch", params, true, &result)
	return result, err
}

// MeshTopicPostOptions are what may be left out of TopicPost.
type MeshTopicPostOptions struct {
	// now: at once, next: when the recipient is free, low: when somebody looks.
	Priority *string
	// Name or key of a member that is mentioned; repeatable.
	Mentions []string
	// A JSON object for programs at the other end.
	Meta map[string]any
	// The id of the message that this one answers.
	ReplyToID *string
}

// TopicPost: Post a message to a topic.

func (c MeshCalls) TopicPost(ctx context.Context, topic string, message string, options ...MeshTopicPostOptions) (MeshSendAnswer, error) {
	params := map[string]any{"topic": topic, "message": message}
	for _, given := range options {
		if given.Priority != nil {
			params["priority"] = *given.Priority
		}
		if given.Mentions != nil {
			params["mentions"] = given.Mentions
		}
		if given.Meta != nil {
			params["meta"] = given.Meta
		}
		if given.ReplyToID != nil {
			params["reply_to_id"] = *given.ReplyToID
		}
	}
	var result MeshSendAnswer
	err := c.call(ctx, "POST", "/v1/topic/post", params, true, &result)
	return result, err
}

// TopicSubscribe: Subscribe to a topic: its messages come into the inbox from now on.

func (c MeshCalls) TopicSubscribe(ctx context.Context, topic string) (MeshTopic, error) {
	params := map[string]any{"topic": topic}
	var result MeshTopic
	err := c.call(ctx, "POST", "/v1/topic/subscribe", params, true, &result)
	return result, err
}

// TopicUnsubscribe: Do not receive the messages of a topic any more. Those in the inbox stay.

func (c MeshCalls) TopicUnsubscribe(ctx context.Context, topic string) (MeshTopic, error) {
	params := map[string]any{"topic": topic}
	var result MeshTopic
	err := c.call(ctx, "POST", "/v1/topic/unsubscribe", params, true, &result)
	return result, err
}

// TopicList: List the topics that this peer subscribes to or has posted to.

func (c MeshCalls) TopicList(ctx context.Context) (MeshTopics, error) {
	params := map[string]any{}
	var result MeshTopics
	err := c.call(ctx, "GET", "/v1/topic/list", params, false, &result)
	return result, err
}

// MeshBroadcastOptions are what may be left out of Broadcast.
type MeshBroadcastOptions struct {
	// * for everybody, or @group.
	Scope *string
	// now: at once, next: when the recipient is free, low: when somebody looks.
	Priority *string
	// Name or key of a member that is mentioned; repeatable.
	Mentions []string
	// A JSON object for programs at the other end.
	Meta map[string]any
	// The id of the message that this one answers.
	ReplyToID *string
}

// Broadcast: Send a message to everybody, or to everybody in a group.

func (c MeshCalls) Broadcast(ctx context.Context, message string, options ...MeshBroadcastOptions) (MeshSendAnswer, error) {
	params := map[string]any{"message": message}
	for _, given := range options {
		if given.Scope != nil {
			params["scope"] = *given.Scope
		}
		if given.Priority != nil {
			params["priority"] = *given.Priority
		}
		if given.Mentions != nil {
			params["mentions"] = given.Mentions
		}
		if given.Meta != nil {
			params["meta"] = given.Meta
		}
		if given.ReplyToID != nil {
			params["reply_to_id"] = *given.ReplyToID
		}
	}
	var result MeshSendAnswer
	err := c.call(ctx, "POST", "/v1/broadcast", params, true, &result)
	return result, err
}

// MeshInboxOptions are what may be left out of Inbox.
type MeshInboxOptions struct {
	// Only after this cursor, or after this time: 10m, or 2026-01-31T14:05:00Z.
	Since *string
	// Only messages of this topic.
	Topic *string
	// Only messages of this member, also a removed one: name or member key.
	From *string
	// At most so many.
	Limit *int64
}

// Inbox: Show the messages that have come.

func (c MeshCalls) Inbox(ctx context.Context, options ...MeshInboxOptions) (MeshInbox, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Since != nil {
			params["since"] = *given.Since
		}
		if given.Topic != nil {
			params["topic"] = *given.Topic
		}
		if given.From != nil {
			params["from"] = *given.From
		}
		if given.Limit != nil {
			params["limit"] = *given.Limit
		}
	}
	var result MeshInbox
	err := c.call(ctx, "GET", "/v1/inbox", params, false, &result)
	return result, err
}

// MeshSearchOptions are what may be left out of Search.
type MeshSearchOptions struct {
	// At most so many.
	Limit *int64
}

// Search: Search the messages in the inbox.

func (c MeshCalls) Search(ctx context.Context, q string, options ...MeshSearchOptions) (MeshFound, error) {
	params := map[string]any{"q": q}
	for _, given := range options {
		if given.Limit != nil {
			params["limit"] = *given.Limit
		}
	}
	var result MeshFound
	err := c.call(ctx, "GET", "/v1/search", params, false, &result)
	return result, err
}

// MeshReceiptOptions are what may be left out of Receipt.
type MeshReceiptOptions struct {
	// Answer when the broker has stored it, it is in the recipient's inbox, or it was seen; none: when it is in our outbox.
	Wait *string
	// How long to wait for that, in seconds. The daemon waits at most 25 s, the command line goes on asking.
	TimeoutS *float64
}

// Receipt: Show what is proven about a message that was sent from here.

func (c MeshCalls) Receipt(ctx context.Context, id string, options ...MeshReceiptOptions) (MeshReceipt, error) {
	params := map[string]any{"id": id}
	for _, given := range options {
		if given.Wait != nil {
			params["wait"] = *given.Wait
		}
		if given.TimeoutS != nil {
			params["timeout_s"] = *given.TimeoutS
		}
	}
	var result MeshReceipt
	err := c.call(ctx, "GET", "/v1/receipt/{id}", params, false, &result)
	return result, err
}

// MeshOutboxListOptions are what may be left out of OutboxList.
type MeshOutboxListOptions struct {
	// Only those in this state; without it, pending, inflight and dead ones.
	Status *string
	// At most so many.
	Limit *int64
}

// OutboxList: List the messages that were sent from here, and those that were given up.

func (c MeshCalls) OutboxList(ctx context.Context, options ...MeshOutboxListOptions) (MeshOutbox, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Status != nil {
			params["status"] = *given.Status
		}
		if given.Limit != nil {
			params["limit"] = *given.Limit
		}
	}
	var result MeshOutbox
	err := c.call(ctx, "GET", "/v1/outbox", params, false, &result)
	return result, err
}

// MeshOutboxRequeueOptions are what may be left out of OutboxRequeue.
type MeshOutboxRequeueOptions struct {
	// The id of a message; repeatable.
	ID []string
	// All messages that are dead.
	All *bool
}

// OutboxRequeue: Try to send messages that were given up once more.

func (c MeshCalls) OutboxRequeue(ctx context.Context, options ...MeshOutboxRequeueOptions) (MeshRequeued, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.ID != nil {
			params["id"] = given.ID
		}
		if given.All != nil {
			params["all"] = *given.All
		}
	}
	var result MeshRequeued
	err := c.call(ctx, "POST", "/v1/outbox/requeue", params, true, &result)
	return result, err
}

// MeshOutboxDropOptions are what may be left out of OutboxDrop.
type MeshOutboxDropOptions struct {
	// The id of a message; repeatable.
	ID []string
	// All messages that are dead.
	All *bool
}

// OutboxDrop: Drop messages that were not sent. The recipient's peer is told that they will not come.

func (c MeshCalls) OutboxDrop(ctx context.Context, options ...MeshOutboxDropOptions) (MeshDropped, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.ID != nil {
			params["id"] = given.ID
		}
		if given.All != nil {
			params["all"] = *given.All
		}
	}
	var result MeshDropped
	err := c.call(ctx, "POST", "/v1/outbox/drop", params, true, &result)
	return result, err
}

// Peers: List the peers and which of them are online.

func (c MeshCalls) Peers(ctx context.Context) (MeshPeers, error) {
	params := map[string]any{}
	var result MeshPeers
	err := c.call(ctx, "GET", "/v1/peers", params, false, &result)
	return result, err
}

// MeshMembersOptions are what may be left out of Members.
type MeshMembersOptions struct {
	// Also those that were removed or have left.
	Revoked *bool
}

// Members: List the members of the mesh, and with --revoked those that were removed.

func (c MeshCalls) Members(ctx context.Context, options ...MeshMembersOptions) (MeshMembers, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Revoked != nil {
			params["revoked"] = *given.Revoked
		}
	}
	var result MeshMembers
	err := c.call(ctx, "GET", "/v1/members", params, false, &result)
	return result, err
}

// MeshProfileOptions are what may be left out of Profile.
type MeshProfileOptions struct {
	// What it is there for, in a line.
	Summary *string
	// What this member is doing.
	Status *string
	// Let others see that it is online.
	Visible *bool
	// An emoji or the address of a picture.
	Avatar *string
}

// Profile: Show or change what this member says of itself.

func (c MeshCalls) Profile(ctx context.Context, options ...MeshProfileOptions) (MeshProfile, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Summary != nil {
			params["summary"] = *given.Summary
		}
		if given.Status != nil {
			params["status"] = *given.Status
		}
		if given.Visible != nil {
			params["visible"] = *given.Visible
		}
		if given.Avatar != nil {
			params["avatar"] = *given.Avatar
		}
	}
	var result MeshProfile
	err := c.call(ctx, "POST", "/v1/profile", params, true, &result)
	return result, err
}

// MeshGroupsJoinOptions are what may be left out of GroupsJoin.
type MeshGroupsJoinOptions struct {
	// The role in the group, such as lead.
	Role *string
}

// GroupsJoin: Join a group: messages to @group come here too.

func (c MeshCalls) GroupsJoin(ctx context.Context, name string, options ...MeshGroupsJoinOptions) (MeshGroups, error) {
	params := map[string]any{"name": name}
	for _, given := range options {
		if given.Role != nil {
			params["role"] = *given.Role
		}
	}
	var result MeshGroups
	err := c.call(ctx, "POST", "/v1/groups/join", params, true, &result)
	return result, err
}

// GroupsLeave: Leave a group.

func (c MeshCalls) GroupsLeave(ctx context.Context, name string) (MeshGroups, error) {
	params := map[string]any{"name": name}
	var result MeshGroups
	err := c.call(ctx, "POST", "/v1/groups/leave", params, true, &result)
	return result, err
}

// MeshHeartbeatOptions are what may be left out of Heartbeat.
type MeshHeartbeatOptions struct {
	// What this member is doing.
	Status *string
}

// Heartbeat: Say that the program at this peer is alive, and what it is doing.

func (c MeshCalls) Heartbeat(ctx context.Context, options ...MeshHeartbeatOptions) (MeshHeartbeat, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Status != nil {
			params["status"] = *given.Status
		}
	}
	var result MeshHeartbeat
	err := c.call(ctx, "POST", "/v1/heartbeat", params, true, &result)
	return result, err
}

// MeshInviteOptions are what may be left out of Invite.
type MeshInviteOptions struct {
	// What whoever joins may do.
	Role *string
	// How long it is good for, such as 24h.
	Expires *string
	// How many may join with it.
	Uses *int64
}

// Invite: Make an invite: a text that somebody pastes into `covey mesh join`.

func (c MeshCalls) Invite(ctx context.Context, options ...MeshInviteOptions) (MadeInvite, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Role != nil {
			params["role"] = *given.Role
		}
		if given.Expires != nil {
			params["expires"] = *given.Expires
		}
		if given.Uses != nil {
			params["uses"] = *given.Uses
		}
	}
	var result MadeInvite
	err := c.call(ctx, "POST", "/v1/invite", params, true, &result)
	return result, err
}

// Invites: List the invites that were made.

func (c MeshCalls) Invites(ctx context.Context) (MeshInvites, error) {
	params := map[string]any{}
	var result MeshInvites
	err := c.call(ctx, "GET", "/v1/invites", params, false, &result)
	return result, err
}

// Revoke: Remove a member, or take back an invite. The member is disconnected at once and topic keys are made anew.

func (c MeshCalls) Revoke(ctx context.Context, member string) (MeshRevoked, error) {
	params := map[string]any{"member": member}
	var result MeshRevoked
	err := c.call(ctx, "POST", "/v1/revoke", params, true, &result)
	return result, err
}

// Rename: Give this member another name. All others see it.

func (c MeshCalls) Rename(ctx context.Context, name string) (MeshRenamed, error) {
	params := map[string]any{"name": name}
	var result MeshRenamed
	err := c.call(ctx, "POST", "/v1/rename", params, true, &result)
	return result, err
}

// KeysRotate: Make a new key with which messages to this member are sealed. Messages under way can still be read.

func (c MeshCalls) KeysRotate(ctx context.Context) (MeshKeyRotated, error) {
	params := map[string]any{}
	var result MeshKeyRotated
	err := c.call(ctx, "POST", "/v1/keys/rotate", params, true, &result)
	return result, err
}

// ServicesList: Show what each service keeps, and whether the replica here is complete.

func (c MeshCalls) ServicesList(ctx context.Context) (MeshServices, error) {
	params := map[string]any{}
	var result MeshServices
	err := c.call(ctx, "GET", "/v1/services", params, false, &result)
	return result, err
}

// MeshServicesExportOptions are what may be left out of ServicesExport.
type MeshServicesExportOptions struct {
	// Only this service, such as memory; repeatable.
	Service []string
}

// ServicesExport: Write what the members share to a file, a JSON object in each line.

func (c MeshCalls) ServicesExport(ctx context.Context, path string, options ...MeshServicesExportOptions) (MeshExport, error) {
	params := map[string]any{"path": path}
	for _, given := range options {
		if given.Service != nil {
			params["service"] = given.Service
		}
	}
	var result MeshExport
	err := c.call(ctx, "POST", "/v1/services/export", params, true, &result)
	return result, err
}

// MeshServicesImportOptions are what may be left out of ServicesImport.
type MeshServicesImportOptions struct {
	// Only this service, such as memory; repeatable.
	Service []string
	// Replace what is there with another value.
	Replace *bool
}

// ServicesImport: Share what such a file holds, as this member.

func (c MeshCalls) ServicesImport(ctx context.Context, path string, options ...MeshServicesImportOptions) (MeshImport, error) {
	params := map[string]any{"path": path}
	for _, given := range options {
		if given.Service != nil {
			params["service"] = given.Service
		}
		if given.Replace != nil {
			params["replace"] = *given.Replace
		}
	}
	var result MeshImport
	err := c.call(ctx, "POST", "/v1/services/import", params, true, &result)
	return result, err
}

// MeshStateSetOptions are what may be left out of StateSet.
type MeshStateSetOptions struct {
	// mesh: all members share it; member: it is sealed for this member alone, on all its hosts.
	Scope *string
	// Only if the value still has this revision; 0: only if there is none. Otherwise it is a conflict.
	Expect *int64
}

// StateSet: Set a value of the state that all members share.

func (c MeshCalls) StateSet(ctx context.Context, key string, value any, options ...MeshStateSetOptions) (MeshStateEntry, error) {
	params := map[string]any{"key": key, "value": value}
	for _, given := range options {
		if given.Scope != nil {
			params["scope"] = *given.Scope
		}
		if given.Expect != nil {
			params["expect"] = *given.Expect
		}
	}
	var result MeshStateEntry
	err := c.call(ctx, "POST", "/v1/state/set", params, true, &result)
	return result, err
}

// MeshStateGetOptions are what may be left out of StateGet.
type MeshStateGetOptions struct {
	// mesh: all members share it; member: it is sealed for this member alone, on all its hosts.
	Scope *string
}

// StateGet: Return a value of the shared state.

func (c MeshCalls) StateGet(ctx context.Context, key string, options ...MeshStateGetOptions) (MeshStateEntry, error) {
	params := map[string]any{"key": key}
	for _, given := range options {
		if given.Scope != nil {
			params["scope"] = *given.Scope
		}
	}
	var result MeshStateEntry
	err := c.call(ctx, "GET", "/v1/state/get", params, false, &result)
	return result, err
}

// MeshStateListOptions are what may be left out of StateList.
type MeshStateListOptions struct {
	// Keys that begin so.
	Prefix *string
	// Of the mesh, of this member, or both without it.
	Scope *string
	// Keys after this one: the `next` of the answer before.
	After *string
	// At most so many.
	Limit *int64
}

// StateList: List the values of the shared state, by key.

func (c MeshCalls) StateList(ctx context.Context, options ...MeshStateListOptions) (MeshState, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Prefix != nil {
			params["prefix"] = *given.Prefix
		}
		if given.Scope != nil {
			params["scope"] = *given.Scope
		}
		if given.After != nil {
			params["after"] = *given.After
		}
		if given.Limit != nil {
			params["limit"] = *given.Limit
		}
	}
	var result MeshState
	err := c.call(ctx, "GET", "/v1/state/list", params, false, &result)
	return result, err
}

// MeshStateDeleteOptions are what may be left out of StateDelete.
type MeshStateDeleteOptions struct {
	// mesh: all members share it; member: it is sealed for this member alone, on all its hosts.
	Scope *string
	// Only if the value still has this revision; 0: only if there is none. Otherwise it is a conflict.
	Expect *int64
}

// StateDelete: Delete a value of the shared state.

func (c MeshCalls) StateDelete(ctx context.Context, key string, options ...MeshStateDeleteOptions) (MeshStateDeleted, error) {
	params := map[string]any{"key": key}
	for _, given := range options {
		if given.Scope != nil {
			params["scope"] = *given.Scope
		}
		if given.Expect != nil {
			params["expect"] = *given.Expect
		}
	}
	var result MeshStateDeleted
	err := c.call(ctx, "POST", "/v1/state/delete", params, true, &result)
	return result, err
}

// MeshSkillDeployOptions are what may be left out of SkillDeploy.
type MeshSkillDeployOptions struct {
	// Another name than its SKILL.md says.
	Name *string
	// Another version; without any, it is the hash of its files.
	SkillVersion *string
	// Another description.
	Description *string
}

// SkillDeploy: Share the skill in a folder with all members.

func (c MeshCalls) SkillDeploy(ctx context.Context, path string, options ...MeshSkillDeployOptions) (MeshSkillDeployed, error) {
	params := map[string]any{"path": path}
	for _, given := range options {
		if given.Name != nil {
			params["name"] = *given.Name
		}
		if given.SkillVersion != nil {
			params["skill_version"] = *given.SkillVersion
		}
		if given.Description != nil {
			params["description"] = *given.Description
		}
	}
	var result MeshSkillDeployed
	err := c.call(ctx, "POST", "/v1/skill/deploy", params, true, &result)
	return result, err
}

// SkillShare: Share the manifest of a skill by itself: what there is, to be asked for.

func (c MeshCalls) SkillShare(ctx context.Context, name string, manifest map[string]any) (MeshSkill, error) {
	params := map[string]any{"name": name, "manifest": manifest}
	var result MeshSkill
	err := c.call(ctx, "POST", "/v1/skill/share", params, true, &result)
	return result, err
}

// SkillList: List the skills that members share, and those that are installed from here.

func (c MeshCalls) SkillList(ctx context.Context) (MeshSkills, error) {
	params := map[string]any{}
	var result MeshSkills
	err := c.call(ctx, "GET", "/v1/skill/list", params, false, &result)
	return result, err
}

// MeshSkillShowOptions are what may be left out of SkillShow.
type MeshSkillShowOptions struct {
	// The file to show.
	Part *string
}

// SkillShow: Show a skill: its author, its files, and what is in one of them.

func (c MeshCalls) SkillShow(ctx context.Context, skill string, options ...MeshSkillShowOptions) (MeshSkillShown, error) {
	params := map[string]any{"skill": skill}
	for _, given := range options {
		if given.Part != nil {
			params["part"] = *given.Part
		}
	}
	var result MeshSkillShown
	err := c.call(ctx, "GET", "/v1/skill/show", params, false, &result)
	return result, err
}

// MeshSkillInstallOptions are what may be left out of SkillInstall.
type MeshSkillInstallOptions struct {
	// For which agent.
	Agent *string
	// The folder of the project; on the command line the current one.
	Project *string
	// For all projects of this user.
	User *bool
	// Another folder of skills than the agent's.
	Folder *string
	// Only if this is the `plan` that was shown.
	Expect *string
	// Show what would be written, and write nothing.
	CheckOnly *bool
}

// SkillInstall: Install a skill for an agent, after showing who has signed it and what is written where.

func (c MeshCalls) SkillInstall(ctx context.Context, skill string, options ...MeshSkillInstallOptions) (MeshSkillPlan, error) {
	params := map[string]any{"skill": skill}
	for _, given := range options {
		if given.Agent != nil {
			params["agent"] = *given.Agent
		}
		if given.Project != nil {
			params["project"] = *given.Project
		}
		if given.User != nil {
			params["user"] = *given.User
		}
		if given.Folder != nil {
			params["folder"] = *given.Folder
		}
		if given.Expect != nil {
			params["expect"] = *given.Expect
		}
		if given.CheckOnly != nil {
			params["check_only"] = *given.CheckOnly
		}
	}
	var result MeshSkillPlan
	err := c.call(ctx, "POST", "/v1/skill/install", params, true, &result)
	return result, err
}

// MeshSkillUninstallOptions are what may be left out of SkillUninstall.
type MeshSkillUninstallOptions struct {
	// Where it is, if it is installed several times.
	Path *string
}

// SkillUninstall: Remove an installed skill. Files that were changed since are kept, and named.

func (c MeshCalls) SkillUninstall(ctx context.Context, skill string, options ...MeshSkillUninstallOptions) (MeshSkillUninstalled, error) {
	params := map[string]any{"skill": skill}
	for _, given := range options {
		if given.Path != nil {
			params["path"] = *given.Path
		}
	}
	var result MeshSkillUninstalled
	err := c.call(ctx, "POST", "/v1/skill/uninstall", params, true, &result)
	return result, err
}

// SkillRemove: Take a skill of one's own back. Where it is installed it stays.

func (c MeshCalls) SkillRemove(ctx context.Context, skill string) (MeshSkillRemoved, error) {
	params := map[string]any{"skill": skill}
	var result MeshSkillRemoved
	err := c.call(ctx, "POST", "/v1/skill/remove", params, true, &result)
	return result, err
}

// MeshTaskCreateOptions are what may be left out of TaskCreate.
type MeshTaskCreateOptions struct {
	// What one has to know to do it.
	Description *string
	// Only for @name, @name/agent or @group; without it, for anybody.
	Assignee *string
	// now: before all others, next: as they come, low: when there is nothing else.
	Priority *string
	// A word to find it by; repeatable.
	Tags []string
	// The id of a task that has to be completed before; repeatable.
	DependsOn []string
	// The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node sees it.
	AsAgent *string
}

// TaskCreate: Create a task that a member of the mesh or its agent can claim.

func (c MeshCalls) TaskCreate(ctx context.Context, title string, options ...MeshTaskCreateOptions) (MeshTask, error) {
	params := map[string]any{"title": title}
	for _, given := range options {
		if given.Description != nil {
			params["description"] = *given.Description
		}
		if given.Assignee != nil {
			params["assignee"] = *given.Assignee
		}
		if given.Priority != nil {
			params["priority"] = *given.Priority
		}
		if given.Tags != nil {
			params["tags"] = given.Tags
		}
		if given.DependsOn != nil {
			params["depends_on"] = given.DependsOn
		}
		if given.AsAgent != nil {
			params["as_agent"] = *given.AsAgent
		}
	}
	var result MeshTask
	err := c.call(ctx, "POST", "/v1/task/create", params, true, &result)
	return result, err
}

// MeshTaskTakeOptions are what may be left out of TaskTake.
type MeshTaskTakeOptions struct {
	// Only with this tag; repeatable, all have to match.
	Tags []string
	// How long it is yours unless it is renewed, such as 10m, at most 7d.
	Ttl *string
	// Wait so long for one, such as 5m. One call waits at most 25 s; the command line goes on asking.
	Wait *string
	// The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node sees it.
	AsAgent *string
}

// TaskTake: Claim the best open task: by priority, then the oldest one.

func (c MeshCalls) TaskTake(ctx context.Context, options ...MeshTaskTakeOptions) (MeshTaskTaken, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Tags != nil {
			params["tags"] = given.Tags
		}
		if given.Ttl != nil {
			params["ttl"] = *given.Ttl
		}
		if given.Wait != nil {
			params["wait"] = *given.Wait
		}
		if given.AsAgent != nil {
			params["as_agent"] = *given.AsAgent
		}
	}
	var result MeshTaskTaken
	err := c.call(ctx, "POST", "/v1/task/take", params, true, &result)
	return result, err
}

// MeshTaskClaimOptions are what may be left out of TaskClaim.
type MeshTaskClaimOptions struct {
	// How long it is yours unless it is renewed, such as 10m, at most 7d.
	Ttl *string
	// The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node sees it.
	AsAgent *string
}

// TaskClaim: Claim a task: of several who do so, exactly one gets it.

func (c MeshCalls) TaskClaim(ctx context.Context, id string, options ...MeshTaskClaimOptions) (MeshTask, error) {
	params := map[string]any{"id": id}
	for _, given := range options {
		if given.Ttl != nil {
			params["ttl"] = *given.Ttl
		}
		if given.AsAgent != nil {
			params["as_agent"] = *given.AsAgent
		}
	}
	var result MeshTask
	err := c.call(ctx, "POST", "/v1/task/claim", params, true, &result)
	return result, err
}

// MeshTaskRenewOptions are what may be left out of TaskRenew.
type MeshTaskRenewOptions struct {
	// How long it is yours unless it is renewed, such as 10m, at most 7d.
	Ttl *string
	// The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node sees it.
	AsAgent *string
}

// TaskRenew: Keep a claimed task for longer.

func (c MeshCalls) TaskRenew(ctx context.Context, id string, options ...MeshTaskRenewOptions) (MeshTask, error) {
	params := map[string]any{"id": id}
	for _, given := range options {
		if given.Ttl != nil {
			params["ttl"] = *given.Ttl
		}
		if given.AsAgent != nil {
			params["as_agent"] = *given.AsAgent
		}
	}
	var result MeshTask
	err := c.call(ctx, "POST", "/v1/task/renew", params, true, &result)
	return result, err
}

// MeshTaskCompleteOptions are what may be left out of TaskComplete.
type MeshTaskCompleteOptions struct {
	// What came of it: any JSON value, text on the command line.
	Result any
	// The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node sees it.
	AsAgent *string
}

// TaskComplete: Say that a task is done, with its result.

func (c MeshCalls) TaskComplete(ctx context.Context, id string, options ...MeshTaskCompleteOptions) (MeshTask, error) {
	params := map[string]any{"id": id}
	for _, given := range options {
		if given.Result != nil {
			params["result"] = given.Result
		}
		if given.AsAgent != nil {
			params["as_agent"] = *given.AsAgent
		}
	}
	var result MeshTask
	err := c.call(ctx, "POST", "/v1/task/complete", params, true, &result)
	return result, err
}

// MeshTaskFailOptions are what may be left out of TaskFail.
type MeshTaskFailOptions struct {
	// Why.
	Reason *string
	// The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node sees it.
	AsAgent *string
}

// TaskFail: Give a task up: it cannot be done, or is not wanted any more.

func (c MeshCalls) TaskFail(ctx context.Context, id string, options ...MeshTaskFailOptions) (MeshTask, error) {
	params := map[string]any{"id": id}
	for _, given := range options {
		if given.Reason != nil {
			params["reason"] = *given.Reason
		}
		if given.AsAgent != nil {
			params["as_agent"] = *given.AsAgent
		}
	}
	var result MeshTask
	err := c.call(ctx, "POST", "/v1/task/fail", params, true, &result)
	return result, err
}

// MeshTaskReleaseOptions are what may be left out of TaskRelease.
type MeshTaskReleaseOptions struct {
	// The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node sees it.
	AsAgent *string
}

// TaskRelease: Make a task open again: give back its claim, or have a failed one tried again.

func (c MeshCalls) TaskRelease(ctx context.Context, id string, options ...MeshTaskReleaseOptions) (MeshTask, error) {
	params := map[string]any{"id": id}
	for _, given := range options {
		if given.AsAgent != nil {
			params["as_agent"] = *given.AsAgent
		}
	}
	var result MeshTask
	err := c.call(ctx, "POST", "/v1/task/release", params, true, &result)
	return result, err
}

// MeshTaskAssignOptions are what may be left out of TaskAssign.
type MeshTaskAssignOptions struct {
	// @name, @name/agent or @group; without it, anybody may claim it.
	Assignee *string
	// The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node sees it.
	AsAgent *string
}

// TaskAssign: Assign a task to somebody else, or to anybody.

func (c MeshCalls) TaskAssign(ctx context.Context, id string, options ...MeshTaskAssignOptions) (MeshTask, error) {
	params := map[string]any{"id": id}
	for _, given := range options {
		if given.Assignee != nil {
			params["assignee"] = *given.Assignee
		}
		if given.AsAgent != nil {
			params["as_agent"] = *given.AsAgent
		}
	}
	var result MeshTask
	err := c.call(ctx, "POST", "/v1/task/assign", params, true, &result)
	return result, err
}

// TaskShow: Show a task.

func (c MeshCalls) TaskShow(ctx context.Context, id string) (MeshTask, error) {
	params := map[string]any{"id": id}
	var result MeshTask
	err := c.call(ctx, "GET", "/v1/task/show", params, false, &result)
	return result, err
}

// MeshTaskListOptions are what may be left out of TaskList.
type MeshTaskListOptions struct {
	// Only with this status; repeatable.
	Status []string
	// Only those that this member has claimed.
	Mine *bool
	// Only with this tag; repeatable, all have to match.
	Tags []string
	// Tasks after this one: the `next` of the answer before.
	After *string
	// At most so many.
	Limit *int64
}

// TaskList: List tasks: those that are to be done, or those with a status.

func (c MeshCalls) TaskList(ctx context.Context, options ...MeshTaskListOptions) (MeshTasks, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Status != nil {
			params["status"] = given.Status
		}
		if given.Mine != nil {
			params["mine"] = *given.Mine
		}
		if given.Tags != nil {
			params["tags"] = given.Tags
		}
		if given.After != nil {
			params["after"] = *given.After
		}
		if given.Limit != nil {
			params["limit"] = *given.Limit
		}
	}
	var result MeshTasks
	err := c.call(ctx, "GET", "/v1/task/list", params, false, &result)
	return result, err
}

// MeshLeaseAcquireOptions are what may be left out of LeaseAcquire.
type MeshLeaseAcquireOptions struct {
	// A name of your choice, such as deploy/web.
	Name *string
	// A file instead of a name. In a git repository it is named by the repository and the path in it, so that other hosts mean the same.
	Path *string
	// How long it is yours unless it is renewed, such as 10m, at most 7d.
	Ttl *string
	// What you do, for others to see.
	Note *string
	// Wait so long for one, such as 5m. One call waits at most 25 s; the command line goes on asking.
	Wait *string
	// The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node sees it.
	AsAgent *string
}

// LeaseAcquire: Acquire a lease on a name or a file: of several who do so, exactly one gets it.

func (c MeshCalls) LeaseAcquire(ctx context.Context, options ...MeshLeaseAcquireOptions) (MeshLease, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Name != nil {
			params["name"] = *given.Name
		}
		if given.Path != nil {
			params["path"] = *given.Path
		}
		if given.Ttl != nil {
			params["ttl"] = *given.Ttl
		}
		if given.Note != nil {
			params["note"] = *given.Note
		}
		if given.Wait != nil {
			params["wait"] = *given.Wait
		}
		if given.AsAgent != nil {
			params["as_agent"] = *given.AsAgent
		}
	}
	var result MeshLease
	err := c.call(ctx, "POST", "/v1/lease/acquire", params, true, &result)
	return result, err
}

// MeshLeaseRenewOptions are what may be left out of LeaseRenew.
type MeshLeaseRenewOptions struct {
	// A name of your choice, such as deploy/web.
	Name *string
	// A file instead of a name. In a git repository it is named by the repository and the path in it, so that other hosts mean the same.
	Path *string
	// How long it is yours unless it is renewed, such as 10m, at most 7d.
	Ttl *string
	// The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node sees it.
	AsAgent *string
}

// LeaseRenew: Keep a lease for longer.

func (c MeshCalls) LeaseRenew(ctx context.Context, options ...MeshLeaseRenewOptions) (MeshLease, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Name != nil {
			params["name"] = *given.Name
		}
		if given.Path != nil {
			params["path"] = *given.Path
		}
		if given.Ttl != nil {
			params["ttl"] = *given.Ttl
		}
		if given.AsAgent != nil {
			params["as_agent"] = *given.AsAgent
		}
	}
	var result MeshLease
	err := c.call(ctx, "POST", "/v1/lease/renew", params, true, &result)
	return result, err
}

// MeshLeaseReleaseOptions are what may be left out of LeaseRelease.
type MeshLeaseReleaseOptions struct {
	// A name of your choice, such as deploy/web.
	Name *string
	// A file instead of a name. In a git repository it is named by the repository and the path in it, so that other hosts mean the same.
	Path *string
	// The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node sees it.
	AsAgent *string
}

// LeaseRelease: Give a lease back.

func (c MeshCalls) LeaseRelease(ctx context.Context, options ...MeshLeaseReleaseOptions) (MeshLease, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Name != nil {
			params["name"] = *given.Name
		}
		if given.Path != nil {
			params["path"] = *given.Path
		}
		if given.AsAgent != nil {
			params["as_agent"] = *given.AsAgent
		}
	}
	var result MeshLease
	err := c.call(ctx, "POST", "/v1/lease/release", params, true, &result)
	return result, err
}

// MeshLeaseListOptions are what may be left out of LeaseList.
type MeshLeaseListOptions struct {
	// Names that begin so.
	Prefix *string
	// Names after this one: the `next` of the answer before.
	After *string
	// At most so many.
	Limit *int64
}

// LeaseList: List the leases that somebody has now, by name.

func (c MeshCalls) LeaseList(ctx context.Context, options ...MeshLeaseListOptions) (MeshLeases, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Prefix != nil {
			params["prefix"] = *given.Prefix
		}
		if given.After != nil {
			params["after"] = *given.After
		}
		if given.Limit != nil {
			params["limit"] = *given.Limit
		}
	}
	var result MeshLeases
	err := c.call(ctx, "GET", "/v1/lease/list", params, false, &result)
	return result, err
}

// MeshFileShareOptions are what may be left out of FileShare.
type MeshFileShareOptions struct {
	// @name, member key or @group; repeatable. All members without it.
	To []string
	// A text for those who get it.
	Message *string
	// Keep it until it is deleted.
	Persistent *bool
	// Answer when it is done, or after so many seconds (at most 25) with how far it is; it goes on.
	WaitS *float64
}

// FileShare: Share a file with the members of the mesh, or with some of them.

func (c MeshCalls) FileShare(ctx context.Context, path string, options ...MeshFileShareOptions) (MeshFileTransfer, error) {
	params := map[string]any{"path": path}
	for _, given := range options {
		if given.To != nil {
			params["to"] = given.To
		}
		if given.Message != nil {
			params["message"] = *given.Message
		}
		if given.Persistent != nil {
			params["persistent"] = *given.Persistent
		}
		if given.WaitS != nil {
			params["wait_s"] = *given.WaitS
		}
	}
	var result MeshFileTransfer
	err := c.call(ctx, "POST", "/v1/file/share", params, true, &result)
	return result, err
}

// MeshFileGetOptions are what may be left out of FileGet.
type MeshFileGetOptions struct {
	// Where to write it: a file, or a folder in which it has its own name.
	Out *string
	// Replace a file that is there.
	Force *bool
	// Answer when it is done, or after so many seconds (at most 25) with how far it is; it goes on.
	WaitS *float64
}

// FileGet: Fetch a file that was shared.

func (c MeshCalls) FileGet(ctx context.Context, id string, options ...MeshFileGetOptions) (MeshFileTransfer, error) {
	params := map[string]any{"id": id}
	for _, given := range options {
		if given.Out != nil {
			params["out"] = *given.Out
		}
		if given.Force != nil {
			params["force"] = *given.Force
		}
		if given.WaitS != nil {
			params["wait_s"] = *given.WaitS
		}
	}
	var result MeshFileTransfer
	err := c.call(ctx, "GET", "/v1/file/get", params, true, &result)
	return result, err
}

// MeshFileListOptions are what may be left out of FileList.
type MeshFileListOptions struct {
	// At most so many.
	Limit *int64
	// Older ones: the `next` of the answer before.
	Before *float64
}

// FileList: List the files that are shared with you, the newest first.

func (c MeshCalls) FileList(ctx context.Context, options ...MeshFileListOptions) (MeshFiles, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Limit != nil {
			params["limit"] = *given.Limit
		}
		if given.Before != nil {
			params["before"] = *given.Before
		}
	}
	var result MeshFiles
	err := c.call(ctx, "GET", "/v1/file/list", params, false, &result)
	return result, err
}

// FileDelete: Delete a file that you have shared, for everybody.

func (c MeshCalls) FileDelete(ctx context.Context, id string) (MeshFileDeleted, error) {
	params := map[string]any{"id": id}
	var result MeshFileDeleted
	err := c.call(ctx, "POST", "/v1/file/delete", params, true, &result)
	return result, err
}

// MeshFileStatusOptions are what may be left out of FileStatus.
type MeshFileStatusOptions struct {
	// The id of one transfer; all without it.
	Transfer *string
	// Answer when it is done, or after so many seconds (at most 25) with how far it is; it goes on.
	WaitS *float64
}

// FileStatus: Show how far files are that are shared from here or fetched to here.

func (c MeshCalls) FileStatus(ctx context.Context, options ...MeshFileStatusOptions) (MeshFileTransfers, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Transfer != nil {
			params["transfer"] = *given.Transfer
		}
		if given.WaitS != nil {
			params["wait_s"] = *given.WaitS
		}
	}
	var result MeshFileTransfers
	err := c.call(ctx, "GET", "/v1/file/status", params, false, &result)
	return result, err
}

// MeshMemoryRememberOptions are what may be left out of MemoryRemember.
type MeshMemoryRememberOptions struct {
	// A tag, such as deploy; repeatable.
	Tags []string
}

// MemoryRemember: Remember a text for all members.

func (c MeshCalls) MemoryRemember(ctx context.Context, content string, options ...MeshMemoryRememberOptions) (MeshMemoryRemembered, error) {
	params := map[string]any{"content": content}
	for _, given := range options {
		if given.Tags != nil {
			params["tags"] = given.Tags
		}
	}
	var result MeshMemoryRemembered
	err := c.call(ctx, "POST", "/v1/memory/remember", params, true, &result)
	return result, err
}

// MeshMemoryRecallOptions are what may be left out of MemoryRecall.
type MeshMemoryRecallOptions struct {
	// Only those with this tag; repeatable: with all of them.
	Tags []string
	// At most so many.
	Limit *int64
}

// MemoryRecall: Find what was remembered, by its words and its meaning.

func (c MeshCalls) MemoryRecall(ctx context.Context, q string, options ...MeshMemoryRecallOptions) (MeshRecall, error) {
	params := map[string]any{"q": q}
	for _, given := range options {
		if given.Tags != nil {
			params["tags"] = given.Tags
		}
		if given.Limit != nil {
			params["limit"] = *given.Limit
		}
	}
	var result MeshRecall
	err := c.call(ctx, "GET", "/v1/memory/recall", params, false, &result)
	return result, err
}

// MeshMemoryListOptions are what may be left out of MemoryList.
type MeshMemoryListOptions struct {
	// Only those with this tag; repeatable: with all of them.
	Tags []string
	// Those after this one: the `next` of the answer before.
	After *string
	// At most so many.
	Limit *int64
}

// MemoryList: List what was remembered, the newest first.

func (c MeshCalls) MemoryList(ctx context.Context, options ...MeshMemoryListOptions) (MeshMemories, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Tags != nil {
			params["tags"] = given.Tags
		}
		if given.After != nil {
			params["after"] = *given.After
		}
		if given.Limit != nil {
			params["limit"] = *given.Limit
		}
	}
	var result MeshMemories
	err := c.call(ctx, "GET", "/v1/memory/list", params, false, &result)
	return result, err
}

// MemoryForget: Delete a memory for everybody.

func (c MeshCalls) MemoryForget(ctx context.Context, id string) (MeshMemoryForgotten, error) {
	params := map[string]any{"id": id}
	var result MeshMemoryForgotten
	err := c.call(ctx, "POST", "/v1/memory/forget", params, true, &result)
	return result, err
}

// MemoryReembed: Give every memory a vector of the configured model.

func (c MeshCalls) MemoryReembed(ctx context.Context) (MeshReembedding, error) {
	params := map[string]any{}
	var result MeshReembedding
	err := c.call(ctx, "POST", "/v1/memory/reembed", params, true, &result)
	return result, err
}

// MeshVectorStoreOptions are what may be left out of VectorStore.
type MeshVectorStoreOptions struct {
	// A JSON object, such as {"lang": "go"}.
	Metadata map[string]any
}

// VectorStore: Store a text in a collection.

func (c MeshCalls) VectorStore(ctx context.Context, collection string, text string, options ...MeshVectorStoreOptions) (MeshVectorStored, error) {
	params := map[string]any{"collection": collection, "text": text}
	for _, given := range options {
		if given.Metadata != nil {
			params["metadata"] = given.Metadata
		}
	}
	var result MeshVectorStored
	err := c.call(ctx, "POST", "/v1/vector/store", params, true, &result)
	return result, err
}

// MeshVectorSearchOptions are what may be left out of VectorSearch.
type MeshVectorSearchOptions struct {
	// A JSON object: fields of the metadata with the value, or a list of values, that they must have: {"lang": "go", "kind": ["doc", "code"]}.
	Filter map[string]any
	// At most so many.
	Limit *int64
}

// VectorSearch: Search a collection by meaning.

func (c MeshCalls) VectorSearch(ctx context.Context, collection string, q string, options ...MeshVectorSearchOptions) (MeshVectorHits, error) {
	params := map[string]any{"collection": collection, "q": q}
	for _, given := range options {
		if given.Filter != nil {
			params["filter"] = given.Filter
		}
		if given.Limit != nil {
			params["limit"] = *given.Limit
		}
	}
	var result MeshVectorHits
	err := c.call(ctx, "GET", "/v1/vector/search", params, false, &result)
	return result, err
}

// VectorDelete: Delete a text of a collection for everybody.

func (c MeshCalls) VectorDelete(ctx context.Context, collection string, id string) (MeshVectorDeleted, error) {
	params := map[string]any{"collection": collection, "id": id}
	var result MeshVectorDeleted
	err := c.call(ctx, "POST", "/v1/vector/delete", params, true, &result)
	return result, err
}

// VectorCollections: List the collections.

func (c MeshCalls) VectorCollections(ctx context.Context) (MeshCollections, error) {
	params := map[string]any{}
	var result MeshCollections
	err := c.call(ctx, "GET", "/v1/vector/collections", params, false, &result)
	return result, err
}

// MeshVectorReembedOptions are what may be left out of VectorReembed.
type MeshVectorReembedOptions struct {
	// Only the texts of this collection.
	Collection *string
}

// VectorReembed: Give every text a vector of the configured model.

func (c MeshCalls) VectorReembed(ctx context.Context, options ...MeshVectorReembedOptions) (MeshReembedding, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Collection != nil {
			params["collection"] = *given.Collection
		}
	}
	var result MeshReembedding
	err := c.call(ctx, "POST", "/v1/vector/reembed", params, true, &result)
	return result, err
}

// MeshRemindOptions are what may be left out of Remind.
type MeshRemindOptions struct {
	// After so long, such as 90m.
	In *string
	// At this time, such as 2026-01-31T14:05:00Z; without a zone in that of tz.
	At *string
	// At the times of this cron expression, such as '0 9 * * 1-5'.
	Cron *string
	// The time zone of at and cron, such as Europe/Berlin; without it that of the peer's machine.
	Tz *string
	// @name, @name/agent, @group or * for everybody; without it, you.
	To *string
	// The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node sees it.
	AsAgent *string
}

// Remind: Have a message come at a time: to you, to another member, a group or everybody.

func (c MeshCalls) Remind(ctx context.Context, message string, options ...MeshRemindOptions) (MeshReminder, error) {
	params := map[string]any{"message": message}
	for _, given := range options {
		if given.In != nil {
			params["in"] = *given.In
		}
		if given.At != nil {
			params["at"] = *given.At
		}
		if given.Cron != nil {
			params["cron"] = *given.Cron
		}
		if given.Tz != nil {
			params["tz"] = *given.Tz
		}
		if given.To != nil {
			params["to"] = *given.To
		}
		if given.AsAgent != nil {
			params["as_agent"] = *given.AsAgent
		}
	}
	var result MeshReminder
	err := c.call(ctx, "POST", "/v1/scheduling/remind", params, true, &result)
	return result, err
}

// MeshReminderListOptions are what may be left out of ReminderList.
type MeshReminderListOptions struct {
	// At most so many.
	Limit *int64
}

// ReminderList: List reminders, the next one first.

func (c MeshCalls) ReminderList(ctx context.Context, options ...MeshReminderListOptions) (MeshReminders, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Limit != nil {
			params["limit"] = *given.Limit
		}
	}
	var result MeshReminders
	err := c.call(ctx, "GET", "/v1/scheduling/reminders", params, false, &result)
	return result, err
}

// ReminderCancel: Cancel a reminder of yours.

func (c MeshCalls) ReminderCancel(ctx context.Context, id string) (MeshReminder, error) {
	params := map[string]any{"id": id}
	var result MeshReminder
	err := c.call(ctx, "POST", "/v1/scheduling/cancel", params, true, &result)
	return result, err
}

// MeshMCPRegisterOptions are what may be left out of MCPRegister.
type MeshMCPRegisterOptions struct {
	// What it is for.
	Description *string
	// A tool that may be called; repeatable. * is every tool it has now.
	Tools []string
	// A member that may call it, such as @bob; repeatable. All without it.
	Members []string
}

// MCPRegister: Offer tools of an MCP server of one's own to the members of the mesh.

func (c MeshCalls) MCPRegister(ctx context.Context, serverName string, transport map[string]any, options ...MeshMCPRegisterOptions) (MeshMcpServer, error) {
	params := map[string]any{"server_name": serverName, "transport": transport}
	for _, given := range options {
		if given.Description != nil {
			params["description"] = *given.Description
		}
		if given.Tools != nil {
			params["tools"] = given.Tools
		}
		if given.Members != nil {
			params["members"] = given.Members
		}
	}
	var result MeshMcpServer
	err := c.call(ctx, "POST", "/v1/mcp/register", params, true, &result)
	return result, err
}

// MCPUnregister: Take an MCP server of one's own back: nobody can call it any more.

func (c MeshCalls) MCPUnregister(ctx context.Context, serverName string) (MeshMcpUnregistered, error) {
	params := map[string]any{"server_name": serverName}
	var result MeshMcpUnregistered
	err := c.call(ctx, "POST", "/v1/mcp/unregister", params, true, &result)
	return result, err
}

// MeshMCPListOptions are what may be left out of MCPList.
type MeshMCPListOptions struct {
	// Only this one, with the schemas of its tools.
	Server *string
}

// MCPList: List the tools that members offer; with a server, its tools with their schemas.

func (c MeshCalls) MCPList(ctx context.Context, options ...MeshMCPListOptions) (MeshMcpServers, error) {
	params := map[string]any{}
	for _, given := range options {
		if given.Server != nil {
			params["server"] = *given.Server
		}
	}
	var result MeshMcpServers
	err := c.call(ctx, "GET", "/v1/mcp/list", params, false, &result)
	return result, err
}

// MeshMCPCallOptions are what may be left out of MCPCall.
type MeshMCPCallOptions struct {
	// Its arguments, a JSON object.
	Args map[string]any
	// How long it may take, in seconds.
	TimeoutS *float64
}

// MCPCall: Call a tool that a member offers, and return its answer.

func (c MeshCalls) MCPCall(ctx context.Context, server string, tool string, options ...MeshMCPCallOptions) (MeshMcpAnswer, error) {
	params := map[string]any{"server": server, "tool": tool}
	for _, given := range options {
		if given.Args != nil {
			params["args"] = given.Args
		}
		if given.TimeoutS != nil {
			params["timeout_s"] = *given.TimeoutS
		}
	}
	var result MeshMcpAnswer
	err := c.call(ctx, "POST", "/v1/mcp/call", params, true, &result)
	return result, err
}

// MeshGraphQueryOptions are what may be left out of GraphQuery.
type MeshGraphQueryOptions struct {
	// A JSON object with the values of $name.
	Params map[string]any
	// At most so many rows.
	Limit *int64
	// How long a statement may take to read, or to be tried out, in seconds.
	TimeoutS *float64
}

// GraphQuery: Read or write the graph that all members share, in Cypher.

func (c MeshCalls) GraphQuery(ctx context.Context, cypher string, options ...MeshGraphQueryOptions) (MeshGraphResult, error) {
	params := map[string]any{"cypher": cypher}
	for _, given := range options {
		if given.Params != nil {
			params["params"] = given.Params
		}
		if given.Limit != nil {
			params["limit"] = *given.Limit
		}
		if given.TimeoutS != nil {
			params["timeout_s"] = *given.TimeoutS
		}
	}
	var result MeshGraphResult
	err := c.call(ctx, "POST", "/v1/graph/query", params, true, &result)
	return result, err
}

// GraphStatus: Show how large the graph is, how far this peer has applied its log, and what was not applied.

func (c MeshCalls) GraphStatus(ctx context.Context) (MeshGraphStatus, error) {
	params := map[string]any{}
	var result MeshGraphStatus
	err := c.call(ctx, "GET", "/v1/graph/status", params, false, &result)
	return result, err
}
