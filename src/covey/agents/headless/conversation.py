"""The turns of a run, gathered from texts and calls of tools as an agent reports them one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.agents.headless.lines import OUTPUT_CHARACTERS
from covey.agents.headless.report import Step, ToolCall, Turn
from covey.agents.summaries import input_summary

if TYPE_CHECKING:
    from covey.agents.headless.report import Usage


class Conversation:
    """A turn begins with each text; the tools called after it are its own."""

    def __init__(self) -> None:
        self._turns: list[tuple[str, list[dict[str, Any]]]] = []
        self._calls: dict[str, dict[str, Any]] = {}
        self.answer = ""
        """What was said last, unless a tool was called since: then there is no answer yet."""

    def add_text(self, text: str) -> Step:
        """Begin a turn with a text, and return the step."""
        self._turns.append((text, []))
        self.answer = text
        return Step(kind="text", text=text)

    def call(self, identity: str, name: str, arguments: dict[str, Any]) -> Step:
        if not self._turns:
            self._turns.append(("", []))
        call = {"name": name, "input": arguments}
        self._turns[-1][1].append(call)
        self._calls[identity] = call
        self.answer = ""
        return Step(kind="tool", name=name, text=input_summary(arguments))

    def called(self, identity: str) -> str:
        """Return a call in short, such as `Bash(sudo ls)`; empty if there was none."""
        call = self._calls.get(identity)
        return f"{call['name']}({input_summary(call['input'])})" if call else ""

    def result(self, identity: str, output: str, duration_ms: int | None = None) -> None:
        """Record what a tool returned."""
        if call := self._calls.get(identity):
            call["output"], call["duration_ms"] = output[:OUTPUT_CHARACTERS], duration_ms

    def turns(self, usage: Usage, duration_ms: int | None = None) -> tuple[Turn, ...]:
        """Return all turns, and the result, which is there even if nothing was said."""
        turns = [
            Turn(role="assistant", text=text or None, tool_calls=[ToolCall(**call) for call in calls] or None)
            for text, calls in self._turns
        ]
        return (*turns, Turn(role="result", text=self.answer, cost_usd=usage.cost_usd, duration_ms=duration_ms))
