"""murli for `click`: replace `cli()` by `run(cli)`.

This module does not import click. It reads commands by their attributes and exceptions by their class names, because
typer carries its own copy of click whose classes are not click's.
"""

from __future__ import annotations

import os
import sys

from murli._core.command import Argument, Command, Flag, merge_annotations, merge_arguments
from murli._core.errors import cancelled, user_error
from murli._core.metadata import annotate, metadata_of
from murli._core.runner import Adapter, Refused
from murli._core.runner import execute as _execute
from murli._core.writer import writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

    from murli._core.route import Invocation

__all__ = ["annotate", "describe", "execute", "run", "schema", "writer"]

TYPES = {
    "integer": "int",
    "integer range": "int",
    "float": "float",
    "float range": "float",
    "boolean": "bool",
    "path": "path",
    "file": "path",
    "filename": "path",
    "directory": "path",
}


def run(command: Any, *, argv: Sequence[str] | None = None, name: str = "", version: str = "") -> NoReturn:
    """Run a click command or group, answer and exit.

    `name` is the name of the tool; without it, the name of the program file is used.
    """
    raise SystemExit(execute(command, argv=argv, name=name, version=version))


def execute(command: Any, *, argv: Sequence[str] | None = None, name: str = "", version: str = "") -> int:
    """Like `run`, but return the exit code."""
    name = name or program_name()
    if f"_{name}_COMPLETE".replace("-", "_").upper() in os.environ:
        command.main(prog_name=name)  # the shell asks for completions: none of murli's business
    return _execute(ClickAdapter(command, name), sys.argv[1:] if argv is None else argv, version=version)


def schema(command: Any, *, name: str = "") -> dict[str, Any]:
    """What `--schema` prints for a command."""
    from murli._core.schema import command_schema  # not needed to run a command

    return command_schema(ClickCommand(command, name or command.name))


def describe(command: Any, *, name: str = "", version: str = "") -> dict[str, Any]:
    """What `describe` prints for a tool."""
    from murli._core.builtin import document  # not needed to run a command
    from murli._core.tool import Tool

    return document(Tool(ClickCommand(command, name or program_name()), version))


class ClickAdapter(Adapter):
    """A click command as the runner sees it."""

    def __init__(self, command: Any, name: str) -> None:
        self.root = ClickCommand(command, name)
        self._command = command

    def invoke(self, argv: list[str], leaf: Command) -> object:
        del leaf  # click resolves commands word by word, as murli does
        try:
            with self._command.make_context(self.root.name, argv) as context:
                self._command.invoke(context)
        except Exception as error:
            _translate(error)
            raise
        return None  # click gives no meaning to what a command returns

    def print_help(self, invocation: Invocation) -> None:
        command = invocation.leaf.command
        if isinstance(command, ClickCommand):
            page = command.command.get_help(command.context)
            if page:  # typer prints its page itself
                sys.stdout.write(f"{page}\n")


class ClickCommand(Command):
    """A click (or typer) command as a neutral one."""

    def __init__(self, command: Any, name: str, parent: Any = None) -> None:
        settings = {key: value for key, value in command.context_settings.items() if key != "obj"}
        self.command = command
        self.context = command.context_class(command, info_name=name, parent=parent, **settings)
        self.name = name
        self.summary = _first_paragraph(command.short_help or command.help)
        self.hidden = bool(command.hidden)
        self.metadata = metadata_of(command, command.callback)
        self.is_group = hasattr(command, "list_commands")
        self.runs_alone = not self.is_group or bool(command.invoke_without_command)
        self.passthrough = not self.is_group and bool(
            self.context.ignore_unknown_options or not self.context.allow_interspersed_args
        )
        self.help_options = tuple(self.context.help_option_names) if command.add_help_option else ()
        self._flags: list[Flag] | None = None
        if getattr(command, "chain", False):
            msg = f"murli cannot guard a chain of commands: make {name!r} a group without chain=True"
            raise TypeError(msg)

    @property
    def flags(self) -> list[Flag]:
        if self._flags is None:
            options = [
                parameter
                for parameter in self.command.get_params(self.context)
                if parameter.param_type_name == "option"
            ]
            drawn = [_flag(option, self.context) for option in options if not set(option.opts) & set(self.help_options)]
            self._flags = merge_annotations(drawn, self.metadata)
        return self._flags

    @property
    def arguments(self) -> list[Argument]:
        positional = [
            parameter for parameter in self.command.get_params(self.context) if parameter.param_type_name == "argument"
        ]
        return merge_arguments([_argument(parameter) for parameter in positional], self.metadata)

    @property
    def children(self) -> list[Command]:
        if not self.is_group:
            return []
        names = self.command.list_commands(self.context)
        declared = list(getattr(self.command, "commands", {}))
        if set(names) == set(declared):
            names = declared  # click sorts them; the author's order says more
        return [child for name in names if (child := self.find(name)) is not None]

    def find(self, name: str) -> Command | None:
        found = self.command.get_command(self.context, name)
        return None if found is None else ClickCommand(found, found.name or name, self.context)


