"""What `describe` says about a tool, read leniently: a wrong shape is reported by a check, it never stops the kit."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

BUILTIN_FLAGS = frozenset(
    [
        "agent",
        "output",
        "schema",
        "input",
        "fields",
        "limit",
        "protocol-version",
        "debug",
        "profile",
        "yes",
        "force",
        "dry-run",
        "help",
        "version",
        "agents-md",
    ]
)
VALUED_BUILTINS = frozenset(["output", "input", "fields", "limit", "protocol-version", "profile"])
BARE_DOCUMENT = ("describe",)
_SHELL_WORDS = frozenset({"|", "||", "&", "&&", ";", ">", ">>", "<", "<<", "2>", "2>&1"})

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag, and after how many words of a command's path it is accepted (0: before the first command word)."""

    name: str
    type: str = "string"
    depth: int = 0
    default: object = None
    enum: tuple[str, ...] = ()
    pattern: str = ""
    env: str = ""
    short: str = ""
    sensitive: bool = False
    profileable: bool = False
    required: bool = False
    multiple: bool = False
    negatable: bool = False
    exclusive: frozenset[str] = frozenset()

    @property
    def option(self) -> str:
        return f"-{self.name}" if len(self.name) == 1 else f"--{self.name}"

    @property
    def takes_value(self) -> bool:
        return self.type not in ("bool", "count")

    @property
    def numeric(self) -> bool:
        return self.type in ("int", "float")

    @property
    def spellings(self) -> frozenset[str]:
        found = {self.option}
        if self.short:
            found.add(f"-{self.short.lstrip('-')}")
        if self.negatable:
            found.add(f"--no-{self.name}")
        return frozenset(found)


@dataclass(frozen=True, slots=True)
class Argument:
    name: str
    type: str = "string"
    required: bool = True
    multiple: bool = False
    enum: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Example:
    """One example of the metadata.

    `words` is what follows the tool's name; `problem` says why it cannot be run as words.
    """

    command: str
    words: tuple[str, ...] = ()
    expected: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Command:
    path: tuple[str, ...]
    document: Json = field(repr=False)
    arguments: tuple[Argument, ...] = ()
    flags: tuple[Flag, ...] = ()
    inherited: tuple[Flag, ...] = ()
    examples: tuple[Example, ...] = ()
    group: bool = False
    mutating: bool = False
    guarded: bool = False
    dry_run: bool = False

    @property
    def title(self) -> str:
        return " ".join(self.path) or "(root)"

    @property
    def read_only(self) -> bool:
        return not self.mutating

    @property
    def bare(self) -> bool:
        """Prints a bare document or a page of text instead of an envelope."""
        return self.path == BARE_DOCUMENT or self.page

    @property
    def page(self) -> bool:
        """Answers with a page of text, as its `returns` says."""
        return mapping(self.document.get("returns")).get("type") == "text"

    @property
    def every_flag(self) -> tuple[Flag, ...]:
        return (*self.inherited, *self.flags)

    @property
    def needs_nothing(self) -> bool:
        """Whether the bare path is a complete command line."""
        return not any(argument.required for argument in self.arguments) and not any(
            flag.required for flag in self.every_flag
        )


@dataclass(frozen=True, slots=True)
class Description:
    """The whole tool. `commands` is in the order of `describe`, parents before their children."""

    document: Json = field(repr=False)
    name: str
    root: Command
    commands: tuple[Command, ...]

    @property
    def leaves(self) -> tuple[Command, ...]:
        return tuple(command for command in self.commands if not command.group)

    @property
    def groups(self) -> tuple[Command, ...]:
        return tuple(command for command in self.commands if command.group)

    def capable(self, name: str) -> bool:
        return mapping(self.document.get("capabilities")).get(name) is True

    def find(self, *path: str) -> Command | None:
        return next((command for command in self.commands if command.path == path), None)

    @property
    def profileable(self) -> tuple[tuple[Command, Flag], ...]:
        """Every flag that a profile may hold, with the command that owns it (the root for the tool's own flags)."""
        listed = set(texts(mapping(self.document.get("profiles")).get("profileable_flags")))
        owners = (self.root, *self.commands)
        return tuple(
            (owner, flag) for owner in owners for flag in owner.flags if flag.profileable or flag.name in listed
        )


