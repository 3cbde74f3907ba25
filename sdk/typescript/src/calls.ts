// Generated from Covey's contract by `./run python -m sdk.generate`; do not edit.

import type { CallOptions, Client } from "./client.js";
import type * as t from "./types.js";

export interface NodeTmuxAlertOptions extends CallOptions {
  /** For the message line; none if it is empty. */
  text?: string;
  /** Ring the bell of the terminal. */
  bell?: boolean;
}

/** The calls under `tmux`. */
export class NodeTmuxCalls {

  constructor(private readonly client: Client) {
  }

  /** Alert the people at the tmux clients of this machine. */
  alert(options: NodeTmuxAlertOptions = {}): Promise<t.TmuxAlert> {
    return this.client.call("POST", "/v1/tmux/alert", { text: options.text, bell: options.bell }, true, options);
  }
}

export interface NodeTargetAddOptions extends CallOptions {
  /** Host or alias as you would give it to ssh; the name of the target if left out. */
  ssh_target?: string;
}

/** The calls under `target`. */
export class NodeTargetCalls {

  constructor(private readonly client: Client) {
  }

  /** Add a host whose agents are to be observed. */
  add(name: string, kind: "local" | "ssh", options: NodeTargetAddOptions = {}): Promise<t.ConfiguredTarget> {
    return this.client.call("POST", "/v1/targets", { name: name, kind: kind, ssh_target: options.ssh_target }, true, options);
  }

  /** Connect to a target now, and report the result. */
  connect(name: string, options: CallOptions = {}): Promise<t.ConfiguredTarget> {
    return this.client.call("POST", "/v1/targets/{name}/connect", { name: name }, true, options);
  }

  /** List the targets and how well each can be reached. */
  list(options: CallOptions = {}): Promise<t.TargetList> {
    return this.client.call("GET", "/v1/targets", {}, false, options);
  }

  /** Forget a target. Its agents keep running. */
  remove(name: string, options: CallOptions = {}): Promise<t.RemovedTarget> {
    return this.client.call("DELETE", "/v1/targets/{name}", { name: name }, true, options);
  }
}

export interface NodeReceiptsListOptions extends CallOptions {
  /** How many. */
  limit?: number;
}

export interface NodeReceiptsWaitOptions extends CallOptions {
  /** How long to wait at most, such as 10m; without it, for ever. */
  timeout?: string;
}

/** The calls under `receipts`. */
export class NodeReceiptsCalls {

  constructor(private readonly client: Client) {
  }

  /** List the messages that were sent, the latest first. */
  list(options: NodeReceiptsListOptions = {}): Promise<t.ReceiptList> {
    return this.client.call("GET", "/v1/receipts", { limit: options.limit }, false, options);
  }

  /** Wait for the answer to a message. */
  wait(id: string, options: NodeReceiptsWaitOptions = {}): Promise<t.Answer> {
    return this.client.last("/v1/receipts/{id}/wait", { id: id, timeout: options.timeout }, options);
  }

  /** Take back a message that waits for its agent. */
  cancel(id: string, options: CallOptions = {}): Promise<t.Receipt> {
    return this.client.call("POST", "/v1/receipts/{id}/cancel", { id: id }, true, options);
  }
}

export interface NodePolicyExplainOptions extends CallOptions {
  /** Which agent asks, such as claude. */
  agent?: string;
  /** The tool that it wants to use, such as Bash. */
  tool?: string;
  /** The command that it wants to run. */
  command?: string;
  /** A file that it wants to write or read; repeatable. */
  path?: Array<string>;
  /** The whole input of the tool instead, a JSON object. */
  input?: string;
  /** The machine that it runs on. */
  target?: string;
  /** The folder that it works in. */
  folder?: string;
}

export interface NodePolicyTestOptions extends CallOptions {
  /** Tables [[policy.rule]] as TOML, instead of those in force; on the command line a file that holds them, or - for standard input. */
  rules?: string;
  /** How far back: 30d, or 2026-01-31T14:05:00Z. */
  since?: string;
  /** How many requests to list. */
  limit?: number;
}

/** The calls under `policy`. */
export class NodePolicyCalls {

  constructor(private readonly client: Client) {
  }

  /** List the rules of the policy, those that win first, and what is wrong with them. */
  list(options: CallOptions = {}): Promise<t.PolicyRules> {
    return this.client.call("GET", "/v1/policy", {}, false, options);
  }

  /** Show what would be decided about a request, and by which rule. */
  explain(options: NodePolicyExplainOptions = {}): Promise<t.PolicyDecision> {
    return this.client.call("POST", "/v1/policy/explain", { agent: options.agent, tool: options.tool, command: options.command, path: options.path, input: options.input, target: options.target, folder: options.folder }, false, options);
  }

  /** Run a policy over the requests of the past, and show what would have been decided. */
  test(options: NodePolicyTestOptions = {}): Promise<t.PolicyTrial> {
    return this.client.call("POST", "/v1/policy/test", { rules: options.rules, since: options.since, limit: options.limit }, false, options);
  }
}

export interface NodeMeshCreateOptions extends CallOptions {
  /** The name of this member; the name of the host without it. */
  name?: string;
  /** Address of a NATS server to use; repeatable. */
  nats?: Array<string>;
  /** File with the keys of that server's operator. */
  operator?: string;
  /** Copies of each message in a cluster. */
  replicas?: number;
}

export interface NodeMeshJoinOptions extends CallOptions {
  /** The name of this member; the name of the host without it. */
  name?: string;
  /** Another slug than the invite's, if you have one of that name. */
  slug?: string;
}

export interface NodeMeshUpOptions extends CallOptions {
  /** The slug of the mesh; needed if there are several. */
  slug?: string;
  /** All meshes that were joined. */
  all?: boolean;
}

export interface NodeMeshDownOptions extends CallOptions {
  /** The slug of the mesh; needed if there are several. */
  slug?: string;
  /** All meshes that were joined. */
  all?: boolean;
}

export interface NodeMeshExposeOptions extends CallOptions {
  /** Address to listen at, such as 0.0.0.0:4222 or 10.0.0.5; without a port, the one it has. */
  listen?: string;
  /** Address for WebSocket clients, such as 0.0.0.0:8443. */
  websocket?: string;
  /** A host name or address by which others reach it; repeatable. */
  names?: Array<string>;
  /** Listen on loopback only. */
  off?: boolean;
}

/** The calls under `mesh`. */
export class NodeMeshCalls {

  constructor(private readonly client: Client) {
  }

  /** Create a mesh, and be its first member. */
  create(slug: string, options: NodeMeshCreateOptions = {}): Promise<t.JoinedMesh> {
    return this.client.call("POST", "/v1/mesh", { slug: slug, name: options.name, nats: options.nats, operator: options.operator, replicas: options.replicas }, true, options);
  }

  /** Join a mesh with an invite. */
  join(token: string, options: NodeMeshJoinOptions = {}): Promise<t.JoinedMesh> {
    return this.client.call("POST", "/v1/mesh/join", { token: token, name: options.name, slug: options.slug }, true, options);
  }

  /** Leave a mesh: the others are told, and the peer here ends. */
  leave(slug: string, options: CallOptions = {}): Promise<t.LeftMesh> {
    return this.client.call("POST", "/v1/mesh/leave", { slug: slug }, true, options);
  }

  /** Remove a mesh from this machine: keys, inbox, outbox and all. Nobody is told. */
  reset(slug: string, options: CallOptions = {}): Promise<t.ResetMesh> {
    return this.client.call("POST", "/v1/mesh/reset", { slug: slug }, true, options);
  }

  /** Keep a peer running, from now on. */
  up(options: NodeMeshUpOptions = {}): Promise<t.JoinedMeshes> {
    return this.client.call("POST", "/v1/mesh/up", { slug: options.slug, all: options.all }, true, options);
  }

  /** End a peer. It stays down, over restarts of the daemon too, until `covey mesh up`. */
  down(options: NodeMeshDownOptions = {}): Promise<t.JoinedMeshes> {
    return this.client.call("POST", "/v1/mesh/down", { slug: options.slug, all: options.all }, true, options);
  }

  /** List the meshes that were joined, their peers, and the broker. */
  list(options: CallOptions = {}): Promise<t.JoinedMeshes> {
    return this.client.call("GET", "/v1/mesh", {}, false, options);
  }

  /** Open the broker of this home to other machines, with TLS. */
  expose(options: NodeMeshExposeOptions = {}): Promise<t.MeshBroker> {
    return this.client.call("POST", "/v1/mesh/expose", { listen: options.listen, websocket: options.websocket, names: options.names, off: options.off }, true, options);
  }
}

export interface NodeListPanesOptions extends CallOptions {
  /** Only this target. */
  target?: string;
  /** All targets, as without this flag. */
  all_targets?: boolean;
  /** Only this session of this target: <target>/<session>. */
  target_session?: string;
  /** Only sessions of this name. */
  session?: string;
  /** Only this tmux server: its name as for tmux -L, or the path of its socket. */
  socket?: string;
  /** Only agents that work in this folder or below. */
  cwd?: string;
  /** Only agents in this state, or in several with commas between. One of: error, waiting_approval, waiting_input, running, completed, idle, unknown; repeatable. */
  state?: Array<string>;
  /** Only this kind of agent, such as claude; repeatable. */
  agent_type?: Array<string>;
  /** Only agents that wait for a person or have failed. */
  needs_action?: boolean;
  /** The order: agents that need you first, by age, by place, by kind of agent or by folder. */
  sort?: "needs" | "age" | "where" | "agent" | "folder";
  /** On a terminal, show every column: version, pane, whole folder and confidence too. */
  wide?: boolean;
}

export interface NodeListWindowsOptions extends CallOptions {
  /** Only this target. */
  target?: string;
  /** All targets, as without this flag. */
  all_targets?: boolean;
  /** Only this session of this target: <target>/<session>. */
  target_session?: string;
  /** Only sessions of this name. */
  session?: string;
  /** Only this tmux server: its name as for tmux -L, or the path of its socket. */
  socket?: string;
  /** Name the agents of each window and their states. */
  with_agent_status?: boolean;
}

