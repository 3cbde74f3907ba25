"""The neutral picture of a command tree. Adapters draw it; everything else in murli reads only this."""

from __future__ import annotations

from murli._core.metadata import NOTHING, FlagAnnotation, Metadata
from murli._core.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, Literal

    Arity = int | Literal["?", "*"]


class Parameter(Record):
    """What a flag and a positional argument have in common."""

    label = "parameter"

    name: str
    type: str = "string"
    description: str = ""
    required: bool = False
    multiple: bool = False
    """May hold more than one value."""
    enum: list[str] = []  # Record copies mutable defaults
    enum_is_native: bool = False
    """The framework checks the enumeration itself, perhaps more leniently."""
    content: str = ""
    """`id`, `text` or `raw`; see `FlagAnnotation.content`."""
    sensitive: bool = False
    pattern: str = ""

    @property
    def shown(self) -> str:
        """How an error message names it."""
        return f"{self.label} {self.name!r}"


class Argument(Parameter):
    """A positional argument."""

    label = "argument"


class Flag(Parameter):
    """A flag as the framework declares it, merged with its annotation."""

    label = "flag"

    options: list[str] = []
    """Every spelling, e.g. `-t` and `--top`."""
    negative: str = ""
    """The spelling that means false, for `--x/--no-x` flags."""
    arity: Arity = 1
    """How many words the flag takes after it: a number, `?` (none or one) or `*` (up to the next flag)."""
    default: Any = None
    env: str = ""
    env_is_native: bool = False
    """The framework reads the environment variable itself."""
    persistent: bool = False
    mutually_exclusive_with: list[str] = []
    profileable: bool = False
    hidden: bool = False
    """It works, but help and `describe` leave it out."""
    eager: bool = False
    """Answers by itself, like `--version`, whatever else is missing."""
    prompts: bool = False
    """The framework asks for it on the terminal when it is missing."""

    @property
    def long(self) -> str:
        """The spelling to use in a command line."""
        return next((option for option in self.options if option.startswith("--")), self.options[0])

    @property
    def short(self) -> str:
        return next((option for option in self.options if not option.startswith("--")), "")

    @property
    def shown(self) -> str:
        return self.long

    def merged(self, annotation: FlagAnnotation | None) -> Flag:
        """This flag with everything its annotation adds."""
        if annotation is None:
            return self
        added = {name: value for name, value in annotation.as_dict().items() if value}
        added["mutually_exclusive_with"] = [*self.mutually_exclusive_with, *(annotation.mutually_exclusive_with)]
        if annotation.enum:
            added["enum_is_native"] = False
        if annotation.env:
            added["env_is_native"] = self.env_is_native and self.env == annotation.env
        return Flag(**{**self.as_dict(), **added})


class Command:
    """A command or a group of commands.

    Adapters subclass it and fill the parts lazily: only the path that was called is ever drawn.
    """

    name: str = ""
    summary: str = ""
    hidden: bool = False
    metadata: Metadata = NOTHING
    is_group: bool = False
    other_names: Sequence[str] = ()
    """Words that a group takes for one of its commands, besides the names of its children: valid, and worth a hint."""
    is_builtin: bool = False
    """One of murli's own commands, which never reaches the framework."""
    runs_alone: bool = True
    """A group that does something without a subcommand, or a plain command."""
    passthrough: bool = False
    """Words after the first positional belong to another program and are never read."""
    abbreviates: bool = False
    """The framework accepts unambiguous prefixes of long flags."""
    takes_dashed_values: bool = True
    """The framework takes the word after a flag for its value even if it looks like a flag."""
    help_options: tuple[str, ...] = ("--help",)

    @property
    def flags(self) -> list[Flag]:
        return []

    @property
    def arguments(self) -> list[Argument]:
        return []

    @property
    def children(self) -> list[Command]:
        """The subcommands in the order in which the tool declares them."""
        return []

    def find(self, name: str) -> Command | None:
        """The subcommand of that name or alias."""
        return next((child for child in self.children if child.name == name), None)

    def flag(self, option: str) -> Flag | None:
        """The flag that a word such as `--top` names."""
        return next((flag for flag in self.flags if option in flag.options or option == flag.negative), None)

    def abbreviated_flag(self, option: str) -> Flag | None:
        """The one flag that a shortened word such as `--to` can mean."""
        if not self.abbreviates or not option.startswith("--"):
            return None
        near = [
            flag
            for flag in self.flags
            if any(spelling.startswith(option) for spelling in (*flag.options, flag.negative))
        ]
        return near[0] if len(near) == 1 else None


def merge_annotations(flags: Iterable[Flag], metadata: Metadata) -> list[Flag]:
    """The framework's flags with the tool's annotations on them."""
    return [flag.merged(metadata.flag_annotations.get(flag.name)) for flag in flags]


def merge_arguments(arguments: Iterable[Argument], metadata: Metadata) -> list[Argument]:
    """The framework's positional arguments, overruled by what the tool wrote about them by hand."""
    drawn = {argument.name: argument for argument in arguments}
    for written in metadata.arguments:
        known = drawn.get(written.name, Argument(name=written.name))
        drawn[written.name] = Argument(
            **{**known.as_dict(), **{key: value for key, value in written.as_dict().items() if value not in ("", None)}}
        )
    return list(drawn.values())


def profileable(root: Command) -> list[Flag]:
    """Every flag of a tool that a profile may hold, by name."""
    commands = [root, *(path[-1] for path in walk(root))]
    return list({flag.name: flag for command in commands for flag in command.flags if flag.profileable}.values())


def walk(command: Command, path: tuple[Command, ...] = ()) -> Iterable[tuple[Command, ...]]:
    """Every visible command below `command`, each as the path that leads to it."""
    for child in command.children:
        if not child.hidden:
            yield (*path, child)
            yield from walk(child, (*path, child))
