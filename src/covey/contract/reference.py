"""The reference pages of the contract, generated: `python -m covey.contract.reference > docs/reference/covey.md`.

The page of the mesh: `python -m covey.contract.reference mesh > docs/reference/mesh.md`.
"""

from __future__ import annotations

import json

from covey.contract import NODE_OPERATIONS, mesh
from covey.contract.components import PLACE, components, referenced
from covey.contract.events import EVENTS
from covey.contract.mesh_events import MESH_EVENTS
from covey.contract.mesh_shapes import KIND

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from covey.contract import Operation, Parameter
    from covey.contract.event_kind import EventKind

HEAD = """# covey: every operation, event and shape

Generated from the contract by `./run python -m covey.contract.reference`; do not edit. Each operation is a command line
verb and, unless it is local, an endpoint of the daemon's API on its Unix socket and on loopback TCP (`covey openapi`
prints the OpenAPI document). [Events](#events) are in the journal that `covey events` shows. [Shapes](#shapes) are what
operations return and events carry; all their properties are always there, unless the table says otherwise.
The operations of a mesh have [a page of their own](mesh.md).
"""
MESH_HEAD = """# covey mesh: every operation, event and shape

Generated from the contract by `./run python -m covey.contract.reference mesh`; do not edit. A peer of a mesh is a
daemon of its own, with its API on the socket `mesh/<slug>/sock` in Covey's home and on the loopback port in
`mesh/<slug>/http.port`; where it says "by the peer" below, that is meant, otherwise the node or the command itself. A
request to a peer may name its mesh with `mesh`; another peer refuses it. Besides these, a peer serves what every daemon
does: health, status, metrics, events, config and more, as [covey.md](covey.md) has it. Its health also has `connected`,
`lag_ms`, `queue_depth`, `mesh` and `member_pubkey`. [Events](#events) are in the journal of the peer: `GET /v1/events`.
"""
NODE_PAGE = tuple(operation for operation in NODE_OPERATIONS if operation not in mesh.OPERATIONS)
"""The operations of the page that is not about a mesh."""


def page(operations: Sequence[Operation] = NODE_PAGE, events: Sequence[EventKind] = EVENTS, head: str = HEAD) -> str:
    """Return a page in Markdown."""
    shapes = components([*(operation.result for operation in operations), *(kind.data for kind in events)])
    parts = [
        head,
        *(operation_section(operation) for operation in operations),
        "## Events\n",
        *(event_section(kind) for kind in events),
        "## Shapes\n",
        *(shape_section(name, schema) for name, schema in shapes.items()),
    ]
    return "\n".join(parts)


def mesh_page() -> str:
    """Return the page of the mesh in Markdown."""
    return page(mesh.OPERATIONS, MESH_EVENTS, MESH_HEAD)


def operation_section(operation: Operation) -> str:
    """Return the section of one operation."""
    marks = [
        "changes state" if operation.mutating else "read-only",
        *(["destructive"] if operation.destructive else []),
        *(["idempotent"] if operation.idempotent else []),
        *(["needs --yes for agents"] if operation.mutating and operation.guard else []),
        *(["--dry-run"] if operation.dry_run else []),
        *(["works without a daemon"] if operation.offline or operation.local else []),
        *(["by the peer"] if operation.served_by == KIND else []),
        *(["works without a running peer"] if operation.cold else []),
    ]
    where = f"`{operation.method} {operation.route}`" if operation.route else f"local: {operation.local}"
    head = f"covey {' '.join(operation.cli)}" if operation.cli else f"{operation.name} (for programs)"
    lines = [f"## {head}", "", operation.summary, "", f"{where} · {' · '.join(marks)}", ""]
    if operation.aliases:
        lines += [f"Also: {', '.join(f'`covey {alias}`' for alias in operation.aliases)}", ""]
    if operation.description:
        lines += [operation.description, ""]
    if operation.command_parameters:
        rows = [_parameter(operation, parameter) for parameter in operation.command_parameters]
        lines += ["| parameter | type | default | |", "|---|---|---|---|", *rows, ""]
    if operation.examples:
        lines += ["```", *(f"{command}    # {text}" for command, text, _ in operation.examples), "```", ""]
    lines += _content("Each message is" if operation.streaming else "Returns", operation.result)
    return "\n".join(lines)


def event_section(kind: EventKind) -> str:
    """Return the section of one kind of event."""
    subject = f"Subject: `{kind.subject}`." if kind.subject else "It has no subject."
    return "\n".join([f"### {kind}", "", kind.summary, "", subject, "", *_content("Its data is", kind.data)])


def shape_section(name: str, schema: Mapping[str, Any]) -> str:
    """Return the section of one named shape."""
    lines = [f"### {name}", ""]
    if "enum" in schema:
        return "\n".join([*lines, f"One of {_values(schema['enum'])}.", ""])
    return "\n".join([*lines, *_table(schema)])


def _content(verb: str, schema: Mapping[str, Any]) -> list[str]:
    """Describe a schema: a table of its properties if it is an object without a name, otherwise its type."""
    schema = referenced(schema)
    if schema.get("properties"):
        return [f"{verb} an object:", "", *_table(schema)]
    if "properties" in schema:
        return [f"{verb} an empty object.", ""]
    return [f"{verb} {_type(schema)}.", ""]


def _table(schema: Mapping[str, Any]) -> list[str]:
    rows = []
    for name, one in schema["properties"].items():
        notes = [one.get("description", ""), "" if name in schema["required"] else "May be left out."]
        rows.append(f"| `{name}` | {_type(one)} | {' '.join(filter(None, notes))} |")
    return ["| property | type | |", "|---|---|---|", *rows, ""]


def _type(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(PLACE)
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"])
    if "enum" in schema:
        return f"one of {_values(schema['enum'])}"
    kind = schema.get("type", "any value")
    if kind == "array":
        return f"array of {_type(schema['items'])}"
    if "additionalProperties" in schema:
        return f"map to {_type(schema['additionalProperties'])}"
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _values(values: Iterable[str]) -> str:
    return ", ".join(f"`{value}`" for value in values)


def _parameter(operation: Operation, parameter: Parameter) -> str:
    spellings = [parameter.short, f"--{parameter.flag}"]
    name = f"`{parameter.name.upper()}`" if parameter.positional else _values(one for one in spellings if one)
    default = "" if parameter.default is None else f"`{json.dumps(parameter.default)}`"
    kind = f"{parameter.type}, several" if parameter.multiple else parameter.type
    values = f" One of {', '.join(parameter.enum)}." if parameter.enum else ""
    also = f" Also `{parameter.also}`." if parameter.also else ""
    where = ""
    if parameter in operation.client_parameters and operation.route and parameter is not operation.seat:
        where = " On the command line only."
    needed = "required" if parameter.required else default
    return f"| {name} | {kind} | {needed} | {parameter.help}{values}{also}{where} |"


if __name__ == "__main__":
    import sys

    sys.stdout.write(mesh_page() if sys.argv[1:] == ["mesh"] else page())
