"""The reference page of all operations, generated: `python -m covey.contract.reference > docs/reference/covey.md`."""

from __future__ import annotations

import json

from covey.contract import OPERATIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from covey.contract import Operation, Parameter

HEAD = """# covey: every operation

Generated from the contract by `./run python -m covey.contract.reference`; do not edit. Each operation is a command line verb and, unless it is local, an endpoint of the
daemon's API on its Unix socket and on loopback TCP (`covey openapi` prints the OpenAPI document).
"""


def page(operations: Iterable[Operation]) -> str:
    """Markdown for these operations."""
    return "\n".join([HEAD, *(section(operation) for operation in operations)])


def section(operation: Operation) -> str:
    """One operation."""
    marks = [
        "changes state" if operation.mutating else "read-only",
        *(["destructive"] if operation.destructive else []),
        *(["idempotent"] if operation.idempotent else []),
        *(["needs --yes for agents"] if operation.mutating and operation.guard else []),
        *(["--dry-run"] if operation.dry_run else []),
        *(["works without a daemon"] if operation.offline or operation.local else []),
    ]
    where = f"`{operation.method} {operation.route}`" if operation.route else f"local: {operation.local}"
    head = f"covey {' '.join(operation.cli)}" if operation.cli else f"{operation.name} (for programs)"
    lines = [f"## {head}", "", operation.summary, "", f"{where} · {' · '.join(marks)}", ""]
    if operation.aliases:
        lines += [f"Also: {', '.join(f'`covey {alias}`' for alias in operation.aliases)}", ""]
    lines += [operation.description, ""] if operation.description else []
    lines += (
        [
            "| parameter | type | default | |",
            "|---|---|---|---|",
            *(_row(parameter) for parameter in operation.parameters),
            "",
        ]
        if operation.parameters
        else []
    )
    lines += (
        ["```", *(f"{command}    # {text}" for command, text, _ in operation.examples), "```", ""]
        if operation.examples
        else []
    )
    lines += ["Result:", "", "```json", json.dumps(operation.result), "```", ""]
    return "\n".join(lines)


def _row(parameter: Parameter) -> str:
    name = (
        f"`{parameter.name.upper()}`"
        if parameter.positional
        else " ".join(f"`{name}`" for name in (parameter.short, f"--{parameter.flag}") if name)
    )
    default = (
        "required" if parameter.required else "" if parameter.default is None else f"`{json.dumps(parameter.default)}`"
    )
    kind = f"{parameter.type}, several" if parameter.multiple else parameter.type
    return f"| {name} | {kind} | {default} | {parameter.help}{' One of ' + ', '.join(parameter.enum) + '.' if parameter.enum else ''} |"


if __name__ == "__main__":
    import sys

    sys.stdout.write(page(OPERATIONS))
