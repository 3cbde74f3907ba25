"""Reading the command line once, with the command tree in hand.

murli takes out its own flags here, finds the command that is meant and remembers what was given to it. It never
decides that the rest is wrong: that is for the framework, which gets its words back untouched (`Invocation.argv`).
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
REDUCING_FLAGS = ("--limit", "--fields")
"""They leave a part of a result out, and do not apply to a stream."""


class Level:
    """One command on the path: what was given to it, word by word and by name."""

    def __init__(self, command: Command, word: str) -> None:
        self.command = command
        self.word = word
        """How the caller spelt the command."""
        self.end: int | None = None
        """Where among the words the `--` stands that ends the flags."""
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
            yield from zip(_takers(self.command.arguments, len(positionals)), positionals, strict=False)

    def is_on(self, name: str) -> bool:
        """Return whether a flag was given, and is not a switch that was turned off."""
        if name not in self.given:
            return False
        flag = next((flag for flag in self.command.flags if flag.name == name), None)
        return flag is None or flag.arity != 0 or self.given[name][-1:] != ["false"]

    def argv(self) -> list[str]:
        """The words with the added flags in a place where they can neither swallow nor be swallowed."""
        if self.command.passthrough or self.command.is_group:
            return [*self.added, *self.words, *self.added_positionals]
        end = len(self.words) if self.end is None else self.end
        tail = self.words[end:] or (["--"] if self.added_positionals else [])
        return [*self.words[:end], *self.added, *tail, *self.added_positionals]


class Invocation:
    """A command line, read."""

    def __init__(self, root: Command, name: str) -> None:
        self.levels = [Level(root, name)]
        self.own: dict[str, str] = {}
        """murli's flags that were given, with their values."""
        self.help = False
        self.unknown_command: str | None = None
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
        return any(flag in self.own or self._says(flag[2:]) for flag in GUARD_FLAGS)

    @property
    def dry_run(self) -> bool:
        return "--dry-run" in self.own or (self.leaf.command.metadata.dry_runnable and self._says("dry-run"))

    @property
    def harmless(self) -> bool:
        """Return whether a switch is on with which the command changes nothing."""
        return self.dry_run or any(self._says(name) for name in self.leaf.command.metadata.unguarded_with)

    def _says(self, name: str) -> bool:
        """Whether a flag of the tool is on: one of the command itself, or a persistent one of a group above."""
        return self.leaf.is_on(name) or any(
            level.is_on(name) and any(flag.name == name and flag.persistent for flag in level.command.flags)
            for level in self.levels[:-1]
        )

    def argv(self) -> list[str]:
        """What the framework is called with."""
        words = self.levels[0].argv()
        for level in self.levels[1:]:
            words += [level.word, *level.argv()]
        return words


def _takers(arguments: Sequence[Parameter], count: int) -> list[Parameter]:
    """Which argument each of `count` words is for: one that repeats takes what the others leave."""
    many = next((index for index, argument in enumerate(arguments) if argument.multiple), None)
    if many is None:
        return list(arguments)
    after = arguments[many + 1 :]
    repeats = max(count - len(arguments) + 1, 0)
    return [*arguments[:many], *[arguments[many]] * repeats, *after]


def offers(command: Command, option: str) -> bool:
    """Return whether murli's own flag works on this command.

    A tool's flag of the same name wins, and the flags of the guard need a command that is guarded.
    """
    if option not in OWN_FLAGS or command.flag(option):
        return False
    if option in GUARD_FLAGS:
        return command.metadata.mutating
    if option == "--dry-run":
        return command.metadata.dry_runnable
    return True


def read(
    root: Command, name: str, argv: Sequence[str], mounted: Callable[[Command, str], Command | None]
) -> Invocation:
    """Read a command line.

    `mounted` finds murli's own commands (describe, profile) where the tool has none of that name.
    """
    invocation = Invocation(root, name)
    words, word = list(argv), ""
    while words:
        before, level, word = word, invocation.leaf, words.pop(0)
        if word == "--":
            level.end = len(level.words)
            level.words += [word, *words]
            level.positionals += words
            break
        if is_flag(word) or (word and level.command.flag(word)):
            _flag(invocation, level, word, words)
            continue
        child = _child(invocation, level, word, mounted)
        if child is not None:
            invocation.levels.append(Level(child, word))
            continue
        if before.partition("=")[0] in invocation.own and level.words:
            _check_neighbour(invocation, level, before, word)
        level.words.append(word)
        level.positionals.append(word)
        if invocation.unknown_command is not None:
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
    if not any(letter.isdigit() for letter in word):
        return True  # `-inf` is a number to Python only
    try:
        float(word)
    except ValueError:
        return True
    return False


def _child(
    invocation: Invocation, level: Level, word: str, mounted: Callable[[Command, str], Command | None]
) -> Command | None:
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
    inherited = None if flag else _inherited(invocation, option)
    if flag is None and inherited is None and offers(command, option):
        _own(invocation, option, value if equals else None, words)
        return
    flag = flag or (None if inherited else command.abbreviated_flag(option))
    if inherited:
        level, flag = inherited
    elif flag is None and not option.startswith("--") and command.flag(option[:2]) is None:
        level = (_inherited(invocation, option[:2]) or (level, None))[0]  # -rsouth
    level.words.append(word)
    if flag is None:
        if word.startswith("--") or not _cluster(level, word, words):
            level.unknown.append(option)
        return
    values = level.given.setdefault(flag.name, [])
    if equals:
        values.append(value)
    elif flag.arity == 0:
        values.append(
            "false" if flag.negative and option not in flag.options and flag.negative.startswith(option) else "true"
        )
    else:
        _values(level, flag, values, words)


def _inherited(invocation: Invocation, option: str) -> tuple[Level, Flag] | None:
    """A persistent flag of a group above may stand after the command as well; it goes back to the group that has it."""
    for level in reversed(invocation.levels[:-1]):
        flag = level.command.flag(option)
        if flag is not None and flag.persistent and not isinstance(flag.arity, str):
            return level, flag
    return None


def _cluster(level: Level, word: str, words: list[str]) -> bool:
    """Note every flag in `-abc`, `-t5` or `-vt 5`; return False if one of the letters is not a flag."""
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
        if is_flag(words[0]) and (not level.command.takes_dashed_values or isinstance(flag.arity, str)):
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


def _check_neighbour(invocation: Invocation, level: Level, own: str, word: str) -> None:
    """With murli's flag taken out, the word after it would become a value of the flag before it; say so instead."""
    flag = level.command.flag(level.words[-1])
    if flag is not None and isinstance(flag.arity, str) and invocation.problem is None:
        from murli._core import wording  # only mistakes pay for it

        invocation.problem = wording.ambiguous(flag.shown, own, word, invocation.path)


def _rest(invocation: Invocation, words: list[str]) -> None:
    """Read only how the caller wants the answer: after an unknown command nothing else is known about the words."""
    for option in ("--agent", "--debug"):
        if option in words:
            invocation.own[option] = ""
    for index, word in enumerate(words):
        if word == "--output" and index + 1 < len(words):
            invocation.own["--output"] = words[index + 1]
        elif word.startswith("--output="):
            invocation.own["--output"] = word.partition("=")[2]