export interface NodeListSessionsOptions extends CallOptions {
  /** Only this target. */
  target?: string;
  /** All targets, as without this flag. */
  all_targets?: boolean;
  /** Only this tmux server: its name as for tmux -L, or the path of its socket. */
  socket?: string;
  /** Count by kind of agent as well. */
  agent_summary?: boolean;
  /** Keep sessions of the same name on different targets apart, or merge them. */
  group_by?: "target-session" | "session-name";
}

/** The calls under `list`. */
export class NodeListCalls {

  constructor(private readonly client: Client) {
  }

  /** List every agent, those that need you first. */
  panes(options: NodeListPanesOptions = {}): Promise<t.AgentList> {
    return this.client.call("GET", "/v1/panes", { target: options.target, all_targets: options.all_targets, target_session: options.target_session, session: options.session, socket: options.socket, cwd: options.cwd, state: options.state, agent_type: options.agent_type, needs_action: options.needs_action, sort: options.sort, wide: options.wide }, false, options);
  }

  /** List the windows that hold agents, with the top state of each. */
  windows(options: NodeListWindowsOptions = {}): Promise<t.WindowList> {
    return this.client.call("GET", "/v1/windows", { target: options.target, all_targets: options.all_targets, target_session: options.target_session, session: options.session, socket: options.socket, with_agent_status: options.with_agent_status }, false, options);
  }

  /** List the sessions that hold agents, with counts by state. */
  sessions(options: NodeListSessionsOptions = {}): Promise<t.SessionList> {
    return this.client.call("GET", "/v1/sessions", { target: options.target, all_targets: options.all_targets, socket: options.socket, agent_summary: options.agent_summary, group_by: options.group_by }, false, options);
  }
}

export interface NodeKeepStartOptions extends CallOptions {
  /** The name of the session; without it, the one of the setting keeper.session. */
  name?: string;
  /** Arguments of the agent's own, after --. */
  args?: Array<string>;
  /** Which agent; claude unless said otherwise. */
  agent?: "claude" | "codex" | "gemini" | "copilot" | "opencode";
  /** The folder in which it works; your own without it. */
  cwd?: string;
  /** A variable for the agent, as NAME=VALUE, or NAME for the daemon's own value; repeatable. Values are kept in Covey's database. */
  env?: Array<string>;
  /** The model, as the agent calls it. */
  model?: string;
  /** The agent's permission mode, in its own words. */
  permission_mode?: string;
  /** Work in a new git worktree of the folder. */
  worktree?: boolean;
  /** The branch of that worktree; made if it is missing. keep/<name> without it. */
  branch?: string;
  /** Start it again after a restart of the machine, too. */
  keep?: boolean;
}

export interface NodeKeepLogsOptions extends CallOptions {
  /** How many records. */
  limit?: number;
}

export interface NodeKeepPathOptions extends CallOptions {
  /** The name of the session; without it, the one of the setting keeper.session. */
  name?: string;
}

/** The calls under `keep`. */
export class NodeKeepCalls {

  constructor(private readonly client: Client) {
  }

  /** Start an agent in a tmux session of its own, and keep it running. */
  start(options: NodeKeepStartOptions = {}): Promise<t.KeptSession> {
    return this.client.call("POST", "/v1/keep", { name: options.name, args: options.args, agent: options.agent, cwd: options.cwd, env: options.env, model: options.model, permission_mode: options.permission_mode, worktree: options.worktree, branch: options.branch, keep: options.keep }, true, options);
  }

  /** End a kept agent and its tmux session. It is not started again. */
  stop(name: string, options: CallOptions = {}): Promise<t.KeptSession> {
    return this.client.call("POST", "/v1/keep/{name}/stop", { name: name }, true, options);
  }

  /** End a kept agent and start it again, with its conversation. */
  restart(name: string, options: CallOptions = {}): Promise<t.KeptSession> {
    return this.client.call("POST", "/v1/keep/{name}/restart", { name: name }, true, options);
  }

  /** List the kept sessions. */
  list(options: CallOptions = {}): Promise<t.KeptSessions> {
    return this.client.call("GET", "/v1/keep", {}, false, options);
  }

  /** Show one kept session: its agent, its channels and what waits for it. */
  status(name: string, options: CallOptions = {}): Promise<t.KeptStatus> {
    return this.client.call("GET", "/v1/keep/{name}", { name: name }, false, options);
  }

  /** Show what happened to a kept session, the latest last. */
  logs(name: string, options: NodeKeepLogsOptions = {}): Promise<t.KeeperRecords> {
    return this.client.call("GET", "/v1/keep/{name}/logs", { name: name, limit: options.limit }, false, options);
  }

  /** Give a kept session another name. */
  rename(name: string, newName: string, options: CallOptions = {}): Promise<t.KeptSession> {
    return this.client.call("POST", "/v1/keep/{name}/rename", { name: name, new_name: newName }, true, options);
  }

  /** Forget a kept session that has ended, and the messages that wait for it. */
  forget(name: string, options: CallOptions = {}): Promise<t.Forgotten> {
    return this.client.call("POST", "/v1/keep/{name}/forget", { name: name }, true, options);
  }

  /** Print the folder with the channels of a kept session. */
  path(options: NodeKeepPathOptions = {}): Promise<t.KeptPath> {
    return this.client.call("GET", "/v1/keep-path", { name: options.name }, false, options);
  }

  /** List the channels of a kept session. */
  channels(name: string, options: CallOptions = {}): Promise<t.KeptChannels> {
    return this.client.call("GET", "/v1/keep/{name}/channels", { name: name }, false, options);
  }

  /** Send a message out on a channel of a kept session, as its agent does with send_to_channel. */
  send(name: string, channel: string, message: string, options: CallOptions = {}): Promise<t.ChannelWrite> {
    return this.client.call("POST", "/v1/keep/{name}/send", { name: name, channel: channel, message: message }, true, options);
  }
}

export interface NodeDialogAnswerOptions extends CallOptions {
  /** once, always or deny for an approval; the number of an option; or, for a question, its text. */
  choice?: string;
  /** Your own words, for a question that takes them. */
  text?: string;
  /** Only if it is the dialog that `covey dialog show` showed. */
  fingerprint?: string;
  /** Only if it is this agent and no later one: runtime:<id> or <id>. */
  if_runtime?: string;
  /** Only if it is in this state, or in one of several; repeatable. */
  if_state?: Array<string>;
  /** Only if its state was confirmed within this time, such as 10s. */
  if_updated_within?: string;
  /** Act although its state is another one, or old. Never on another agent. */
  force_stale?: boolean;
}

/** The calls under `dialog`. */
export class NodeDialogCalls {

  constructor(private readonly client: Client) {
  }

  /** Show what an agent asks on its screen, and the keys that would answer it. */
  show(ref: string, options: CallOptions = {}): Promise<t.ShownDialog> {
    return this.client.call("GET", "/v1/dialog", { ref: ref }, false, options);
  }

  /** Answer what an agent asks on its screen with the keys of a person, or refuse. */
  answer(ref: string, options: NodeDialogAnswerOptions = {}): Promise<t.DialogAnswer> {
    return this.client.call("POST", "/v1/dialog/answer", { ref: ref, choice: options.choice, text: options.text, fingerprint: options.fingerprint, if_runtime: options.if_runtime, if_state: options.if_state, if_updated_within: options.if_updated_within, force_stale: options.force_stale }, true, options);
  }
}

/** The calls under `config`. */
export class NodeConfigCalls {

  constructor(private readonly client: Client) {
  }

  /** List every setting, its value and where it comes from. */
  list(options: CallOptions = {}): Promise<t.SettingList> {
    return this.client.call("GET", "/v1/config", {}, false, options);
  }

  /** Show one setting. */
  get(key: string, options: CallOptions = {}): Promise<t.Setting> {
    return this.client.call("GET", "/v1/config/{key}", { key: key }, false, options);
  }

  /** Change one setting in config.toml, keeping its comments. */
  set(key: string, value: string, options: CallOptions = {}): Promise<t.ChangedSetting> {
    return this.client.call("PUT", "/v1/config/{key}", { key: key, value: value }, true, options);
  }

  /** Remove a setting from config.toml, so that its default applies. */
  unset(key: string, options: CallOptions = {}): Promise<t.ChangedSetting> {
    return this.client.call("DELETE", "/v1/config/{key}", { key: key }, true, options);
  }
}

export interface NodeBeatsHistoryOptions extends CallOptions {
  /** Only those of this beat. */
  name?: string;
  /** Only those with this outcome. */
  outcome?: "ok" | "attention" | "error";
  /** How many runs to list: a whole number from 1 to 1000, such as --limit 20. */
  limit?: number;
}

export interface NodeBeatsResumeOptions extends CallOptions {
  /** Name of a beat. */
  name?: string;
  /** All beats that are paused or parked. */
  all?: boolean;
}

/** The calls under `beats`. */
export class NodeBeatsCalls {

  constructor(private readonly client: Client) {
  }

  /** List the beats: next run, last outcome, streak, cost. */
  list(options: CallOptions = {}): Promise<t.BeatList> {
    return this.client.call("GET", "/v1/beats", {}, false, options);
  }

  /** List past runs, newest first. */
  history(options: NodeBeatsHistoryOptions = {}): Promise<t.BeatRunList> {
    return this.client.call("GET", "/v1/beats/runs", { name: options.name, outcome: options.outcome, limit: options.limit }, false, options);
  }

  /** Show one run: what was said, which tools were called, how long it took and what it cost. */
  show(run: string, options: CallOptions = {}): Promise<t.BeatRunWithTurns> {
    return this.client.call("GET", "/v1/beats/runs/{run}", { run: run }, false, options);
  }

  /** Show what the beats have cost, and what their budgets allow. */
  cost(options: CallOptions = {}): Promise<t.BeatCosts> {
    return this.client.call("GET", "/v1/beats/cost", {}, false, options);
  }

  /** Stop running a beat until it is resumed. */
  pause(name: string, options: CallOptions = {}): Promise<t.Beat> {
    return this.client.call("POST", "/v1/beats/pause", { name: name }, true, options);
  }

  /** Run a beat again that was paused, by hand or by its budget. */
  resume(options: NodeBeatsResumeOptions = {}): Promise<t.ResumedBeats> {
    return this.client.call("POST", "/v1/beats/resume", { name: options.name, all: options.all }, true, options);
  }
}

