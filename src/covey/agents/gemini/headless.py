"""Gemini CLI: the prompt on standard input, `--output-format stream-json`.

Learnt from running it (0.61.0), as root and not. Its exit code is that of the HTTP error, cut to a byte (401 is 145,
429 is 173), 41 without a login, 53 at its limit of turns. What was used is told once, at the end, and money never. It
takes settings from the user's folder, from the workspace, and from files that only root may write: a limit of turns
(model.maxSessionTurns) or of attempts (general.maxAttempts, usually ten, which take up to four minutes) cannot be given
to one run, so the beat's timeout is the limit. It would start itself a second time with more memory; that takes seconds
and is turned off.

Tools are denied by a policy file given on the command line, twice: as the administrator's, above all else, and as the
user's, for where the machine has policies of an administrator's own and Gemini therefore ignores the first. The user's
own policies stay in force. Refused are all default patterns, in each link of a chain, in `bash -c`, behind a path, an
assignment, and programs such as env. There is no sandbox: what a program does by itself is not seen. No hook can be
given to one run, but Gemini starts each command by the `bash` that is first on its PATH: there `guard` stands, looks at
the command, and becomes the real bash. Without a deny list (`permissions: skip`) there is neither.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from covey.agents.gemini import AGENT
from covey.agents.headless import guarding, limits
from covey.agents.headless.agent import Command
from covey.agents.headless.conversation import Conversation
from covey.agents.headless.lines import read_line
from covey.agents.headless.report import Failure, Report, Usage
from covey.agents.headless.retry_time import retry_time
from covey.agents.headless.tool_patterns import MCP, SHELL, parts
from covey.agents.json_values import json_object, milliseconds_between, text_of, timestamp, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from covey.agents.headless.report import ErrorKind, Step
    from covey.agents.headless.task import Task

POLICY = "deny.toml"
OWN_POLICIES = "~/.gemini/policies"
SHELL_TOOL = "run_shell_command"
TOOLS = {
    "Edit": "replace",
    "MultiEdit": "replace",
    "Write": "write_file",
    "Read": "read_file",
    "Glob": "glob",
    "Grep": "grep_search",
    "LS": "list_directory",
    "WebFetch": "web_fetch",
    "WebSearch": "google_web_search",
    "Task": "invoke_agent",
    "Agent": "invoke_agent",
    "Skill": "activate_skill",
}
REGEX_CHARACTERS = 2000
"""Gemini refuses longer ones, and those in which something is repeated that contains a repetition."""
_LEADERS = "env|command|exec|nohup|nice|time|timeout|stdbuf|setsid|xargs|doas|eval|busybox|sudo"
_ANYTHING = r'([^"\\]|\\.)*'
_SPACE = r"(\x20|\\[tnr])+"
_NOISE = re.compile(r"YOLO mode|Ripgrep is not|\[STARTUP\]|Loaded cached credentials|\s+at |\s*$")
_CODE = re.compile(r'"code": ?(\d{3})')
_SAID = re.compile(r'"message": ?("(?:[^"\\]|\\.)*")')
_WRAPPED = re.compile(r"\[API Error: ((?:(?!\[API Error: ).)*?)\]", re.DOTALL)
_AUTH = re.compile(
    r"UNAUTHENTICATED|PERMISSION_DENIED|API key not valid|API_KEY_INVALID|GEMINI_API_KEY"
    r"|auth(entication)? method|FatalAuthentication"
)
_LIMIT = re.compile(r"RESOURCE_EXHAUSTED|Suggested retry after|quota|rate limit", re.IGNORECASE)
_TURNS = re.compile(r"FatalTurnLimited|max(imum)? session turns", re.IGNORECASE)
_DENIALS = frozenset(["policy_violation", "tool_not_registered"])
"""A tool that is denied altogether is not offered; Gemini says then that there is none."""
_GUARDED = re.compile(rf"(?:Output: )?{re.escape(guarding.REFUSED)}")
"""How the output of a command begins that `guard` did not run."""
_EXITS: dict[int, ErrorKind] = {
    41: "auth",
    401 & 0xFF: "auth",
    403 & 0xFF: "auth",
    429 & 0xFF: "rate_limit",
    53: "max_turns",
}


class GeminiHeadless:
    name = AGENT.name
    program = AGENT.program

    def objections(self, task: Task) -> list[str]:
        found = [
            f"Gemini cannot deny {pattern}: write Bash(a command *), one of {', '.join(TOOLS)}, or mcp__server, "
            "or have another agent run this beat"
            for pattern in task.deny
            if not list(_rules(pattern))
        ]
        return [
            *found,
            *limits.objections(
                "Gemini",
                task,
                "takes a limit of turns only from its settings: leave maxTurns out, and set timeout, "
                "or model.maxSessionTurns there",
            ),
        ]

    def command(self, task: Task, prompt: str, folder: str, *, root: bool) -> Command:
        del root  # it works the same
        argv = ["gemini", "--output-format", "stream-json", "--approval-mode", "yolo", "--skip-trust"]
        files, programs = {}, {}
        if task.deny:
            own = [rule for rule in map(parts, guarding.own_patterns(task.deny)) if rule[0] == SHELL]
            files[guarding.RULES] = guarding.rules_text(AGENT.name, task.workspace, own)
            programs["bash"] = guarding.shell_program(f"{folder}/{guarding.RULES}")
            files[POLICY] = "\n".join(rule for pattern in task.deny for rule in _rules(pattern))
            argv += ["--admin-policy", f"{folder}/{POLICY}", "--policy", f"{folder}/{POLICY}", "--policy", OWN_POLICIES]
        argv += ["--model", task.model] if task.model else []
        return Command(
            argv=tuple(argv),
            stdin=prompt,
            environment={"GEMINI_CLI_NO_RELAUNCH": "true"},
            files=files,
            programs=programs,
        )

    def reader(self) -> GeminiReader:
        return GeminiReader()


class GeminiReader:
    """One run's stream. Words come in pieces; they are a text when something else follows."""

    def __init__(self) -> None:
        self._conversation = Conversation()
        self._pieces: list[str] = []
        self._times: dict[str, object] = {}
        self._denials: list[str] = []
        self._error = ""
        self._result: dict[str, Any] = {}

    def line(self, text: str) -> Iterable[Step]:
        return list(self._take(read_line(text)))

    def _take(self, line: dict[str, Any]) -> Iterator[Step]:
        is_answer = line.get("type") == "message" and line.get("role") == "assistant"
        if line and not (is_answer and line.get("delta")):
            yield from self._flush()
        if is_answer:
            self._pieces.append(text_of(line.get("content")))
        else:
            yield from self._event(line)

    def _event(self, line: dict[str, Any]) -> Iterator[Step]:
        identity = text_of(line.get("tool_id"))
        match line.get("type"):
            case "tool_use":
                self._times[identity] = line.get("timestamp")
                yield self._conversation.call(
                    identity, text_of(line.get("tool_name")), json_object(line.get("parameters"))
                )
            case "tool_result":
                error = json_object(line.get("error"))
                output = text_of(line.get("output") or error.get("message"))
                self._conversation.result(
                    identity,
                    output,
                    milliseconds_between(self._times.get(identity), line.get("timestamp")),
                )
                refused = text_of(error.get("type")) in _DENIALS or _GUARDED.match(output)
                if refused and (call := self._conversation.called(identity)):
                    self._denials.append(call)
            case "error" if line.get("severity") == "error":
                self._error = text_of(line.get("message"))
            case "result":
                self._result = line

    def _flush(self) -> Iterator[Step]:
        text = "".join(self._pieces)
        self._pieces.clear()
        if text:
            yield self._conversation.add_text(text)

    @property
    def usage(self) -> Usage:
        stats = json_object(self._result.get("stats"))
        return Usage(tokens=whole_number(stats.get("total_tokens")) if stats else None)

    def report(self, exit_code: int, complaints: str, now: float) -> Report:
        list(self._flush())
        stats = json_object(self._result.get("stats"))
        return Report(
            text=self._conversation.answer,
            turns=self._conversation.turns(self.usage, whole_number(stats.get("duration_ms")) if stats else None),
            usage=self.usage,
            denials=tuple(self._denials),
            failure=self._failure(exit_code, complaints, now),
        )

    def _failure(self, exit_code: int, complaints: str, now: float) -> Failure | None:
        well = self._result.get("status") == "success" and exit_code == 0
        if well and (self._conversation.answer or not self._error):
            return None
        error = json_object(self._result.get("error"))
        message = (
            text_of(error.get("message"))
            or self._error
            or next((line.strip()[:500] for line in complaints.splitlines() if not _NOISE.match(line)), "")
        )
        kind = _kind(f"{text_of(error.get('type'))} {message}", exit_code, "api" if error or self._error else "crash")
        ended = timestamp(self._result.get("timestamp")) or now
        retry_at = retry_time(message, ended, ended) if kind == "rate_limit" else None
        return Failure(
            kind=kind,
            message=_error_text(message) or f"it ended with exit code {exit_code} and without an answer",
            retry_at=retry_at,
        )


