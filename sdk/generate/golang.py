"""The generated file of the Go SDK: types, options and methods. Its form is that of gofmt."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

from sdk.generate.model import Call, Daemon, Model, named, nullable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from covey.contract import Parameter

PLACE = "go/calls.go"
HEAD = """// Code generated from Covey's contract by `./run python -m sdk.generate`. DO NOT EDIT.

package covey

import (
\t"context"
\t"encoding/json"
\t"iter"
)
"""
SIMPLE = {"string": "string", "integer": "int64", "int": "int64", "number": "float64", "float": "float64"}
SIMPLE |= {"boolean": "bool", "bool": "bool", "object": "map[string]any", "json": "any"}
INITIALS = {
    "id": "ID",
    "ids": "IDs",
    "url": "URL",
    "pid": "PID",
    "ms": "MS",
    "json": "JSON",
    "mcp": "MCP",
    "usd": "USD",
}
RESERVED = {
    "type",
    "func",
    "range",
    "map",
    "select",
    "default",
    "package",
    "import",
    "go",
    "var",
    "ctx",
    "c",
    "result",
    "params",
    "options",
    "err",
}
NO_POINTER = ("map[", "[]", "any", "json.RawMessage", "*")


def files(found: Model) -> dict[str, str]:
    """Return the generated file by its place below `sdk`. Needs gofmt, which comes with Go."""
    parts = [HEAD, *(_type_of(name, schema) for name, schema in found.types.items())]
    for daemon in found.daemons:
        parts.append(
            f"// {daemon.name}Calls has the calls of a {daemon.name}.\ntype {daemon.name}Calls struct{{ *client }}\n"
        )
        for call in daemon.calls:
            parts += _method(daemon, call)
    formatted = subprocess.run(["gofmt"], input="\n".join(parts), capture_output=True, text=True, check=True)  # noqa: S607
    return {PLACE: formatted.stdout}


def signature(daemon: Daemon, call: Call) -> str:
    """Return how a call is written."""
    name = "".join(_public(word) for word in call.path)
    words = ["ctx", *(_local(one.name) for one in call.required)]
    words += [f"{daemon.name}{name}Options{{…}}"] if call.optional else []
    return f"{name}({', '.join(words)})"


def _type_of(name: str, schema: Mapping[str, Any]) -> str:
    if "properties" not in schema:
        text = f"// {name} is one of the values below.\ntype {name} {_typed({**schema, 'enum': ()})}\n"
        values = [f'\t{name}{_public(value)} {name} = "{value}"' for value in schema.get("enum", ())]
        return text + "\nconst (\n" + "\n".join(values) + "\n)\n" if values else text
    fields = []
    for key, one in schema["properties"].items():
        kind, left_out = _typed(one), key not in schema["required"]
        pointer = "*" if left_out and not kind.startswith(NO_POINTER) else ""
        fields.append(f'\t{_public(key)} {pointer}{kind} `json:"{key}{",omitempty" if left_out else ""}"`')
    return f"// {name} is a shape of the contract.\ntype {name} struct {{\n" + "\n".join(fields) + "\n}\n"


def _typed(schema: Any) -> str:
    """Return the type for a value of a schema."""
    if name := named(schema):
        return name
    inner = nullable(schema)
    if inner is not None:
        kind = _typed(inner)
        return kind if kind.startswith(NO_POINTER) else f"*{kind}"
    kind = schema.get("type", "")
    if kind == "array":
        return f"[]{_typed(schema['items'])}"
    if "additionalProperties" in schema:
        return f"map[string]{_typed(schema['additionalProperties'])}"
    return "json.RawMessage" if "anyOf" in schema else SIMPLE.get(kind, "json.RawMessage")


def _method(daemon: Daemon, call: Call) -> Iterable[str]:
    operation = call.operation
    name = "".join(_public(word) for word in call.path)
    taken = ["ctx context.Context", *(f"{_local(one.name)} {_argument(one)}" for one in call.required)]
    options = f"{daemon.name}{name}Options"
    if call.optional:
        yield f"// {options} are what may be left out of {name}.\ntype {options} struct {{"
        for one in call.optional:
            kind = _argument(one)
            yield _comment(one.help, "\t") + f"\t{_public(one.name)} {'' if kind.startswith(NO_POINTER) else '*'}{kind}"
        yield "}\n"
        taken.append(f"options ...{options}")
    returns = _typed(call.returns)
    result = {"stream": f"iter.Seq2[{returns}, error]"}.get(call.gives, f"({returns}, error)")
    yield _comment(f"{name}: {operation.summary}", "")
    yield f"func (c {daemon.name}Calls) {name}({', '.join(taken)}) {result} {{"
    yield "\tparams := map[string]any{" + ", ".join(f'"{one.name}": {_local(one.name)}' for one in call.required) + "}"
    if call.optional:
        yield "\tfor _, given := range options {"
        for one in call.optional:
            field = _public(one.name)
            value = field if _argument(one).startswith(NO_POINTER) else f"*given.{field}"
            value = value if value.startswith("*") else f"given.{field}"
            yield f'\t\tif given.{field} != nil {{\n\t\t\tparams["{one.name}"] = {value}\n\t\t}}'
        yield "\t}"
    if call.gives == "stream":
        yield f'\treturn iterate[{returns}](ctx, c.client, "{operation.route}", params)\n}}\n'
        return
    yield f"\tvar result {returns}"
    changes = "true" if operation.mutating else "false"
    asked = f'"{operation.route}", params, &result'
    if call.gives == "result":
        asked = f'"{operation.method}", "{operation.route}", params, {changes}, &result'
    yield f"\terr := c.{'call' if call.gives == 'result' else 'last'}(ctx, {asked})\n\treturn result, err\n}}\n"


def _argument(parameter: Parameter) -> str:
    kind = SIMPLE[parameter.type]
    return f"[]{kind}" if parameter.multiple else kind


def _public(name: str) -> str:
    words = name.replace("-", "_").replace(".", "_").split("_")
    return "".join(INITIALS.get(word, word[:1].upper() + word[1:]) for word in words)


def _local(name: str) -> str:
    public = _public(name)
    local = name if "_" not in name else public[0].lower() + public[1:]
    return f"{local}_" if local in RESERVED else local


def _comment(text: str, indent: str) -> str:
    return "".join(f"{indent}// {line}\n" for line in text.splitlines())