export interface NodeAuditListOptions extends CallOptions {
  /** Only what happened since then: 1h ago, or 2026-01-31T14:05:00Z. */
  since?: string;
  /** Only calls of this operation, such as send; repeatable. */
  operation?: Array<string>;
  /** Only the last N. */
  limit?: number;
  /** Only entries before this cursor: `earlier` of the answer before. */
  before?: number;
}

/** The calls under `audit`. */
export class NodeAuditCalls {

  constructor(private readonly client: Client) {
  }

  /** Show who did what: each call that changed something, or was refused. */
  list(options: NodeAuditListOptions = {}): Promise<t.AuditTrail> {
    return this.client.call("GET", "/v1/audit", { since: options.since, operation: options.operation, limit: options.limit, before: options.before }, false, options);
  }
}

export interface NodeAttentionListOptions extends CallOptions {
  /** Closed items too. */
  all?: boolean;
  /** How many. */
  limit?: number;
}

/** The calls under `attention`. */
export class NodeAttentionCalls {

  constructor(private readonly client: Client) {
  }

  /** List what needs you, the most blocking and longest waiting first. */
  list(options: NodeAttentionListOptions = {}): Promise<t.AttentionList> {
    return this.client.call("GET", "/v1/attention", { all: options.all, limit: options.limit }, false, options);
  }

  /** Close an item: somebody has seen to it. */
  done(item: string, options: CallOptions = {}): Promise<t.AttentionItem> {
    return this.client.call("POST", "/v1/attention/done", { item: item }, true, options);
  }

  /** Send a test notification through every channel. */
  test(options: CallOptions = {}): Promise<t.ChannelTest> {
    return this.client.call("POST", "/v1/attention/test", {}, true, options);
  }
}

export interface NodeAdaptersExplainOptions extends CallOptions {
  /** Name of an agent program, such as claude; not needed with --pane. */
  agent?: string;
  /** A running agent: %14, api, api:2.1 or runtime:<id>. */
  pane?: string;
  /** The screen as text, also with escapes as capture-pane -e writes it; on the command line a file that holds it, or - for standard input. */
  screen?: string;
  /** Hide every letter and digit that the agent shows. */
  redact?: boolean;
  /** The terminal's title. */
  title?: string;
  /** Version of the agent; without it, the newest that is known. */
  agent_version?: string;
}

/** The calls under `adapters`. */
export class NodeAdaptersCalls {

  constructor(private readonly client: Client) {
  }

  /** List the agent programs that Covey knows, and what it can detect of each. */
  list(options: CallOptions = {}): Promise<t.AdapterList> {
    return this.client.call("GET", "/v1/adapters", {}, false, options);
  }

  /** Read a screen, and report which state it shows and which pattern matched. */
  explain(options: NodeAdaptersExplainOptions = {}): Promise<t.ScreenReport> {
    return this.client.call("POST", "/v1/adapters/explain", { agent: options.agent, pane: options.pane, screen: options.screen, redact: options.redact, title: options.title, agent_version: options.agent_version }, false, options);
  }
}

export interface NodeWatchOptions extends CallOptions {
  /** Only this target. */
  target?: string;
  /** All targets, as without this flag. */
  all_targets?: boolean;
  /** Only this session of this target: <target>/<session>. */
  target_session?: string;
  /** Only sessions of this name. */
  session?: string;
  /** Only this tmux server: its name as for tmux -L, or the path of its socket. */
  socket?: string;
  /** Only agents that work in this folder or below. */
  cwd?: string;
  /** Only agents in this state, or in several with commas between. One of: error, waiting_approval, waiting_input, running, completed, idle, unknown; repeatable. */
  state?: Array<string>;
  /** Only this kind of agent, such as claude; repeatable. */
  agent_type?: Array<string>;
  /** Only agents that wait for a person or have failed. */
  needs_action?: boolean;
  /** What a row stands for. */
  scope?: "panes" | "windows" | "sessions";
  /** How the command line shows it; table on a terminal, else jsonl. */
  format?: "table" | "jsonl";
  /** Repeat the snapshot this often, such as 5s; a table does so every 2s anyway. */
  interval?: string;
  /** Begin with the changes since then: a time, how long ago (10m), or a cursor (cursor:42). */
  since?: string;
  /** Show the snapshot and end. */
  once?: boolean;
}

export interface NodeWaitOptions extends CallOptions {
  /** Which agent: %14, api, api:2.1, host@work/api (in tmux -L work), pane:<target>/<session>/<window>/<pane> or runtime:<id>. */
  ref?: string;
  /** Wait for any agent. */
  any?: boolean;
  /** Wait for all agents that run now. */
  all?: boolean;
  /** The state to wait for, or several with commas between. One of: error, waiting_approval, waiting_input, running, completed, idle, unknown; repeatable. Without it, until the agent needs you, is done or is gone. */
  state?: Array<string>;
  /** How long to wait at most, such as 30s or 10m; without it, for ever. */
  timeout?: string;
}

export interface NodeBarOptions extends CallOptions {
  /** Only this target. */
  target?: string;
  /** For whom. */
  format?: "plain" | "tmux" | "swiftbar";
}

export interface NodeReplayOptions extends CallOptions {
  /** When: a time such as 2026-01-31T14:05:00Z, or how long ago: 10m. */
  at?: string;
  /** Derive all states from the signals again, and compare. */
  check?: boolean;
  /** Check only what happened since then: a time, or how long ago. */
  since?: string;
  /** Only this target. */
  target?: string;
  /** All targets, as without this flag. */
  all_targets?: boolean;
  /** Only this session of this target: <target>/<session>. */
  target_session?: string;
  /** Only sessions of this name. */
  session?: string;
  /** Only this tmux server: its name as for tmux -L, or the path of its socket. */
  socket?: string;
  /** Only agents that work in this folder or below. */
  cwd?: string;
  /** Only agents in this state, or in several with commas between. One of: error, waiting_approval, waiting_input, running, completed, idle, unknown; repeatable. */
  state?: Array<string>;
  /** Only this kind of agent, such as claude; repeatable. */
  agent_type?: Array<string>;
  /** Only agents that wait for a person or have failed. */
  needs_action?: boolean;
  /** The order: agents that need you first, by age, by place, by kind of agent or by folder. */
  sort?: "needs" | "age" | "where" | "agent" | "folder";
  /** On a terminal, show every column: version, pane, whole folder and confidence too. */
  wide?: boolean;
}

export interface NodeSendOptions extends CallOptions {
  /** The message; several lines are one message. */
  text?: string;
  /** On the command line: take the message from this file; - is standard input. */
  file?: string;
  /** Send it although the agent will run it as a command. */
  as_command?: boolean;
  /** Check everything and type nothing, as --dry-run does. */
  check_only?: boolean;
  /** Let it wait instead of refusing it, if the reason may pass. */
  when_ready?: boolean;
  /** On the command line: wait for the answer and print it. */
  wait?: boolean;
  /** How long it may wait, such as 10m; 1h without it. */
  timeout?: string;
  /** Only if it is this agent and no later one: runtime:<id> or <id>. */
  if_runtime?: string;
  /** Only if it is in this state, or in one of several; repeatable. */
  if_state?: Array<string>;
  /** Only if its state was confirmed within this time, such as 10s. */
  if_updated_within?: string;
  /** Act although its state is another one, or old. Never on another agent. */
  force_stale?: boolean;
}

export interface NodeViewOptions extends CallOptions {
  /** Only the last lines. */
  lines?: number;
  /** Show the last prompts and replies from its transcript instead. */
  turn?: boolean;
}

export interface NodeInterruptOptions extends CallOptions {
  /** Only if it is this agent and no later one: runtime:<id> or <id>. */
  if_runtime?: string;
  /** Only if it is in this state, or in one of several; repeatable. */
  if_state?: Array<string>;
  /** Only if its state was confirmed within this time, such as 10s. */
  if_updated_within?: string;
  /** Act although its state is another one, or old. Never on another agent. */
  force_stale?: boolean;
}

export interface NodeKillOptions extends CallOptions {
  /** Which signal. */
  signal?: "INT" | "TERM" | "KILL";
  /** Only if it is this agent and no later one: runtime:<id> or <id>. */
  if_runtime?: string;
  /** Only if it is in this state, or in one of several; repeatable. */
  if_state?: Array<string>;
  /** Only if its state was confirmed within this time, such as 10s. */
  if_updated_within?: string;
  /** Act although its state is another one, or old. Never on another agent. */
  force_stale?: boolean;
}

export interface NodeApprovalsOptions extends CallOptions {
  /** Closed ones too, the latest first. */
  all?: boolean;
  /** How many. */
  limit?: number;
  /** Only agents of this machine: no other host is asked. */
  here?: boolean;
}

export interface NodeApproveOptions extends CallOptions {
  /** Also accept the rule that the agent suggests, so that it does not ask again; Claude Code only. */
  always?: boolean;
  /** Only if this agent asks and no later one: runtime:<id> or <id>. */
  if_runtime?: string;
}

export interface NodeDenyOptions extends CallOptions {
  /** What the model is told. */
  message?: string;
  /** Only if this agent asks and no later one: runtime:<id> or <id>. */
  if_runtime?: string;
}

export interface NodeAnswerOptions extends CallOptions {
  /** An answer that is offered; repeatable. */
  option?: Array<string>;
  /** An answer in your own words. */
  text?: string;
  /** Only if this agent asks and no later one: runtime:<id> or <id>. */
  if_runtime?: string;
}

export interface NodeAwayOptions extends CallOptions {
  /** For how long, such as 2h; without it, until `covey here`. */
  for?: string;
}

export interface NodeBeatOptions extends CallOptions {
  /** The workspace; this folder if left out. */
  path?: string;
  /** Which beat, if the workspace has several. */
  name?: string;
  /** Show each tool call while it runs and the conversation afterwards, and keep that in the log. */
  verbose?: boolean;
}

export interface NodeAttachOptions extends CallOptions {
  /** Only if it is this agent and no later one: runtime:<id> or <id>. */
  if_runtime?: string;
  /** The tmux client that goes there, by its name (#{client_name}), for key bindings; without it, the one that you are in. */
  client?: string;
  /** The values of TMUX and TMUX_PANE where you are, with a comma between; the command line fills it in. */
  tmux?: string;
  /** The terminal that can attach, such as /dev/pts/3; the command line fills it in. */
  terminal?: string;
}