def read(document: Json, root_schema: Json) -> Description:
    """Build the model from the `describe` document and the root's `--schema` document (empty when there is none)."""
    named: dict[str, Flag] = {}
    for source in (document.get("global_flags"), root_schema.get("flags")):
        for flag in _flags(source, depth=0):
            if flag.name not in BUILTIN_FLAGS:
                named.setdefault(flag.name, flag)
    root = Command(
        path=(), document=root_schema, arguments=_arguments(root_schema), flags=tuple(named.values()), group=True
    )
    # A command without a name cannot be run; `describe.commands` reports it.
    raw = [(path, entry) for path, entry in walk(document) if all(path)]
    tree = dict(raw)
    dialect = _marks_guarded(document, raw)
    commands = tuple(_command(path, entry, root.flags, tree, marks_guarded=dialect) for path, entry in raw)
    alone = mapping(document.get("root"))
    if alone:  # the tool does something without a command: that is a command too, with an empty path
        commands = (_command((), alone, (), tree, marks_guarded=dialect), *commands)
    return Description(document, text(document.get("name")), root, commands)


def walk(document: Json) -> Iterator[tuple[tuple[str, ...], Json]]:
    """Every command document at every depth with its path, parents first."""

    def descend(parent: tuple[str, ...], entries: object) -> Iterator[tuple[tuple[str, ...], Json]]:
        for entry in objects(entries):
            path = (*parent, text(entry.get("name")))
            yield path, entry
            yield from descend(path, entry.get("subcommands"))

    yield from descend((), document.get("commands"))


def mapping(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def objects(value: object) -> list[Json]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def texts(value: object) -> tuple[str, ...]:
    return tuple(str(entry) for entry in value) if isinstance(value, list) else ()


def split_example(entry: Json) -> Example:
    """Read one example. Pipelines and redirections are shell, not a command line of the tool."""
    line = text(entry.get("command"))
    code = entry.get("expected_exit_code", 0)
    expected = code if isinstance(code, int) else 0
    try:
        words = shlex.split(line)
    except ValueError as error:
        return Example(line, expected=expected, problem=f"it is not a command line: {error}")
    if not words:
        return Example(line, expected=expected, problem="it is empty")
    if "=" in words[0] or _SHELL_WORDS.intersection(words) or any(word.startswith("$(") for word in words):
        return Example(line, expected=expected, problem="it needs a shell, and the kit runs examples without one")
    return Example(line, tuple(words[1:]), expected)


def _marks_guarded(document: Json, commands: Sequence[tuple[tuple[str, ...], Json]]) -> bool:
    """Return whether this tool would say `guarded` where it applies.

    The Go original never does, and guards every command that mutates.
    """
    capabilities = mapping(document.get("capabilities"))
    return (
        any("guarded" in mapping(entry.get("safety")) for _, entry in commands)
        or "global_flags" in document
        or "structured_input" in capabilities
    )


def _command(
    path: tuple[str, ...],
    entry: Json,
    root: tuple[Flag, ...],
    tree: Mapping[tuple[str, ...], Json],
    *,
    marks_guarded: bool,
) -> Command:
    safety = mapping(entry.get("safety"))
    mutating = entry.get("mutating") is True or safety.get("read_only") is False
    own = tuple(_flags(entry.get("flags"), depth=len(path)))
    parents = [
        flag
        for cut in range(1, len(path))
        for flag in _flags(tree[path[:cut]].get("flags"), depth=cut)
        if flag.name not in BUILTIN_FLAGS
    ]
    names = {flag.name for flag in own}
    return Command(
        path=path,
        document=entry,
        arguments=_arguments(entry),
        flags=own,
        inherited=tuple(flag for flag in (*root, *parents) if flag.name not in names),
        examples=tuple(split_example(example) for example in objects(entry.get("examples"))),
        group=bool(path and objects(entry.get("subcommands"))),
        mutating=mutating,
        guarded=safety.get("guarded") is True if marks_guarded else mutating,
        dry_run=safety.get("dry_run_supported") is True,
    )


def _flags(value: object, *, depth: int) -> Iterator[Flag]:
    for entry in objects(value):
        yield Flag(
            name=text(entry.get("name")).lstrip("-"),
            type=text(entry.get("type")),
            depth=depth,
            default=entry.get("default"),
            enum=texts(entry.get("enum")),
            pattern=text(entry.get("pattern")),
            env=text(entry.get("env")),
            short=text(entry.get("short")),
            sensitive=entry.get("sensitive") is True,
            profileable=entry.get("profileable") is True,
            required=entry.get("required") is True,
            multiple=entry.get("multiple") is True,
            negatable=entry.get("negatable") is True,
            exclusive=frozenset(texts(entry.get("mutually_exclusive_with"))),
        )


def _arguments(entry: Json) -> tuple[Argument, ...]:
    return tuple(
        Argument(
            name=text(argument.get("name")),
            type=text(argument.get("type")),
            required=argument.get("required") is True,
            multiple=argument.get("multiple") is True,
            enum=texts(argument.get("enum")),
        )
        for argument in objects(entry.get("arguments"))
    )
