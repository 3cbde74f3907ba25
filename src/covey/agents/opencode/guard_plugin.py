"""opencode's plugin that asks `guard` before each command, for a session or a run that asks nobody."""

from __future__ import annotations

import json

from covey.agents.headless import guarding

_TEXT = """\
import { spawnSync } from "node:child_process"

export const CoveyGuard = async ({ directory }) => ({
  "tool.execute.before": async ({ tool }, { args }) => {
    if (tool !== "bash") return
    const input = JSON.stringify({ tool_name: tool, tool_input: args, cwd: directory })
    const { status, stderr } = spawnSync(GUARD[0], GUARD.slice(1), { input, encoding: "utf8" })
    if (status !== 0) throw new Error(status === 2 ? stderr : REFUSED + "a command, for the guard does not run")
  },
})
"""


def plugin_text(rules: str) -> str:
    """Return the plugin; `rules` is the file for the guard."""
    given = {"GUARD": guarding.command(rules), "REFUSED": guarding.REFUSED}
    return "".join(f"const {name} = {json.dumps(value)}\n" for name, value in given.items()) + _TEXT