export interface NodeNextOptions extends CallOptions {
  /** The tmux client that goes there, by its name (#{client_name}), for key bindings; without it, the one that you are in. */
  client?: string;
  /** The values of TMUX and TMUX_PANE where you are, with a comma between; the command line fills it in. */
  tmux?: string;
  /** The terminal that can attach, such as /dev/pts/3; the command line fills it in. */
  terminal?: string;
}

export interface NodeBackOptions extends CallOptions {
  /** The tmux client that goes there, by its name (#{client_name}), for key bindings; without it, the one that you are in. */
  client?: string;
  /** The values of TMUX and TMUX_PANE where you are, with a comma between; the command line fills it in. */
  tmux?: string;
}

/** The calls of a Node. */
export class NodeCalls {
  readonly adapters: NodeAdaptersCalls;
  readonly attention: NodeAttentionCalls;
  readonly audit: NodeAuditCalls;
  readonly beats: NodeBeatsCalls;
  readonly config: NodeConfigCalls;
  readonly dialog: NodeDialogCalls;
  readonly keep: NodeKeepCalls;
  readonly list: NodeListCalls;
  readonly mesh: NodeMeshCalls;
  readonly policy: NodePolicyCalls;
  readonly receipts: NodeReceiptsCalls;
  readonly target: NodeTargetCalls;
  readonly tmux: NodeTmuxCalls;

  constructor(private readonly client: Client) {
    this.adapters = new NodeAdaptersCalls(client);
    this.attention = new NodeAttentionCalls(client);
    this.audit = new NodeAuditCalls(client);
    this.beats = new NodeBeatsCalls(client);
    this.config = new NodeConfigCalls(client);
    this.dialog = new NodeDialogCalls(client);
    this.keep = new NodeKeepCalls(client);
    this.list = new NodeListCalls(client);
    this.mesh = new NodeMeshCalls(client);
    this.policy = new NodePolicyCalls(client);
    this.receipts = new NodeReceiptsCalls(client);
    this.target = new NodeTargetCalls(client);
    this.tmux = new NodeTmuxCalls(client);
  }

  /** Stop the daemon. */
  down(options: CallOptions = {}): Promise<t.StoppedDaemon> {
    return this.client.call("POST", "/v1/down", {}, true, options);
  }

  /** Show the status of the daemon. */
  status(options: CallOptions = {}): Promise<t.Status> {
    return this.client.call("GET", "/v1/status", {}, false, options);
  }

  /** Check whether the daemon answers. */
  health(options: CallOptions = {}): Promise<t.HealthCheck> {
    return this.client.call("GET", "/v1/health", {}, false, options);
  }

  /** Read the configuration again. */
  reload(options: CallOptions = {}): Promise<t.ReloadedConfig> {
    return this.client.call("POST", "/v1/reload", {}, true, options);
  }

  /** Print the metrics for Prometheus. */
  metrics(options: CallOptions = {}): Promise<string> {
    return this.client.call("GET", "/v1/metrics", {}, false, options);
  }

  /** Print the OpenAPI document of the local API. */
  openapi(options: CallOptions = {}): Promise<Record<string, unknown>> {
    return this.client.call("GET", "/v1/openapi.json", {}, false, options);
  }

  /** Find what is missing or wrong, and the command that fixes it. */
  doctor(options: CallOptions = {}): Promise<t.Diagnosis> {
    return this.client.call("GET", "/v1/doctor", {}, false, options);
  }

  /** Copy the daemon's database to a new file, while it runs. */
  backup(path: string, options: CallOptions = {}): Promise<t.Backup> {
    return this.client.call("POST", "/v1/backup", { path: path }, true, options);
  }

  /** Show the agents, and every change as it comes. */
  watch(options: NodeWatchOptions = {}): AsyncGenerator<t.WatchMessage, void> {
    return this.client.iterate("/v1/watch", { target: options.target, all_targets: options.all_targets, target_session: options.target_session, session: options.session, socket: options.socket, cwd: options.cwd, state: options.state, agent_type: options.agent_type, needs_action: options.needs_action, scope: options.scope, format: options.format, interval: options.interval, since: options.since, once: options.once }, options);
  }

  /** Explain the state of an agent: which source decided, which agree, which were overruled. */
  why(ref: string, options: CallOptions = {}): Promise<t.Explanation> {
    return this.client.call("GET", "/v1/why", { ref: ref }, false, options);
  }

  /** Tell which conversation an agent has, and in which file it keeps it. */
  conversation(ref: string, options: CallOptions = {}): Promise<t.Conversation> {
    return this.client.call("GET", "/v1/conversation", { ref: ref }, false, options);
  }

  /** Wait until an agent needs you or is done, or is in a state. */
  wait(options: NodeWaitOptions = {}): Promise<t.WaitResult> {
    return this.client.last("/v1/wait", { ref: options.ref, any: options.any, all: options.all, state: options.state, timeout: options.timeout }, options);
  }

  /** Print the fleet on one line, for a status bar. */
  bar(options: NodeBarOptions = {}): Promise<t.StatusBar> {
    return this.client.call("GET", "/v1/bar", { target: options.target, format: options.format }, false, options);
  }

  /** Tell which agent has started a process. */
  origin(pid: number, options: CallOptions = {}): Promise<t.Origin> {
    return this.client.call("GET", "/v1/origin", { pid: pid }, false, options);
  }

  /** Show the fleet as it was at a time, or check that its states follow from the recorded signals. */
  replay(options: NodeReplayOptions = {}): Promise<t.PastAgentList | t.ReplayCheck> {
    return this.client.call("GET", "/v1/replay", { at: options.at, check: options.check, since: options.since, target: options.target, all_targets: options.all_targets, target_session: options.target_session, session: options.session, socket: options.socket, cwd: options.cwd, state: options.state, agent_type: options.agent_type, needs_action: options.needs_action, sort: options.sort, wide: options.wide }, false, options);
  }

  /** Send a message to one agent, or refuse. */
  send(ref: string, options: NodeSendOptions = {}): Promise<t.SendResult> {
    return this.client.call("POST", "/v1/send", { ref: ref, text: options.text, file: options.file, as_command: options.as_command, check_only: options.check_only, when_ready: options.when_ready, wait: options.wait, timeout: options.timeout, if_runtime: options.if_runtime, if_state: options.if_state, if_updated_within: options.if_updated_within, force_stale: options.force_stale }, true, options);
  }

  /** Show the screen of one agent, or its last turns. */
  view(ref: string, options: NodeViewOptions = {}): Promise<t.AgentScreen> {
    return this.client.call("GET", "/v1/view", { ref: ref, lines: options.lines, turn: options.turn }, false, options);
  }

  /** Stop the turn of one agent, as a person at its terminal would. */
  interrupt(ref: string, options: NodeInterruptOptions = {}): Promise<t.Interruption> {
    return this.client.call("POST", "/v1/interrupt", { ref: ref, if_runtime: options.if_runtime, if_state: options.if_state, if_updated_within: options.if_updated_within, force_stale: options.force_stale }, true, options);
  }

  /** Send a signal to one agent. */
  kill(ref: string, options: NodeKillOptions = {}): Promise<t.Killed> {
    return this.client.call("POST", "/v1/kill", { ref: ref, signal: options.signal, if_runtime: options.if_runtime, if_state: options.if_state, if_updated_within: options.if_updated_within, force_stale: options.force_stale }, true, options);
  }

  /** List what agents ask you and Covey can answer, the oldest first. */
  approvals(options: NodeApprovalsOptions = {}): Promise<t.ApprovalList> {
    return this.client.call("GET", "/v1/approvals", { all: options.all, limit: options.limit, here: options.here }, false, options);
  }

  /** Let one agent do what it asks for. */
  approve(ref: string, options: NodeApproveOptions = {}): Promise<t.Approval> {
    return this.client.call("POST", "/v1/approve", { ref: ref, always: options.always, if_runtime: options.if_runtime }, true, options);
  }

  /** Refuse what one agent asks for. Its turn goes on. */
  deny(ref: string, options: NodeDenyOptions = {}): Promise<t.Approval> {
    return this.client.call("POST", "/v1/deny", { ref: ref, message: options.message, if_runtime: options.if_runtime }, true, options);
  }

  /** Answer the question of one agent. */
  answer(ref: string, options: NodeAnswerOptions = {}): Promise<t.Approval> {
    return this.client.call("POST", "/v1/answer", { ref: ref, option: options.option, text: options.text, if_runtime: options.if_runtime }, true, options);
  }

  /** Say that you are away from your terminals: what agents ask waits for `covey approve`. */
  away(options: NodeAwayOptions = {}): Promise<t.Presence> {
    return this.client.call("POST", "/v1/away", { for: options.for }, true, options);
  }

  /** Say that you are back: agents show their dialogs again. */
  here(options: CallOptions = {}): Promise<t.Presence> {
    return this.client.call("POST", "/v1/here", {}, true, options);
  }

  /** Run a heartbeat now, and show what it found. */
  beat(options: NodeBeatOptions = {}): Promise<t.RequestedBeatRun> {
    return this.client.call("POST", "/v1/beats/run", { path: options.path, name: options.name, verbose: options.verbose }, true, options);
  }

  /** Go to the pane of one agent. */
  attach(ref: string, options: NodeAttachOptions = {}): Promise<t.Attachment> {
    return this.client.call("POST", "/v1/attach", { ref: ref, if_runtime: options.if_runtime, client: options.client, tmux: options.tmux, terminal: options.terminal }, true, options);
  }

  /** Go to the agent that needs you most; again: to the one after it. */
  next(options: NodeNextOptions = {}): Promise<t.Next> {
    return this.client.call("POST", "/v1/next", { client: options.client, tmux: options.tmux, terminal: options.terminal }, true, options);
  }

  /** Return to where you were before `covey next` or `covey attach`. */
  back(options: NodeBackOptions = {}): Promise<t.Back> {
    return this.client.call("POST", "/v1/back", { client: options.client, tmux: options.tmux }, true, options);
  }
}

export interface MeshVectorStoreOptions extends CallOptions {
  /** A JSON object, such as {"lang": "go"}. */
  metadata?: Record<string, unknown>;
}

export interface MeshVectorSearchOptions extends CallOptions {
  /** A JSON object: fields of the metadata with the value, or a list of values, that they must have: {"lang": "go", "kind": ["doc", "code"]}. */
  filter?: Record<string, unknown>;
  /** At most so many. */
  limit?: number;
}

