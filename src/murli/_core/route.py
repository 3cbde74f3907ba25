"""Reading the command line once, with the command tree in hand.

murli takes out its own flags here, finds the command that is meant and remembers what was given to it. It never decides that the rest is wrong: that is
for the framework, which gets its words back untouched (`Invocation.argv`).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from murli._core.command import Command, Flag, Parameter
    from murli._core.errors import AgentError

OWN_FLAGS = {
    "--agent": ("", "Answer as JSON, as for a program, even on a terminal."),
    "--output": ("FORMAT", "Form of the answer: json, ndjson or text."),
    "--schema": ("", "Print the schema of this command as JSON and do nothing else."),
    "--input": ("-|@FILE", "Read the parameters from a JSON object on standard input or in a file."),
    "--fields": ("A,B.C", "Only these fields of the result."),
    "--limit": ("N", "At most this many items of a list result."),
    "--profile": ("NAME", "Use the flag values saved under this name."),
    "--protocol-version": ("V", "Version of the protocol to speak."),
    "--debug": ("", "Show where an unexpected error happened."),
    "--yes": ("", "Confirm the change without being asked."),
    "--force": ("", "The same as --yes."),
    "--dry-run": ("", "Show what would happen and change nothing."),
}
"""murli's own flags: the value they take, if any, and what they do."""

GUARD_FLAGS = ("--yes", "--force")


class Level:
    """One command on the path: what was given to it, word by word and by name."""

    def __init__(self, command: Command, word: str) -> None:
        self.command = command
        self.word = word
        """How the caller spelt the command."""
        self.words: list[str] = []
        """What the framework gets: everything but murli's own flags."""
        self.added: list[str] = []
        """Flags that murli adds from structured input, the environment or a profile."""
        self.added_positionals: list[str] = []
        self.given: dict[str, list[str]] = {}
        """Raw values by flag name."""
        self.positionals: list[str] = []
        self.unknown: list[str] = []
        self.dangling: list[Flag] = []
        """Flags at the end of the line that lack their value."""

    def values(self) -> Iterable[tuple[Parameter, str]]:
        """Every raw value that was given here, with the flag or argument it is for."""
        if self.given:
            for flag in self.command.flags:
                for value in self.given.get(flag.name, ()):
                    yield flag, value
        positionals = [*self.positionals, *self.added_positionals]
        if positionals:
            arguments = self.command.arguments
            for index, value in enumerate(positionals):
                if arguments and (index < len(arguments) or arguments[-1].multiple):
                    yield arguments[min(index, len(arguments) - 1)], value

    def argv(self) -> list[str]:
        """The words with the added flags in a place where they can neither swallow nor be swallowed."""
        if self.command.passthrough or self.command.is_group:
            return [*self.added, *self.words]
        end = self.words.index("--") if "--" in self.words else len(self.words)
        tail = self.words[end:] or (["--"] if self.added_positionals else [])
        return [*self.words[:end], *self.added, *tail, *self.added_positionals]


class Invocation:
    """A command line, read."""

    def __init__(self, root: Command, name: str) -> None:
        self.levels = [Level(root, name)]
        self.own: dict[str, str] = {}
        """murli's flags that were given, with their values."""
        self.help = False
        self.unknown_command = ""
        self.problem: AgentError | None = None
        """The first thing wrong with murli's own flags."""

    @property
    def leaf(self) -> Level:
        return self.levels[-1]

    @property
    def path(self) -> str:
        """The command as a person would write it, e.g. `roost nest list`."""
        return " ".join(level.word for level in self.levels)

    @property
    def agent(self) -> bool:
        return "--agent" in self.own

    @property
    def forced(self) -> bool:
        """Confirmed by murli's `--yes` or `--force`, or by a flag of that name that the tool has itself."""
        return any(flag in self.own or flag[2:] in self.leaf.given for flag in GUARD_FLAGS)

    @property
    def dry_run(self) -> bool:
        return "--dry-run" in self.own or (self.leaf.command.metadata.dry_runnable and "dry-run" in self.leaf.given)

    def argv(self) -> list[str]:
        """What the framework is called with."""
        words = self.levels[0].argv()
        for level in self.levels[1:]:
            words += [level.word, *level.argv()]
        return words


def offers(command: Command, option: str) -> bool:
    """Whether murli's own flag works on this command: a tool's flag of the same name wins, and the guard's flags need something to guard."""
    if option not in OWN_FLAGS or command.flag(option):
        return False
    if option in GUARD_FLAGS:
        return command.metadata.mutating
    if option == "--dry-run":
        return command.metadata.dry_runnable
    return True


