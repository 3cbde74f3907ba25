"""What the model does, as data: a few words per step, e.g. `stream 3 Reading the files.` or `approval touch done.txt`.

A script maps prompts to steps. A request belongs to the last prompt its conversation contains, and to the step that
follows the tool results seen since: nothing depends on the order in which requests of many agents arrive.
"""

from __future__ import annotations

import contextlib
import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

LINE = "All work and no play makes a dull agent; here is line {}.\n"
WORD = re.compile(r"\S+\s*")


class ScriptError(ValueError):
    """A script cannot be parsed; the message names the step and says how steps are written."""


@dataclass(frozen=True)
class Say:
    """Text, streamed over some seconds; all at once when zero."""

    text: str
    seconds: float = 0.0


@dataclass(frozen=True)
class Think:
    """Thinking, where the API has it; elsewhere silence of the same length."""

    seconds: float


@dataclass(frozen=True)
class Wait:
    """Silence after the request was accepted."""

    seconds: float


@dataclass(frozen=True)
class Call:
    """A tool call by its kind; the agent's file knows the tool's name and arguments."""

    kind: str
    argument: str


@dataclass(frozen=True)
class Fail:
    """An error instead of an answer, for the first `times` requests of this step; a rate limit names its reset."""

    status: int
    times: int
    retry_after: float | None = None


@dataclass(frozen=True)
class Cut:
    """The connection breaks in the middle of the answer."""


Step = Say | Think | Wait | Call | Fail | Cut

ALWAYS = 1_000_000
CALLS = ("shell", "approval", "write", "edit", "fetch", "plan", "question", "subagent", "mcp")
"""Kinds of tool call: a harmless command; a command, a new file, a change, a page and a plan that need approval; a
question to the person, a helper agent, a tool of an MCP server."""


def _stream(rest: str) -> Say:
    seconds, text = rest.split(None, 1)
    return Say(text, float(seconds))


def _fail(rest: str) -> Fail:
    status, *times = rest.split()
    return Fail(int(status), int(*times) or ALWAYS)


def _limit(rest: str) -> Fail:
    reset, *times = rest.split()
    return Fail(429, int(*times) or ALWAYS, float(reset))


def _flood(rest: str) -> Say:
    return Say("".join(LINE.format(number) for number in range(int(float(rest) * 1024 / len(LINE)))))


READERS: dict[str, tuple[str, Callable[[str], Step]]] = {
    "say": ("say TEXT", Say),
    "stream": ("stream SECONDS TEXT", _stream),
    "think": ("think SECONDS", lambda rest: Think(float(rest))),
    "wait": ("wait SECONDS", lambda rest: Wait(float(rest))),
    "fail": ("fail STATUS [TIMES]", _fail),
    "limit": ("limit RESET_SECONDS [TIMES]", _limit),
    "flood": ("flood KILOBYTES", _flood),
    **{kind: (f"{kind} ARGUMENT", functools.partial(Call, kind)) for kind in CALLS},
}


def step(line: str) -> Step:
    """Read one step; a ScriptError says how steps are written."""
    verb, _, rest = line.strip().partition(" ")
    if line.strip() == "cut":
        return Cut()
    with contextlib.suppress(ValueError, TypeError, KeyError):
        if rest:
            return READERS[verb][1](rest.strip())
    raise ScriptError(
        f"step {line!r} does not read; write one of: {'; '.join(form for form, _ in READERS.values())}; cut"
    )


@dataclass(frozen=True)
class Position:
    """The position of a conversation in its script."""

    prompt: str
    calls: int


@dataclass(frozen=True)
class Script:
    prompts: Mapping[str, Sequence[Step]]

    @classmethod
    def parse(cls, table: Mapping[str, Sequence[str]]) -> Script:
        return cls({prompt: tuple(step(line) for line in lines) for prompt, lines in table.items()})

    def helper(self, prompt: str) -> bool:
        """Return whether a prompt is one that the model itself gives to a helper agent."""
        calls = (
            step
            for steps in self.prompts.values()
            for step in steps
            if isinstance(step, Call) and step.kind == "subagent"
        )
        return any(prompt in call.argument for call in calls)

    def position(self, items: Iterable[str | None]) -> Position | None:
        """Return the position of a conversation, from its user side in order: texts, and None for each tool result."""
        prompt, calls = "", 0
        for item in items:
            if item is None:
                calls += 1
            elif found := max((key for key in self.prompts if key in item), key=len, default=""):
                prompt, calls = found, 0
        return Position(prompt, calls) if prompt else None

    def reply(self, position: Position, attempt: int) -> list[Step]:
        """Return the steps of one answer: up to its tool call, or up to a failure that is still due at this attempt."""
        part: list[Step] = []
        calls = 0
        for one in self.prompts[position.prompt]:
            if calls == position.calls:
                if isinstance(one, Fail):
                    if attempt < one.times:
                        return [*part, one]
                    continue
                part.append(one)
            if isinstance(one, Call):
                calls += 1
                if calls > position.calls:
                    break
        return part or [Say("Done.")]


def words(text: str) -> list[str]:
    """Return a text in the pieces in which it is streamed."""
    return WORD.findall(text) or [text]