export interface MeshVectorReembedOptions extends CallOptions {
  /** Only the texts of this collection. */
  collection?: string;
}

/** The calls under `vector`. */
export class MeshVectorCalls {

  constructor(private readonly client: Client) {
  }

  /** Store a text in a collection. */
  store(collection: string, text: string, options: MeshVectorStoreOptions = {}): Promise<t.MeshVectorStored> {
    return this.client.call("POST", "/v1/vector/store", { collection: collection, text: text, metadata: options.metadata }, true, options);
  }

  /** Search a collection by meaning. */
  search(collection: string, q: string, options: MeshVectorSearchOptions = {}): Promise<t.MeshVectorHits> {
    return this.client.call("GET", "/v1/vector/search", { collection: collection, q: q, filter: options.filter, limit: options.limit }, false, options);
  }

  /** Delete a text of a collection for everybody. */
  delete(collection: string, id: string, options: CallOptions = {}): Promise<t.MeshVectorDeleted> {
    return this.client.call("POST", "/v1/vector/delete", { collection: collection, id: id }, true, options);
  }

  /** List the collections. */
  collections(options: CallOptions = {}): Promise<t.MeshCollections> {
    return this.client.call("GET", "/v1/vector/collections", {}, false, options);
  }

  /** Give every text a vector of the configured model. */
  reembed(options: MeshVectorReembedOptions = {}): Promise<t.MeshReembedding> {
    return this.client.call("POST", "/v1/vector/reembed", { collection: options.collection }, true, options);
  }
}

export interface MeshTopicPostOptions extends CallOptions {
  /** now: at once, next: when the recipient is free, low: when somebody looks. */
  priority?: "now" | "next" | "low";
  /** Name or key of a member that is mentioned; repeatable. */
  mentions?: Array<string>;
  /** A JSON object for programs at the other end. */
  meta?: Record<string, unknown>;
  /** The id of the message that this one answers. */
  reply_to_id?: string;
}

/** The calls under `topic`. */
export class MeshTopicCalls {

  constructor(private readonly client: Client) {
  }

  /** Post a message to a topic. */
  post(topic: string, message: string, options: MeshTopicPostOptions = {}): Promise<t.MeshSendAnswer> {
    return this.client.call("POST", "/v1/topic/post", { topic: topic, message: message, priority: options.priority, mentions: options.mentions, meta: options.meta, reply_to_id: options.reply_to_id }, true, options);
  }

  /** Subscribe to a topic: its messages come into the inbox from now on. */
  subscribe(topic: string, options: CallOptions = {}): Promise<t.MeshTopic> {
    return this.client.call("POST", "/v1/topic/subscribe", { topic: topic }, true, options);
  }

  /** Do not receive the messages of a topic any more. Those in the inbox stay. */
  unsubscribe(topic: string, options: CallOptions = {}): Promise<t.MeshTopic> {
    return this.client.call("POST", "/v1/topic/unsubscribe", { topic: topic }, true, options);
  }

  /** List the topics that this peer subscribes to or has posted to. */
  list(options: CallOptions = {}): Promise<t.MeshTopics> {
    return this.client.call("GET", "/v1/topic/list", {}, false, options);
  }
}

export interface MeshTaskCreateOptions extends CallOptions {
  /** What one has to know to do it. */
  description?: string;
  /** Only for @name, @name/agent or @group; without it, for anybody. */
  assignee?: string;
  /** now: before all others, next: as they come, low: when there is nothing else. */
  priority?: "now" | "next" | "low";
  /** A word to find it by; repeatable. */
  tags?: Array<string>;
  /** The id of a task that has to be completed before; repeatable. */
  depends_on?: Array<string>;
  /** The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node sees it. */
  as_agent?: string;
}

export interface MeshTaskTakeOptions extends CallOptions {
  /** Only with this tag; repeatable, all have to match. */
  tags?: Array<string>;
  /** How long it is yours unless it is renewed, such as 10m, at most 7d. */
  ttl?: string;
  /** Wait so long for one, such as 5m. One call waits at most 25 s; the command line goes on asking. */
  wait?: string;
  /** The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node sees it. */
  as_agent?: string;
}

export interface MeshTaskClaimOptions extends CallOptions {
  /** How long it is yours unless it is renewed, such as 10m, at most 7d. */
  ttl?: string;
  /** The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node sees it. */
  as_agent?: string;
}

export interface MeshTaskRenewOptions extends CallOptions {
  /** How long it is yours unless it is renewed, such as 10m, at most 7d. */
  ttl?: string;
  /** The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node sees it. */
  as_agent?: string;
}

export interface MeshTaskCompleteOptions extends CallOptions {
  /** What came of it: any JSON value, text on the command line. */
  result?: unknown;
  /** The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node sees it. */
  as_agent?: string;
}

export interface MeshTaskFailOptions extends CallOptions {
  /** Why. */
  reason?: string;
  /** The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node sees it. */
  as_agent?: string;
}

export interface MeshTaskReleaseOptions extends CallOptions {
  /** The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node sees it. */
  as_agent?: string;
}

export interface MeshTaskAssignOptions extends CallOptions {
  /** @name, @name/agent or @group; without it, anybody may claim it. */
  assignee?: string;
  /** The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node sees it. */
  as_agent?: string;
}

export interface MeshTaskListOptions extends CallOptions {
  /** Only with this status; repeatable. */
  status?: Array<"open" | "claimed" | "completed" | "failed">;
  /** Only those that this member has claimed. */
  mine?: boolean;
  /** Only with this tag; repeatable, all have to match. */
  tags?: Array<string>;
  /** Tasks after this one: the `next` of the answer before. */
  after?: string;
  /** At most so many. */
  limit?: number;
}

/** The calls under `task`. */
export class MeshTaskCalls {

  constructor(private readonly client: Client) {
  }

  /** Create a task that a member of the mesh or its agent can claim. */
  create(title: string, options: MeshTaskCreateOptions = {}): Promise<t.MeshTask> {
    return this.client.call("POST", "/v1/task/create", { title: title, description: options.description, assignee: options.assignee, priority: options.priority, tags: options.tags, depends_on: options.depends_on, as_agent: options.as_agent }, true, options);
  }

  /** Claim the best open task: by priority, then the oldest one. */
  take(options: MeshTaskTakeOptions = {}): Promise<t.MeshTaskTaken> {
    return this.client.call("POST", "/v1/task/take", { tags: options.tags, ttl: options.ttl, wait: options.wait, as_agent: options.as_agent }, true, options);
  }

  /** Claim a task: of several who do so, exactly one gets it. */
  claim(id: string, options: MeshTaskClaimOptions = {}): Promise<t.MeshTask> {
    return this.client.call("POST", "/v1/task/claim", { id: id, ttl: options.ttl, as_agent: options.as_agent }, true, options);
  }

  /** Keep a claimed task for longer. */
  renew(id: string, options: MeshTaskRenewOptions = {}): Promise<t.MeshTask> {
    return this.client.call("POST", "/v1/task/renew", { id: id, ttl: options.ttl, as_agent: options.as_agent }, true, options);
  }

  /** Say that a task is done, with its result. */
  complete(id: string, options: MeshTaskCompleteOptions = {}): Promise<t.MeshTask> {
    return this.client.call("POST", "/v1/task/complete", { id: id, result: options.result, as_agent: options.as_agent }, true, options);
  }

  /** Give a task up: it cannot be done, or is not wanted any more. */
  fail(id: string, options: MeshTaskFailOptions = {}): Promise<t.MeshTask> {
    return this.client.call("POST", "/v1/task/fail", { id: id, reason: options.reason, as_agent: options.as_agent }, true, options);
  }

  /** Make a task open again: give back its claim, or have a failed one tried again. */
  release(id: string, options: MeshTaskReleaseOptions = {}): Promise<t.MeshTask> {
    return this.client.call("POST", "/v1/task/release", { id: id, as_agent: options.as_agent }, true, options);
  }

  /** Assign a task to somebody else, or to anybody. */
  assign(id: string, options: MeshTaskAssignOptions = {}): Promise<t.MeshTask> {
    return this.client.call("POST", "/v1/task/assign", { id: id, assignee: options.assignee, as_agent: options.as_agent }, true, options);
  }

  /** Show a task. */
  show(id: string, options: CallOptions = {}): Promise<t.MeshTask> {
    return this.client.call("GET", "/v1/task/show", { id: id }, false, options);
  }

  /** List tasks: those that are to be done, or those with a status. */
  list(options: MeshTaskListOptions = {}): Promise<t.MeshTasks> {
    return this.client.call("GET", "/v1/task/list", { status: options.status, mine: options.mine, tags: options.tags, after: options.after, limit: options.limit }, false, options);
  }
}

export interface MeshStateSetOptions extends CallOptions {
  /** mesh: all members share it; member: it is sealed for this member alone, on all its hosts. */
  scope?: "mesh" | "member";
  /** Only if the value still has this revision; 0: only if there is none. Otherwise it is a conflict. */
  expect?: number;
}

export interface MeshStateGetOptions extends CallOptions {
  /** mesh: all members share it; member: it is sealed for this member alone, on all its hosts. */
  scope?: "mesh" | "member";
}

export interface MeshStateListOptions extends CallOptions {
  /** Keys that begin so. */
  prefix?: string;
  /** Of the mesh, of this member, or both without it. */
  scope?: "mesh" | "member";
  /** Keys after this one: the `next` of the answer before. */
  after?: string;
  /** At most so many. */
  limit?: number;
}

export interface MeshStateDeleteOptions extends CallOptions {
  /** mesh: all members share it; member: it is sealed for this member alone, on all its hosts. */
  scope?: "mesh" | "member";
  /** Only if the value still has this revision; 0: only if there is none. Otherwise it is a conflict. */
  expect?: number;
}

/** The calls under `state`. */
export class MeshStateCalls {

  constructor(private readonly client: Client) {
  }

  /** Set a value of the state that all members share. */
  set(key: string, value: unknown, options: MeshStateSetOptions = {}): Promise<t.MeshStateEntry> {
    return this.client.call("POST", "/v1/state/set", { key: key, value: value, scope: options.scope, expect: options.expect }, true, options);
  }

  /** Return a value of the shared state. */
  get(key: string, options: MeshStateGetOptions = {}): Promise<t.MeshStateEntry> {
    return this.client.call("GET", "/v1/state/get", { key: key, scope: options.scope }, false, options);
  }

