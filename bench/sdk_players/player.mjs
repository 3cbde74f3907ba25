// What `bench/sdk.py` measures of the SDK for TypeScript: one command on standard input is one JSON line, as is its answer.

import { createInterface } from "node:readline";
import { Mesh, Node } from "@covey/sdk";

const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const meshes = {};

const commands = {
  /** Returns how long each of so many sends took, in seconds. */
  async send(home, count) {
    meshes[home] ??= await Mesh.connect(undefined, home);
    const taken = [];
    for (let number = 0; number < count; number++) {
      const began = performance.now();
      await meshes[home].send("@bob", "x".repeat(200));
      taken.push((performance.now() - began) / 1000);
    }
    return taken;
  },

  /** Returns when each of the next events came. */
  async receive(home, count) {
    const node = await Node.connect(home);
    const events = node.events({ since: await node.cursor(), kinds: ["bench.event"] });
    const taken = [];
    say("ready");
    for await (const _ of events) {
      taken.push((performance.timeOrigin + performance.now()) / 1000);
      if (taken.length === count) break;
    }
    node.close();
    return taken;
  },

  /** Reads so many events from the first one on, with ten stops; returns how many did not follow the one before. */
  async iterate(home, count) {
    const node = await Node.connect(home);
    let number = 0, wrong = 0, last = 0;
    for await (const { cursor } of node.events({ since: 0, kinds: ["bench.event"] })) {
      if (cursor <= last) wrong++;
      last = cursor;
      if (++number % (count / 10) === 0) say(number);
      if (number === count) break;
    }
    node.close();
    return wrong;
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  say(await commands[asked.do](asked.home, asked.count));
}
