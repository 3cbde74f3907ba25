"""opencode: a plugin, which is a file in its folder of plugins and needs no mention in its settings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from covey.agents.integration.integration import Integration
from covey.agents.integration.script import MARKER
from covey.agents.integration.user_environment import Launch
from covey.agents.opencode import AGENT

if TYPE_CHECKING:
    from pathlib import Path

    from covey.agents.integration.user_environment import UserEnvironment

CONTENT = "OPENCODE_CONFIG_CONTENT"
PLUGIN = """\
// Covey's plugin for opencode: tells Covey what the agent is doing. `covey integrate opencode --remove` takes it away.
import { spawn } from "node:child_process"
const HOOK = %s
const EVENTS = /^(session\\.(created|deleted|status|idle|error|compacted)|permission\\..*|question\\..*)$/
const ASKS = /^(permission|question)\\.asked$/
// What tools were given, by call: those whose end is not told make room for others.
const calls = new Map()
const MOST_CALLS = 200
let last = Promise.resolve()
// One after the other, so that they arrive in order; opencode itself does not wait for any of them.
const tell = (name, payload, more) => {
  const body = JSON.stringify({ hook_event_name: name, ...payload })
  last = last.then(() => more).then((found) => new Promise((done) => {
    const hook = spawn(HOOK, ["opencode"], { stdio: ["pipe", "ignore", "ignore"] })
    hook.on("error", done)
    hook.on("close", done)
    hook.stdin.on("error", () => {})
    hook.stdin.end(found ? JSON.stringify({ ...JSON.parse(body), ...found }) : body)
  })).catch(() => {})
}
// Waits beside the dialog for what is decided elsewhere, and hands it to opencode. Whoever answers first decides.
// The permission alone does not say all of it: the input of the tool is added.
const ask = (client, cwd, event, call) => {
  const hook = spawn(HOOK, ["opencode"], { stdio: ["pipe", "pipe", "ignore"] })
  let decided = ""
  hook.on("error", () => {})
  hook.stdin.on("error", () => {})
  hook.stdout.on("data", (part) => { decided += part })
  hook.on("close", async () => {
    try {
      const { url, body } = JSON.parse(decided)
      await client._client.post({ url, body, headers: { "Content-Type": "application/json" } })
    } catch {}
  })
  hook.stdin.end(JSON.stringify({ ...event, ...call, hook_event_name: "PermissionRequest", cwd }))
}
const texts = (parts) => (parts ?? []).filter((part) => part.type === "text" && !part.synthetic)
// What the agent said last, for those who wait for its answer; nothing if opencode does not tell that at once.
const reply = (client, id) => {
  const asked = client.session.messages({ path: { id }, query: { limit: 2 } }).then(({ data }) => {
    const said = data.filter((message) => message.info.role === "assistant").at(-1)
    return { last_assistant_message: texts(said?.parts).map((part) => part.text).join("\\n\\n") }
  })
  return Promise.race([asked, new Promise((late) => setTimeout(late, 500))]).catch(() => undefined)
}
export const Covey = async ({ client, directory }) => ({
  event: async ({ event }) => {
    const said = event.type === "session.idle" ? reply(client, event.properties.sessionID) : undefined
    if (EVENTS.test(event.type)) tell("event", event, said)
    const call = calls.get(event.properties?.tool?.callID)
    if (ASKS.test(event.type)) last = last.then(() => ask(client, directory, event, call)).catch(() => {})
  },
  "chat.message": async (input, output) =>
    tell("chat.message", { input, output: { parts: texts(output?.parts).map(({ type, text }) => ({ type, text })) } }),
  "tool.execute.before": async (input, output) => {
    if (calls.size >= MOST_CALLS) calls.delete(calls.keys().next().value)
    calls.set(input.callID, { tool_name: input.tool, tool_input: output?.args })
    tell("tool.execute.before", { input, output: { args: output?.args } })
  },
  "tool.execute.after": async (input) => {
    calls.delete(input.callID)
    tell("tool.execute.after", { input })
  },
})
"""


class OpenCodeIntegration(Integration):
    agent = AGENT
    tried = ("1.1.65", "1.18.18", "1.18.33")
    remarks = (
        (
            "opencode loads plugins when it starts: restart sessions that run already. "
            "With its first plugin it fetches its plugin library from npm."
        ),
    )

    def file(self, user: UserEnvironment) -> Path:
        settings = user.environ.get("OPENCODE_CONFIG_DIR", "")
        return (
            (user.home / settings if settings else user.folder("XDG_CONFIG_HOME", ".config") / "opencode")
            / "plugin"
            / "covey.js"
        )

    def content(self, user: UserEnvironment) -> bytes:
        return (PLUGIN % json.dumps(str(user.covey / "hooks" / MARKER))).encode()

    def launch(self, user: UserEnvironment) -> Launch | None:
        """Settings in the environment are merged with those in files. Somebody else's there we do not take apart."""
        if user.environ.get(CONTENT):
            return None
        file = user.covey / "hooks" / "opencode.js"
        return Launch([], {CONTENT: json.dumps({"plugin": [file.as_uri()]})}, {file: self.content(user)})


INTEGRATION = OpenCodeIntegration()
