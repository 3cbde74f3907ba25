"""Help pages, from the contract: usage, what it does, arguments, options, and examples."""

from __future__ import annotations

import textwrap

from covey.cli.commands import DESCRIPTION, PROGRAM, OperationCommand, is_required
from covey.cli.overview import sections
from covey.cli.text import columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from covey.contract import Operation, Parameter
    from murli.adapter import Command

Row = tuple[str, str]
WIDEST_LABEL = 22
"""Cells that a label takes at most; a longer one has a line of its own."""
OVERVIEW_MARGIN = 15
"""Where the summaries of all commands begin."""
HELP_ROW = ("-h, --help", "Show this page.")


def page(command: Command, path: str) -> str:
    """Return the help page of a command; `path` is how the caller spelt it."""
    if isinstance(command, OperationCommand):
        return _operation_page(command.operation, f"{PROGRAM} {' '.join(command.operation.cli)}")
    if command.name == PROGRAM:
        return _root_page(command)
    return _group_page(command, path)


def _root_page(command: Command) -> str:
    rows = [HELP_ROW, *((flag.long, flag.description) for flag in command.flags)]
    lines = [f"usage: {PROGRAM} [-h] [--version] COMMAND …", "", *_wrapped(DESCRIPTION)]
    lines += _section("options", rows)
    for title, commands in sections().items():
        lines += _section(title, commands, margin=OVERVIEW_MARGIN)
    return "\n".join(lines)


def _group_page(command: Command, path: str) -> str:
    lines = [f"usage: {path} [-h] COMMAND …", "", *_wrapped(command.summary), *_section("options", [HELP_ROW])]
    return "\n".join([*lines, *_section("commands", [(child.name, child.summary) for child in command.children])])


def _operation_page(operation: Operation, path: str) -> str:
    arguments = [parameter for parameter in operation.command_parameters if parameter.positional]
    flags = [parameter for parameter in operation.command_parameters if not parameter.positional]
    lines = [
        *_usage(path, [*map(_short_flag, flags), *(_short_argument(operation, argument) for argument in arguments)]),
        "",
    ]
    lines += _wrapped(operation.description or operation.summary)
    lines += _section("arguments", [(_label(argument), _explained(argument)) for argument in arguments])
    lines += _section("options", [HELP_ROW, *((_label(flag), _explained(flag)) for flag in flags)])
    if operation.examples:
        lines += ["", "examples:"]
    for line, text, _ in operation.examples:
        lines += [*_wrapped(line, "  "), *_wrapped(text, "      ")]
    return "\n".join(lines)


def _usage(path: str, parts: Iterable[str]) -> list[str]:
    """Return the usage on as many lines as it needs, broken between its parts."""
    head = f"usage: {path}"
    unbroken = [part.replace(" ", "\0") for part in ["[-h]", *parts]]
    margin = " " * (len(head) + 1)
    lines = _wrapped(" ".join([head.replace(" ", "\0"), *unbroken]), subsequent=margin)
    return [line.replace("\0", " ") for line in lines]


def _short_flag(parameter: Parameter) -> str:
    option = parameter.short or f"--{parameter.flag}"
    shown = option if parameter.type == "bool" else f"{option} {parameter.name.upper()}"
    return shown if parameter.required else f"[{shown}]"


def _short_argument(operation: Operation, parameter: Parameter) -> str:
    shown = _label(parameter)
    if is_required(operation, parameter):
        return shown
    return f"[{shown} …]" if parameter.multiple else f"[{shown}]"


def _label(parameter: Parameter) -> str:
    if parameter.positional:
        return f"{{{','.join(parameter.enum)}}}" if parameter.enum else parameter.name
    options = [*([parameter.short] if parameter.short else []), f"--{parameter.flag}"]
    if parameter.type != "bool":
        options[-1] += f" {parameter.name.upper()}"
    return ", ".join(options)


def _explained(parameter: Parameter) -> str:
    if not parameter.enum:
        return parameter.help
    choices = [f"{choice} (default)" if choice == parameter.default else choice for choice in parameter.enum]
    return f"{parameter.help} One of: {', '.join(choices)}."


def _section(title: str, rows: list[Row], *, margin: int = 0) -> list[str]:
    if not rows:
        return []
    margin = margin or min(max(len(label) for label, _ in rows), WIDEST_LABEL) + 4
    lines = ["", f"{title}:"]
    for label, text in rows:
        first, *more = _wrapped(text, " " * margin)
        if len(label) + 4 > margin:
            lines += [f"  {label}", first, *more]
        else:
            lines += [f"  {label}".ljust(margin) + first.lstrip(), *more]
    return lines


def _wrapped(text: str, indent: str = "", *, subsequent: str | None = None) -> list[str]:
    """Break a text between words into lines that fit the terminal."""
    return textwrap.wrap(
        text,
        columns() - 2,
        initial_indent=indent,
        subsequent_indent=indent if subsequent is None else subsequent,
        break_long_words=False,
        break_on_hyphens=False,
    )
