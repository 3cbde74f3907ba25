/** Where the daemons of this machine listen, and the error of all calls. */

import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve, sep } from "node:path";

const NAME = /^[A-Za-z0-9][A-Za-z0-9-]{0,39}$/;
/** What can stand in a header: printable ASCII characters without spaces. */
export const PRINTABLE = /^[!-~]+$/;

/** What a daemon refused or could not do: `error` is the code to compare with, `suggestion` what to do about it. */
export class CoveyError extends Error {
  field = "";
  validValues: string[] = [];
  retryAfterMs = 0;
  /** The HTTP status; 0 if no daemon has answered. Then `error` is one of those that the guide lists. */
  status = 0;

  constructor(
    readonly error: string,
    /** 1 arguments, 2 failed, 3 in part, 4 late, 5 not found, 6 not allowed, 7 conflict, 8 too much, 9 stopped. */
    readonly code: number,
    message: string,
    readonly suggestion = "",
    readonly recoverable = false,
  ) {
    super(message);
    this.name = "CoveyError";
  }
}

/** Returns the error for a mistake in the arguments of a call. */
export function userError(message: string, field = ""): CoveyError {
  const made = new CoveyError("user_error", 1, message);
  made.field = field;
  return made;
}

/** The path of a daemon's socket, else a port of this machine; the token for it. */
export interface Address {
  path: string;
  port: number;
  token: string;
  title: string;
  command: string;
}

/** Returns where the node of a home listens. */
export function nodeAddress(home?: string): Address {
  return locate(folderOf(home), "node", "the Covey daemon", "covey up", "");
}

/**
 * Returns where the peer of a mesh listens: the one that is named, or that COVEY_MESH names, or whose file
 * mesh/<slug>/folders lists the current folder or one above it, or the only one that was joined.
 */
export function meshAddress(slug?: string, home?: string): Address {
  const place = folderOf(home);
  const above = join(place, "mesh");
  const names = listed(above).filter((name) => NAME.test(name) && existsSync(join(above, name, "membership.json"))).sort();
  const wanted = slug || process.env["COVEY_MESH"] || ofFolder(above, names) || (names.length === 1 ? names[0] : "") || "";
  if (!names.includes(wanted)) {
    const message = wanted ? `${JSON.stringify(wanted)} is not a mesh that was joined here` : "it is not said which mesh is meant";
    const there = names.length ? `Name one of these, or set COVEY_MESH: ${names.join(", ")}` : "Join one: covey mesh join TOKEN";
    throw new CoveyError(names.length ? "not_found" : "no_mesh", 5, message, there);
  }
  // A hook shows the token that it was given: it may do no more than that is good for.
  const hook = (process.env["COVEY_MESH"] || wanted) === wanted ? (process.env["COVEY_MESH_TOKEN"] ?? "") : "";
  if (hook && !PRINTABLE.test(hook)) throw userError("COVEY_MESH_TOKEN is not a token", "COVEY_MESH_TOKEN");
  return locate(place, join("mesh", wanted), `the peer of mesh ${wanted}`, `covey mesh up ${wanted}`, hook);
}

function folderOf(home?: string): string {
  const named = home || process.env["COVEY_HOME"] || "~/.covey";
  return resolve(named === "~" || named.startsWith("~/") ? join(homedir(), named.slice(1)) : named);
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function ofFolder(above: string, names: string[]): string {
  const here = realFolder(".");
  let [best, depth] = ["", 0];
  for (const name of names) {
    for (const line of textOf(join(above, name, "folders")).replace(/^\uFEFF/, "").split("\n")) {
      const named = line.replace(/\r$/, "").replace(/^[ \t]+|[ \t]+$/g, "");
      const path = named.startsWith("~/") ? homedir() + named.slice(1) : named;
      const folder = isAbsolute(path) ? realFolder(path) : "";
      if (folder && here.startsWith(folder) && folder.length > depth) [best, depth] = [name, folder.length];
    }
  }
  return best;
}

/** Returns a folder without links, with a slash at its end; nothing if it is not there. */
function realFolder(path: string): string {
  try {
    return join(realpathSync.native(path), sep);
  } catch {
    return "";
  }
}

/** Returns the text of a file; nothing if it cannot be read or is not a regular file: a pipe would block. */
function textOf(path: string): string {
  try {
    return statSync(path).isFile() ? readFileSync(path, "utf8") : "";
  } catch {
    return "";
  }
}

function locate(home: string, place: string, title: string, command: string, hook: string): Address {
  const seat = join(home, place);
  checkOwners(home, dirname(seat), seat, join(seat, "sock"));
  const about = { path: join(seat, "sock"), port: 0, token: hook, title, command };
  if (existsSync(about.path) || !lstatSync(join(seat, "http.port"), { throwIfNoEntry: false })) return about;
  const [text, token] = [textOf(join(seat, "http.port")).trim(), hook || textOf(join(seat, "http.token")).trim()];
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535 || !PRINTABLE.test(token)) {
    throw notRunning(about, `${seat} has no socket, and its port or token is not known`);
  }
  return { ...about, path: "", port, token };
}

/**
 * Throws if another user could be behind the socket or the port, as the `covey` command does: each of these has to be
 * this user's, and closed to writing by others.
 */
function checkOwners(...paths: string[]): void {
  const user = process.geteuid?.();
  for (const path of user === undefined ? [] : paths) {
    const link = lstatSync(path, { throwIfNoEntry: false });
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found || !link) continue; // connecting to it says that better
    if (found.uid !== user || (link.uid !== user && link.uid !== 0)) {
      throw new CoveyError("permission_denied", 6, `${path} belongs to another user`, "Use a home of your own: set COVEY_HOME.");
    }
    if (found.isDirectory() && found.mode & 0o022) {
      throw new CoveyError("permission_denied", 6, `${path} can be written by other users`, `Close it: chmod 700 ${path}`);
    }
  }
}

export function notRunning(at: Address, reason: string): CoveyError {
  return new CoveyError("daemon_not_running", 2, `${at.title} is not running (${reason})`, `Run \`${at.command}\` to start it.`, true);
}
