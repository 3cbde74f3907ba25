"""GitHub Copilot CLI: the prompt on standard input, `--output-format json`.

Learnt from running it (1.0.102), as root and not. Its lines do not tell what was used, but its telemetry does, for each
call of the model and those of helper agents too: it is written to standard output among them, whole lines at a time,
which wants a standard output that is opened for appending, as the runner's is. Money is never told, in no unit that
could be turned into USD. There is no limit of turns. A failed request is repeated at most five times: 17 s for a
failing server, 54 s for a rate limit without a time, 2 s for a wrong key; a rate limit with a longer time is given up
at once, and the time is not passed on. Nothing shortens that.

Tools are denied by a hook, `guard`, in a plugin that lives in the run's folder: Copilot's own rules (`--deny-tool`)
know whole words and no patterns, so that neither `mkfs*` nor `dd if=* of=/dev/*` nor `rm -rf /*` could be said. A hook
that fails refuses, but one that takes too long or is turned off by the workspace's settings (disableAllHooks) would let
all pass. So nothing is allowed on the command line: the hook itself grants each call, and where it does not run,
nothing is run. Refused are all default patterns, whichever way the command is chained or wrapped, for helper agents
too. What the hook grants is granted: addresses that the user's settings deny (deniedUrls) as well. Without a deny list
(`permissions: skip`) there is no hook and all is allowed.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from covey.agents.copilot import AGENT
from covey.agents.headless import guarding, limits
from covey.agents.headless.agent import Command
from covey.agents.headless.lines import read_line
from covey.agents.headless.messages import Messages, first_line
from covey.agents.headless.report import Failure, Report, Usage
from covey.agents.headless.retry_time import retry_time
from covey.agents.headless.tool_patterns import MCP, SHELL, parts
from covey.agents.json_values import json_object, json_objects, milliseconds_between, text_of, timestamp, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from covey.agents.headless.report import ErrorKind, Step
    from covey.agents.headless.task import Task

TOOLS = {
    "Edit": "Edit",
    "MultiEdit": "Edit",
    "NotebookEdit": "Edit",
    "Write": "Write",
    "Read": "Read",
    "Glob": "Glob",
    "Grep": "Grep",
    "WebFetch": "WebFetch",
    "Task": "Agent",
    "Agent": "Agent",
    "Skill": "skill",
}
"""What Copilot calls its tools when it asks a hook, for those of the patterns."""
TELEMETRY = {
    "COPILOT_OTEL_ENABLED": "true",
    "COPILOT_OTEL_EXPORTER_TYPE": "file",
    "COPILOT_OTEL_FILE_EXPORTER_PATH": "/dev/stdout",
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "false",
}
_SERVER = re.compile(r"[A-Za-z0-9_-]+")
_LOGIN = re.compile(r"authenticat|/login|COPILOT_GITHUB_TOKEN", re.IGNORECASE)
_TYPES: dict[str, ErrorKind] = {
    "authentication": "auth",
    "authorization": "auth",
    "rate_limit": "rate_limit",
    "quota": "rate_limit",
}
_STATUS: dict[int, ErrorKind] = {401: "auth", 403: "auth", 402: "rate_limit", 429: "rate_limit"}


class CopilotHeadless:
    name = AGENT.name
    program = AGENT.program

    def objections(self, task: Task) -> list[str]:
        found = [
            f"Copilot cannot deny {pattern}: write Bash(a command *), one of {', '.join(TOOLS)}, or mcp__server, "
            "or have another agent run this beat"
            for pattern in task.deny
            if _rule(pattern) is None
        ]
        turns = "knows no limit of turns: leave maxTurns out, and set timeout or runTokens"
        return [*found, *limits.objections("Copilot", task, turns, reports_tokens=True)]

    def command(self, task: Task, prompt: str, folder: str, *, root: bool) -> Command:
        del root  # it works the same
        argv = [
            "copilot",
            "--output-format",
            "json",
            "--no-ask-user",
            "--no-color",
            "--allow-all-paths",
            "--allow-all-urls",
        ]
        files = {}
        if task.deny:
            rules = [rule for rule in map(_rule, guarding.own_patterns(task.deny)) if rule]
            files[guarding.RULES] = guarding.rules_text(AGENT.name, task.workspace, rules, folder_lasts=True)
            hook = guarding.copilot_hook(f"{folder}/{guarding.RULES}", grants=True)
            files["hooks.json"] = json.dumps(
                {
                    "version": 1,
                    "hooks": {"PreToolUse": [hook]},
                }
            )
            files["plugin.json"] = json.dumps({"name": "covey-beat", "version": "1.0.0", "hooks": "hooks.json"})
            argv += ["--plugin-dir", folder]
        else:
            argv.append("--allow-all-tools")
        argv += ["--model", task.model] if task.model else []
        return Command(
            argv=tuple(argv), stdin=prompt, environment={**TELEMETRY, "COPILOT_ALLOW_ALL": None}, files=files
        )

    def reader(self) -> CopilotReader:
        return CopilotReader()


class CopilotReader:
    """One run's stream."""

    def __init__(self) -> None:
        self._messages = Messages()
        self._helpers = Messages()
        """What helper agents do is shown while it happens, and is no part of the conversation."""
        self._began: dict[str, object] = {}
        self._denials: list[str] = []
        self._tokens: int | None = None
        self._error: dict[str, Any] = {}
        self._result: dict[str, Any] = {}

    def line(self, text: str) -> Iterable[Step]:
        return list(self._take(read_line(text)))

    def _take(self, line: dict[str, Any]) -> Iterator[Step]:
        data, own = json_object(line.get("data")), not line.get("agentId")
        match line.get("type"):
            case "assistant.message":
                yield from self._message(data, own=own)
            case "tool.execution_start":
                self._began[text_of(data.get("toolCallId"))] = line.get("timestamp")
            case "tool.execution_complete":
                self._done(data, line.get("timestamp"))
            case "session.error" if own:
                self._error = data
            case "result":
                self._result = line
            case "span":
                self._spent(json_object(line.get("attributes")))

    def _message(self, data: dict[str, Any], *, own: bool) -> Iterator[Step]:
        messages = self._messages if own else self._helpers
        message, written = (
            f"{text_of(data.get('interactionId'))} {text_of(data.get('turnId'))}",
            text_of(data.get("content")),
        )
        messages.turn(message)
        if own:
            self._error = {}
            if written.strip():
                yield messages.add_part(message, written)
        for call in json_objects(data.get("toolRequests")):
            yield messages.call(
                text_of(call.get("toolCallId")), text_of(call.get("name")), json_object(call.get("arguments"))
            )

    def _done(self, data: dict[str, Any], ended: object) -> None:
        identity, error = text_of(data.get("toolCallId")), json_object(data.get("error"))
        output = text_of(json_object(data.get("result")).get("content") or error.get("message"))
        self._messages.result(identity, output, milliseconds_between(self._began.get(identity), ended))
        if error.get("code") == "denied" and (
            call := self._messages.called(identity) or self._helpers.called(identity)
        ):
            self._denials.append(call)

    def _spent(self, attributes: dict[str, Any]) -> None:
        counts = [
            attributes.get(f"gen_ai.usage.{way}_tokens") for way in ("input", "output")
        ]  # cached ones are among them
        if attributes.get("gen_ai.operation.name") == "chat" and counts != [None, None]:
            self._tokens = (self._tokens or 0) + sum(map(whole_number, counts))

    @property
    def usage(self) -> Usage:
        return Usage(tokens=self._tokens)

    def report(self, exit_code: int, complaints: str, now: float) -> Report:
        used = json_object(self._result.get("usage"))
        return Report(
            text=self._messages.answer,
            turns=self._messages.turns(self.usage, whole_number(used.get("sessionDurationMs")) if used else None),
            usage=self.usage,
            num_turns=self._messages.count or None,
            denials=tuple(self._denials),
            failure=self._failure(exit_code, complaints, now),
        )

    def _failure(self, exit_code: int, complaints: str, now: float) -> Failure | None:
        error = self._error
        if self._result and not self._result.get("exitCode") and exit_code == 0 and not error:
            return None
        problem = " ".join(text_of(error.get("message")).split()) or first_line(complaints)
        kind: ErrorKind = "auth" if not error and _LOGIN.search(problem) else "api" if error else "crash"
        kind = _TYPES.get(text_of(error.get("errorType"))) or _STATUS.get(whole_number(error.get("statusCode"))) or kind
        ended = timestamp(self._result.get("timestamp")) or now
        retry_at = retry_time(problem, ended, ended) if kind == "rate_limit" else None
        return Failure(
            kind=kind,
            message=problem or f"it ended with exit code {exit_code} and without an answer",
            retry_at=retry_at,
        )


def _rule(pattern: str) -> tuple[str, str | None] | None:
    """Return what the guard has to refuse: a tool, and a pattern for its command.

    None if Copilot does not ask a hook about such a tool.
    """
    name, argument = parts(pattern)
    if name == SHELL:
        return SHELL, argument
    server, _, tool = name.removeprefix(MCP).partition("__")
    if argument is not None:
        return None
    if name.startswith(MCP):
        return (f"{server}-{tool or '*'}", None) if _SERVER.fullmatch(server) else None
    return (TOOLS[name], None) if name in TOOLS else None


HEADLESS = CopilotHeadless()
