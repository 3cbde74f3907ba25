"""OpenAI's Responses API."""

from __future__ import annotations

import itertools
import time
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lab.model.dialect import ANSWER_TOKENS, PROMPT_TOKENS, Ask, dig, dump, sse, texts
from lab.model.openai import OpenAI

if TYPE_CHECKING:
    from collections.abc import Iterator

SUMMARY = "handoff summary"
"""In the prompt with which Codex compacts a conversation; older releases offer no tool beside it."""
USAGE = {
    "input_tokens": PROMPT_TOKENS,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": ANSWER_TOKENS,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": PROMPT_TOKENS + ANSWER_TOKENS,
}


class Responses(OpenAI):
    name = "responses"

    def read(self, _path: str, body: dict[str, Any]) -> Ask:
        schema = dig(body, "text", "format", "schema")
        tools = frozenset(tool.get("name") or tool["type"] for tool in _tools(body))
        # Codex leaves a tool in its title requests; with a schema to follow there is nothing to call.
        items = tuple(_items(body))
        summary = bool(items) and SUMMARY in (items[-1] or "")
        return Ask(items, frozenset() if schema else tools, bool(body.get("stream")), schema, summary)

    def answer(self, body: dict[str, Any]) -> Response:
        custom = frozenset(tool.get("name", "") for tool in _tools(body) if tool.get("type") == "custom")
        return Response(body.get("model", "scripted"), custom)


def _tools(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the tools on offer: listed beside the input, or given within it as groups."""
    yield from body.get("tools") or []
    given = body.get("input")
    for item in given if isinstance(given, list) else []:
        if item.get("type") == "additional_tools":
            for group in item["tools"]:
                yield from group.get("tools", [group])


def _items(body: dict[str, Any]) -> Iterator[str | None]:
    given = body.get("input", [])
    if isinstance(given, str):
        yield given
        return
    for item in given:
        kind = item.get("type", "message")
        # Codex tells helper agents what to do, and their parents what came of it, in items of their own kind.
        if kind == "agent_message" or (kind == "message" and item["role"] == "user"):
            yield from texts(item["content"], "input_text")
        elif kind.endswith("_call_output"):
            yield None


def _id(kind: str) -> str:
    return f"{kind}_{uuid.uuid4().hex[:24]}"


@dataclass(frozen=True)
class Prose:
    """How an item made of text is written: its fields, and the events that open and fill its only part."""

    item: dict[str, Any]
    parts: str
    part: dict[str, Any]
    part_event: str
    text_event: str
    index: dict[str, int]


THOUGHT = Prose(
    item={"type": "reasoning", "encrypted_content": None},
    parts="summary",
    part={"type": "summary_text"},
    part_event="response.reasoning_summary_part",
    text_event="response.reasoning_summary_text",
    index={"summary_index": 0},
)
SPEECH = Prose(
    item={"type": "message", "role": "assistant"},
    parts="content",
    part={"type": "output_text", "annotations": []},
    part_event="response.content_part",
    text_event="response.output_text",
    index={"content_index": 0},
)


@dataclass
class _Open:
    """The item that is being written."""

    prose: Prose
    text: str = ""
    id: str = field(default_factory=lambda: _id("item"))

    def part(self) -> dict[str, Any]:
        return {**self.prose.part, "text": self.text}

    def item(self) -> dict[str, Any]:
        return {**self.prose.item, "id": self.id, "status": "completed", self.prose.parts: [self.part()]}


class Response:
    """One streamed response: items opened and closed as the kind of content changes."""

    def __init__(self, model: str, custom: frozenset[str]) -> None:
        self._head = {"id": _id("resp"), "object": "response", "created_at": int(time.time()), "model": model}
        self._custom = custom
        self._output: list[dict[str, Any]] = []
        self._open: _Open | None = None
        self._numbers = itertools.count()

    def start(self) -> bytes:
        return self._event(
            "response.created", response={**self._head, "status": "in_progress", "output": [], "usage": None}
        )

    def think(self, piece: str) -> bytes:
        return self._write(THOUGHT, piece)

    def say(self, piece: str) -> bytes:
        return self._write(SPEECH, piece)

    def call(self, name: str, arguments: dict[str, Any]) -> bytes:
        """Write a tool call. A custom tool takes text, which the script gives as the argument `input`."""
        kind, holder, events, payload = (
            "function_call",
            "arguments",
            "response.function_call_arguments",
            dump(arguments).decode(),
        )
        if name in self._custom:
            kind, holder, events, payload = (
                "custom_tool_call",
                "input",
                "response.custom_tool_call_input",
                arguments["input"],
            )
        head = self._end()
        at = {"output_index": len(self._output), "item_id": _id("item")}
        item = {"type": kind, "id": at["item_id"], "call_id": _id("call"), "name": name}
        return (
            head
            + self._added({**item, "status": "in_progress", holder: ""})
            + self._event(f"{events}.delta", **at, delta=payload)
            + self._event(f"{events}.done", **at, **{holder: payload})
            + self._done({**item, "status": "completed", holder: payload})
        )

    def finish(self) -> bytes:
        return self._end() + self._event("response.completed", response=self._completed())

    def whole(self) -> bytes:
        return dump(self._completed())

    def _completed(self) -> dict[str, Any]:
        return {**self._head, "status": "completed", "output": self._output, "usage": USAGE}

    def _write(self, prose: Prose, piece: str) -> bytes:
        head = b""
        if self._open is None or self._open.prose is not prose:
            head = self._end()
            self._open = _Open(prose)
            head += self._added({**prose.item, "id": self._open.id, "status": "in_progress", prose.parts: []})
            head += self._of_open(f"{prose.part_event}.added", part=self._open.part())
        self._open.text += piece
        return head + self._of_open(f"{prose.text_event}.delta", delta=piece)

    def _end(self) -> bytes:
        if self._open is None:
            return b""
        prose = self._open.prose
        tail = self._of_open(f"{prose.text_event}.done", text=self._open.text)
        tail += self._of_open(f"{prose.part_event}.done", part=self._open.part())
        tail += self._done(self._open.item())
        self._open = None
        return tail

    def _of_open(self, kind: str, **data: Any) -> bytes:
        assert self._open is not None
        return self._event(
            kind, item_id=self._open.id, output_index=len(self._output), **self._open.prose.index, **data
        )

    def _added(self, item: dict[str, Any]) -> bytes:
        return self._event("response.output_item.added", output_index=len(self._output), item=item)

    def _done(self, item: dict[str, Any]) -> bytes:
        self._output.append(item)
        return self._event("response.output_item.done", output_index=len(self._output) - 1, item=item)

    def _event(self, kind: str, **data: Any) -> bytes:
        return sse({"type": kind, "sequence_number": next(self._numbers), **data}, kind)
