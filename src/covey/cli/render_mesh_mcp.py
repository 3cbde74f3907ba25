"""What MCP servers of a mesh look like to a person."""

from __future__ import annotations

from covey.cli.cells import clean, hint, visible
from covey.cli.table import table
from covey.cli.text import DIM
from covey.kernel import quick_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.cli.text import Paint


def listed(result: dict[str, Any], paint: Paint) -> str:
    """Every server with its tools; one that was asked for with their schemas."""
    items = result["items"]
    if not items:
        example = "covey mesh mcp register <name> --tools <tool> -- <command>"
        return "\n".join(["No tools are offered", *hint(example, "offers tools of your own", paint.columns)])
    if len(items) == 1 and all(tool["input_schema"] is not None for tool in items[0]["tools"]):
        return _one(items[0])
    rows = [
        [
            clean(item["server"]),
            clean(item["owner_name"]) + ("" if item["open"] else " (not for all)"),
            ", ".join(clean(tool["name"]) for tool in item["tools"]),
        ]
        for item in items
    ]
    lines = table(["SERVER", "OWNER", "TOOLS"], rows, [("●", DIM)] * len(rows), paint)
    return "\n".join([*lines, *hint(f"covey mesh mcp list {_reference(items[0])}", "shows arguments", paint.columns)])


def registered(result: dict[str, Any], _: Paint) -> str:
    """What is offered now."""
    who = "every member" if result["open"] else "the members you named"
    tools = ", ".join(clean(tool["name"]) for tool in result["tools"])
    return f"{result['server']} is offered: {who} may call {tools}"


def unregistered(result: dict[str, Any], _: Paint) -> str:
    """What is not offered any more."""
    return f"{result['server']} is not offered any more"


def answered(result: dict[str, Any], _: Paint) -> str:
    """The answer of a tool: its texts, or its content as JSON."""
    texts = [visible(_text(part)) for part in result["content"]]
    head = [f"✗ {clean(result['tool'])} of {result['server']} answered with an error:"] if result["is_error"] else []
    return "\n".join([*head, *texts]) or _json(result["structured"])


def _text(part: dict[str, Any]) -> str:
    text = part.get("text")
    return text if part.get("type") == "text" and isinstance(text, str) else _json(part)


def _one(item: dict[str, Any]) -> str:
    lines = [f"{clean(item['server'])} of @{clean(item['owner_name'])}", *_described(item["description"], "")]
    for tool in item["tools"]:
        lines += ["", clean(tool["name"]), *_described(tool["description"], "  ")]
        given = tool["input_schema"].get("properties")
        required = tool["input_schema"].get("required") or []
        for name, schema in given.items() if isinstance(given, dict) else ():
            kind = schema.get("type", "any") if isinstance(schema, dict) else "any"
            lines.append(f"  {clean(str(name))}: {clean(str(kind))}{', required' if name in required else ''}")
    return "\n".join(lines)


def _described(text: str, margin: str) -> list[str]:
    return [f"{margin}{clean(text)}"] if text.strip() else []


def _reference(item: dict[str, Any]) -> str:
    return f"@{clean(item['owner_name'])}/{clean(item['server'])}"


def _json(value: Any) -> str:
    return quick_json.dumps(value)
