"""The seam between the script and an API: read a request into an `Ask`, write an answer as bytes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PROMPT_TOKENS = 100
ANSWER_TOKENS = 10
"""The tokens that are reported for every request and every answer."""


@dataclass(frozen=True)
class Ask:
    """The contents of a request, whichever API it came through."""

    items: tuple[str | None, ...]
    """The user's side in order: texts, and None for each tool result."""
    tools: frozenset[str]
    """Names of the tools on offer; title and summary requests offer none."""
    stream: bool
    schema: Mapping[str, Any] | None = None
    """The JSON schema the answer must follow, if one was demanded."""
    summary: bool = False
    """Whether the agent sums up its conversation: work of its own, though no tool is on offer."""


@dataclass(frozen=True)
class Refusal:
    """An error answer."""

    status: int
    headers: dict[str, str]
    body: bytes


class Answer(Protocol):
    """Writes one answer: in a stream, every method returns the bytes to send now; `whole` is the answer unstreamed."""

    def start(self) -> bytes: ...
    def think(self, piece: str) -> bytes: ...
    def say(self, piece: str) -> bytes: ...
    def call(self, name: str, arguments: dict[str, Any]) -> bytes: ...
    def finish(self) -> bytes: ...
    def whole(self) -> bytes: ...


class Dialect(Protocol):
    """One API."""

    name: str

    def read(self, path: str, body: dict[str, Any]) -> Ask: ...
    def answer(self, body: dict[str, Any]) -> Answer: ...
    def refuse(self, status: int, message: str, retry_after: float | None) -> Refusal: ...


def dig(value: Any, *keys: str) -> Any:
    """Return the value under nested keys; None where one of them is absent or null."""
    for key in keys:
        if value is None:
            return None
        value = value.get(key)
    return value


def texts(content: str | list[dict[str, Any]], kind: str) -> Iterator[str]:
    """Return the texts of a message, whose content is one string or a list of parts."""
    if isinstance(content, str):
        yield content
    else:
        yield from (part["text"] for part in content if part["type"] == kind)


def sse(data: object, event: str = "") -> bytes:
    """Return one server-sent event as bytes."""
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)}\n\n".encode()


def dump(data: object) -> bytes:
    return json.dumps(data, ensure_ascii=False).encode()


def refusal(status: int, body: object, retry_after: float | None, **headers: str) -> Refusal:
    """Return an error answer with the headers that every API shares."""
    more = {} if retry_after is None else {"retry-after": f"{retry_after:.0f}"}
    return Refusal(status, {"content-type": "application/json", **more, **headers}, dump(body))


PLAIN: dict[str, Any] = {"array": [], "number": 1, "integer": 1, "boolean": False}


def example(schema: Mapping[str, Any]) -> Any:
    """Return the simplest value that follows a JSON schema: the answer to a title or summary request."""
    if "enum" in schema:
        return schema["enum"][0]
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            return example(schema[choice][0])
    kind = str(schema.get("type")).lower()  # Gemini writes types in capitals
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: example(properties.get(name, {})) for name in schema.get("required", properties)}
    return PLAIN.get(kind, "scripted")
