"""Codex: `codex exec --json`.

Learnt from running it (0.166.0), as root and not. It never asks in this mode. Commands run in a sandbox: the workspace
and the temporary folders can be written, everything else only read, and /dev is a private one; the network is open. An
item of type `error` is a warning. What was used is told once, at the end, and without what helper agents used. There is
no limit of turns and no word about money. An API that fails is asked again for about 25 s; without a network it would
wait for ever, which is turned off here.

Tools are denied by a hook, `guard`, given on the command line: rules for commands can be put nowhere but into the
user's own folder or the workspace, and know no patterns. Refused are all default patterns, whichever way the command is
chained or wrapped; what the hook cannot see (a program that does it by itself, words typed into a shell that is open)
is left to the sandbox. A hook runs only if a person has reviewed it or if review is waived, so it is waived for the
run: hooks that the user has set up but not yet reviewed run too. Codex refuses some commands on its own, `rm -rf` of
anything among them. All refusals are told on standard error only. A tool of an MCP server is refused too, unless the
user's settings approve it (default_tools_approval_mode = "approve"). Without a deny list (`permissions: skip`) there is
neither a hook nor a sandbox.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

from covey.agents.codex import AGENT
from covey.agents.headless import guarding, limits
from covey.agents.headless.agent import Command
from covey.agents.headless.conversation import Conversation
from covey.agents.headless.lines import read_line
from covey.agents.headless.report import Failure, Report, Usage
from covey.agents.headless.retry_time import retry_time
from covey.agents.headless.tool_patterns import MCP, SHELL, parts
from covey.agents.json_values import json_object, json_objects, text_of, whole_number
from covey.agents.summaries import input_summary
from covey.kernel.config.toml_text import written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from covey.agents.headless.report import ErrorKind, Step
    from covey.agents.headless.task import Task

PATCH = "apply_patch"
SEARCH = "WebSearch"
TOOLS = {
    "Edit": PATCH,
    "MultiEdit": PATCH,
    "Write": PATCH,
    "NotebookEdit": PATCH,
    PATCH: PATCH,
    "Task": "*spawn_agent",
    "Agent": "*spawn_agent",
}
"""Codex's tools for those of the patterns: it has one for every change of a file."""
_STATUS = re.compile(r"\bstatus:? (\d{3})\b")
_LIMIT = re.compile(r"usage limit|rate limit|quota exceeded", re.IGNORECASE)
_LOGIN = re.compile(
    r"Missing environment variable|not logged in|codex login|log in again|sign in again|with your ChatGPT plan",
    re.IGNORECASE,
)
_HOOK = re.compile(r"blocked by PreToolUse hook: (.*?)(?:\. Command: (.*))?$")
_REJECTED = re.compile(r'Rejected\("`((?:(?!Rejected\("`).)*?)` rejected: ')
_FILE = re.compile(r"\*\*\* (?:Add|Update|Delete) File: (\S+)")
_UNAPPROVED = "requires approval, but approval policy is never"
_OTHER = {
    "patch rejected: ": "Edit(outside the workspace)",
    "cannot ask for escalated permissions": "Bash(outside the sandbox)",
}


class CodexHeadless:
    name = AGENT.name
    program = AGENT.program

    def objections(self, task: Task) -> list[str]:
        found = [
            f"Codex cannot deny {pattern}: write Bash(a command *), Edit, {SEARCH}, Task or mcp__server, "
            "or have another agent run this beat"
            for pattern in task.deny
            if pattern != SEARCH and _rule(pattern) is None
        ]
        return [
            *found,
            *limits.objections("Codex", task, "knows no limit of turns: leave maxTurns out, and set timeout"),
        ]

    def command(self, task: Task, prompt: str, folder: str, *, root: bool) -> Command:
        del root  # it works the same
        argv = [
            "codex",
            "exec",
            "--json",
            "--skip-git-repo-check",
            "--color",
            "never",
            *_set("features.unbounded_connection_retries", "false"),
        ]
        files = {}
        if task.deny:
            rules = [rule for rule in map(_rule, guarding.own_patterns(task.deny)) if rule]
            files[guarding.RULES] = guarding.rules_text(AGENT.name, task.workspace, rules)
            argv += [
                "--sandbox",
                "workspace-write",
                *_set("sandbox_workspace_write.network_access", "true"),
                *_set("approval_policy", '"never"'),
            ]
            argv += [*_set("features.hooks", "true"), "--dangerously-bypass-hook-trust"]
            argv += _set("hooks.PreToolUse", written([guarding.hook_entry(f"{folder}/{guarding.RULES}")]))
            argv += _set("web_search", '"disabled"') if SEARCH in task.deny else []
        else:
            argv.append("--dangerously-bypass-approvals-and-sandbox")
        argv += ["--model", task.model] if task.model else []
        return Command(argv=(*argv, "-"), stdin=prompt, environment={"RUST_LOG": "error"}, files=files)

    def reader(self) -> CodexReader:
        return CodexReader()


