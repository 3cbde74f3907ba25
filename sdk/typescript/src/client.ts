/** Calls and streams of one daemon, over broken connections and restarts. */

import { randomUUID } from "node:crypto";
import { Agent, type IncomingMessage, request } from "node:http";
import { type Address, CoveyError, notRunning, PRINTABLE, userError } from "./address.js";

/** What each call may be given besides its parameters. Names have a capital, which no parameter has. */
export interface CallOptions {
  /** Without it each call that changes something has a key of its own, which its retries keep. */
  idempotencyKey?: string;
  /** How long the call may take; a minute without it, without end if it is Infinity. For streams: for ever. */
  deadlineMs?: number;
  /** Ends the call with its reason. */
  abortSignal?: AbortSignal;
}

/** One message of a stream. */
export interface Message {
  name: string;
  data: any;
  cursor: number | null;
}

export type Params = Record<string, unknown>;

const CALL_MS = 60_000;
/** How long a call waits for a daemon that has gone. */
const PATIENCE_MS = 30_000;
/** The longest silence of a stream, which has heartbeats. */
const SILENCE_MS = 60_000;
/** How long is waited before each other attempt; the last one repeats. */
const PAUSES_MS = [50, 100, 250, 500, 1000];
/** The longest time that a timer of Node takes. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const LONGEST_DEADLINE_MS = 999_999_999;
const LONGEST_KEY = 200;
const UNITS: Record<string, number> = { d: 86_400, h: 3600, m: 60, s: 1, ms: 0.001 };

export class Client {
  private readonly agent = new Agent({ keepAlive: true });
  /** Whether there was a connection: only then is a daemon that does not run waited for. */
  private known = false;
  private address: Address;
  private closed = false;

  constructor(private readonly find: () => Address) {
    this.address = find();
  }

  /** Closes all connections. Calls under way, and further ones, end with connection_lost. */
  close(): void {
    this.closed = true;
    this.agent.destroy();
  }

  /** Performs a call, over broken connections and daemons that start again, under one idempotency key. */
  async call(method: string, route: string, params: Params, mutating: boolean, options: CallOptions = {}): Promise<any> {
    const key = options.idempotencyKey ?? randomUUID();
    if (typeof key !== "string" || key.length > LONGEST_KEY || !PRINTABLE.test(key)) {
      throw userError(`the idempotency key is not 1 to ${LONGEST_KEY} printable ASCII characters without spaces`, "Idempotency-Key");
    }
    const parts = prepared(method, route, params);
    const limit = new Limit(options, CALL_MS);
    const headers: Record<string, string> = mutating ? { "Idempotency-Key": key } : {};
    const again = new Attempts(this, limit, PATIENCE_MS);
    try {
      for (;;) {
        limit.check();
        if (options.deadlineMs !== undefined && limit.left() !== Infinity) {
          headers["Covey-Deadline-Ms"] = String(Math.floor(Math.min(Math.max(limit.left(), 100), LONGEST_DEADLINE_MS)));
        }
        let status: number, text: string, plain: boolean;
        try {
          const answer = await this.exchange(method, parts, headers, limit.signal);
          text = await whole(answer);
          status = answer.statusCode ?? 0;
          plain = (answer.headers["content-type"] ?? "").startsWith("text/plain");
        } catch (error) {
          await again.after(error);
          continue;
        }
        if (status === 200) return plain ? text : objectOf(text);
        const refused = refusal(status, text);
        const later = refused.retryAfterMs || (refused.code === 9 ? 250 : 0);
        if (!later || later > limit.left()) throw refused;
        await pause(later, limit);
      }
    } finally {
      limit.end();
    }
  }

  /** Yields the messages of a stream without end, over reconnects; it resumes after the last cursor. */
  async *stream(route: string, params: Params, cursor: number | null, options: CallOptions = {}): AsyncGenerator<Message, void> {
    const limit = new Limit(options, Infinity);
    const again = new Attempts(this, limit, Infinity);
    const began = Date.now();
    let answer: IncomingMessage | undefined;
    try {
      for (;;) {
        const left = typeof params["timeout"] === "string" ? { timeout: remaining(params["timeout"], began) } : {};
        const resume: Record<string, string> = cursor === null ? {} : { "Last-Event-ID": String(cursor) };
        const headers = { Accept: "text/event-stream", ...resume };
        try {
          limit.check();
          answer = await this.exchange("GET", prepared("GET", route, { ...params, ...left }), headers, limit.signal);
          if (answer.statusCode !== 200) {
            const refused = refusal(answer.statusCode ?? 0, await whole(answer));
            if (cursor === null || !["since", "Last-Event-ID"].includes(refused.field)) throw refused;
            cursor = null; // the journal has begun anew
          } else {
            for await (const message of messages(answer)) {
              if (message.name === "covey.error") throw failure(message.data, 200);
              if (message.name === "covey.gap") cursor = Number(message.data.until);
              else if (message.name === "covey.reset") cursor = 0;
              else cursor = message.cursor ?? cursor;
              again.count = 0;
              if (message.name !== "covey.slow") yield { ...message, cursor };
            }
          }
          await again.after(new Error("it has stopped"));
        } catch (error) {
          await again.after(error);
        }
        answer?.destroy();
      }
    } finally {
      answer?.destroy();
      limit.end();
    }
  }

  /** Returns what a stream ends with. */
  async last(route: string, params: Params, options: CallOptions = {}): Promise<any> {
    for await (const { name, data } of this.stream(route, params, null, options)) if (name === "done") return data;
  }

  /** Yields the data of the messages of a stream. */
  async *iterate(route: string, params: Params, options: CallOptions = {}): AsyncGenerator<any, void> {
    for await (const { name, data } of this.stream(route, params, null, options)) if (!name.startsWith("covey.")) yield data;
  }

  /** Throws what a failed attempt means, if there is to be no other one. */
  judge(error: unknown, over: boolean): void {
    this.check();
    const code = (error as NodeJS.ErrnoException).code ?? "";
    const reason = error instanceof Error ? error.message : String(error);
    const absent = code === "ENOENT" || code === "ECONNREFUSED";
    if (code === "EACCES") throw new CoveyError("permission_denied", 6, `${this.address.path} belongs to somebody else`);
    if (absent && (over || !this.known)) {
      throw notRunning(this.address, reason);
    }
    if (over) {
      throw new CoveyError("connection_lost", 2, `the connection to ${this.address.title} broke: ${reason}`, "", true);
    }
  }

  /** Looks again where the daemon listens: one that starts again has another port. */
  refresh(): void {
    try {
      this.address = this.find();
    } catch (error) {
      // one that is about to start has no port yet: the address as it was is as good
      if (!(error instanceof CoveyError) || error.error !== "daemon_not_running") throw error;
    }
  }

  private check(): void {
    if (this.closed) throw new CoveyError("connection_lost", 2, `the connection to ${this.address.title} was closed here`);
  }

  private async exchange(method: string, { target, content }: Parts, headers: Record<string, string>, signal: AbortSignal) {
    this.check();
    const { path, port, token } = this.address;
    const where = path ? { socketPath: path } : { host: "127.0.0.1", port };
    const all: Record<string, string> = { Host: "localhost", "Content-Length": String(Buffer.byteLength(content)), ...headers };
    if (content) all["Content-Type"] = "application/json";
    if (token) all["Authorization"] = `Bearer ${token}`;
    return new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request({ ...where, method, path: target, headers: all, agent: this.agent }, (answer) => {
        this.known = true;
        answer.setTimeout(SILENCE_MS, () => answer.destroy(new Error("it is silent")));
        if (answer.headers["covey-api"]) return resolve(answer);
        answer.destroy();
        reject(new CoveyError("bad_answer", 2, "what answers is not a Covey daemon"));
      });
      const stop = () => sent.destroy(new Error("it was ended"));
      signal.addEventListener("abort", stop);
      sent.on("close", () => signal.removeEventListener("abort", stop));
      sent.on("error", reject);
      sent.end(content);
    });
  }
}

