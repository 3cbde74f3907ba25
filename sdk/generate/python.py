"""The generated files of the Python SDK: types, and the calls for blocking sockets and for asyncio."""

from __future__ import annotations

import keyword
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING, Any

from sdk.generate.model import Call, Daemon, Model, named, nullable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.contract import Parameter

FOLDER = "python/covey_sdk"
HEAD = '"""{}\n\nGenerated from Covey\'s contract by `./run python -m sdk.generate`; do not edit.\n"""\n\n'
SIMPLE = {"string": "str", "integer": "int", "int": "int", "number": "float", "float": "float", "boolean": "bool"}
SIMPLE |= {"bool": "bool", "object": "dict[str, Any]", "null": "None", "json": "Any"}
IMPORTS = "from __future__ import annotations\n\nfrom typing import {}\n\n"


def files(found: Model) -> dict[str, str]:
    """Return the generated files by their place below `sdk`."""
    return {
        f"{FOLDER}/_types.py": _formatted(_types(found.types)),
        f"{FOLDER}/_calls.py": _formatted(_calls(found, asynchronous=False)),
        f"{FOLDER}/_async_calls.py": _formatted(_calls(found, asynchronous=True)),
    }


def signature(_: Daemon, call: Call) -> str:
    """Return how a call is written."""
    words = [_name(one.name) for one in call.required] + (["…"] if call.optional else [])
    return f"{'.'.join(map(_name, call.path))}({', '.join(words)})"


def _types(types: Mapping[str, Any]) -> str:
    parts = [
        HEAD.format("The types of what the daemons return."),
        IMPORTS.format("Any, Literal, NotRequired, TypedDict"),
    ]
    parts += [_type_of(name, schema) for name, schema in types.items()]
    return "\n".join(parts)


def _type_of(name: str, schema: Mapping[str, Any]) -> str:
    if "properties" not in schema:
        return f"{name} = {_typed(schema)}\n"
    fields = {
        key: f"{_typed(one)}" if key in schema["required"] else f"NotRequired[{_typed(one)}]"
        for key, one in schema["properties"].items()
    }
    if all(key.isidentifier() and not keyword.iskeyword(key) for key in fields):
        return f"class {name}(TypedDict):\n" + "".join(f"    {key}: {one}\n" for key, one in fields.items())
    return f"{name} = TypedDict({name!r}, {{" + "".join(f"{key!r}: {one!r}, " for key, one in fields.items()) + "})\n"


def _typed(schema: Any, prefix: str = "") -> str:  # noqa: PLR0911 - one for each form of a schema
    """Return the annotation for a value of a schema."""
    if name := named(schema):
        return prefix + name
    inner = nullable(schema)
    if inner is not None:
        return f"{_typed(inner, prefix)} | None"
    if "anyOf" in schema:
        return " | ".join(_typed(one, prefix) for one in schema["anyOf"])
    if "enum" in schema:
        return f"Literal[{', '.join(repr(one) for one in schema['enum'])}]"
    kind = schema.get("type", "")
    if kind == "array":
        return f"list[{_typed(schema['items'], prefix)}]"
    if "additionalProperties" in schema:
        return f"dict[str, {_typed(schema['additionalProperties'], prefix)}]"
    return SIMPLE.get(kind, "Any")


def _calls(found: Model, *, asynchronous: bool) -> str:
    title = "The calls of both kinds of daemons" + (", for asyncio." if asynchronous else ".")
    lines = [
        HEAD.format(title),
        "from __future__ import annotations\n",
        "from typing import TYPE_CHECKING, Any, Literal\n",
    ]
    lines.append("from covey_sdk._wire import NULL\n\nif TYPE_CHECKING:")
    iterator = "AsyncGenerator" if asynchronous else "Iterator"
    lines.append(f"    from collections.abc import {iterator}, Sequence\n")
    client = "Asynchronous" if asynchronous else "Blocking"
    lines.append(f"    from covey_sdk import _types as t\n    from covey_sdk._client import {client}\n")
    for daemon in found.daemons:
        for path in reversed(daemon.groups()):
            lines += _class(daemon, path, asynchronous=asynchronous, client=client)
    return "\n".join(lines)


