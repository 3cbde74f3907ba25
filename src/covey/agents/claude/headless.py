"""Claude Code: `claude --print` with stream-json.

Learnt from running it (2.1.325): stream-json needs --verbose; errors are in `is_error` and the exit code, never in
`subtype`; the result line may begin with any key; running out of turns or budget exits 1; a refused tool exits 0 and is
listed in `permission_denials`; --disallowedTools takes all that follows up to the next option;
--dangerously-skip-permissions refuses to work for root, where a mode that never asks and a list of allowed tools do the
same. Hooks of --settings run beside the user's; one that cannot be run, or takes too long, refuses nothing. --settings
counts more than the files of the user and the workspace, so that none of them turns the guard off (disableAllHooks);
an administrator's settings count more.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from covey.agents.claude import AGENT
from covey.agents.headless import guarding
from covey.agents.headless.agent import Command
from covey.agents.headless.lines import OUTPUT_CHARACTERS, read_line
from covey.agents.headless.report import Failure, Report, Step, ToolCall, Turn, Usage
from covey.agents.headless.retry_time import names_reset, retry_time
from covey.agents.headless.task import MAX_TURNS
from covey.agents.headless.tool_patterns import SHELL, parts
from covey.agents.json_values import amount, json_object, json_objects, milliseconds_between, text_of, whole_number
from covey.agents.summaries import input_summary

if TYPE_CHECKING:
    from collections.abc import Iterable

    from covey.agents.headless.report import ErrorKind
    from covey.agents.headless.task import Task

SETTINGS = "settings.json"
ALLOWED = (
    "Bash",
    "Edit",
    "Write",
    "NotebookEdit",
    "Read",
    "Glob",
    "Grep",
    "WebFetch",
    "WebSearch",
    "Task",
    "Skill",
    "mcp__*",
)
"""What root's Claude may do without being asked: everything that a beat may want."""
_TOKENS_OF_MODEL = ("inputTokens", "outputTokens", "cacheCreationInputTokens", "cacheReadInputTokens")
LIST_USD_PER_MILLION = {
    "input_tokens": 15.0,
    "output_tokens": 75.0,
    "cache_creation_input_tokens": 30.0,
    "cache_read_input_tokens": 1.5,
}
"""Dollars per million tokens of the most expensive Claude model in common use (Opus 4), with a cache of one hour.

Used only when the agent ended before it told its cost and the beat has no earlier price of its own. An estimate that is
too high pauses a beat too early, one that is too low lets it overspend.
"""


class ClaudeHeadless:
    name = AGENT.name
    program = AGENT.program

    def objections(self, task: Task) -> list[str]:
        del task  # it can do all that a beat can ask for
        return []

    def command(self, task: Task, prompt: str, folder: str, *, root: bool) -> Command:
        argv = ["claude", "--print", "--output-format", "stream-json", "--verbose"]
        argv += (
            ["--permission-mode", "dontAsk", "--allowedTools", *ALLOWED] if root else ["--dangerously-skip-permissions"]
        )
        files = {}
        if task.deny:
            argv += ["--disallowedTools", *task.deny, "--settings", f"{folder}/{SETTINGS}"]
            rules = [parts(pattern) for pattern in guarding.own_patterns(task.deny)]
            files[guarding.RULES] = guarding.rules_text(
                AGENT.name, task.workspace, [rule for rule in rules if rule[0] == SHELL]
            )
            files[SETTINGS] = json.dumps(
                {"disableAllHooks": False, "hooks": {"PreToolUse": [guarding.hook_entry(f"{folder}/{guarding.RULES}")]}}
            )
        argv += ["--max-turns", str(task.max_turns or MAX_TURNS)]
        if task.model:
            argv += ["--model", task.model]
        if task.budget.run_usd is not None:
            argv += ["--max-budget-usd", str(task.budget.run_usd)]
        return Command(argv=tuple(argv), stdin=prompt, environment=dict.fromkeys(AGENT.session_variables), files=files)

    def reader(self) -> ClaudeReader:
        return ClaudeReader()