class CodexReader:
    """One run's stream."""

    def __init__(self) -> None:
        self._conversation = Conversation()
        self._began = 0.0
        self._tokens: int | None = None
        self._complete = False
        self._error: str | None = None
        self._denials: list[str] = []

    def line(self, text: str) -> Iterable[Step]:
        return list(self._take(read_line(text)))

    def _take(self, line: dict[str, Any]) -> Iterator[Step]:
        match line.get("type"):
            case "thread.started":
                self._began = _moment(line.get("thread_id"))
            case "item.started" | "item.completed" as kind:
                yield from self._item(json_object(line.get("item")), completed=kind == "item.completed")
            case "turn.completed":
                usage = json_object(line.get("usage"))
                self._tokens = (
                    (self._tokens or 0)
                    + whole_number(usage.get("input_tokens"))
                    + whole_number(usage.get("output_tokens"))
                )
                self._complete, self._error = True, None
            case "turn.failed" | "error":
                self._complete, self._error = False, _message(line.get("error") or line)

    def _item(self, item: dict[str, Any], *, completed: bool) -> Iterator[Step]:
        identity = text_of(item.get("id"))
        if item.get("type") == "agent_message":
            if completed:
                yield self._conversation.add_text(text_of(item.get("text")))
        elif tool := _tool(item):
            if not self._conversation.called(identity):
                yield self._conversation.call(identity, *tool)
            if completed:
                self._conversation.result(identity, _output(item))
                if _UNAPPROVED in _output(item):
                    self._denials.append(self._conversation.called(identity))

    @property
    def usage(self) -> Usage:
        return Usage(tokens=self._tokens)

    def report(self, exit_code: int, complaints: str, now: float) -> Report:
        return Report(
            text=self._conversation.answer,
            turns=self._conversation.turns(self.usage),
            usage=self.usage,
            denials=(*self._denials, *_denials(complaints)),
            failure=self._failure(exit_code, complaints, now),
        )

    def _failure(self, exit_code: int, complaints: str, now: float) -> Failure | None:
        if self._complete and exit_code == 0:
            return None
        if self._error is None:
            lines = [line.strip()[:500] for line in complaints.splitlines() if line.strip()]
            message = next((line for line in lines if line.startswith("Error")), lines[-1] if lines else "")
            kind: ErrorKind = "auth" if _LOGIN.search(message) else "crash"
            return Failure(kind=kind, message=message or f"it ended with exit code {exit_code} and without an answer")
        status = _STATUS.search(self._error)
        limited = bool(_LIMIT.search(self._error)) or (status is not None and status[1] == "429")
        refused = bool(_LOGIN.search(self._error)) or (status is not None and status[1] in {"401", "403"})
        kind = "rate_limit" if limited else "auth" if refused else "api"
        return Failure(
            kind=kind,
            message=self._error,
            retry_at=retry_time(self._error, self._began or now, now) if limited else None,
        )


def _set(key: str, value: str) -> list[str]:
    return ["-c", f"{key}={value}"]


def _rule(pattern: str) -> tuple[str, str | None] | None:
    """A pattern as the guard takes it; None if Codex has no such tool, or none whose input could be compared."""
    name, argument = parts(pattern)
    if name == SHELL:
        return SHELL, argument
    if argument is not None:
        return None
    if name.startswith(MCP):
        name = name.replace("-", "_")  # as Codex does with names of servers
        return (name if "__" in name.removeprefix(MCP) else f"{name}__*"), None
    return (TOOLS[name], None) if name in TOOLS else None


def _tool(item: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """The tool of an item, and its input; None if it is something else."""
    match item.get("type"):
        case "command_execution":
            return SHELL, {"command": _command(text_of(item.get("command")))}
        case "file_change":
            return "Edit", {
                "path": ", ".join(text_of(change.get("path")) for change in json_objects(item.get("changes")))
            }
        case "mcp_tool_call":
            return f"{MCP}{text_of(item.get('server'))}__{text_of(item.get('tool'))}", json_object(
                item.get("arguments")
            )
        case "web_search":
            return SEARCH, {"query": text_of(item.get("query"))}
        case "collab_tool_call":
            return "Agent", {"tool": text_of(item.get("tool")), "prompt": text_of(item.get("prompt"))}
    return None


def _output(item: dict[str, Any]) -> str:
    if "aggregated_output" in item:
        return text_of(item["aggregated_output"])
    content = json_objects(json_object(item.get("result")).get("content"))
    return (
        _message(item["error"])
        if item.get("error")
        else "\n".join(text_of(part.get("text")) for part in content) or text_of(item.get("status"))
    )


def _command(given: str) -> str:
    """A command without the shell that Codex has it run by."""
    try:
        words = shlex.split(given)
    except ValueError:
        return given
    return words[2] if len(words) == 3 and words[1] in {"-c", "-lc"} else given  # noqa: PLR2004


def _message(error: object) -> str:
    """What went wrong, in words. Some are the provider's answer as it came."""
    message = text_of(error.get("message")) if isinstance(error, dict) else text_of(error)
    inner = json_object(read_line(message).get("error")).get("message")
    return text_of(inner) or message or "it failed and did not say why"


def _denials(complaints: str) -> Iterator[str]:
    for line in complaints.splitlines():
        if hook := _HOOK.search(line):
            reason, command = hook.groups()
            patched = _FILE.findall(reason)
            ours = reason.removeprefix(guarding.REFUSED)
            yield (
                f"Edit({', '.join(patched)})"
                if patched
                else f"{SHELL}({command})"
                if command and ours == reason
                else ours
            )
        elif rejected := _REJECTED.search(line.replace('\\"', '"')):
            yield f"{SHELL}({input_summary({'command': _command(rejected[1])})})"
        else:
            yield from (name for sign, name in _OTHER.items() if sign in line)


def _moment(thread: object) -> float:
    """When a thread began: its id is a version 7 UUID, which begins with the milliseconds."""
    digits = text_of(thread).replace("-", "")
    return int(digits[:12], 16) / 1000 if re.fullmatch(r"[0-9a-f]{12}7[0-9a-f]{19}", digits) else 0.0


HEADLESS = CodexHeadless()
