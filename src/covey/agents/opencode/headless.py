"""opencode: `opencode run --format json`, the prompt on standard input.

Learnt from running it (1.18.33), as root and not. Each step tells its tokens and, for models whose price opencode
knows, its cost; a cost of zero is taken for one that is not known. What helper agents use is not told, so a beat has
none. A failed request is repeated five times within 62 to 78 s, without a word, but a provider that asks for more
patience is given it, for days if need be, and nothing in the settings bounds that; a limit of steps is put to the model
as a wish. A small plugin in the run's folder therefore ends the run, and says why, when a wait is longer than any of
opencode's own or when the turns are used up. A title is given to the session, or a model would be asked for one.

Tools are denied by the permissions of an agent that exists for this run only. Those of the settings would not do: the
last rule that matches wins, and rules of the user's that have the same name keep their place. Questions are answered
with yes (--auto), so what the user's settings deny stays denied. The permissions look at each link of a chain; the
plugin of its own has `guard` judge commands by their meaning.
A rule for Edit or Write is for both. All of it comes in an environment variable (OPENCODE_CONFIG_CONTENT), which goes
before the user's and the workspace's settings.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.agents.headless import guarding
from covey.agents.headless.agent import Command
from covey.agents.headless.lines import read_line
from covey.agents.headless.messages import Messages, first_line
from covey.agents.headless.report import Failure, Report, Usage
from covey.agents.headless.task import MAX_TURNS
from covey.agents.headless.tool_patterns import MCP, SHELL, parts
from covey.agents.json_values import amount, json_object, text_of, whole_number
from covey.agents.opencode import AGENT
from covey.agents.opencode.guard_plugin import plugin_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from covey.agents.headless.report import ErrorKind, Step
    from covey.agents.headless.task import Task

OWN = "covey-beat"
PLUGIN, GUARD_PLUGIN = "opencode.js", "guard.js"
PATIENCE_S = 45
"""Its own waits are of 40 s at most; a longer one was asked for by the provider."""
TOOLS = {
    "Bash": "bash",
    "Edit": "edit",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "Write": "edit",
    "Read": "read",
    "Glob": "glob",
    "Grep": "grep",
    "LS": "list",
    "WebFetch": "webfetch",
    "WebSearch": "websearch",
    "Task": "task",
    "Agent": "task",
    "Skill": "skill",
}
"""opencode's permissions for the tools of the patterns."""
PLUGIN_TEXT = """\
import { writeSync } from "node:fs"

export const Covey = async ({ client }) => {
  const steps = new Set()
  let over = false
  const stop = async (id, why) => {
    if (over) return
    over = true
    writeSync(1, JSON.stringify({ type: "covey", ...why }) + "\\n")
    setTimeout(() => process.exit(1), 5000).unref()
    await client.session.abort({ path: { id } })
  }
  return {
    event: async ({ event: { type, properties: about } }) => {
      if (type === "session.status" && about.status.type === "retry" && about.status.next - Date.now() > PATIENCE_MS)
        await stop(about.sessionID, { retry: about.status })
      const started = type === "message.part.updated" && about.part.type === "step-start"
      if (started && steps.add(about.part.messageID).size > TURNS)
        await stop(about.part.sessionID, { turns: TURNS })
    },
  }
}
"""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_DENIED = ("The user has specified a rule which prevents", "The user rejected permission", guarding.REFUSED)
_MISSING = "Model tried to call unavailable tool"
"""A tool that is denied altogether is not offered; a model that wants it nevertheless is told this."""
_STATUS: dict[int, ErrorKind] = {401: "auth", 403: "auth", 402: "rate_limit", 429: "rate_limit"}


class OpenCodeHeadless:
    name = AGENT.name
    program = AGENT.program

    def objections(self, task: Task) -> list[str]:
        found = [
            f"opencode cannot deny {pattern}: write Bash(a command *), one of {', '.join(TOOLS)}, or mcp__server, "
            "or have another agent run this beat"
            for pattern in task.deny
            if _permission(pattern) is None
        ]
        if task.model and "/" not in task.model:
            found.append(
                f"opencode knows no model {task.model}: put its provider in front, such as anthropic/{task.model}; "
                "opencode models lists them"
            )
        return found

    def command(self, task: Task, prompt: str, folder: str, *, root: bool) -> Command:
        del root  # it works the same
        permissions: dict[str, dict[str, str]] = {}
        for name, pattern in filter(None, map(_permission, (*task.deny, "Task"))):
            permissions.setdefault(name, {})[pattern] = "deny"
        own_commands = [rule for rule in map(parts, guarding.own_patterns(task.deny)) if rule[0] == SHELL]
        files = {PLUGIN: _plugin(task.max_turns or MAX_TURNS)}
        if task.deny:
            files[GUARD_PLUGIN] = plugin_text(f"{folder}/{guarding.RULES}")
            files[guarding.RULES] = guarding.rules_text(AGENT.name, task.workspace, own_commands)
        plugins = [Path(folder, name).as_uri() for name in files if name != guarding.RULES]
        own = {"mode": "primary", "permission": permissions}
        argv = ["opencode", "run", "--format", "json", "--auto", "--agent", OWN, "--title", f"Covey beat {task.name}"]
        argv += ["--model", task.model] if task.model else []
        return Command(
            argv=tuple(argv),
            stdin=prompt,
            environment={
                "OPENCODE_CONFIG_CONTENT": json.dumps({"agent": {OWN: own}, "plugin": plugins}),
                "OPENCODE_PURE": None,
            },
            files=files,
        )

    def reader(self) -> OpenCodeReader:
        return OpenCodeReader()


