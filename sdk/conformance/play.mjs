// Plays a scenario with the TypeScript SDK: `play.mjs scenario.json required.json`, names and homes in COVEY_CONFORMANCE.
// It writes one JSON line for each step that has a result. For a fault it writes a line, and goes on when it is answered.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { CoveyError, Mesh, Node } from "@covey/sdk";

const about = JSON.parse(process.env.COVEY_CONFORMANCE);
const [steps, required] = process.argv.slice(2, 4).map((path) => JSON.parse(readFileSync(path, "utf8")));
const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const saved = { run: about.run };
const streams = {};
const daemons = {};

const write = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const camel = (name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());

async function daemon(who, kind) {
  daemons[who] ??= {};
  daemons[who][kind] ??= await (kind === "node" ? Node.connect(about.homes[who]) : Mesh.connect(undefined, about.homes[who]));
  return daemons[who][kind];
}

function filled(value) {
  if (Array.isArray(value)) return value.map(filled);
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filled(one)]));
  }
  if (typeof value !== "string") return value;
  return value.startsWith("$") ? saved[value.slice(1)] : value.replaceAll("$run", about.run);
}

/** Calls the method of a step: what is required in order, the rest as options. */
async function asked(step) {
  const [kind, path] = step.call.split(":");
  const names = path.split(".").map(camel);
  let owner = await daemon(step.as, kind);
  for (const name of names.slice(0, -1)) owner = owner[name];
  const given = filled(step.with ?? {});
  const first = required[step.call].map((name) => given[name]);
  for (const name of required[step.call]) delete given[name];
  const options = { idempotencyKey: step.key && filled(step.key), deadlineMs: step.deadline_s && step.deadline_s * 1000 };
  const set = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  return owner[names.at(-1)](...first, { ...given, ...set });
}

async function play(step) {
  if (step.cursor) saved[step.save] = await (await daemon(step.as, step.cursor)).cursor();
  else if (step.open && step.call) streams[step.open] = await asked(step);
  else if (step.open) streams[step.open] = (await daemon(step.as, step.of)).events({ since: filled(step.since), kinds: step.kinds });
  else if (step.close) await streams[step.close].return();
  else if (step.take) {
    const found = [];
    while (found.length < step.count) found.push((await streams[step.take].next()).value);
    return found;
  } else if (step.call) {
    try {
      const result = await asked(step);
      for (const [name, field] of Object.entries(step.save ?? {})) saved[name] = result[field];
      return result;
    } catch (error) {
      if (!(error instanceof CoveyError)) throw error;
      const { code, message, suggestion, field, validValues, recoverable } = error;
      return { code, error: error.error, message, suggestion, field, valid_values: validValues, recoverable };
    }
  }
}

for (const [number, step] of steps.entries()) {
  if (step.fault) {
    write({ fault: step.fault });
    await answers.next();
  } else {
    const result = await play(step);
    if (result !== undefined) write({ step: number, result });
  }
}
for (const kinds of Object.values(daemons)) for (const one of Object.values(kinds)) one.close();
process.exit(0);
