"""The tools that a request offers to its model, whichever API it is for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def offered(body: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the JSON schema of the input of each tool, by its name; empty for one whose input is a text."""
    return {name: schema for tool in _tools(body) for name, schema in [_named(tool)] if name}


def _tools(body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    groups = list(body.get("tools") or [])
    given = body.get("input")
    for item in given if isinstance(given, list) else []:
        if item.get("type") == "additional_tools":  # Codex gives them within the conversation
            groups += item["tools"]
    for group in groups:
        yield from group.get("tools") or group.get("functionDeclarations") or [group]


def _named(tool: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    inner = tool.get(tool.get("type", ""), tool)
    one = inner if isinstance(inner, dict) else tool
    name = str(one.get("name") or tool.get("type") or "")
    for key in ("input_schema", "parameters", "parametersJsonSchema"):
        if isinstance(one.get(key), dict):
            return name, one[key]
    return name, {}