  /** List the values of the shared state, by key. */
  list(options: MeshStateListOptions = {}): Promise<t.MeshState> {
    return this.client.call("GET", "/v1/state/list", { prefix: options.prefix, scope: options.scope, after: options.after, limit: options.limit }, false, options);
  }

  /** Delete a value of the shared state. */
  delete(key: string, options: MeshStateDeleteOptions = {}): Promise<t.MeshStateDeleted> {
    return this.client.call("POST", "/v1/state/delete", { key: key, scope: options.scope, expect: options.expect }, true, options);
  }
}

export interface MeshSkillDeployOptions extends CallOptions {
  /** Another name than its SKILL.md says. */
  name?: string;
  /** Another version; without any, it is the hash of its files. */
  skill_version?: string;
  /** Another description. */
  description?: string;
}

export interface MeshSkillShowOptions extends CallOptions {
  /** The file to show. */
  part?: string;
}

export interface MeshSkillInstallOptions extends CallOptions {
  /** For which agent. */
  agent?: "claude" | "codex" | "gemini" | "opencode";
  /** The folder of the project; on the command line the current one. */
  project?: string;
  /** For all projects of this user. */
  user?: boolean;
  /** Another folder of skills than the agent's. */
  folder?: string;
  /** Only if this is the `plan` that was shown. */
  expect?: string;
  /** Show what would be written, and write nothing. */
  check_only?: boolean;
}

export interface MeshSkillUninstallOptions extends CallOptions {
  /** Where it is, if it is installed several times. */
  path?: string;
}

/** The calls under `skill`. */
export class MeshSkillCalls {

  constructor(private readonly client: Client) {
  }

  /** Share the skill in a folder with all members. */
  deploy(path: string, options: MeshSkillDeployOptions = {}): Promise<t.MeshSkillDeployed> {
    return this.client.call("POST", "/v1/skill/deploy", { path: path, name: options.name, skill_version: options.skill_version, description: options.description }, true, options);
  }

  /** Share the manifest of a skill by itself: what there is, to be asked for. */
  share(name: string, manifest: Record<string, unknown>, options: CallOptions = {}): Promise<t.MeshSkill> {
    return this.client.call("POST", "/v1/skill/share", { name: name, manifest: manifest }, true, options);
  }

  /** List the skills that members share, and those that are installed from here. */
  list(options: CallOptions = {}): Promise<t.MeshSkills> {
    return this.client.call("GET", "/v1/skill/list", {}, false, options);
  }

  /** Show a skill: its author, its files, and what is in one of them. */
  show(skill: string, options: MeshSkillShowOptions = {}): Promise<t.MeshSkillShown> {
    return this.client.call("GET", "/v1/skill/show", { skill: skill, part: options.part }, false, options);
  }

  /** Install a skill for an agent, after showing who has signed it and what is written where. */
  install(skill: string, options: MeshSkillInstallOptions = {}): Promise<t.MeshSkillPlan> {
    return this.client.call("POST", "/v1/skill/install", { skill: skill, agent: options.agent, project: options.project, user: options.user, folder: options.folder, expect: options.expect, check_only: options.check_only }, true, options);
  }

  /** Remove an installed skill. Files that were changed since are kept, and named. */
  uninstall(skill: string, options: MeshSkillUninstallOptions = {}): Promise<t.MeshSkillUninstalled> {
    return this.client.call("POST", "/v1/skill/uninstall", { skill: skill, path: options.path }, true, options);
  }

  /** Take a skill of one's own back. Where it is installed it stays. */
  remove(skill: string, options: CallOptions = {}): Promise<t.MeshSkillRemoved> {
    return this.client.call("POST", "/v1/skill/remove", { skill: skill }, true, options);
  }
}

export interface MeshServicesExportOptions extends CallOptions {
  /** Only this service, such as memory; repeatable. */
  service?: Array<string>;
}

export interface MeshServicesImportOptions extends CallOptions {
  /** Only this service, such as memory; repeatable. */
  service?: Array<string>;
  /** Replace what is there with another value. */
  replace?: boolean;
}

/** The calls under `services`. */
export class MeshServicesCalls {

  constructor(private readonly client: Client) {
  }

  /** Show what each service keeps, and whether the replica here is complete. */
  list(options: CallOptions = {}): Promise<t.MeshServices> {
    return this.client.call("GET", "/v1/services", {}, false, options);
  }

  /** Write what the members share to a file, a JSON object in each line. */
  export(path: string, options: MeshServicesExportOptions = {}): Promise<t.MeshExport> {
    return this.client.call("POST", "/v1/services/export", { path: path, service: options.service }, true, options);
  }

  /** Share what such a file holds, as this member. */
  import(path: string, options: MeshServicesImportOptions = {}): Promise<t.MeshImport> {
    return this.client.call("POST", "/v1/services/import", { path: path, service: options.service, replace: options.replace }, true, options);
  }
}

export interface MeshReminderListOptions extends CallOptions {
  /** At most so many. */
  limit?: number;
}

/** The calls under `reminder`. */
export class MeshReminderCalls {

  constructor(private readonly client: Client) {
  }

  /** List reminders, the next one first. */
  list(options: MeshReminderListOptions = {}): Promise<t.MeshReminders> {
    return this.client.call("GET", "/v1/scheduling/reminders", { limit: options.limit }, false, options);
  }

  /** Cancel a reminder of yours. */
  cancel(id: string, options: CallOptions = {}): Promise<t.MeshReminder> {
    return this.client.call("POST", "/v1/scheduling/cancel", { id: id }, true, options);
  }
}

export interface MeshOutboxListOptions extends CallOptions {
  /** Only those in this state; without it, pending, inflight and dead ones. */
  status?: "pending" | "inflight" | "done" | "dead" | "dropped";
  /** At most so many. */
  limit?: number;
}

export interface MeshOutboxRequeueOptions extends CallOptions {
  /** The id of a message; repeatable. */
  id?: Array<string>;
  /** All messages that are dead. */
  all?: boolean;
}

export interface MeshOutboxDropOptions extends CallOptions {
  /** The id of a message; repeatable. */
  id?: Array<string>;
  /** All messages that are dead. */
  all?: boolean;
}

/** The calls under `outbox`. */
export class MeshOutboxCalls {

  constructor(private readonly client: Client) {
  }

  /** List the messages that were sent from here, and those that were given up. */
  list(options: MeshOutboxListOptions = {}): Promise<t.MeshOutbox> {
    return this.client.call("GET", "/v1/outbox", { status: options.status, limit: options.limit }, false, options);
  }

  /** Try to send messages that were given up once more. */
  requeue(options: MeshOutboxRequeueOptions = {}): Promise<t.MeshRequeued> {
    return this.client.call("POST", "/v1/outbox/requeue", { id: options.id, all: options.all }, true, options);
  }

  /** Drop messages that were not sent. The recipient's peer is told that they will not come. */
  drop(options: MeshOutboxDropOptions = {}): Promise<t.MeshDropped> {
    return this.client.call("POST", "/v1/outbox/drop", { id: options.id, all: options.all }, true, options);
  }
}

export interface MeshMemoryRememberOptions extends CallOptions {
  /** A tag, such as deploy; repeatable. */
  tags?: Array<string>;
}

export interface MeshMemoryRecallOptions extends CallOptions {
  /** Only those with this tag; repeatable: with all of them. */
  tags?: Array<string>;
  /** At most so many. */
  limit?: number;
}

export interface MeshMemoryListOptions extends CallOptions {
  /** Only those with this tag; repeatable: with all of them. */
  tags?: Array<string>;
  /** Those after this one: the `next` of the answer before. */
  after?: string;
  /** At most so many. */
  limit?: number;
}

/** The calls under `memory`. */
export class MeshMemoryCalls {

  constructor(private readonly client: Client) {
  }

  /** Remember a text for all members. */
  remember(content: string, options: MeshMemoryRememberOptions = {}): Promise<t.MeshMemoryRemembered> {
    return this.client.call("POST", "/v1/memory/remember", { content: content, tags: options.tags }, true, options);
  }

  /** Find what was remembered, by its words and its meaning. */
  recall(q: string, options: MeshMemoryRecallOptions = {}): Promise<t.MeshRecall> {
    return this.client.call("GET", "/v1/memory/recall", { q: q, tags: options.tags, limit: options.limit }, false, options);
  }

  /** List what was remembered, the newest first. */
  list(options: MeshMemoryListOptions = {}): Promise<t.MeshMemories> {
    return this.client.call("GET", "/v1/memory/list", { tags: options.tags, after: options.after, limit: options.limit }, false, options);
  }

  /** Delete a memory for everybody. */
  forget(id: string, options: CallOptions = {}): Promise<t.MeshMemoryForgotten> {
    return this.client.call("POST", "/v1/memory/forget", { id: id }, true, options);
  }

  /** Give every memory a vector of the configured model. */
  reembed(options: CallOptions = {}): Promise<t.MeshReembedding> {
    return this.client.call("POST", "/v1/memory/reembed", {}, true, options);
  }
}

export interface MeshMcpRegisterOptions extends CallOptions {
  /** What it is for. */
  description?: string;
  /** A tool that may be called; repeatable. * is every tool it has now. */
  tools?: Array<string>;
  /** A member that may call it, such as @bob; repeatable. All without it. */
  members?: Array<string>;
}

export interface MeshMcpListOptions extends CallOptions {
  /** Only this one, with the schemas of its tools. */
  server?: string;
}

export interface MeshMcpCallOptions extends CallOptions {
  /** Its arguments, a JSON object. */
  args?: Record<string, unknown>;
  /** How long it may take, in seconds. */
  timeout_s?: number;
}

/** The calls under `mcp`. */
export class MeshMcpCalls {

  constructor(private readonly client: Client) {
  }

  /** Offer tools of an MCP server of one's own to the members of the mesh. */
  register(serverName: string, transport: Record<string, unknown>, options: MeshMcpRegisterOptions = {}): Promise<t.MeshMcpServer> {
    return this.client.call("POST", "/v1/mcp/register", { server_name: serverName, transport: transport, description: options.description, tools: options.tools, members: options.members }, true, options);
  }