def program_name() -> str:
    """The name of the program as it was called."""
    return os.path.basename(sys.argv[0]).removesuffix(".py")  # pathlib costs start-up time


def _translate(error: Exception) -> None:
    """Raise what a click exception means to murli; return for any other."""
    names = {cls.__name__ for cls in type(error).__mro__ if cls.__module__.partition(".")[0] in ("click", "typer")}
    if "NoArgsIsHelpError" in names:
        raise Refused("the command needs arguments") from error
    if "UsageError" in names:
        raise Refused(error.format_message()) from error  # type: ignore[attr-defined]
    if "ClickException" in names:
        raise user_error(error.format_message()) from error  # type: ignore[attr-defined]
    if "Abort" in names:
        raise cancelled() from error
    if "Exit" in names:
        raise SystemExit(error.exit_code) from error  # type: ignore[attr-defined]


def _flag(option: Any, context: Any) -> Flag:
    on_or_off = bool(option.is_flag or option.count)
    several = not on_or_off and (bool(option.multiple) or option.nargs != 1)
    long = next((spelling for spelling in option.opts if spelling.startswith("--")), option.opts[0])
    default = _default(option)
    if default is None and (several or on_or_off):
        default = [] if several else 0 if option.count else False
    return Flag(
        **_shared(option),
        name=long.lstrip("-"),
        options=list(option.opts),
        negative=option.secondary_opts[0] if option.secondary_opts else "",
        arity=0 if on_or_off else "?" if getattr(option, "_flag_needs_value", False) else option.nargs,
        default=default,
        multiple=several,
        required=bool(option.required),
        env=_env(option, context),
        env_is_native=True,
        sensitive=bool(getattr(option, "hide_input", False)),
        hidden=bool(option.hidden),
        eager=bool(option.is_eager and option.callback),
        prompts=bool(option.prompt) and default in (None, False),
    )


def _argument(parameter: Any) -> Argument:
    return Argument(
        **_shared(parameter), name=parameter.name, required=bool(parameter.required), multiple=parameter.nargs != 1
    )


def _shared(parameter: Any) -> dict[str, Any]:
    kind, enum = _type(parameter)
    return {
        "type": kind,
        "description": " ".join((getattr(parameter, "help", None) or "").split()),
        "enum": enum,
        "enum_is_native": True,
    }


def _type(parameter: Any) -> tuple[str, list[str]]:
    """The neutral type of a parameter and its choices."""
    if getattr(parameter, "count", False):
        return "count", []
    if getattr(parameter, "is_flag", False):
        return "bool", []
    descriptor = getattr(parameter, "type_descriptor", None)
    if descriptor is not None:
        return _typer_type(descriptor)
    choices = getattr(parameter.type, "choices", None)
    if choices is not None:
        return "string", [str(getattr(choice, "name", choice)) for choice in choices]
    return TYPES.get(parameter.type.name, "string"), []


def _typer_type(descriptor: Any) -> tuple[str, list[str]]:
    """The same for typer, which describes types by annotations."""
    if descriptor.is_choice and descriptor.choices is not None:
        return "string", [str(getattr(choice, "value", choice)) for choice in descriptor.choices]
    if descriptor.is_path or descriptor.is_file:
        return "path", []
    inner = getattr(descriptor.annotation, "__args__", (descriptor.annotation,))[0]
    return {int: "int", float: "float", bool: "bool"}.get(inner, "string"), []


def _default(option: Any) -> Any:
    """Return the default that the tool declares.

    click marks its absence by None or by a sentinel; a default that is computed later is not known.
    """
    value = option.default
    if value is None or callable(value) or type(value).__name__ == "Sentinel":
        return None
    return list(value) if isinstance(value, (tuple, list)) else value


def _env(option: Any, context: Any) -> str:
    named = option.envvar
    if named:
        return str(named if isinstance(named, str) else named[0])
    prefix = context.auto_envvar_prefix
    return f"{prefix}_{option.name.upper()}" if prefix and option.allow_from_autoenv else ""


def _first_paragraph(text: str | None) -> str:
    return " ".join((text or "").split("\f")[0].strip().split("\n\n")[0].split())
