// An on-call relay: gives each message of a topic to a pager over HTTP, and tells its sender that the pager has it.
//
// `node relay.mjs alerts https://pager.example.org/hook relay.cursor`. The last argument is the file in which the relay
// keeps how far it has come: it may be killed at any moment. The pager is then given a message again, with the same
// Idempotency-Key; the sender is told once.

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { CoveyError, Mesh } from "@covey/sdk";

const PAUSES_MS = [1_000, 2_000, 5_000, 10_000, 30_000];
const [topic, url, file] = process.argv.slice(2);

/** Gives a message to the pager. Tries until the pager has taken it: an alert that is left out helps nobody. */
async function page({ id, from_name, text, priority }) {
  const headers = { "Content-Type": "application/json", "Idempotency-Key": id };
  const body = JSON.stringify({ id, from_name, text, priority });
  for (let attempts = 0; ; attempts++) {
    try {
      const answer = await fetch(url, { method: "POST", headers, body, signal: AbortSignal.timeout(10_000) });
      await answer.arrayBuffer();
      if (answer.ok) return;
      console.error(`the pager did not take ${id}: it answered ${answer.status}`);
    } catch (error) {
      console.error(`the pager did not take ${id}: ${error.cause?.message ?? error.message}`);
    }
    await setTimeout(PAUSES_MS[Math.min(attempts, PAUSES_MS.length - 1)]);
  }
}

/** Writes how far the relay has come, whole or not at all. */
function keep(cursor) {
  writeFileSync(`${file}.new`, String(cursor));
  renameSync(`${file}.new`, file);
}

const mesh = await Mesh.connect();
await mesh.topic.subscribe(topic);
if (!existsSync(file)) keep(await mesh.cursor());
for await (const { data: message, cursor } of mesh.events({ since: Number(readFileSync(file, "utf8")), kinds: ["message"] })) {
  if (message.topic === topic) {
    await page(message);
    try {
      await mesh.send(message.from, "paged", { reply_to_id: message.id, idempotencyKey: `relay-${message.id}` });
    } catch (error) {
      if (!(error instanceof CoveyError)) throw error;
      console.error(`${message.from_name} is not told: ${error.message}`); // the sender has left the mesh, say
    }
  }
  keep(cursor);
}
