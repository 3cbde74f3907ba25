"""The generated files of the TypeScript SDK: types and calls."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sdk.generate.model import Call, Daemon, Model, named, nullable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.contract import Parameter

FOLDER = "typescript/src"
HEAD = "// Generated from Covey's contract by `./run python -m sdk.generate`; do not edit.\n"
SIMPLE = {"integer": "number", "int": "number", "float": "number", "bool": "boolean", "json": "unknown"}
SIMPLE |= {"string": "string", "number": "number", "boolean": "boolean", "null": "null"}
SIMPLE |= {"object": "Record<string, unknown>"}
RESERVED = {"for", "from", "import", "default", "new", "delete", "function", "in", "options", "this", "with", "case"}


def files(found: Model) -> dict[str, str]:
    """Return the generated files by their place below `sdk`."""
    types = [HEAD, *(_type_of(name, schema) for name, schema in found.types.items())]
    calls = [HEAD, 'import type { CallOptions, Client } from "./client.js";\nimport type * as t from "./types.js";\n']
    calls += [_class(daemon, path) for daemon in found.daemons for path in reversed(daemon.groups())]
    return {f"{FOLDER}/types.ts": "\n".join(types), f"{FOLDER}/calls.ts": "\n".join(calls)}


def signature(_: Daemon, call: Call) -> str:
    """Return how a call is written."""
    words = [_local(one.name) for one in call.required] + (["{…}"] if call.optional else [])
    return f"{'.'.join(map(_camel, call.path))}({', '.join(words)})"


def _type_of(name: str, schema: Mapping[str, Any]) -> str:
    if "properties" not in schema:
        return f"export type {name} = {_typed(schema)};\n"
    fields = [
        f"  {key}{'' if key in schema['required'] else '?'}: {_typed(one)};"
        for key, one in schema["properties"].items()
    ]
    return f"export interface {name} {{\n" + "\n".join(fields) + "\n}\n"


def _typed(schema: Any, prefix: str = "") -> str:  # noqa: PLR0911 - one for each form of a schema
    """Return the type for a value of a schema."""
    if name := named(schema):
        return prefix + name
    inner = nullable(schema)
    if inner is not None:
        return f"{_typed(inner, prefix)} | null"
    if "anyOf" in schema:
        return " | ".join(_typed(one, prefix) for one in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(json.dumps(one) for one in schema["enum"])
    kind = schema.get("type", "")
    if kind == "array":
        return f"Array<{_typed(schema['items'], prefix)}>"
    if "additionalProperties" in schema:
        return f"Record<string, {_typed(schema['additionalProperties'], prefix)}>"
    return SIMPLE.get(kind, "unknown")


def _class(daemon: Daemon, path: tuple[str, ...]) -> str:
    groups = daemon.groups()
    lines = []
    for call in groups[path]:
        if call.optional:
            lines.append(f"export interface {_options_name(daemon, call)} extends CallOptions {{")
            lines += [f"  /** {one.help} */\n  {one.name}?: {_argument(one)};" for one in call.optional]
            lines.append("}\n")
    title = f"The calls under `{'.'.join(path)}`." if path else f"The calls of a {daemon.name}."
    lines += [f"/** {title} */", f"export class {_class_name(daemon, path)} {{"]
    for inner in groups:
        if len(inner) == len(path) + 1 and inner[: len(path)] == path:
            lines.append(f"  readonly {_camel(inner[-1])}: {_class_name(daemon, inner)};")
    lines.append("\n  constructor(private readonly client: Client) {")
    for inner in groups:
        if len(inner) == len(path) + 1 and inner[: len(path)] == path:
            lines.append(f"    this.{_camel(inner[-1])} = new {_class_name(daemon, inner)}(client);")
    lines.append("  }")
    for call in groups[path]:
        lines += _method(daemon, call)
    return "\n".join([*lines, "}\n"])


def _method(daemon: Daemon, call: Call) -> list[str]:
    operation = call.operation
    taken = [f"{_local(one.name)}: {_argument(one)}" for one in call.required]
    taken.append(f"options: {_options_name(daemon, call) if call.optional else 'CallOptions'} = {{}}")
    returns = _typed(call.returns, "t.")
    result = f"AsyncGenerator<{returns}, void>" if call.gives == "stream" else f"Promise<{returns}>"
    given = [f"{one.name}: {_local(one.name)}" for one in call.required]
    given += [f"{one.name}: options.{one.name}" for one in call.optional]
    params = "{ " + ", ".join(given) + " }" if given else "{}"
    asked = f'"{operation.route}", {params}, options'
    if call.gives == "result":
        changes = "true" if operation.mutating else "false"
        asked = f'"{operation.method}", "{operation.route}", {params}, {changes}, options'
    through = {"result": "call", "stream": "iterate", "last": "last"}[call.gives]
    return [
        "",
        f"  /** {operation.summary} */",
        f"  {_camel(call.path[-1])}({', '.join(taken)}): {result} {{",
        f"    return this.client.{through}({asked});",
        "  }",
    ]


def _options_name(daemon: Daemon, call: Call) -> str:
    return f"{daemon.name}{''.join(_pascal(word) for word in call.path)}Options"


def _class_name(daemon: Daemon, path: tuple[str, ...]) -> str:
    return f"{daemon.name}{''.join(_pascal(word) for word in path)}Calls"


def _argument(parameter: Parameter) -> str:
    kind = " | ".join(json.dumps(one) for one in parameter.enum) if parameter.enum else SIMPLE[parameter.type]
    return f"Array<{kind}>" if parameter.multiple else kind


def _pascal(name: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


def _camel(name: str) -> str:
    return name[:1] + _pascal(name)[1:]


def _local(name: str) -> str:
    return f"{_camel(name)}_" if name in RESERVED else _camel(name)
