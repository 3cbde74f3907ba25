// Makes calls with the TypeScript SDK, each named by an argument, and prints for each one `ok`, or the error and its field.

import { rmdirSync } from "node:fs";
import { CoveyError, Mesh, Node } from "@covey/sdk";

const keyed = (idempotencyKey) => async () => (await Node.connect()).target.add("nowhere", "local", { idempotencyKey });
const limited = (deadlineMs) => async () => (await Node.connect()).beats.list({ deadlineMs });
const put = (value) => async () => (await Mesh.connect()).state.set("probe", value);

/** Throws the error that the peer of the mesh does not run, with its slug as the field. */
async function mesh() {
  try {
    await (await Mesh.connect()).cursor();
  } catch (error) {
    error.field = error.suggestion.replace("Run `covey mesh up ", "").replace("` to start it.", "");
    throw error;
  }
}

const CALLS = {
  call: async () => (await Node.connect()).beats.list(),
  events: async () => (await Node.connect()).events({ since: 0 }).next(),
  mesh,
  "mesh-removed": async () => {
    rmdirSync(process.cwd());
    await mesh();
  },
  "key-lines": keyed("a\r\nCovey-Deadline-Ms: 100"),
  "key-empty": keyed(""),
  "key-space": keyed("a b"),
  "key-long": keyed("k".repeat(201)),
  "key-foreign": keyed("é"),
  "not-json": put(1n),
  nan: put({ a: [NaN] }),
  infinity: put(Infinity),
  "text-in-route": async () => (await Node.connect()).target.remove("\ud800"),
  "text-in-body": put({ a: "\ud800" }),
  "deadline-0": limited(0),
  "deadline-nan": limited(NaN),
  "deadline-negative": limited(-1),
  "deadline-infinite": limited(Infinity),
  "deadline-long": limited(1e13),
  since: async () => (await Node.connect()).events({ since: 1.5 }),
  closed: async () => {
    const node = await Node.connect();
    await node.beats.list();
    node.close();
    await node.beats.list();
  },
};

process.on("warning", (warning) => console.log(String(warning)));
for (const name of process.argv.slice(2)) {
  try {
    await CALLS[name]();
    console.log("ok");
  } catch (error) {
    if (!(error instanceof CoveyError)) throw error;
    console.log(`${error.error} ${error.field}`.trim());
  }
}
process.exit();
