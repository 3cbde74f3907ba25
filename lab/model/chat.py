"""OpenAI's Chat Completions API."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING, Any

from lab.model.dialect import ANSWER_TOKENS, PROMPT_TOKENS, Ask, dig, dump, sse, texts
from lab.model.openai import OpenAI

if TYPE_CHECKING:
    from collections.abc import Iterator

USAGE = {
    "prompt_tokens": PROMPT_TOKENS,
    "completion_tokens": ANSWER_TOKENS,
    "total_tokens": PROMPT_TOKENS + ANSWER_TOKENS,
    "prompt_tokens_details": {"cached_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 0},
}
CALL = "call_"
"""The prefix of the ids of our calls.

Copilot puts calls of its own into the conversation; their results do not belong to the script.
"""

SUMMARY = "anchored summary"
"""opencode has its conversation summed up under this name, without tools."""


class ChatCompletions(OpenAI):
    name = "chat"

    def read(self, _path: str, body: dict[str, Any]) -> Ask:
        tools = frozenset(tool[tool["type"]]["name"] for tool in body.get("tools") or [])
        items = tuple(_items(body))
        summary = bool(items) and SUMMARY in (items[-1] or "")
        return Ask(
            items, tools, bool(body.get("stream")), dig(body, "response_format", "json_schema", "schema"), summary
        )

    def answer(self, body: dict[str, Any]) -> Completion:
        return Completion(body.get("model", "scripted"), usage=bool(dig(body, "stream_options", "include_usage")))


def _items(body: dict[str, Any]) -> Iterator[str | None]:
    for message in body.get("messages", []):
        if message["role"] == "user":
            yield from texts(message["content"], "text")
        elif message["role"] == "tool" and message["tool_call_id"].startswith(CALL):
            yield None


class Completion:
    """One streamed completion. Thinking goes where open models put it; OpenAI's own never show theirs here."""

    def __init__(self, model: str, *, usage: bool) -> None:
        self._head = {"id": f"chatcmpl-{uuid.uuid4().hex[:24]}", "created": int(time.time()), "model": model}
        self._usage = usage
        self._thought = ""
        self._text = ""
        self._calls: list[dict[str, Any]] = []

    def start(self) -> bytes:
        return self._delta({"role": "assistant", "content": ""})

    def think(self, piece: str) -> bytes:
        self._thought += piece
        return self._delta({"reasoning_content": piece})

    def say(self, piece: str) -> bytes:
        self._text += piece
        return self._delta({"content": piece})

    def call(self, name: str, arguments: dict[str, Any]) -> bytes:
        function = {"name": name, "arguments": dump(arguments).decode()}
        call = {"id": f"{CALL}{uuid.uuid4().hex[:24]}", "type": "function", "function": function}
        self._calls.append(call)
        return self._delta({"tool_calls": [{"index": len(self._calls) - 1, **call}]})

    def finish(self) -> bytes:
        usage = self._chunk([], usage=USAGE) if self._usage else b""
        return self._delta({}, self._reason) + usage + sse("[DONE]")

    def whole(self) -> bytes:
        message: dict[str, Any] = {"role": "assistant", "content": self._text or None}
        if self._thought:
            message["reasoning_content"] = self._thought
        if self._calls:
            message["tool_calls"] = self._calls
        choice = {"index": 0, "message": message, "finish_reason": self._reason}
        return dump({**self._head, "object": "chat.completion", "choices": [choice], "usage": USAGE})

    @property
    def _reason(self) -> str:
        return "tool_calls" if self._calls else "stop"

    def _delta(self, delta: dict[str, Any], reason: str | None = None) -> bytes:
        return self._chunk([{"index": 0, "delta": delta, "finish_reason": reason}])

    def _chunk(self, choices: list[dict[str, Any]], **more: Any) -> bytes:
        return sse({**self._head, "object": "chat.completion.chunk", "choices": choices, **more})