def read(root: Command, name: str, argv: Sequence[str], mounted: Callable[[Command, str], Command | None]) -> Invocation:
    """Read a command line. `mounted` finds murli's own commands (describe, profile) where the tool has none of that name."""
    invocation = Invocation(root, name)
    words = list(argv)
    while words:
        level, word = invocation.leaf, words.pop(0)
        if word == "--":
            level.words += [word, *words]
            level.positionals += words
            break
        if is_flag(word):
            _flag(invocation, level, word, words)
            continue
        child = _child(invocation, level, word, mounted)
        if child is not None:
            invocation.levels.append(Level(child, word))
            continue
        level.words.append(word)
        level.positionals.append(word)
        if invocation.unknown_command:
            _rest(invocation, words)
            break
        if level.command.passthrough:
            level.words += words
            level.positionals += words
            break
    return invocation


def is_flag(word: str) -> bool:
    """Whether a word looks like a flag: a dash and more, but not a negative number."""
    if len(word) < 2 or word[0] != "-":  # noqa: PLR2004 - a lone dash means standard input
        return False
    try:
        float(word)
    except ValueError:
        return True
    return False


def _child(invocation: Invocation, level: Level, word: str, mounted: Callable[[Command, str], Command | None]) -> Command | None:
    """The subcommand that a word names, if a subcommand can stand here."""
    command = level.command
    if not command.is_group:
        return mounted(command, word) if level is invocation.levels[0] and not level.positionals else None
    if len(level.positionals) < len(command.arguments):
        return None
    child = command.find(word) or (mounted(command, word) if level is invocation.levels[0] else None)
    if child is None:
        invocation.unknown_command = word
    return child


def _flag(invocation: Invocation, level: Level, word: str, words: list[str]) -> None:
    option, equals, value = word.partition("=")
    command = level.command
    if option in command.help_options:
        invocation.help = True
        level.words.append(word)
        return
    flag = command.flag(option)
    if flag is None and offers(command, option):
        _own(invocation, option, value if equals else None, words)
        return
    flag = flag or command.abbreviated_flag(option)
    if flag is None:
        level, flag = _inherited(invocation, option) or (level, None)
    level.words.append(word)
    if flag is None:
        if word.startswith("--") or not _cluster(level, word, words):
            level.unknown.append(option)
        return
    values = level.given.setdefault(flag.name, [])
    if equals:
        values.append(value)
    elif flag.arity == 0:
        values.append("false" if option == flag.negative else "true")
    else:
        _values(level, flag, values, words)


def _inherited(invocation: Invocation, option: str) -> tuple[Level, Flag] | None:
    """A persistent flag of a group above may stand after the command as well; it goes back to the group that has it."""
    for level in reversed(invocation.levels[:-1]):
        flag = level.command.flag(option)
        if flag is not None and flag.persistent:
            return level, flag
    return None


def _cluster(level: Level, word: str, words: list[str]) -> bool:
    """Note every flag in `-abc`, `-t5` or `-vt 5`; false if one of the letters is no flag."""
    for index, letter in enumerate(word[1:], start=2):
        flag = level.command.flag(f"-{letter}")
        if flag is None:
            return False
        values = level.given.setdefault(flag.name, [])
        if flag.arity == 0:
            values.append("true")
            continue
        if word[index:]:
            values.append(word[index:])
        else:
            _values(level, flag, values, words)
        break
    return True


def _values(level: Level, flag: Flag, values: list[str], words: list[str]) -> None:
    """Take the words that are the flag's values."""
    wanted = {"?": 1, "*": len(words)}.get(str(flag.arity), flag.arity)
    taken = 0
    while words and taken < int(wanted):
        if words[0] == "--" or (is_flag(words[0]) and (not level.command.takes_dashed_values or isinstance(flag.arity, str))):
            break
        values.append(words[0])
        level.words.append(words.pop(0))
        taken += 1
    if isinstance(flag.arity, int) and taken < flag.arity:
        level.dangling.append(flag)


def _own(invocation: Invocation, option: str, value: str | None, words: list[str]) -> None:
    """Take out one of murli's flags."""
    takes_value = bool(OWN_FLAGS[option][0])
    if takes_value and value is None:
        value = words.pop(0) if words and words[0] != "--" and not is_flag(words[0]) else None
    if takes_value == (value is None) and invocation.problem is None:
        from murli._core import wording  # only mistakes pay for it

        explain = wording.flag_needs_value if takes_value else wording.flag_takes_no_value
        invocation.problem = explain(option, invocation.path)
    invocation.own[option] = value or ""


def _rest(invocation: Invocation, words: list[str]) -> None:
    """After an unknown command nothing can be told about the words but how the caller wants the answer."""
    for option in ("--agent", "--debug"):
        if option in words:
            invocation.own[option] = ""
    for index, word in enumerate(words):
        if word == "--output" and index + 1 < len(words):
            invocation.own["--output"] = words[index + 1]
        elif word.startswith("--output="):
            invocation.own["--output"] = word.partition("=")[2]
