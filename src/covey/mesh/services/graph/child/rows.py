"""The engine's answers as rows: it writes nodes and relations as JSON within JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from covey.mesh.services.graph.engine import StatementError

_NODE = {"id", "labels", "properties"}
_RELATION = {"id", "type", "startNode", "endNode", "properties"}
_MESSAGE = 400


def rows_of(text: str | None) -> list[Any]:
    """Return the rows of an answer; none if the answer only counts what was changed. Raises StatementError."""
    if not text:
        return []
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, ValueError):
        raise StatementError("the engine's answer cannot be read: it is too deep, or not JSON") from None
    return [_plain(row) for row in found] if isinstance(found, list) else []


def message_of(error: Exception) -> str:
    """Return what the engine has said, as a sentence."""
    text = str(error)
    try:
        said = msgspec.json.decode(text)
        text = str(said["error"]) if isinstance(said, dict) and "error" in said else text
    except msgspec.DecodeError:
        pass
    return text[:_MESSAGE]


def _plain(value: Any) -> Any:
    """Return a value with the nodes and relations in it as objects."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if not isinstance(value, dict):
        return value
    names = value.keys()
    if names == _NODE:
        return {"id": value["id"], "labels": _inner(value["labels"]), "properties": _inner(value["properties"])}
    if names == _RELATION:
        return {
            "id": value["id"],
            "type": value["type"],
            "start": value["startNode"],
            "end": value["endNode"],
            "properties": _inner(value["properties"]),
        }
    return {name: _plain(one) for name, one in value.items()}


def _inner(value: Any) -> Any:
    """Return what JSON within JSON says; anything else as it is."""
    if not isinstance(value, str) or value[:1] not in {"{", "["}:
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return value