def _class(daemon: Daemon, path: tuple[str, ...], *, asynchronous: bool, client: str) -> list[str]:
    groups = daemon.groups()
    lines = [f"class {_class_name(daemon, path, asynchronous=asynchronous)}:"]
    what = f"The calls under `{'.'.join(path)}`." if path else f"The calls of the daemon `{daemon.name}` stands for."
    lines += [
        f'    """{what}"""\n',
        f"    def __init__(self, client: {client}) -> None:",
        "        self._client = client",
    ]
    for inner in groups:
        if len(inner) == len(path) + 1 and inner[: len(path)] == path:
            lines.append(
                f"        self.{_name(inner[-1])} = {_class_name(daemon, inner, asynchronous=asynchronous)}(client)"
            )
    for call in groups[path]:
        lines += ["", *_method(call, asynchronous=asynchronous)]
    return [*lines, ""]


def _class_name(daemon: Daemon, path: tuple[str, ...], *, asynchronous: bool) -> str:
    words = "".join(word.title() for one in path for word in one.split("_"))
    return f"{'Async' if asynchronous else ''}{daemon.name}{words}Calls"


def _method(call: Call, *, asynchronous: bool) -> list[str]:
    operation = call.operation
    optional = {one: f"{_name(one.name)}: {_argument(one)} | None = None" for one in call.optional}
    taken = ["self", *(f"{_name(one.name)}: {_argument(one)}" for one in call.required)]
    taken += [*(text for one, text in optional.items() if one.positional), "*"]
    taken += [text for one, text in optional.items() if not one.positional]
    taken += ["idempotency_key: str | None = None"] if operation.mutating else []
    taken += ["deadline_s: float | None = None"]
    returns = _typed(call.returns, "t.")
    given = "{" + ", ".join(f"{one.name!r}: {_sent(one)}" for one in operation.parameters) + "}"
    key = "idempotency_key" if operation.mutating else "None"
    if call.gives == "result":
        asked = f"call({operation.method!r}, {operation.route!r}, {given}, {operation.mutating}, {key}, deadline_s)"
    else:
        asked = f"{call.gives}({operation.route!r}, {given}, deadline_s)"
    if call.gives == "stream":
        returns = f"AsyncGenerator[{returns}, None]" if asynchronous else f"Iterator[{returns}]"
    awaited = asynchronous and call.gives != "stream"
    return [
        f"    {'async ' if awaited else ''}def {_name(call.path[-1])}({', '.join(taken)}) -> {returns}:",
        *_docstring(call),
        f"        answer: {returns} = {'await ' if awaited else ''}self._client.{asked}",
        "        return answer",
    ]


def _docstring(call: Call) -> list[str]:
    parameters = call.operation.parameters
    text = call.operation.summary.replace("\\", "\\\\").replace('"""', "'''")
    if not parameters:
        return [f'        """{text}"""']
    lines = []
    for one in parameters:
        help_ = f"{_name(one.name)}: {one.help}".replace("\\", "\\\\")
        lines += textwrap.wrap(help_, 118, initial_indent=" " * 8, subsequent_indent=" " * 12)
    return [f'        """{text}', "", *lines, '        """']


def _name(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


def _sent(parameter: Parameter) -> str:
    """Return what is sent of a parameter. None is not sent, except where it is a value."""
    name = _name(parameter.name)
    return f"NULL if {name} is None else {name}" if parameter.type == "json" and parameter.required else name


def _argument(parameter: Parameter) -> str:
    kind = f"Literal[{', '.join(repr(one) for one in parameter.enum)}]" if parameter.enum else SIMPLE[parameter.type]
    return f"Sequence[{kind}]" if parameter.multiple else kind


def _formatted(text: str) -> str:
    command = [
        sys.executable,
        "-m",
        "ruff",
        "format",
        "--quiet",
        "--stdin-filename",
        "sdk/python/covey_sdk/_types.py",
        "-",
    ]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