class OpenCodeReader:
    """One run's stream."""

    def __init__(self) -> None:
        self._messages = Messages()
        self._denials: list[str] = []
        self._tokens: int | None = None
        self._cost = 0.0
        self._times: list[int] = []
        self._stopped: dict[str, Any] = {}
        self._error: dict[str, Any] = {}

    def line(self, text: str) -> Iterable[Step]:
        return list(self._take(read_line(text)))

    def _take(self, line: dict[str, Any]) -> Iterator[Step]:
        part = json_object(line.get("part"))
        message = text_of(part.get("messageID"))
        if line.get("timestamp"):
            self._times.append(whole_number(line["timestamp"]))
        match line.get("type"):
            case "step_start":
                self._messages.turn(message)
            case "text" if text_of(part.get("text")).strip():
                yield self._messages.add_part(message, text_of(part.get("text")))
            case "tool_use":
                yield self._tool(message, part)
            case "step_finish":
                self._spent(json_object(part.get("tokens")), part.get("cost"))
            case "error":
                self._error = json_object(line.get("error"))
            case "covey":
                self._stopped = line

    def _tool(self, message: str, part: dict[str, Any]) -> Step:
        identity, state = text_of(part.get("callID")), json_object(part.get("state"))
        arguments, output = json_object(state.get("input")), text_of(state.get("error") or state.get("output"))
        missing = text_of(arguments.get("error")).startswith(_MISSING)
        self._messages.turn(message)
        step = self._messages.call(
            identity, text_of(arguments.get("tool") if missing else part.get("tool")), {} if missing else arguments
        )
        times = json_object(state.get("time"))
        self._messages.result(
            identity, output, whole_number(times.get("end")) - whole_number(times.get("start")) if times else None
        )
        if missing or output.startswith(_DENIED):
            self._denials.append(self._messages.called(identity))
        return step

    def _spent(self, tokens: dict[str, Any], paid: object) -> None:
        cache = json_object(tokens.get("cache"))
        counts = [
            *(tokens.get(name) for name in ("input", "output", "reasoning")),
            cache.get("read"),
            cache.get("write"),
        ]
        self._tokens = (self._tokens or 0) + (whole_number(tokens.get("total")) or sum(map(whole_number, counts)))
        self._cost += amount(paid) or 0.0

    @property
    def usage(self) -> Usage:
        return Usage(cost_usd=self._cost or None, tokens=self._tokens)

    def report(self, exit_code: int, complaints: str, now: float) -> Report:
        return Report(
            text=self._messages.answer,
            turns=self._messages.turns(self.usage, max(self._times) - min(self._times) if self._times else None),
            usage=self.usage,
            num_turns=self._messages.count or None,
            denials=tuple(self._denials),
            failure=self._failure(exit_code, complaints, now),
        )

    def _failure(self, exit_code: int, complaints: str, now: float) -> Failure | None:
        if "turns" in self._stopped:
            return Failure(
                kind="max_turns",
                message=f"it used up its {whole_number(self._stopped['turns'])} turns without an answer",
            )
        if "retry" in self._stopped:
            retry = json_object(self._stopped["retry"])
            return Failure(
                kind="rate_limit",
                message=_said(retry) or "the provider asks to wait",
                retry_at=whole_number(retry.get("next")) / 1000 or None,
            )
        if not self._error and exit_code == 0 and self._messages.count:
            return None
        data = json_object(self._error.get("data"))
        message = (
            _said(data)
            or _COLOUR.sub("", first_line(complaints))
            or f"it ended with exit code {exit_code} and without an answer"
        )
        kind: ErrorKind = (
            "auth" if self._error.get("name") == "ProviderAuthError" else "api" if self._error else "crash"
        )
        kind = _STATUS.get(whole_number(data.get("statusCode")), kind)
        return Failure(kind=kind, message=message, retry_at=_retry_at(data, now) if kind == "rate_limit" else None)


def _plugin(turns: int) -> str:
    given = {"TURNS": turns, "PATIENCE_MS": PATIENCE_S * 1000}
    return "".join(f"const {name} = {json.dumps(value)}\n" for name, value in given.items()) + PLUGIN_TEXT


def _permission(pattern: str) -> tuple[str, str] | None:
    """The permission to deny, and for what; None if opencode has none for it."""
    name, argument = parts(pattern)
    if argument is not None:
        return (TOOLS[name], argument) if name == SHELL else None
    if name.startswith(MCP):
        server, _, tool = name.removeprefix(MCP).partition("__")
        return (re.sub(r"[^\w*-]", "_", f"{server}_{tool or '*'}", flags=re.ASCII), "*") if server.strip("*") else None
    found = TOOLS.get(name) or (name if name in TOOLS.values() else None)
    return (found, "*") if found else None


def _said(about: dict[str, Any]) -> str:
    return " ".join(text_of(about.get("message")).split())[:500]


def _retry_at(data: dict[str, Any], now: float) -> float | None:
    """From the provider's own word only."""
    wait = text_of(json_object(data.get("responseHeaders")).get("retry-after"))
    return now + int(wait) if re.fullmatch(r"[0-9]{1,9}", wait) else None


HEADLESS = OpenCodeHeadless()
