"""Anthropic's Messages API."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING, Any

from lab.model.dialect import Ask, Refusal, dig, dump, refusal, sse

if TYPE_CHECKING:
    from collections.abc import Iterator

ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


class Messages:
    name = "anthropic"

    def read(self, _path: str, body: dict[str, Any]) -> Ask:
        tools = frozenset(tool["name"] for tool in body.get("tools") or [])
        return Ask(tuple(_items(body)), tools, bool(body.get("stream")), dig(body, "output_config", "format", "schema"))

    def answer(self, body: dict[str, Any]) -> Message:
        return Message(body.get("model", "scripted"))

    def refuse(self, status: int, message: str, retry_after: float | None) -> Refusal:
        headers = {}
        if retry_after is not None:
            reset = f"{time.time() + retry_after:.0f}"
            headers = {"anthropic-ratelimit-unified-status": "rejected", "anthropic-ratelimit-unified-reset": reset}
        body = {"type": "error", "error": {"type": ERRORS.get(status, "api_error"), "message": message}}
        return refusal(status, body, retry_after, **headers)


def _items(body: dict[str, Any]) -> Iterator[str | None]:
    """Return the user's side by blocks: neighbouring user messages come merged into one."""
    for message in body.get("messages", []):
        if message["role"] != "user":
            continue
        content = message["content"]
        if isinstance(content, str):
            yield content
            continue
        for block in content:
            if block["type"] == "text":
                yield block["text"]
            elif block["type"] == "tool_result":
                yield None


class Message:
    """One streamed message: blocks opened and closed as the kind of content changes."""

    def __init__(self, model: str) -> None:
        self._message: dict[str, Any] = {
            "id": f"msg_{uuid.uuid4().hex[:24]}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {
                "input_tokens": 100,
                "output_tokens": 1,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
            },
        }
        self._open = ""
        self._stop = "end_turn"

    @property
    def _blocks(self) -> list[dict[str, Any]]:
        blocks: list[dict[str, Any]] = self._message["content"]
        return blocks

    def start(self) -> bytes:
        return sse({"type": "message_start", "message": {**self._message, "content": []}}, "message_start")

    def think(self, piece: str) -> bytes:
        head = self._begin("thinking", {"type": "thinking", "thinking": "", "signature": ""})
        self._blocks[-1]["thinking"] += piece
        return head + self._delta({"type": "thinking_delta", "thinking": piece})

    def say(self, piece: str) -> bytes:
        head = self._begin("text", {"type": "text", "text": ""})
        self._blocks[-1]["text"] += piece
        return head + self._delta({"type": "text_delta", "text": piece})

    def call(self, name: str, arguments: dict[str, Any]) -> bytes:
        self._stop = "tool_use"
        call = {"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex[:24]}", "name": name}
        head = self._begin("tool_use", {**call, "input": {}})
        self._blocks[-1]["input"] = arguments
        return head + self._delta({"type": "input_json_delta", "partial_json": dump(arguments).decode()}) + self._end()

    def finish(self) -> bytes:
        usage = {"output_tokens": 10 * max(1, len(self._blocks))}
        delta = {"type": "message_delta", "delta": {"stop_reason": self._stop, "stop_sequence": None}, "usage": usage}
        return self._end() + sse(delta, "message_delta") + sse({"type": "message_stop"}, "message_stop")

    def whole(self) -> bytes:
        return dump({**self._message, "stop_reason": self._stop})

    def _begin(self, kind: str, block: dict[str, Any]) -> bytes:
        if self._open == kind:
            return b""
        head = self._end()
        self._open = kind
        self._blocks.append(dict(block))
        start = {"type": "content_block_start", "index": len(self._blocks) - 1, "content_block": block}
        return head + sse(start, "content_block_start")

    def _delta(self, delta: dict[str, Any]) -> bytes:
        return sse(
            {"type": "content_block_delta", "index": len(self._blocks) - 1, "delta": delta}, "content_block_delta"
        )

    def _end(self) -> bytes:
        if not self._open:
            return b""
        kind = self._open
        self._open = ""
        signature = self._delta({"type": "signature_delta", "signature": "c2NyaXB0ZWQ="}) if kind == "thinking" else b""
        return signature + sse({"type": "content_block_stop", "index": len(self._blocks) - 1}, "content_block_stop")