interface Parts {
  target: string;
  content: string;
}

/** Returns the target and the body of a request. Throws for what cannot be sent. */
function prepared(method: string, route: string, params: Params): Parts {
  const body: Params = {};
  const query: string[] = [];
  try {
    for (const [name, value] of Object.entries(params)) {
      if (value === undefined) continue;
      if (route.includes(`{${name}}`)) route = route.replace(`{${name}}`, quoted(value));
      else if (method === "POST" || method === "PUT") body[name] = value;
      else for (const one of Array.isArray(value) ? value : [value]) query.push(`${name}=${quoted(one)}`);
    }
    const content = Object.keys(body).length ? json(body) : "";
    return { target: query.length ? `${route}?${query.join("&")}` : route, content };
  } catch (error) {
    throw userError(`the arguments cannot be sent: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function json(value: unknown): string {
  return JSON.stringify(value, (_, one) => finite(one));
}

function finite(value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) throw new RangeError(`${value} is not a number in JSON`);
  return value;
}

/** The deadline of a call and the signal that ends it, as one. */
class Limit {
  readonly signal: AbortSignal;
  private timer: NodeJS.Timeout | undefined;
  private readonly ends: number;
  private readonly controller = new AbortController();

  constructor(private readonly options: CallOptions, usual: number) {
    const length: unknown = options.deadlineMs ?? usual;
    if (typeof length !== "number" || !(length >= 0)) {
      throw userError(`a deadline is a number of milliseconds from 0 on, not ${String(length)}`, "deadlineMs");
    }
    this.ends = performance.now() + length;
    this.signal = this.controller.signal;
    this.wait();
    options.abortSignal?.addEventListener("abort", this.abort);
    if (options.abortSignal?.aborted) this.controller.abort();
  }

  left(): number {
    return this.ends - performance.now();
  }

  private wait(): void {
    const left = this.left();
    if (left <= 0) this.controller.abort();
    else if (left !== Infinity) this.timer = setTimeout(() => this.wait(), Math.min(Math.ceil(left), LONGEST_TIMER_MS));
  }

  /** Throws if there is no time left, or the caller has ended the call. */
  check(): void {
    this.options.abortSignal?.throwIfAborted();
    if (this.signal.aborted) throw new CoveyError("timeout", 4, "the deadline has passed", "", true);
  }

  end(): void {
    clearTimeout(this.timer);
    this.options.abortSignal?.removeEventListener("abort", this.abort);
  }

  private readonly abort = () => this.controller.abort();
}

/** Decides after an attempt that failed whether there is another one, and waits before it. */
class Attempts {
  count = 0;
  private began = 0;

  constructor(private readonly client: Client, private readonly limit: Limit, private readonly patience: number) {}

  async after(error: unknown): Promise<void> {
    if (error instanceof CoveyError) throw error;
    this.limit.check();
    this.began ||= Date.now();
    this.client.judge(error, Date.now() - this.began > this.patience);
    await pause(PAUSES_MS[Math.min(this.count++, PAUSES_MS.length - 1)] ?? 1000, this.limit);
    this.client.refresh();
  }
}

function pause(length: number, limit: Limit): Promise<void> {
  return new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer);
      limit.signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, length);
    limit.signal.addEventListener("abort", done);
  }).then(() => limit.check());
}

async function whole(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}

/** Yields the server-sent events of an answer, without comments. */
async function* messages(answer: IncomingMessage): AsyncGenerator<Message, void> {
  let rest = "";
  answer.setEncoding("utf8");
  for await (const part of answer) {
    const blocks = (rest + String(part)).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = new Map(block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
      const data = fields.get("data");
      const id = fields.get("id");
      if (data !== undefined) {
        if (id !== undefined && !/^[0-9]+$/.test(id)) throw badAnswer(`the id of an event is ${id}`);
        yield { name: fields.get("event") ?? "message", data: objectOf(data), cursor: id === undefined ? null : Number(id) };
      }
    }
  }
}

/** Returns a JSON object. Throws if the text is not one. */
function objectOf(text: string): any {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch (error) {
    throw badAnswer(String(error));
  }
  if (typeof found !== "object" || found === null || Array.isArray(found)) throw badAnswer("a JSON object is due");
  return found;
}

function badAnswer(reason: string): CoveyError {
  return new CoveyError("bad_answer", 2, `what the daemon has sent is broken: ${reason}`);
}

function refusal(status: number, text: string): CoveyError {
  try {
    return failure(objectOf(text), status);
  } catch {
    const made = new CoveyError("bad_answer", 2, `the daemon answered with status ${status}`);
    made.status = status;
    return made;
  }
}

function failure(found: any, status: number): CoveyError {
  const { error, code, message, suggestion = "", recoverable = false } = found;
  if (typeof error !== "string" || typeof code !== "number") throw badAnswer("the error has no code");
  const made = new CoveyError(error, code, message, suggestion, recoverable);
  made.field = found.field ?? "";
  made.validValues = found.valid_values ?? [];
  made.retryAfterMs = found.retry_after_ms ?? 0;
  made.status = status;
  return made;
}

function remaining(duration: string, began: number): string {
  let total = 0;
  for (const [, number, unit] of duration.matchAll(/([0-9.]+)\s*(d|h|ms|m|s|$)/g)) total += Number(number) * (UNITS[unit || "s"] ?? 1);
  return `${Math.max(total - (Date.now() - began) / 1000, 0).toFixed(3)}s`;
}

function quoted(value: unknown): string {
  return encodeURIComponent(typeof value === "object" ? json(value) : String(finite(value)));
}
