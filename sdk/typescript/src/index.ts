/**
 * Talks to Covey's daemons on this machine: `Node` to the node, `Mesh` to the peer of a mesh. No dependencies.
 *
 *     const mesh = await Mesh.connect();                  // the mesh of the current folder
 *     await mesh.send("@oncall", "disk full on db-3");
 *     for await (const event of mesh.events()) { … }      // from now on, over reconnects and restarts
 *
 * Every call that changes something carries an idempotency key, which its retries keep: it is performed at most once.
 */

import { meshAddress, nodeAddress, userError } from "./address.js";
import { MeshCalls, NodeCalls } from "./calls.js";
import { type CallOptions, Client } from "./client.js";

export { CoveyError } from "./address.js";
export type { CallOptions } from "./client.js";
export type * from "./types.js";

/**
 * An event of a daemon's journal. Kinds that begin with `covey.` are about the stream itself: `covey.gap` says that
 * events were asked for that are no longer kept, `covey.reset` that the journal has begun anew and all that is kept
 * follows.
 */
export interface Event {
  kind: string;
  data: any;
  cursor: number;
  subject: string;
  id: string;
  at: string;
}

/** Which events are wanted: after a cursor or a time, else from now on; of all kinds, or of some. */
export interface EventsOptions extends CallOptions {
  since?: number | string;
  kinds?: string[];
}

async function cursorOf(client: Client): Promise<number> {
  return (await client.call("GET", "/v1/status", {}, false)).events.cursor;
}

/** Yields what happens; nothing is missed or repeated over reconnects and restarts of the daemon. */
function eventsOf(client: Client, options: EventsOptions): AsyncGenerator<Event, void> {
  const { since } = options;
  if (since !== undefined && typeof since !== "string" && !Number.isSafeInteger(since)) {
    throw userError(`since is a cursor or a time, not ${String(since)}`, "since");
  }
  return eventsSince(client, options);
}

async function* eventsSince(client: Client, options: EventsOptions): AsyncGenerator<Event, void> {
  const { since, kinds, ...rest } = options;
  const start = since ?? (await cursorOf(client));
  const params = typeof start === "string" ? { kind: kinds, since: start } : { kind: kinds };
  for await (const { name, data, cursor } of client.stream("/v1/events", params, typeof start === "string" ? null : start, rest)) {
    if (name.startsWith("covey.")) yield { kind: name, data, cursor: cursor ?? 0, subject: "", id: "", at: "" };
    else yield { kind: data.kind, data: data.data, cursor: data.cursor, subject: data.subject, id: data.id, at: data.at };
  }
}

/** The node of this user: agents and their states, sends with receipts, approvals, beats, meshes. */
export class Node extends NodeCalls {
  private constructor(private readonly daemon: Client) {
    super(daemon);
  }

  /** Finds the node of a home, else of COVEY_HOME or ~/.covey. It is asked at the first call. */
  static async connect(home?: string): Promise<Node> {
    return new Node(new Client(() => nodeAddress(home)));
  }

  /** Returns the cursor of the newest event. */
  cursor(): Promise<number> {
    return cursorOf(this.daemon);
  }

  events(options: EventsOptions = {}): AsyncGenerator<Event, void> {
    return eventsOf(this.daemon, options);
  }

  /** Closes all connections. Calls under way, and further ones, end with connection_lost. */
  close(): void {
    this.daemon.close();
  }
}

/** The peer of one mesh: messages, topics, members, shared values. */
export class Mesh extends MeshCalls {
  private constructor(private readonly daemon: Client) {
    super(daemon);
  }

  /** Finds the peer of the mesh of this slug, else of the current folder. It is asked at the first call. */
  static async connect(slug?: string, home?: string): Promise<Mesh> {
    return new Mesh(new Client(() => meshAddress(slug, home)));
  }

  /** Returns the cursor of the newest event. */
  cursor(): Promise<number> {
    return cursorOf(this.daemon);
  }

  events(options: EventsOptions = {}): AsyncGenerator<Event, void> {
    return eventsOf(this.daemon, options);
  }

  /** Closes all connections. Calls under way, and further ones, end with connection_lost. */
  close(): void {
    this.daemon.close();
  }
}
