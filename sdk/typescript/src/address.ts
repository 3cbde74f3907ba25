/** Where the daemons of this machine listen, and the error of all calls. */

import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve, sep } from "node:path";

/** What a daemon refused or could not do: `error` is the code to compare with, `suggestion` what to do about it. */
export class CoveyError extends Error {
  field = "";
  validValues: string[] = [];
  retryAfterMs = 0;
  /** The HTTP status; 0 if no daemon has answered. Then `error` is daemon_not_running, connection_lost or timeout. */
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
  return locate(join(folderOf(home), "node"), "the Covey daemon", "covey up", "");
}

/**
 * Returns where the peer of a mesh listens: the one that is named, or that COVEY_MESH names, or whose file
 * mesh/<slug>/folders lists the current folder or one above it, or the only one that was joined.
 */
export function meshAddress(slug?: string, home?: string): Address {
  const above = join(folderOf(home), "mesh");
  const names = listed(above).filter((name) => existsSync(join(above, name, "membership.json"))).sort();
  const wanted = slug || process.env["COVEY_MESH"] || ofFolder(above, names) || (names.length === 1 ? names[0] : "") || "";
  if (!names.includes(wanted)) {
    const message = wanted ? `${JSON.stringify(wanted)} is not a mesh that was joined here` : "it is not said which mesh is meant";
    const there = names.length ? `Name one of these, or set COVEY_MESH: ${names.join(", ")}` : "Join one: covey mesh join TOKEN";
    throw new CoveyError(names.length ? "not_found" : "no_mesh", 5, message, there);
  }
  // A hook shows the token that it was given: it may do no more than that is good for.
  const hook = (process.env["COVEY_MESH"] ?? wanted) === wanted ? (process.env["COVEY_MESH_TOKEN"] ?? "") : "";
  return locate(join(above, wanted), `the peer of mesh ${wanted}`, `covey mesh up ${wanted}`, hook);
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
  const here = realpathSync(".") + sep;
  let [best, depth] = ["", 0];
  for (const name of names) {
    const file = join(above, name, "folders");
    for (const line of existsSync(file) ? readFileSync(file, "utf8").split("\n") : []) {
      const folder = isAbsolute(line) && existsSync(line) ? join(realpathSync(line), sep) : "";
      if (folder && here.startsWith(folder) && folder.length > depth) [best, depth] = [name, folder.length];
    }
  }
  return best;
}

function locate(seat: string, title: string, command: string, hook: string): Address {
  const about = { path: join(seat, "sock"), port: 0, token: hook, title, command };
  if (existsSync(about.path) || !existsSync(join(seat, "http.port"))) return about;
  const port = Number(readFileSync(join(seat, "http.port"), "utf8"));
  return { ...about, path: "", port, token: hook || readFileSync(join(seat, "http.token"), "utf8").trim() };
}