def _rules(pattern: str) -> Iterator[str]:
    """Return the rules that deny a pattern; none if Gemini has no such tool, or none whose input can be compared."""
    name, argument = parts(pattern)
    if name == SHELL and argument is not None:
        regexes = list(_regexes(argument))
        if max(map(len, regexes)) <= REGEX_CHARACTERS:
            yield from (_rule(toolName=SHELL_TOOL, commandRegex=regex) for regex in regexes)
    elif argument is None:
        server, _, tool = name.removeprefix(MCP).partition("__")
        if name == SHELL or name in TOOLS:
            yield _rule(toolName=TOOLS.get(name, SHELL_TOOL))
        elif name.startswith(MCP) and server and "*" not in server:
            yield _rule(mcpName=server, toolName=tool or "*")
        elif name in {*TOOLS.values(), SHELL_TOOL}:
            yield _rule(toolName=name)


def _rule(**conditions: str) -> str:
    written = "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in conditions.items())
    message = "The deny list of this beat forbids it."
    return f'[[rule]]\n{written}decision = "deny"\npriority = 999\ndenyMessage = "{message}"\n'


def _regexes(glob: str) -> Iterator[str]:
    """Return what Gemini compares with the beginning of a command in JSON.

    The command may stand alone, or behind a path, an assignment or another program.
    """
    body = "".join(
        _piece(piece)
        for piece in re.findall(r"\*|[ \t]+|[^* \t]+", glob.removesuffix("*").rstrip() if glob.endswith(" *") else glob)
    )
    body += r'("|\x20|\\[tnr])' if glob.endswith(" *") else '"'
    yield body
    yield rf'[^"\\\x20]*\x2f{body}'
    yield rf"[A-Za-z0-9_]+={_ANYTHING}[\x20\x2f]{body}"
    yield rf'[^"\\\x20]*\b({_LEADERS})\b{_ANYTHING}[\x20\x2f]{body}'


def _piece(piece: str) -> str:
    if piece == "*":
        return _ANYTHING
    if not piece.strip(" \t"):
        return _SPACE
    written = json.dumps(piece, ensure_ascii=False)[1:-1]
    return "".join(
        f"\\x{ord(character):02x}" if character.isascii() and not character.isalnum() else character
        for character in written
    )


def _kind(message: str, exit_code: int, otherwise: ErrorKind) -> ErrorKind:
    code = _CODE.search(message)
    status = code[1] if code else ""
    if _TURNS.search(message):
        return "max_turns"
    if status == "429" or _LIMIT.search(message):
        return "rate_limit"
    if status in {"401", "403"} or _AUTH.search(message):
        return "auth"
    return _EXITS.get(exit_code, otherwise)


def _error_text(message: str) -> str:
    """A message on one line, without what it was wrapped in on its way."""
    if (inner := _SAID.search(message)) is None:
        return " ".join(_WRAPPED.sub(r"\1", message).split())
    code = _CODE.search(message)
    return f"{json.loads(inner[1], strict=False)}{f' ({code[1]})' if code else ''}"


HEADLESS = GeminiHeadless()
