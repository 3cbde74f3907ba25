"""Parsers from the contract. Only the verb that was called is built; the whole tree is built for help, describe and mistakes."""

from __future__ import annotations

import argparse
import os

from covey import __version__
from covey.cli.words import named
from covey.contract import GROUPS, OPERATIONS
from murli import ArgumentMetadata, Example, FlagAnnotation, Metadata, ReturnSchema
from murli.argparse import annotate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from covey.contract import Operation, Parameter

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 - its type has no public name


class Formatter(argparse.RawDescriptionHelpFormatter):
    """argparse's formatter with a cheap look at the width: its own imports the compression libraries on every start."""

    def __init__(self, prog: str) -> None:
        try:
            columns = os.get_terminal_size(1).columns or 80
        except OSError:
            columns = 80
        super().__init__(prog, max_help_position=26, width=max(columns - 2, 40))


def wanted(words: Sequence[str]) -> tuple[Operation, ...]:
    """The one operation whose verb these words begin with, or all of them."""
    if not words or "--help" in words or "-h" in words:
        return OPERATIONS
    operation = named(words, 0)
    return (operation,) if operation else OPERATIONS


def build(operations: Sequence[Operation]) -> argparse.ArgumentParser:
    """A parser for these operations."""
    root = argparse.ArgumentParser(prog="covey", description="The control plane for coding agents that you can believe.", formatter_class=Formatter)
    root.add_argument("--version", action="version", version=f"covey {__version__}", help="Print the version.")
    commands = root.add_subparsers(prog="covey", metavar="COMMAND", title="commands")
    groups: dict[str, Subparsers] = {}
    for operation in operations:
        if not operation.cli:
            continue
        if len(operation.cli) == 1:
            _add(commands, operation)
            continue
        name = operation.cli[0]
        if name not in groups:
            parser = commands.add_parser(name, help=GROUPS[name], description=GROUPS[name], formatter_class=Formatter)
            groups[name] = parser.add_subparsers(prog=f"covey {name}", metavar="COMMAND", title="commands")
        _add(groups[name], operation)
    return root


def _add(commands: Subparsers, operation: Operation) -> None:
    parser = commands.add_parser(
        operation.cli[-1],
        aliases=operation.aliases if len(operation.cli) == 1 else (),
        help=operation.summary,
        description=operation.description or operation.summary,
        formatter_class=Formatter,
    )
    for parameter in operation.parameters:
        _add_parameter(parser, parameter)
    parser.set_defaults(func=lambda args: _perform(operation, args))
    annotate(parser, _metadata(operation))


def _add_parameter(parser: argparse.ArgumentParser, parameter: Parameter) -> None:
    options: dict[str, Any] = {"help": parameter.help.replace("%", "%%")}
    if parameter.enum:
        options["choices"] = parameter.enum
    if parameter.type in ("int", "float"):
        options["type"] = int if parameter.type == "int" else float
    if parameter.positional:
        parser.add_argument(parameter.name, nargs=None if parameter.required else "*" if parameter.multiple else "?", **options)
        return
    names = [parameter.short] if parameter.short else []
    if parameter.type == "bool":
        options["action"] = "store_true"
    else:
        options |= {"default": parameter.default, "required": parameter.required, "metavar": parameter.name.upper()}
        options |= {"action": "append"} if parameter.multiple else {}
    parser.add_argument(*names, f"--{parameter.flag}", dest=parameter.name, **options)


def _metadata(operation: Operation) -> Metadata:
    flags = {parameter.flag: parameter for parameter in operation.parameters if not parameter.positional}
    return Metadata(
        agent_description=operation.description,
        when_to_use=operation.when_to_use,
        idempotent=operation.idempotent,
        mutating=operation.mutating,
        destructive=operation.destructive,
        dry_runnable=operation.dry_run,
        guard=operation.guard,
        arguments=[ArgumentMetadata(name=parameter.name, content=parameter.content) for parameter in operation.parameters if parameter.positional],
        returns=ReturnSchema(type="ndjson" if operation.streaming else "text" if operation.page else "json", output_schema=operation.result),
        examples=[Example(command=line, description=text, expected_exit_code=code) for line, text, code in operation.examples],
        flag_annotations={name: FlagAnnotation(sensitive=parameter.sensitive, content=parameter.content) for name, parameter in flags.items()},
    )


def _perform(operation: Operation, args: argparse.Namespace) -> int:
    from covey.cli.perform import perform

    params = {parameter.name: getattr(args, parameter.name) for parameter in operation.parameters}
    for parameter in operation.parameters:
        if parameter.path and params[parameter.name]:
            params[parameter.name] = os.path.abspath(os.path.expanduser(params[parameter.name]))
    return perform(operation, params)