  /** Take an MCP server of one's own back: nobody can call it any more. */
  unregister(serverName: string, options: CallOptions = {}): Promise<t.MeshMcpUnregistered> {
    return this.client.call("POST", "/v1/mcp/unregister", { server_name: serverName }, true, options);
  }

  /** List the tools that members offer; with a server, its tools with their schemas. */
  list(options: MeshMcpListOptions = {}): Promise<t.MeshMcpServers> {
    return this.client.call("GET", "/v1/mcp/list", { server: options.server }, false, options);
  }

  /** Call a tool that a member offers, and return its answer. */
  call(server: string, tool: string, options: MeshMcpCallOptions = {}): Promise<t.MeshMcpAnswer> {
    return this.client.call("POST", "/v1/mcp/call", { server: server, tool: tool, args: options.args, timeout_s: options.timeout_s }, true, options);
  }
}

export interface MeshLeaseAcquireOptions extends CallOptions {
  /** A name of your choice, such as deploy/web. */
  name?: string;
  /** A file instead of a name. In a git repository it is named by the repository and the path in it, so that other hosts mean the same. */
  path?: string;
  /** How long it is yours unless it is renewed, such as 10m, at most 7d. */
  ttl?: string;
  /** What you do, for others to see. */
  note?: string;
  /** Wait so long for one, such as 5m. One call waits at most 25 s; the command line goes on asking. */
  wait?: string;
  /** The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node sees it. */
  as_agent?: string;
}

export interface MeshLeaseRenewOptions extends CallOptions {
  /** A name of your choice, such as deploy/web. */
  name?: string;
  /** A file instead of a name. In a git repository it is named by the repository and the path in it, so that other hosts mean the same. */
  path?: string;
  /** How long it is yours unless it is renewed, such as 10m, at most 7d. */
  ttl?: string;
  /** The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node sees it. */
  as_agent?: string;
}

export interface MeshLeaseReleaseOptions extends CallOptions {
  /** A name of your choice, such as deploy/web. */
  name?: string;
  /** A file instead of a name. In a git repository it is named by the repository and the path in it, so that other hosts mean the same. */
  path?: string;
  /** The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node sees it. */
  as_agent?: string;
}

export interface MeshLeaseListOptions extends CallOptions {
  /** Names that begin so. */
  prefix?: string;
  /** Names after this one: the `next` of the answer before. */
  after?: string;
  /** At most so many. */
  limit?: number;
}

/** The calls under `lease`. */
export class MeshLeaseCalls {

  constructor(private readonly client: Client) {
  }

  /** Acquire a lease on a name or a file: of several who do so, exactly one gets it. */
  acquire(options: MeshLeaseAcquireOptions = {}): Promise<t.MeshLease> {
    return this.client.call("POST", "/v1/lease/acquire", { name: options.name, path: options.path, ttl: options.ttl, note: options.note, wait: options.wait, as_agent: options.as_agent }, true, options);
  }

  /** Keep a lease for longer. */
  renew(options: MeshLeaseRenewOptions = {}): Promise<t.MeshLease> {
    return this.client.call("POST", "/v1/lease/renew", { name: options.name, path: options.path, ttl: options.ttl, as_agent: options.as_agent }, true, options);
  }

  /** Give a lease back. */
  release(options: MeshLeaseReleaseOptions = {}): Promise<t.MeshLease> {
    return this.client.call("POST", "/v1/lease/release", { name: options.name, path: options.path, as_agent: options.as_agent }, true, options);
  }

  /** List the leases that somebody has now, by name. */
  list(options: MeshLeaseListOptions = {}): Promise<t.MeshLeases> {
    return this.client.call("GET", "/v1/lease/list", { prefix: options.prefix, after: options.after, limit: options.limit }, false, options);
  }
}

/** The calls under `keys`. */
export class MeshKeysCalls {

  constructor(private readonly client: Client) {
  }

  /** Make a new key with which messages to this member are sealed. Messages under way can still be read. */
  rotate(options: CallOptions = {}): Promise<t.MeshKeyRotated> {
    return this.client.call("POST", "/v1/keys/rotate", {}, true, options);
  }
}

export interface MeshGroupsJoinOptions extends CallOptions {
  /** The role in the group, such as lead. */
  role?: string;
}

/** The calls under `groups`. */
export class MeshGroupsCalls {

  constructor(private readonly client: Client) {
  }

  /** Join a group: messages to @group come here too. */
  join(name: string, options: MeshGroupsJoinOptions = {}): Promise<t.MeshGroups> {
    return this.client.call("POST", "/v1/groups/join", { name: name, role: options.role }, true, options);
  }

  /** Leave a group. */
  leave(name: string, options: CallOptions = {}): Promise<t.MeshGroups> {
    return this.client.call("POST", "/v1/groups/leave", { name: name }, true, options);
  }
}

export interface MeshGraphQueryOptions extends CallOptions {
  /** A JSON object with the values of $name. */
  params?: Record<string, unknown>;
  /** At most so many rows. */
  limit?: number;
  /** How long a statement may take to read, or to be tried out, in seconds. */
  timeout_s?: number;
}

/** The calls under `graph`. */
export class MeshGraphCalls {

  constructor(private readonly client: Client) {
  }

  /** Read or write the graph that all members share, in Cypher. */
  query(cypher: string, options: MeshGraphQueryOptions = {}): Promise<t.MeshGraphResult> {
    return this.client.call("POST", "/v1/graph/query", { cypher: cypher, params: options.params, limit: options.limit, timeout_s: options.timeout_s }, true, options);
  }

  /** Show how large the graph is, how far this peer has applied its log, and what was not applied. */
  status(options: CallOptions = {}): Promise<t.MeshGraphStatus> {
    return this.client.call("GET", "/v1/graph/status", {}, false, options);
  }
}

export interface MeshFileShareOptions extends CallOptions {
  /** @name, member key or @group; repeatable. All members without it. */
  to?: Array<string>;
  /** A text for those who get it. */
  message?: string;
  /** Keep it until it is deleted. */
  persistent?: boolean;
  /** Answer when it is done, or after so many seconds (at most 25) with how far it is; it goes on. */
  wait_s?: number;
}

export interface MeshFileGetOptions extends CallOptions {
  /** Where to write it: a file, or a folder in which it has its own name. */
  out?: string;
  /** Replace a file that is there. */
  force?: boolean;
  /** Answer when it is done, or after so many seconds (at most 25) with how far it is; it goes on. */
  wait_s?: number;
}

export interface MeshFileListOptions extends CallOptions {
  /** At most so many. */
  limit?: number;
  /** Older ones: the `next` of the answer before. */
  before?: number;
}

export interface MeshFileStatusOptions extends CallOptions {
  /** The id of one transfer; all without it. */
  transfer?: string;
  /** Answer when it is done, or after so many seconds (at most 25) with how far it is; it goes on. */
  wait_s?: number;
}

/** The calls under `file`. */
export class MeshFileCalls {

  constructor(private readonly client: Client) {
  }

  /** Share a file with the members of the mesh, or with some of them. */
  share(path: string, options: MeshFileShareOptions = {}): Promise<t.MeshFileTransfer> {
    return this.client.call("POST", "/v1/file/share", { path: path, to: options.to, message: options.message, persistent: options.persistent, wait_s: options.wait_s }, true, options);
  }

  /** Fetch a file that was shared. */
  get(id: string, options: MeshFileGetOptions = {}): Promise<t.MeshFileTransfer> {
    return this.client.call("GET", "/v1/file/get", { id: id, out: options.out, force: options.force, wait_s: options.wait_s }, true, options);
  }

  /** List the files that are shared with you, the newest first. */
  list(options: MeshFileListOptions = {}): Promise<t.MeshFiles> {
    return this.client.call("GET", "/v1/file/list", { limit: options.limit, before: options.before }, false, options);
  }

  /** Delete a file that you have shared, for everybody. */
  delete(id: string, options: CallOptions = {}): Promise<t.MeshFileDeleted> {
    return this.client.call("POST", "/v1/file/delete", { id: id }, true, options);
  }

  /** Show how far files are that are shared from here or fetched to here. */
  status(options: MeshFileStatusOptions = {}): Promise<t.MeshFileTransfers> {
    return this.client.call("GET", "/v1/file/status", { transfer: options.transfer, wait_s: options.wait_s }, false, options);
  }
}

/** The calls under `config`. */
export class MeshConfigCalls {

  constructor(private readonly client: Client) {
  }

  /** List every setting, its value and where it comes from. */
  list(options: CallOptions = {}): Promise<t.SettingList> {
    return this.client.call("GET", "/v1/config", {}, false, options);
  }

  /** Show one setting. */
  get(key: string, options: CallOptions = {}): Promise<t.Setting> {
    return this.client.call("GET", "/v1/config/{key}", { key: key }, false, options);
  }

  /** Change one setting in config.toml, keeping its comments. */
  set(key: string, value: string, options: CallOptions = {}): Promise<t.ChangedSetting> {
    return this.client.call("PUT", "/v1/config/{key}", { key: key, value: value }, true, options);
  }

  /** Remove a setting from config.toml, so that its default applies. */
  unset(key: string, options: CallOptions = {}): Promise<t.ChangedSetting> {
    return this.client.call("DELETE", "/v1/config/{key}", { key: key }, true, options);
  }
}

export interface MeshAuditListOptions extends CallOptions {
  /** Only what happened since then: 1h ago, or 2026-01-31T14:05:00Z. */
  since?: string;
  /** Only calls of this operation, such as send; repeatable. */
  operation?: Array<string>;
  /** Only the last N. */
  limit?: number;
  /** Only entries before this cursor: `earlier` of the answer before. */
  before?: number;
}

/** The calls under `audit`. */
export class MeshAuditCalls {

  constructor(private readonly client: Client) {
  }

  /** Show who did what: each call that changed something, or was refused. */
  list(options: MeshAuditListOptions = {}): Promise<t.AuditTrail> {
    return this.client.call("GET", "/v1/audit", { since: options.since, operation: options.operation, limit: options.limit, before: options.before }, false, options);
  }
}

export interface MeshSendOptions extends CallOptions {
  /** now: at once, next: when the recipient is free, low: when somebody looks. */
  priority?: "now" | "next" | "low";
  /** A JSON object for programs at the other end. */
  meta?: Record<string, unknown>;
  /** The id of the message that this one answers. */
  reply_to_id?: string;
  /** Answer when the broker has stored it, it is in the recipient's inbox, or it was seen; none: when it is in our outbox. */
  wait?: "none" | "broker" | "inbox" | "seen";
  /** How long to wait for that, in seconds. The daemon waits at most 25 s, the command line goes on asking. */
  timeout_s?: number;
}

