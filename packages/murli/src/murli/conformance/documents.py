"""Reads what a tool printed as JSON documents, strictly: one impure byte and the whole stream is refused."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from murli.conformance.runner import excerpt

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_SPACE = " \t\r\n"


class ImpureError(ValueError):
    """The stream holds something that is not the JSON it should be."""


@dataclass(frozen=True, slots=True)
class Document:
    """One JSON value and the exact text it was read from."""

    value: object
    text: str

    @property
    def one_line(self) -> bool:
        return "\n" not in self.text

    @property
    def minified(self) -> bool:
        """No white space outside strings."""
        return not re.search(r"\s", _STRING.sub('""', self.text))

    @property
    def indented(self) -> bool:
        """Every nested line is indented by two spaces a level."""
        depth = 0
        for line in self.text.split("\n"):
            bare = _STRING.sub('""', line)
            body = bare.lstrip(" ")
            level = depth - 1 if body[:1] in ("}", "]") else depth
            if len(bare) - len(body) != 2 * level:
                return False
            depth += sum(map(bare.count, "{[")) - sum(map(bare.count, "}]"))
        return not self.one_line or self.value in ({}, []) or not isinstance(self.value, dict | list)


def stream(raw: bytes) -> list[Document]:
    """All documents of a stream of JSON values, each beginning on its own line, the last one closed by a newline."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ImpureError(f"byte {error.start} is not UTF-8") from error
    decoder = json.JSONDecoder(parse_constant=_refuse_constant)
    documents: list[Document] = []
    end = 0
    at = _skip(text, end)
    while at < len(text):
        if documents and "\n" not in text[end:at]:
            raise ImpureError(f"two documents on one line, the second one: {excerpt(text[at:], 120)}")
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            raise ImpureError(f"not JSON from here on: {excerpt(text[at:], 120)}") from error
        documents.append(Document(value, text[at:end]))
        at = _skip(text, end)
    if documents and not text.endswith("\n"):
        raise ImpureError("the last line does not end with a newline")
    return documents


def pure(raw: bytes) -> list[Document]:
    """Standard output for an agent: nothing, exactly one JSON document, or only NDJSON lines."""
    documents = stream(raw)
    if len(documents) > 1:
        for document in documents:
            if not document.one_line:
                raise ImpureError(
                    f"{len(documents)} documents, and one of them spans several lines: {excerpt(document.text, 120)}"
                )
    return documents


def only_object(raw: bytes) -> dict[str, object]:
    """The one JSON object that the stream holds, and nothing else."""
    documents = stream(raw)
    if len(documents) != 1:
        raise ImpureError(f"{len(documents)} JSON documents instead of one")
    value = documents[0].value
    if not isinstance(value, dict):
        raise ImpureError(f"a JSON {type(value).__name__} instead of an object")
    return value


def holds_envelope(text: str) -> bool:
    """Whether a murli envelope, success or error, begins on some line of the text."""
    decoder = json.JSONDecoder()
    for match in re.finditer(r"^\s*\{", text, re.MULTILINE):
        try:
            value, _ = decoder.raw_decode(text, match.end() - 1)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and "schema_version" in value:
            return True
    return False


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")
