"""murli for `argparse`: replace `parser.parse_args()` and your dispatch by `run(parser)`."""

from __future__ import annotations

import argparse
import sys

from murli._core.command import Argument, Command, Flag, merge_annotations, merge_arguments
from murli._core.metadata import annotate, metadata_of
from murli._core.runner import Adapter, Refused
from murli._core.runner import execute as _execute
from murli._core.writer import writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn

    from murli._core.route import Invocation

    Handler = Callable[[argparse.Namespace], object]

__all__ = ["annotate", "describe", "execute", "run", "schema", "writer"]

MANY_CHOICES = 200


def run(
    parser: argparse.ArgumentParser,
    main: Handler | None = None,
    *,
    argv: Sequence[str] | None = None,
    handler: str = "func",
    version: str = "",
) -> NoReturn:
    """Parse, dispatch, answer and exit.

    The command is the function that the parser's `set_defaults(func=…)` names (`handler` is the name of that
    attribute); `main` is called where there is none. It gets the namespace, and its int result, if any, is the exit
    code.
    """
    raise SystemExit(execute(parser, main, argv=argv, handler=handler, version=version))


def execute(
    parser: argparse.ArgumentParser,
    main: Handler | None = None,
    *,
    argv: Sequence[str] | None = None,
    handler: str = "func",
    version: str = "",
) -> int:
    """Like `run`, but return the exit code."""
    return _execute(ArgparseAdapter(parser, main, handler), sys.argv[1:] if argv is None else argv, version=version)


def schema(parser: argparse.ArgumentParser, *, handler: str = "func") -> dict[str, Any]:
    """What `--schema` prints for the command that a parser stands for."""
    from murli._core.schema import command_schema  # not needed to run a command

    return command_schema(ArgparseCommand(parser, _name(parser), "", handler))


def describe(parser: argparse.ArgumentParser, *, handler: str = "func", version: str = "") -> dict[str, Any]:
    """What `describe` prints for a tool."""
    from murli._core.builtin import document  # not needed to run a command
    from murli._core.tool import Tool

    return document(Tool(ArgparseCommand(parser, _name(parser), "", handler), version))


class ArgparseAdapter(Adapter):
    """An `ArgumentParser` as the runner sees it."""

    def __init__(self, parser: argparse.ArgumentParser, main: Handler | None, handler: str) -> None:
        self.root = ArgparseCommand(parser, _name(parser), "", handler, main)
        self._parser = parser
        self._main = main
        self._handler = handler

    def invoke(self, argv: list[str], leaf: Command) -> object:
        namespace = self._parse(argv)
        called = getattr(namespace, self._handler, None) or self._main
        if isinstance(leaf, ArgparseCommand) and called is not (leaf.parser.get_default(self._handler) or self._main):
            raise Refused("the words can be read as more than one command")
        if called is None:
            msg = (
                f"no function to run: call set_defaults({self._handler}=…) on the parser of each command, "
                "or pass one to run()"
            )
            raise RuntimeError(msg)
        return called(namespace)

    def print_help(self, invocation: Invocation) -> None:
        command = invocation.leaf.command
        if isinstance(command, ArgparseCommand):
            command.parser.print_help(sys.stdout)

    def _parse(self, argv: list[str]) -> argparse.Namespace:
        """`parse_args`, with every parser's `error` turned into an exception and put back afterwards."""
        touched = [self._parser]
        dashed = any(word.endswith("--") and word != "--" for word in argv)
        for parser in touched:
            parser.error = _refuse  # type: ignore[method-assign]
            if dashed:
                parser.__dict__["_get_values"] = _keeping_dashes(parser)
            touched += _subparsers(parser).values()
        try:
            return self._parser.parse_args(argv)
        finally:
            for parser in touched:
                parser.__dict__.pop("error", None)
                parser.__dict__.pop("_get_values", None)


class ArgparseCommand(Command):
    """An `ArgumentParser` as a neutral command."""

    def __init__(
        self, parser: argparse.ArgumentParser, name: str, summary: str, handler: str, main: Handler | None = None
    ) -> None:
        self.parser = parser
        self.name = name
        self.summary = summary or _first_paragraph(parser.description)
        self.metadata = metadata_of(parser, parser.get_default(handler))
        group = _group(parser)
        self.is_group = group is not None
        self.runs_alone = (
            group is None or parser.get_default(handler) is not None or (main is not None and not group.required)
        )
        self.passthrough = any(
            action.nargs == argparse.REMAINDER for action in parser._actions
        )  # argparse has no public view of them
        self.abbreviates = parser.allow_abbrev
        self.takes_dashed_values = False
        self.help_options = tuple(
            option
            for action in parser._actions
            if isinstance(action, argparse._HelpAction)
            for option in action.option_strings
        )
        self._handler = handler
        self._flags: list[Flag] | None = None

    @property
    def flags(self) -> list[Flag]:
        if self._flags is None:
            actions = [
                action
                for action in self.parser._actions
                if action.option_strings and not isinstance(action, argparse._HelpAction)
            ]
            self._flags = merge_annotations([_flag(action, self.parser) for action in actions], self.metadata)
        return self._flags

    @property
    def arguments(self) -> list[Argument]:
        actions = self.parser._actions
        positional = [
            action
            for action in actions
            if not action.option_strings and not isinstance(action, argparse._SubParsersAction)
        ]
        return merge_arguments([_argument(action) for action in positional], self.metadata)

    @property
    def children(self) -> list[Command]:
        first = {id(parser): name for name, parser in reversed(_subparsers(self.parser).items())}
        return [self._child(name) for name in _subparsers(self.parser) if name in first.values()]

    def find(self, name: str) -> Command | None:
        return self._child(name) if name in _subparsers(self.parser) else None

    def _child(self, name: str) -> ArgparseCommand:
        group, parser = _group(self.parser), _subparsers(self.parser)[name]
        canonical = next(other for other, candidate in _subparsers(self.parser).items() if candidate is parser)
        summary = next((choice.help for choice in group._choices_actions if choice.dest == canonical), "")  # type: ignore[union-attr]
        return ArgparseCommand(parser, canonical, summary or "", self._handler)