export interface MeshBroadcastOptions extends CallOptions {
  /** * for everybody, or @group. */
  scope?: string;
  /** now: at once, next: when the recipient is free, low: when somebody looks. */
  priority?: "now" | "next" | "low";
  /** Name or key of a member that is mentioned; repeatable. */
  mentions?: Array<string>;
  /** A JSON object for programs at the other end. */
  meta?: Record<string, unknown>;
  /** The id of the message that this one answers. */
  reply_to_id?: string;
}

export interface MeshInboxOptions extends CallOptions {
  /** Only after this cursor, or after this time: 10m, or 2026-01-31T14:05:00Z. */
  since?: string;
  /** Only messages of this topic. */
  topic?: string;
  /** Only messages of this member, also a removed one: name or member key. */
  from?: string;
  /** At most so many. */
  limit?: number;
}

export interface MeshSearchOptions extends CallOptions {
  /** At most so many. */
  limit?: number;
}

export interface MeshReceiptOptions extends CallOptions {
  /** Answer when the broker has stored it, it is in the recipient's inbox, or it was seen; none: when it is in our outbox. */
  wait?: "none" | "broker" | "inbox" | "seen";
  /** How long to wait for that, in seconds. The daemon waits at most 25 s, the command line goes on asking. */
  timeout_s?: number;
}

export interface MeshMembersOptions extends CallOptions {
  /** Also those that were removed or have left. */
  revoked?: boolean;
}

export interface MeshProfileOptions extends CallOptions {
  /** What it is there for, in a line. */
  summary?: string;
  /** What this member is doing. */
  status?: "idle" | "working" | "dnd";
  /** Let others see that it is online. */
  visible?: boolean;
  /** An emoji or the address of a picture. */
  avatar?: string;
}

export interface MeshHeartbeatOptions extends CallOptions {
  /** What this member is doing. */
  status?: "idle" | "working" | "dnd";
}

export interface MeshInviteOptions extends CallOptions {
  /** What whoever joins may do. */
  role?: "member" | "reader" | "admin";
  /** How long it is good for, such as 24h. */
  expires?: string;
  /** How many may join with it. */
  uses?: number;
}

export interface MeshRemindOptions extends CallOptions {
  /** After so long, such as 90m. */
  in?: string;
  /** At this time, such as 2026-01-31T14:05:00Z; without a zone in that of tz. */
  at?: string;
  /** At the times of this cron expression, such as '0 9 * * 1-5'. */
  cron?: string;
  /** The time zone of at and cron, such as Europe/Berlin; without it that of the peer's machine. */
  tz?: string;
  /** @name, @name/agent, @group or * for everybody; without it, you. */
  to?: string;
  /** The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node sees it. */
  as_agent?: string;
}

/** The calls of a Mesh. */
export class MeshCalls {
  readonly audit: MeshAuditCalls;
  readonly config: MeshConfigCalls;
  readonly file: MeshFileCalls;
  readonly graph: MeshGraphCalls;
  readonly groups: MeshGroupsCalls;
  readonly keys: MeshKeysCalls;
  readonly lease: MeshLeaseCalls;
  readonly mcp: MeshMcpCalls;
  readonly memory: MeshMemoryCalls;
  readonly outbox: MeshOutboxCalls;
  readonly reminder: MeshReminderCalls;
  readonly services: MeshServicesCalls;
  readonly skill: MeshSkillCalls;
  readonly state: MeshStateCalls;
  readonly task: MeshTaskCalls;
  readonly topic: MeshTopicCalls;
  readonly vector: MeshVectorCalls;

  constructor(private readonly client: Client) {
    this.audit = new MeshAuditCalls(client);
    this.config = new MeshConfigCalls(client);
    this.file = new MeshFileCalls(client);
    this.graph = new MeshGraphCalls(client);
    this.groups = new MeshGroupsCalls(client);
    this.keys = new MeshKeysCalls(client);
    this.lease = new MeshLeaseCalls(client);
    this.mcp = new MeshMcpCalls(client);
    this.memory = new MeshMemoryCalls(client);
    this.outbox = new MeshOutboxCalls(client);
    this.reminder = new MeshReminderCalls(client);
    this.services = new MeshServicesCalls(client);
    this.skill = new MeshSkillCalls(client);
    this.state = new MeshStateCalls(client);
    this.task = new MeshTaskCalls(client);
    this.topic = new MeshTopicCalls(client);
    this.vector = new MeshVectorCalls(client);
  }

  /** Stop the daemon. */
  down(options: CallOptions = {}): Promise<t.StoppedDaemon> {
    return this.client.call("POST", "/v1/down", {}, true, options);
  }

  /** Show the status of the daemon. */
  status(options: CallOptions = {}): Promise<t.MeshStatus> {
    return this.client.call("GET", "/v1/status", {}, false, options);
  }

  /** Check whether the daemon answers. */
  health(options: CallOptions = {}): Promise<t.MeshHealthCheck> {
    return this.client.call("GET", "/v1/health", {}, false, options);
  }

  /** Read the configuration again. */
  reload(options: CallOptions = {}): Promise<t.ReloadedConfig> {
    return this.client.call("POST", "/v1/reload", {}, true, options);
  }

  /** Print the metrics for Prometheus. */
  metrics(options: CallOptions = {}): Promise<string> {
    return this.client.call("GET", "/v1/metrics", {}, false, options);
  }

  /** Print the OpenAPI document of the local API. */
  openapi(options: CallOptions = {}): Promise<Record<string, unknown>> {
    return this.client.call("GET", "/v1/openapi.json", {}, false, options);
  }

  /** Find what is missing or wrong, and the command that fixes it. */
  doctor(options: CallOptions = {}): Promise<t.Diagnosis> {
    return this.client.call("GET", "/v1/doctor", {}, false, options);
  }

  /** Copy the daemon's database to a new file, while it runs. */
  backup(path: string, options: CallOptions = {}): Promise<t.Backup> {
    return this.client.call("POST", "/v1/backup", { path: path }, true, options);
  }

  /** Send a message to a member of the mesh, a group, or an agent on a member's host. */
  send(to: string, message: string, options: MeshSendOptions = {}): Promise<t.MeshSendAnswer> {
    return this.client.call("POST", "/v1/send", { to: to, message: message, priority: options.priority, meta: options.meta, reply_to_id: options.reply_to_id, wait: options.wait, timeout_s: options.timeout_s }, true, options);
  }

  /** Send many messages with one call. */
  sendBatch(messages: Array<Record<string, unknown>>, options: CallOptions = {}): Promise<t.MeshBatchAnswer> {
    return this.client.call("POST", "/v1/send/batch", { messages: messages }, true, options);
  }

  /** Send a message to everybody, or to everybody in a group. */
  broadcast(message: string, options: MeshBroadcastOptions = {}): Promise<t.MeshSendAnswer> {
    return this.client.call("POST", "/v1/broadcast", { message: message, scope: options.scope, priority: options.priority, mentions: options.mentions, meta: options.meta, reply_to_id: options.reply_to_id }, true, options);
  }

  /** Show the messages that have come. */
  inbox(options: MeshInboxOptions = {}): Promise<t.MeshInbox> {
    return this.client.call("GET", "/v1/inbox", { since: options.since, topic: options.topic, from: options.from, limit: options.limit }, false, options);
  }

  /** Search the messages in the inbox. */
  search(q: string, options: MeshSearchOptions = {}): Promise<t.MeshFound> {
    return this.client.call("GET", "/v1/search", { q: q, limit: options.limit }, false, options);
  }

  /** Show what is proven about a message that was sent from here. */
  receipt(id: string, options: MeshReceiptOptions = {}): Promise<t.MeshReceipt> {
    return this.client.call("GET", "/v1/receipt/{id}", { id: id, wait: options.wait, timeout_s: options.timeout_s }, false, options);
  }

  /** List the peers and which of them are online. */
  peers(options: CallOptions = {}): Promise<t.MeshPeers> {
    return this.client.call("GET", "/v1/peers", {}, false, options);
  }

  /** List the members of the mesh, and with --revoked those that were removed. */
  members(options: MeshMembersOptions = {}): Promise<t.MeshMembers> {
    return this.client.call("GET", "/v1/members", { revoked: options.revoked }, false, options);
  }

  /** Show or change what this member says of itself. */
  profile(options: MeshProfileOptions = {}): Promise<t.MeshProfile> {
    return this.client.call("POST", "/v1/profile", { summary: options.summary, status: options.status, visible: options.visible, avatar: options.avatar }, true, options);
  }

  /** Say that the program at this peer is alive, and what it is doing. */
  heartbeat(options: MeshHeartbeatOptions = {}): Promise<t.MeshHeartbeat> {
    return this.client.call("POST", "/v1/heartbeat", { status: options.status }, true, options);
  }

  /** Make an invite: a text that somebody pastes into `covey mesh join`. */
  invite(options: MeshInviteOptions = {}): Promise<t.MadeInvite> {
    return this.client.call("POST", "/v1/invite", { role: options.role, expires: options.expires, uses: options.uses }, true, options);
  }

  /** List the invites that were made. */
  invites(options: CallOptions = {}): Promise<t.MeshInvites> {
    return this.client.call("GET", "/v1/invites", {}, false, options);
  }

  /** Remove a member, or take back an invite. The member is disconnected at once and topic keys are made anew. */
  revoke(member: string, options: CallOptions = {}): Promise<t.MeshRevoked> {
    return this.client.call("POST", "/v1/revoke", { member: member }, true, options);
  }

  /** Give this member another name. All others see it. */
  rename(name: string, options: CallOptions = {}): Promise<t.MeshRenamed> {
    return this.client.call("POST", "/v1/rename", { name: name }, true, options);
  }

  /** Have a message come at a time: to you, to another member, a group or everybody. */
  remind(message: string, options: MeshRemindOptions = {}): Promise<t.MeshReminder> {
    return this.client.call("POST", "/v1/scheduling/remind", { message: message, in: options.in, at: options.at, cron: options.cron, tz: options.tz, to: options.to, as_agent: options.as_agent }, true, options);
  }
}