class ClaudeReader:
    """One run's stream."""

    def __init__(self) -> None:
        self._turns: list[dict[str, Any]] = []
        self._calls: dict[str, dict[str, Any]] = {}
        self._spent: dict[str, dict[str, int]] = {}
        """Tokens by kind, of each message by its id; the same message may be told several times."""
        self._result: dict[str, Any] = {}
        self._resets: float | None = None

    def line(self, text: str) -> Iterable[Step]:
        line = read_line(text)
        kind, message = line.get("type"), json_object(line.get("message"))
        if kind == "assistant":
            return self._assistant(line, message)
        if kind == "user":
            self._answers(line, message)
        elif kind == "result":
            self._result = line
        elif kind == "rate_limit_event":
            info = json_object(line.get("rate_limit_info"))
            if info.get("status") == "rejected":  # the others say when a window ends in which there is room
                self._resets = float(whole_number(info.get("resetsAt"))) or self._resets
        return []

    def _assistant(self, line: dict[str, Any], message: dict[str, Any]) -> list[Step]:
        identity, usage, steps = text_of(message.get("id")), json_object(message.get("usage")), []
        self._spent[identity] = {name: whole_number(usage.get(name)) for name in LIST_USD_PER_MILLION}
        own = line.get("parent_tool_use_id") is None
        if own and (not self._turns or self._turns[-1]["id"] != identity):
            self._turns.append({"id": identity, "text": [], "calls": []})
        for block in json_objects(message.get("content")):
            if block.get("type") == "text" and own:
                self._turns[-1]["text"].append(text_of(block.get("text")))
                steps.append(Step(kind="text", text=text_of(block.get("text"))))
            elif block.get("type") == "tool_use":
                call: dict[str, Any] = {
                    "name": text_of(block.get("name")),
                    "input": json_object(block.get("input")),
                    "began": line.get("timestamp"),
                }
                self._calls[text_of(block.get("id"))] = call
                if own:
                    self._turns[-1]["calls"].append(call)
                steps.append(Step(kind="tool", name=call["name"], text=input_summary(call["input"])))
        return steps

    def _answers(self, line: dict[str, Any], message: dict[str, Any]) -> None:
        for block in json_objects(message.get("content")):
            call = self._calls.get(text_of(block.get("tool_use_id")))
            if call is not None:
                content = block.get("content")
                output = (
                    "\n".join(text_of(part.get("text")) for part in json_objects(content))
                    if isinstance(content, list)
                    else text_of(content)
                )
                call["output"], call["ms"] = (
                    output[:OUTPUT_CHARACTERS],
                    milliseconds_between(call["began"], line.get("timestamp")),
                )

    @property
    def usage(self) -> Usage:
        usage, models = json_object(self._result.get("usage")), json_object(self._result.get("modelUsage")).values()
        streamed = sum(sum(message.values()) for message in self._spent.values())
        spent = sum(whole_number(usage.get(name)) for name in LIST_USD_PER_MILLION) if usage else streamed
        by_models = sum(
            whole_number(json_object(model).get(name)) for model in models for name in _TOKENS_OF_MODEL
        )  # helpers and the last turn too
        counts = [item for message in self._spent.values() for item in message.items()]
        list_usd = sum(count * LIST_USD_PER_MILLION[name] for name, count in counts) / 1e6
        return Usage(
            cost_usd=amount(self._result.get("total_cost_usd")),
            tokens=max(spent, by_models) if self._result or self._spent else None,
            list_usd=list_usd if self._spent else None,
        )

    def report(self, exit_code: int, complaints: str, now: float) -> Report:
        result = self._result
        denials = tuple(
            f"{text_of(one.get('tool_name'))}({input_summary(json_object(one.get('tool_input')))})"
            for one in json_objects(result.get("permission_denials"))
        )
        turns = [
            Turn(role="assistant", text="\n".join(turn["text"]) or None, tool_calls=_calls(turn["calls"]) or None)
            for turn in self._turns
        ]
        if result:
            turns.append(
                Turn(
                    role="result",
                    text=text_of(result.get("result")),
                    cost_usd=self.usage.cost_usd,
                    duration_ms=whole_number(result.get("duration_ms")),
                    num_turns=whole_number(result.get("num_turns")),
                )
            )
        return Report(
            text=text_of(result.get("result")),
            turns=tuple(turns),
            usage=self.usage,
            num_turns=whole_number(result.get("num_turns")) if result else None,
            denials=denials,
            failure=self._failure(exit_code, complaints, now),
        )

    def _failure(self, exit_code: int, complaints: str, now: float) -> Failure | None:
        result = self._result
        if result and not result.get("is_error") and exit_code == 0:
            return None
        message = text_of(result.get("result")) or _joined(result.get("errors")) or _last(complaints)
        kind: ErrorKind = "crash"
        # Older versions have no terminal_reason.
        # Their subtype says the same; for every other failure it is "success" or absent.
        ended = text_of(result.get("terminal_reason")) or text_of(result.get("subtype"))
        if ended in {"max_turns", "error_max_turns"}:
            kind = "max_turns"
        elif ended in {"budget_exhausted", "error_max_budget_usd"}:
            kind = "budget"
        elif result:
            status = whole_number(result.get("api_error_status"))
            limited = status == 429 or names_reset(message)  # noqa: PLR2004 - the HTTP status
            kind = "rate_limit" if limited else "auth" if status in {401, 403} or "/login" in message else "api"
        elif "/login" in message or "API key" in message:
            kind = "auth"
        retry_at = (self._resets or retry_time(message, now, now)) if kind == "rate_limit" else None
        silent = (
            "it used up its turns without an answer"
            if kind == "max_turns"
            else f"it ended with exit code {exit_code} and said nothing"
        )
        return Failure(kind=kind, message=message or silent, retry_at=retry_at)


def _calls(calls: list[dict[str, Any]]) -> list[ToolCall]:
    return [
        ToolCall(name=call["name"], input=call["input"], output=call.get("output"), duration_ms=call.get("ms"))
        for call in calls
    ]


def _joined(errors: object) -> str:
    return "; ".join(text_of(error) for error in errors) if isinstance(errors, list) else ""


def _last(complaints: str) -> str:
    return next((line.strip()[:500] for line in reversed(complaints.splitlines()) if line.strip()), "")


HEADLESS = ClaudeHeadless()
