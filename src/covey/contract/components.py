"""Named schemas, taken out of the schemas that contain them, for OpenAPI's components and the reference page."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

PLACE = "#/components/schemas/"


def components(schemas: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return every named schema within these by its name, with references in place of the named schemas inside it.

    Raises ValueError if two different schemas have the same name.
    """
    found: dict[str, dict[str, Any]] = {}
    for schema in schemas:
        _collect(schema, found)
    return dict(sorted(found.items()))


def referenced(schema: Any) -> Any:
    """Return a schema with a reference in place of each named one, including itself."""
    if isinstance(schema, dict):
        return {"$ref": PLACE + schema["title"]} if _is_named(schema) else _inside(schema)
    return [referenced(one) for one in schema] if isinstance(schema, list) else schema


def _inside(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: referenced(value) for key, value in schema.items()}


def _is_named(schema: Mapping[str, Any]) -> bool:
    return isinstance(schema.get("title"), str)  # a property may be called title as well: that is a schema


def _collect(node: Any, found: dict[str, dict[str, Any]]) -> None:
    if isinstance(node, dict):
        if _is_named(node):
            name, drawn = node["title"], _inside(node)
            if found.setdefault(name, drawn) != drawn:
                raise ValueError(f"two schemas are called {name}")
        node = list(node.values())
    if isinstance(node, list):
        for one in node:
            _collect(one, found)
