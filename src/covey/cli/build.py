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
    from collections.abc import Generator, Sequence
    from typing import Any

    from covey.contract import Operation, Parameter

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 - its type has no public name


class Formatter(argparse.HelpFormatter):
    """argparse's formatter: breaks between words only, tells the choices of a flag, lists commands without a word for all of them.

    Its look at the width is a cheap one: argparse's own imports the compression libraries on every start.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26, width=_columns() - 2)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Lines that are broken keep the indent that they begin with."""
        parts = [(part.lstrip(), indent + part[: len(part) - len(part.lstrip())]) for part in text.split("\n")]
        return "\n".join(line for part, before in parts for line in _wrapped(part, width, before) or [""])

    def _split_lines(self, text: str, width: int) -> list[str]:
        return _wrapped(" ".join(text.split()), width)

    def _expand_help(self, action: argparse.Action) -> str:
        text = super()._expand_help(action)
        if not action.choices or isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - as above
            return text
        return f"{text} One of: {', '.join(f'{choice} (default)' if choice == action.default else str(choice) for choice in action.choices)}."

    def _format_action(self, action: argparse.Action) -> str:
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - as above
            return "".join(self._format_action(command) for command in self._iter_indented_subactions(action))
        return super()._format_action(action)

    def _iter_indented_subactions(self, action: argparse.Action) -> Generator[argparse.Action, None, None]:
        """Without an indent, which argparse forgets where it measures them."""
        yield from action._get_subactions() if isinstance(action, argparse._SubParsersAction) else ()  # noqa: SLF001 - as above


def _columns() -> int:
    try:
        return max(os.get_terminal_size(1).columns or 80, 42)
    except OSError:
        return 80


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    import textwrap  # only help pays for it

    return textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def wanted(words: Sequence[str]) -> tuple[Operation, ...]:
    """The one operation whose verb these words begin with, or all of them."""
    if not words or "--help" in words or "-h" in words:
        return OPERATIONS
    operation = named(words, 0)
    return (operation,) if operation else OPERATIONS


def build(operations: Sequence[Operation]) -> argparse.ArgumentParser:
    """A parser for these operations."""
    root = argparse.ArgumentParser(
        prog="covey",
        usage="covey [-h] [--version] COMMAND …",
        description="The control plane for coding agents that you can believe.",
        formatter_class=Formatter,
    )
    root.add_argument("--version", action="version", version=f"covey {__version__}", help="Print the version.")
    commands = root.add_subparsers(prog="covey", metavar="COMMAND", help=argparse.SUPPRESS)
    if len(operations) > 1:  # only the whole tree is ever asked for this page
        from covey.cli.overview import COLUMN, overview

        root.epilog = overview(lambda text: _wrapped(text, _columns() - 2 - COLUMN))
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
        for alias in (
            operation.aliases
        ):  # `expanded` puts the verb in its place before anything is parsed; here it is only told of
            commands._choices_actions.append(commands._ChoicesPseudoAction(alias, (), operation.summary))  # noqa: SLF001
    return root


def _add(commands: Subparsers, operation: Operation) -> None:
    parser = commands.add_parser(
        operation.cli[-1],
        aliases=operation.aliases if len(operation.cli) == 1 else (),
        help=operation.summary,
        description=operation.description or operation.summary,
        epilog="\n".join(
            ["examples:", *(f"  {part}" for line, text, _ in operation.examples for part in (line, f"    {text}"))]
        )
        if operation.examples
        else None,
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
        if not parameter.required:
            options |= {"nargs": "*" if parameter.multiple else "?", "default": parameter.default}
        parser.add_argument(parameter.name, **options)
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
        arguments=[
            ArgumentMetadata(name=parameter.name, content=parameter.content)
            for parameter in operation.parameters
            if parameter.positional
        ],
        returns=ReturnSchema(
            type="ndjson" if operation.streaming else "text" if operation.page else "json",
            output_schema=operation.result,
        ),
        examples=[
            Example(command=line, description=text, expected_exit_code=code) for line, text, code in operation.examples
        ],
        flag_annotations={
            name: FlagAnnotation(sensitive=parameter.sensitive, content=parameter.content)
            for name, parameter in flags.items()
        },
    )


def _perform(operation: Operation, args: argparse.Namespace) -> int:
    from covey.cli.perform import perform

    params = {parameter.name: getattr(args, parameter.name) for parameter in operation.parameters}
    for parameter in operation.parameters:
        if parameter.path and params[parameter.name]:
            params[parameter.name] = os.path.abspath(os.path.expanduser(params[parameter.name]))
    return perform(operation, params)