def _keeping_dashes(parser: argparse.ArgumentParser) -> Callable[[argparse.Action, list[str]], object]:
    """The parser's own `_get_values`, except that the `--` of `--flag=--` is the flag's value.

    Before Python 3.13 argparse removes it like the `--` that ends the flags, and the flag gets an empty list that
    neither its type nor its choices have checked.
    """
    original = parser._get_values

    def get_values(action: argparse.Action, words: list[str]) -> object:
        if not action.option_strings or words != ["--"]:
            return original(action, words)
        value = parser._get_value(action, "--")
        parser._check_value(action, value)
        return value if action.nargs in (None, "?") else [value]

    return get_values


def _refuse(message: str) -> NoReturn:
    raise Refused(message)


def _group(parser: argparse.ArgumentParser) -> argparse._SubParsersAction[argparse.ArgumentParser] | None:
    return next((action for action in parser._actions if isinstance(action, argparse._SubParsersAction)), None)


def _subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    group = _group(parser)
    return group._name_parser_map if group is not None else {}


def _flag(action: argparse.Action, parser: argparse.ArgumentParser) -> Flag:
    negative = ""
    options = list(action.option_strings)
    if isinstance(action, argparse.BooleanOptionalAction):
        negative = next((option for option in options if option.startswith("--no-")), "")
        options.remove(negative)
    several = isinstance(action, argparse._AppendAction) or _takes_several(action)
    long = next((option for option in options if option.startswith("--")), options[0])
    default = None if action.default is argparse.SUPPRESS else action.default
    return Flag(
        **_shared(action),
        name=long.lstrip("-"),
        options=options,
        negative=negative,
        arity=_arity(action),
        default=[]
        if several and default is None
        else bool(default)
        if _arity(action) == 0 and default is None
        else default,
        multiple=several,
        required=action.required,
        mutually_exclusive_with=_excluded(action, parser),
        hidden=action.help == argparse.SUPPRESS,
        eager=isinstance(action, argparse._VersionAction),
    )


def _argument(action: argparse.Action) -> Argument:
    return Argument(
        **_shared(action),
        name=action.dest,
        required=action.nargs not in ("?", "*", argparse.REMAINDER),
        multiple=_takes_several(action) or action.nargs == argparse.REMAINDER,
    )


def _shared(action: argparse.Action) -> dict[str, Any]:
    choices = [] if action.choices is None else list(action.choices)
    return {
        "type": _type(action),
        "description": "" if action.help in (None, argparse.SUPPRESS) else _expanded(action),
        "enum": [str(choice) for choice in choices] if len(choices) <= MANY_CHOICES else [],
        "enum_is_native": True,
    }


def _expanded(action: argparse.Action) -> str:
    """The help text with argparse's `%(default)s` and the like filled in."""
    text = str(action.help)
    try:
        return text % {**vars(action), "prog": ""} if "%" in text else text
    except (KeyError, TypeError, ValueError):
        return text  # argparse itself would fail on it; we only describe


def _type(action: argparse.Action) -> str:
    if isinstance(action, argparse._CountAction):
        return "count"
    if _arity(action) == 0:
        return "bool"
    kind = action.type
    if isinstance(kind, argparse.FileType) or (isinstance(kind, type) and hasattr(kind, "__fspath__")):
        return "path"
    return {int: "int", float: "float"}.get(kind, "string")  # type: ignore[call-overload, no-any-return]


def _arity(action: argparse.Action) -> Any:
    if action.nargs is None:
        return 1
    return {"*": "*", "+": "*", argparse.REMAINDER: "*"}.get(str(action.nargs), action.nargs)


def _takes_several(action: argparse.Action) -> bool:
    return action.nargs in ("*", "+") or (isinstance(action.nargs, int) and action.nargs > 1)


def _excluded(action: argparse.Action, parser: argparse.ArgumentParser) -> list[str]:
    groups = [group._group_actions for group in parser._mutually_exclusive_groups if action in group._group_actions]
    others = [other for group in groups for other in group if other is not action and other.option_strings]
    return [
        next((option for option in other.option_strings if option.startswith("--")), other.option_strings[0]).lstrip(
            "-"
        )
        for other in others
    ]


def _first_paragraph(text: str | None) -> str:
    return " ".join((text or "").strip().split("\n\n")[0].split())


def _name(parser: argparse.ArgumentParser) -> str:
    return parser.prog.removesuffix(".py")
