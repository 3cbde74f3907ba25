"""Google's Gemini API: `models/NAME:generateContent` and `models/NAME:streamGenerateContent`."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from lab.model.dialect import ANSWER_TOKENS, Ask, Refusal, dig, dump, example, refusal, sse

if TYPE_CHECKING:
    from collections.abc import Iterator

ERRORS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
SUMMARY = "<state_snapshot>"
"""Gemini CLI has its conversation summed up under this name, without tools."""
REPORT = "complete_task"
"""A helper of Gemini CLI that ends without calling this tool is taken for broken and asked again."""


class GenerateContent:
    name = "gemini"

    def read(self, path: str, body: dict[str, Any]) -> Ask:
        """Parse a request. The path says whether to stream, and a query never reaches it."""
        config = body.get("generationConfig")
        schema = dig(config, "responseJsonSchema") or dig(config, "responseSchema")
        items = tuple(_items(body))
        summary = bool(items) and SUMMARY in (items[-1] or "")
        return Ask(items, frozenset(_tools(body)), path.endswith(":streamGenerateContent"), schema, summary)

    def answer(self, body: dict[str, Any]) -> Content:
        report = _tools(body).get(REPORT)
        # Gemini CLI keeps a summary only if it is smaller than what the last request is said to have cost.
        tokens = len(dump(body)) // 4
        return Content(
            body.get("model", "scripted"), tokens, example(report["parametersJsonSchema"]) if report else None
        )

    def refuse(self, status: int, message: str, retry_after: float | None) -> Refusal:
        error: dict[str, Any] = {"code": status, "message": message, "status": ERRORS.get(status, "UNKNOWN")}
        if retry_after is not None:
            error["details"] = [
                {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{retry_after:g}s"}
            ]
        return refusal(status, {"error": error}, retry_after)


def _tools(body: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for tool in body.get("tools") or [] for one in tool.get("functionDeclarations") or []}


def _items(body: dict[str, Any]) -> Iterator[str | None]:
    for content in body.get("contents", []):
        if content.get("role", "user") != "user":
            continue
        for part in content["parts"]:
            if "text" in part:
                yield part["text"]
            elif "functionResponse" in part:
                yield None


class Content:
    """One streamed answer: every chunk is a response of its own that holds the new parts."""

    def __init__(self, model: str, tokens: int, report: dict[str, Any] | None = None) -> None:
        usage = {
            "promptTokenCount": tokens,
            "candidatesTokenCount": ANSWER_TOKENS,
            "totalTokenCount": tokens + ANSWER_TOKENS,
        }
        self._tail = {"usageMetadata": usage, "modelVersion": model, "responseId": uuid.uuid4().hex[:24]}
        self._parts: list[dict[str, Any]] = []
        self._report = report

    def start(self) -> bytes:
        """Return no bytes: the stream begins with its first part."""
        return b""

    def think(self, piece: str) -> bytes:
        return self._text({"text": piece, "thought": True})

    def say(self, piece: str) -> bytes:
        return self._text({"text": piece})

    def call(self, name: str, arguments: dict[str, Any]) -> bytes:
        part = {"functionCall": {"name": name, "args": arguments}}
        self._parts.append(part)
        return sse(self._response([part]))

    def finish(self) -> bytes:
        called = any("functionCall" in part for part in self._parts)
        report = self.call(REPORT, self._report) if self._report and not called else b""
        return report + sse(self._response([{"text": ""}], finishReason="STOP"))

    def whole(self) -> bytes:
        return dump(self._response(self._parts, finishReason="STOP"))

    def _text(self, part: dict[str, Any]) -> bytes:
        if self._parts and self._parts[-1].keys() == part.keys():
            self._parts[-1]["text"] += part["text"]
        else:
            self._parts.append(dict(part))
        return sse(self._response([part]))

    def _response(self, parts: list[dict[str, Any]], **more: str) -> dict[str, Any]:
        return {"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0, **more}], **self._tail}
