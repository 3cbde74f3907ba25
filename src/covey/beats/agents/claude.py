"""Claude Code: `claude --print` with stream-json.

Learnt from running it (2.1.325): stream-json needs --verbose; errors are in `is_error` and the exit code, never in `subtype`; the result line may begin with any
key; running out of turns or budget exits 1; a refused tool exits 0 and is listed in `permission_denials`; --disallowedTools takes all that follows up to the next
option; --dangerously-skip-permissions refuses to work for root, where a mode that never asks and a list of allowed tools do the same.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from covey.beats.agents.agent import Command
from covey.beats.agents.lines import OUTPUT_CHARACTERS, cost, items, number, read, short, table, text
from covey.beats.beat import MAX_TURNS
from covey.beats.report import Failure, Report, Step, ToolCall, Turn, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from covey.beats.beat import Beat
    from covey.beats.report import ErrorKind

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
INHERITED = (
    "AI_AGENT",
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_ENV_FILE",
    "CLAUDE_PID",
    "CLAUDE_PROJECT_DIR",
)
"""A daemon that was started by an agent would pass these on, and Claude would take itself for a part of that one."""
_RESETS = re.compile(r"resets (?:at )?(\d{1,2})(?::(\d\d))?\s*(am|pm)(?: \(([A-Za-z_/+-]+)\))?", re.IGNORECASE)
_TOKENS_OF_MODEL = ("inputTokens", "outputTokens", "cacheCreationInputTokens", "cacheReadInputTokens")
_EPOCH = re.compile(r"\|(\d{10})\b")
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


class Claude:
    name = "claude"
    program = "claude"

    def objections(self, beat: Beat) -> list[str]:
        del beat  # it can do all that a beat can ask for
        return []

    def command(self, beat: Beat, prompt: str, folder: str, *, root: bool) -> Command:
        del folder
        argv = ["claude", "--print", "--output-format", "stream-json", "--verbose"]
        argv += (
            ["--permission-mode", "dontAsk", "--allowedTools", *ALLOWED] if root else ["--dangerously-skip-permissions"]
        )
        if beat.deny:
            argv += ["--disallowedTools", *beat.deny]
        argv += ["--max-turns", str(beat.max_turns or MAX_TURNS)]
        if beat.model:
            argv += ["--model", beat.model]
        if beat.budget.run_usd is not None:
            argv += ["--max-budget-usd", str(beat.budget.run_usd)]
        return Command(argv=tuple(argv), stdin=prompt, environment=dict.fromkeys(INHERITED))

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
        line = read(text)
        kind, message = line.get("type"), table(line.get("message"))
        if kind == "assistant":
            return self._assistant(line, message)
        if kind == "user":
            self._answers(line, message)
        elif kind == "result":
            self._result = line
        elif kind == "rate_limit_event":
            info = table(line.get("rate_limit_info"))
            if info.get("status") == "rejected":  # the others say when a window ends in which there is room
                self._resets = float(number(info.get("resetsAt"))) or self._resets
        return []

    def _assistant(self, line: dict[str, Any], message: dict[str, Any]) -> list[Step]:
        identity, usage, steps = text(message.get("id")), table(message.get("usage")), []
        self._spent[identity] = {name: number(usage.get(name)) for name in LIST_USD_PER_MILLION}
        own = line.get("parent_tool_use_id") is None
        if own and (not self._turns or self._turns[-1]["id"] != identity):
            self._turns.append({"id": identity, "text": [], "calls": []})
        for block in items(message.get("content")):
            if block.get("type") == "text" and own:
                self._turns[-1]["text"].append(text(block.get("text")))
                steps.append(Step(kind="text", text=text(block.get("text"))))
            elif block.get("type") == "tool_use":
                call: dict[str, Any] = {
                    "name": text(block.get("name")),
                    "input": table(block.get("input")),
                    "began": line.get("timestamp"),
                }
                self._calls[text(block.get("id"))] = call
                if own:
                    self._turns[-1]["calls"].append(call)
                steps.append(Step(kind="tool", name=call["name"], text=short(call["input"])))
        return steps

    def _answers(self, line: dict[str, Any], message: dict[str, Any]) -> None:
        for block in items(message.get("content")):
            call = self._calls.get(text(block.get("tool_use_id")))
            if call is not None:
                content = block.get("content")
                said = (
                    "\n".join(text(part.get("text")) for part in items(content))
                    if isinstance(content, list)
                    else text(content)
                )
                call["output"], call["ms"] = said[:OUTPUT_CHARACTERS], _between(call["began"], line.get("timestamp"))

    @property
    def usage(self) -> Usage:
        usage, models = table(self._result.get("usage")), table(self._result.get("modelUsage")).values()
        streamed = sum(sum(message.values()) for message in self._spent.values())
        spent = sum(number(usage.get(name)) for name in LIST_USD_PER_MILLION) if usage else streamed
        by_models = sum(
            number(table(model).get(name)) for model in models for name in _TOKENS_OF_MODEL
        )  # helpers and the last turn too
        counts = [item for message in self._spent.values() for item in message.items()]
        list_usd = sum(count * LIST_USD_PER_MILLION[name] for name, count in counts) / 1e6
        return Usage(
            cost_usd=cost(self._result.get("total_cost_usd")),
            tokens=max(spent, by_models) if self._result or self._spent else None,
            list_usd=list_usd if self._spent else None,
        )

    def report(self, exit_code: int, complaints: str, now: float) -> Report:
        result = self._result
        denials = tuple(
            f"{text(one.get('tool_name'))}({short(table(one.get('tool_input')))})"
            for one in items(result.get("permission_denials"))
        )
        turns = [
            Turn(role="assistant", text="\n".join(turn["text"]) or None, tool_calls=_calls(turn["calls"]) or None)
            for turn in self._turns
        ]
        if result:
            turns.append(
                Turn(
                    role="result",
                    text=text(result.get("result")),
                    cost_usd=self.usage.cost_usd,
                    duration_ms=number(result.get("duration_ms")),
                    num_turns=number(result.get("num_turns")),
                )
            )
        return Report(
            text=text(result.get("result")),
            turns=tuple(turns),
            usage=self.usage,
            num_turns=number(result.get("num_turns")) if result else None,
            denials=denials,
            failure=self._failure(exit_code, complaints, now),
        )

    def _failure(self, exit_code: int, complaints: str, now: float) -> Failure | None:
        result = self._result
        if result and not result.get("is_error") and exit_code == 0:
            return None
        said = text(result.get("result")) or _joined(result.get("errors")) or _last(complaints)
        kind: ErrorKind = "crash"
        # Older versions have no terminal_reason; their subtype says the same, and is "success" or silent for every other failure.
        ended = text(result.get("terminal_reason")) or text(result.get("subtype"))
        if ended in {"max_turns", "error_max_turns"}:
            kind = "max_turns"
        elif ended in {"budget_exhausted", "error_max_budget_usd"}:
            kind = "budget"
        elif result:
            status = number(result.get("api_error_status"))
            limited = status == 429 or bool(_RESETS.search(said)) or bool(_EPOCH.search(said))  # noqa: PLR2004
            kind = "rate_limit" if limited else "auth" if status in {401, 403} or "/login" in said else "api"
        elif "/login" in said or "API key" in said:
            kind = "auth"
        retry_at = (self._resets or resets(said, now)) if kind == "rate_limit" else None
        silent = (
            "it used up its turns without an answer"
            if kind == "max_turns"
            else f"it ended with exit code {exit_code} and said nothing"
        )
        return Failure(kind=kind, message=said or silent, retry_at=retry_at)


def resets(said: str, now: float) -> float | None:
    """When the provider says that a limit is lifted; None if it does not say."""
    if epoch := _EPOCH.search(said):
        return float(epoch[1])
    if (clock := _RESETS.search(said)) is None:
        return None
    try:
        zone = ZoneInfo(clock[4]) if clock[4] else None
        local = datetime.fromtimestamp(now, zone) if zone else datetime.fromtimestamp(now).astimezone()
        hour = int(clock[1]) % 12 + (12 if clock[3].lower() == "pm" else 0)
        moment = local.replace(hour=hour, minute=int(clock[2] or 0), second=0, microsecond=0)
    except (ValueError, LookupError, OSError):
        return None
    return (moment if moment > local else moment + timedelta(days=1)).timestamp()


def _calls(calls: list[dict[str, Any]]) -> list[ToolCall]:
    return [
        ToolCall(name=call["name"], input=call["input"], output=call.get("output"), duration_ms=call.get("ms"))
        for call in calls
    ]


def _between(began: object, ended: object) -> int | None:
    try:
        return round((datetime.fromisoformat(str(ended)) - datetime.fromisoformat(str(began))).total_seconds() * 1000)
    except (ValueError, TypeError):
        return None


def _joined(errors: object) -> str:
    return "; ".join(text(error) for error in errors) if isinstance(errors, list) else ""


def _last(complaints: str) -> str:
    return next((line.strip()[:500] for line in reversed(complaints.splitlines()) if line.strip()), "")
