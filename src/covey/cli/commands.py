"""The command tree that murli reads, made from the contract: the root, its groups, and one command for each operation.

Only what a command line names is made; the whole tree is made for help and `describe`.
"""

from __future__ import annotations

from covey import __version__
from covey.contract import GROUPS, OPERATIONS
from murli.adapter import (
    Adapter,
    Argument,
    ArgumentMetadata,
    Command,
    Example,
    Flag,
    Metadata,
    Refused,
    ReturnSchema,
    read,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from covey.contract import Operation, Parameter
    from murli.adapter import Invocation, Level

PROGRAM = "covey"
CHECK_ONLY = "check_only"
"""The parameter with which an operation changes nothing, whatever it is."""
DESCRIPTION = "The control plane for coding agents that you can believe."
VERSION = Flag(
    name="version",
    type="bool",
    description="Print the version.",
    options=["--version"],
    arity=0,
    default=False,
    enum_is_native=True,
    eager=True,
)


class ContractAdapter(Adapter):
    """Runs the operations of the contract for murli."""

    def __init__(self, operations: Sequence[Operation] = OPERATIONS) -> None:
        self.root = Root(operations)

    def invoke(self, argv: list[str], leaf: Command) -> object:
        """Perform the operation of a command. Raises `Refused` if it does not take these words."""
        given = read(self.root, PROGRAM, argv, lambda *_: None)
        if VERSION.name in given.levels[0].given:
            print(f"{PROGRAM} {__version__}")  # noqa: T201 - the command line prints
            return 0
        assert isinstance(leaf, OperationCommand)
        params = parameters(leaf.operation, given.leaf)
        from covey.cli.perform import perform

        return perform(leaf.operation, params)

    def print_help(self, invocation: Invocation) -> None:
        """Print the help page of the command that was called."""
        from covey.cli.help import page

        print(page(invocation.leaf.command, invocation.path))  # noqa: T201 - the command line prints


class CoveyCommand(Command):
    """What all commands have in common."""

    abbreviates = True
    takes_dashed_values = False
    help_options = ("-h", "--help")


class OperationCommand(CoveyCommand):
    """The command of one operation."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self.name = operation.cli[-1]
        self.summary = operation.summary
        self.metadata = _metadata(operation)
        taken = operation.command_parameters
        self._flags = [_flag(parameter) for parameter in taken if not parameter.positional]
        self._arguments = [_argument(operation, parameter) for parameter in taken if parameter.positional]

    @property
    def flags(self) -> list[Flag]:
        return self._flags

    @property
    def arguments(self) -> list[Argument]:
        return self._arguments


class Group(CoveyCommand):
    """Commands whose first words are the same, such as `covey config get` or `covey mesh topic post`."""

    is_group = True
    runs_alone = False

    def __init__(self, words: tuple[str, ...], operations: Sequence[Operation]) -> None:
        self.name = words[-1]
        self.summary = GROUPS[" ".join(words)]
        self._words = words
        self._operations = operations

    @property
    def children(self) -> list[Command]:
        names = dict.fromkeys(operation.cli[len(self._words)] for operation in self._operations)
        return [command for name in names if (command := self.find(name))]

    def find(self, name: str) -> Command | None:
        words = (*self._words, name)
        group = []
        for operation in self._operations:
            if operation.cli == words:
                return OperationCommand(operation)
            if operation.cli[: len(words)] == words:
                group.append(operation)
        return Group(words, group) if group else None


class Root(CoveyCommand):
    """`covey` itself."""

    name = PROGRAM
    summary = DESCRIPTION
    is_group = True
    runs_alone = False

    def __init__(self, operations: Sequence[Operation]) -> None:
        self._operations = [operation for operation in operations if operation.cli]
        self.other_names = [alias for operation in self._operations for alias in operation.aliases]

    @property
    def flags(self) -> list[Flag]:
        return [VERSION]

    @property
    def children(self) -> list[Command]:
        names = dict.fromkeys(operation.cli[0] for operation in self._operations)
        return [command for name in names if (command := self.find(name))]

    def find(self, name: str) -> Command | None:
        """Return the command or the group of that name. `words` has replaced aliases of commands with two words."""
        group = []
        for operation in self._operations:
            if len(operation.cli) == 1 and name in (*operation.cli, *operation.aliases):
                return OperationCommand(operation)
            if operation.cli[0] == name:
                group.append(operation)
        return Group((name,), group) if group else None


def parameters(operation: Operation, level: Level) -> dict[str, Any]:
    """Return the parameters of a call, with defaults for those that were not given.

    Raises `Refused`; murli finds the words for what is wrong, where it can see it too.
    """
    if level.unknown or level.dangling:
        raise Refused("there is an unknown flag, or a flag without its value")
    _refuse_values_of_switches(level)
    arguments = level.command.arguments
    if len(level.positionals) > len(arguments) and not any(argument.multiple for argument in arguments):
        raise Refused(f"unexpected argument {level.positionals[len(arguments)]!r}")
    given: dict[str, list[str]] = {}
    for parameter, text in level.values():
        given.setdefault(parameter.name.replace("-", "_"), []).append(text)
    return {one.name: _value(operation, one, given.get(one.name)) for one in operation.command_parameters}


def _refuse_values_of_switches(level: Level) -> None:
    for word in level.words[: level.end]:
        option, equals, _ = word.partition("=")
        if equals and option.startswith("--"):
            flag = level.command.flag(option) or level.command.abbreviated_flag(option)
            if flag is not None and flag.arity == 0:
                raise Refused(f"{flag.shown} takes no value")


def _value(operation: Operation, parameter: Parameter, texts: list[str] | None) -> Any:
    if texts is None:
        if is_required(operation, parameter):
            raise Refused(f"{parameter.name} is missing")
        return _default(parameter)
    values = [_converted(parameter, text) for text in texts]
    return values if parameter.multiple else values[-1]


def is_required(operation: Operation, parameter: Parameter) -> bool:
    """Return whether the command line cannot do without it: nothing may be given instead."""
    return parameter.required and all(one.replaces != parameter.name for one in operation.client_parameters)


def _default(parameter: Parameter) -> Any:
    if parameter.type == "bool":
        return False
    if parameter.path and parameter.default:
        return _absolute(parameter.default)
    return [] if parameter.positional and parameter.multiple and parameter.default is None else parameter.default


def _converted(parameter: Parameter, text: str) -> Any:
    if parameter.enum and text not in parameter.enum:
        raise Refused(f"{text!r} is not a value of {parameter.name}")
    if parameter.type == "bool":
        return True
    if parameter.path and text:
        return _absolute(text)
    try:
        if parameter.type == "object":
            return _document(parameter, text)
        return {"int": int, "float": float}.get(parameter.type, str)(text)
    except ValueError as error:
        raise Refused(f"{text!r} is not a value of {parameter.name}") from error


def _document(parameter: Parameter, text: str) -> dict[str, Any]:
    """Return a JSON object. Raises ValueError for any other text, and AgentError if it is nested too deeply."""
    from covey.kernel import given_json

    value = given_json.parse(text, parameter.name)
    if not isinstance(value, dict):
        raise ValueError(text)  # noqa: TRY004 - as a text that is not JSON
    return value


def _absolute(path: str) -> str:
    """Return a path as seen from the caller's folder."""
    import os

    return os.path.abspath(os.path.expanduser(path))


def _written(parameter: Parameter) -> str:
    """Return the type of what a caller writes: any JSON value is text, because a verb decides whether it is parsed."""
    return "string" if parameter.type == "json" else parameter.type


def _flag(parameter: Parameter) -> Flag:
    several = parameter.multiple and parameter.default is None
    switch = parameter.type == "bool"
    # A folder is shown as it is declared: what is described must not depend on where the caller is.
    default = parameter.default if parameter.path else _default(parameter)
    return Flag(
        name=parameter.flag,
        type=_written(parameter),
        description=parameter.help,
        required=parameter.required,
        multiple=parameter.multiple,
        enum=list(parameter.enum),
        enum_is_native=True,
        content=parameter.content,
        sensitive=parameter.sensitive,
        options=[*([parameter.short] if parameter.short else []), f"--{parameter.flag}"],
        arity=0 if switch else 1,
        default=[] if several else default,
    )


def _argument(operation: Operation, parameter: Parameter) -> Argument:
    return Argument(
        name=parameter.name,
        type=_written(parameter),
        description=parameter.help,
        required=is_required(operation, parameter),
        multiple=parameter.multiple and not parameter.required,
        enum=list(parameter.enum),
        enum_is_native=True,
        content=parameter.content,
    )


def _metadata(operation: Operation) -> Metadata:
    kind = "text" if operation.page else "json"
    return Metadata(
        agent_description=operation.description,
        when_to_use=operation.when_to_use,
        idempotent=operation.idempotent,
        mutating=operation.mutating,
        destructive=operation.destructive,
        dry_runnable=operation.dry_run,
        guard=operation.guard,
        unguarded_with=[one.flag for one in operation.parameters if one.name == CHECK_ONLY],
        arguments=[
            ArgumentMetadata(name=parameter.name, content=parameter.content)
            for parameter in operation.command_parameters
            if parameter.positional
        ],
        returns=ReturnSchema(type="ndjson" if operation.streaming else kind, output_schema=operation.result),
        examples=[
            Example(command=line, description=text, expected_exit_code=code) for line, text, code in operation.examples
        ],
    )
