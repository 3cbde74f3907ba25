"""Says why a command may not be run by an agent that nobody watches.

What is not understood is not harmless. A program may run its words and what it reads, unless the policy's reader knows
that it takes them as data: then each name of a program that matters has to be accounted for, as a command whose words
are judged. What is not is refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from covey.policy.destructive import mentions, programs
from covey.policy.destructive.commands import (
    commands_in,
    is_known,
    is_made_for_running,
    runs_others,
    start_of_inner,
    takes_data,
)
from covey.policy.destructive.finding import read_find
from covey.policy.destructive.interpreters import objection_to_interpreter, objection_to_text_tool
from covey.policy.destructive.starting import read_start
from covey.policy.destructive.targets import Folders, Place, device_in, objection_to_deleting
from covey.policy.shell import programs as shell_programs
from covey.policy.shell.reading import read as read_shell
from covey.policy.shell.syntax import HIDDEN
from covey.policy.wildcard import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable

    from covey.policy.destructive.commands import Command, Commands

DEEPEST = 6
"""Commands in the words of commands."""
MOST_TEXTS = 200
"""In all, with the ways in which each may be read."""
MOST_WORDS = 200
PLAINLY = "write it as one plain command"
APART = "if it is only a text, put it into a file with another command"
_AFTER_LINK = (
    "what is deleted may lie behind a link that is made by the same command: delete it by a command of its own"
)
_DATA = {(word,) for word in programs.DATA}
_LEADS_AWAY = re.compile(r"(?:^|=|^-\w)(?:/|~|\.\.)")
"""In the words of a program in front of a command that it runs: another folder, perhaps."""
_DEVICES = re.compile(r"\b(?:dev|proc|sys)\b")
_PROGRAMS = re.compile(r"[$`]|(?<!\S)[^\s/]*+/[^\s*?\[{]*+[*?\[{]")
"""What may become the name of a program."""
_GOES = re.compile(r"\b(?:cd|pushd|popd|chdir)\b")
_INPUTS = ("/dev/fd/", "/dev/stdin", "/proc/")
_GIVEN_DEVICES = re.compile(r"=[\"']?(/*dev/*)(?![\w./-])")
"""A variable that is given the folder of devices, or its name."""
_MADE = re.compile(r"\$\{?\w+\}?|\$\([^)]*\)|`[^`]*`")


def objection(text: str, place: Place) -> str:
    """Return why a command is refused, as a sentence for the model that asked for it; empty if it may run.

    Refused is what harms beyond repair (deletes outside of the workspace, writes to devices, stops the machine, takes
    the rights of root), in whichever way it is written, and what cannot be read.
    """
    if HIDDEN in text or UNKNOWN in text:
        return f"it has characters that cannot be seen: {PLAINLY}"
    return _judge_text(text, _Context(place, _Texts()), DEEPEST)


class _Texts:
    """How many texts are still read: of a text in a text in a text there may be very many."""

    def __init__(self) -> None:
        self._left = MOST_TEXTS

    def take(self) -> bool:
        """Return whether one more is read."""
        self._left -= 1
        return self._left >= 0


class _Context(NamedTuple):
    """Where a text stands."""

    place: Place
    texts: _Texts
    rest: tuple[str, ...] = ()
    """Words of the command around it, which may become words of its last command."""
    trusted: bool = True
    """Whether a shell reads it, so that programs which take data are those."""
    links: bool = False
    """Whether a link may be made by the same command, so that a path is not where it was when it was judged."""


class _Judgement(NamedTuple):
    """What is known of the text around a command."""

    context: _Context
    folders: Folders
    depth: int
    from_input: bool = False
    """Whether further words come from what the command reads (xargs)."""
    starts: tuple[str, ...] | None = None
    """For a command of `find`: the folders below which the files lie that `{}` stands for, as they are in `search`."""
    found_in: Folders | None = None

    @property
    def place(self) -> Place:
        return self.context.place

    @property
    def search(self) -> Folders:
        return self.found_in or self.folders


def _judge_text(text: str, context: _Context, depth: int) -> str:
    if not depth or not context.texts.take():
        return f"it has commands within commands: {PLAINLY}"
    read = commands_in(text)
    if read.objection:
        return f"it cannot be read ({read.objection}): {PLAINLY}"
    context = context._replace(links=context.links or mentions.makes_links(text))
    about = _Judgement(context, Folders(context.place), depth)
    commands = [one._replace(words=words) for one in read.found if (words := _without_reserved(one.words))]
    if commands and context.rest:
        commands[-1] = commands[-1]._replace(words=(*commands[-1].words, *context.rest))
    repeated = "()" in text or any(word in programs.LOOPS for one in read.found for word in one.words[:3])
    for one in commands:
        if wrong := _judge(one.words, about) or _folder_after(one.words, about, repeated=repeated):
            return wrong
    return (
        _of_input(read, commands, about)
        or (_of_written_programs(text) if depth == DEEPEST else "")
        or (_of_comments(text, read) if context.trusted else "")
        or _of_devices(text, read, commands, about)
    )


def _folder_after(words: tuple[str, ...], about: _Judgement, *, repeated: bool) -> str:
    """Take a command that changes the folder into account; return what is wrong with it."""
    if words[0] in {"cd", "pushd", "chdir"}:
        return about.folders.change(words, repeated=repeated)
    if len(words) == 1 and words[0].startswith(("/", "~", "..")):  # fish goes to a folder that is named alone
        about.folders.certain = False
    others = () if programs.family(words[0]) in programs.SHELLS or not runs_others(words) else words
    if any(_GOES.search(word) for word in others):
        about.folders.certain = False
    return ""


def _of_input(read: Commands, commands: list[Command], about: _Judgement) -> str:
    """Judge what programs may be given by variables, by pipes, in here-documents and in files that the text writes."""
    names = {programs.family(one.words[0]) for one in commands}
    if wrong := _of_readers(read, commands, names) or _of_values(read, about) or _of_found_files(commands, about):
        return wrong
    runners = [one for one in commands if not takes_data(one.words)]
    writes = bool(read.targets) or any(map(_copied, commands)) or any(map(_writes_by_itself, commands))
    if not runners or not (writes or any(one.fed or any(map(_is_input, one.words)) for one in runners)):
        return ""
    runner = runners[0].words[0]
    writers = [one for one in commands if one not in runners or (len(commands) > 1 and one.words[0] == "eval")]
    data = (_of_data(one, runner, about) for one in writers)
    documents = (_of_document(text, runner, about) for text in (*read.documents, *read.values))
    return next(filter(None, (_of_written(read, commands, runners), *data, *documents)), "")


def _of_written_programs(text: str) -> str:
    """Judge a text that runs a file which it writes, in whatever way: then no name in it is only a text."""
    found = mentions.denied_in(text)
    if not found or not read_shell(text).runs_written:
        return ""
    return f"it names {found}, and may run a file that it writes: write the file by a command of its own"


def _of_readers(read: Commands, commands: list[Command], names: set[str]) -> str:
    """Judge programs that run what they read."""
    if read.documents and names & (programs.SHELL_INPUT | programs.CLIENTS):
        return f"it gives commands to another program: put them into a file, or {PLAINLY}"
    for one in commands:
        name = programs.family(one.words[0])
        if (one.fed and name in programs.SHELL_INPUT) or (name == "crontab" and "-" in one.words):
            return f"{name} runs what it reads: {PLAINLY}"
    return ""


def _of_values(read: Commands, about: _Judgement) -> str:
    """Judge what variables are given: programs are told by them what to run. A name of an interpreter is a choice."""
    texts = (value for value in read.values if not programs.is_carrier(programs.family(value)))
    return next(filter(None, (_among(("the shell", value), about) for value in texts)), "")


def _of_found_files(commands: list[Command], about: _Judgement) -> str:
    """Judge files that `find` writes and `xargs` has deleted, as if find deleted them."""
    deletes = any(
        one.fed and any(programs.family(word) in {"rm", "unlink"} for word in one.words[1:])
        for one in commands
        if programs.family(one.words[0]) not in programs.FINDS
    )
    finds = [one.words for one in commands if programs.family(one.words[0]) in programs.FINDS]
    wrongs = (_of_found([], about._replace(starts=read_find(words).starts)) for words in finds if deletes)
    return next(filter(None, wrongs), "")


def _is_input(word: str) -> bool:
    """Return whether a word, or what a file of that name holds, is known only when it runs."""
    return not is_known(word) or word.startswith(_INPUTS)


def _of_written(read: Commands, commands: list[Command], runners: list[Command]) -> str:
    """Judge whether a program is run that the same text writes, of something that is known only when it runs."""
    copied = [word for one in commands for word in _copied(one)]
    written = {name for word in (*copied, *read.targets) if (name := word.rpartition("/")[2])}
    for runner in runners:
        run = next((word for word in runner.words if word.rpartition("/")[2] in written), "")
        others = [word for one in commands if one != runner for word in one.words[1:]]
        if run and any(map(_is_made, others)):
            return f"it writes {run} and runs it: write it by a command of its own"
    named = next((name for word in copied if programs.is_watched(name := programs.family(word))), "")
    return _named(named, runners[-1].words[0]) if named and len(commands) > 1 else ""


def _copied(command: Command) -> tuple[str, ...]:
    """Return the words of a program that copies files, also where another program runs it."""
    places = [at for at, word in enumerate(command.words) if programs.family(word) in programs.COPIES]
    return command.words[places[0] + 1 :] if places else ()


def _writes_by_itself(command: Command) -> bool:
    """Return whether the program of awk or sed in a command may write a file."""
    name = programs.family(command.words[0])
    sign = ">" if name in programs.AWKS else "w"
    return (name in programs.AWKS or name in {"sed", "gsed"}) and any(sign in word for word in command.words[1:])


def _of_data(command: Command, runner: str, about: _Judgement) -> str:
    """Judge the words of a program that writes what another one may run."""
    if found := next(filter(None, map(mentions.denied_in, command.words[1:])), ""):
        return _named(found, runner)
    return _judge(command.words, about._replace(context=about.context._replace(trusted=False)))


def _of_document(text: str, runner: str, about: _Judgement) -> str:
    """Judge lines that another program may run: as a script, if they are one, and split at blanks."""
    matters = mentions.may_hide(text) or _DEVICES.search(text) or mentions.watched_in(text)
    if matters and _is_command(text) and (wrong := _inner(text, about)):
        return wrong
    if _GOES.search(text):
        about = about._replace(folders=about.folders.unknown())
    for line in text.splitlines():
        if found := mentions.denied_in(line):
            return _named(found, runner)
        words = tuple(_MADE.sub(UNKNOWN, line).replace("'", "").replace('"', "").split())
        if wrong := next(filter(None, (_at(words[at:], about) for at in range(min(len(words), MOST_WORDS)))), ""):
            return wrong
    return ""


def _of_comments(text: str, read: Commands) -> str:
    """Return what is named where nothing was read: in a comment, or where shells do not agree what is one."""
    words = [" ".join(one.words) for one in read.found]
    found = mentions.unread(text, (*words, *read.values, *read.documents, *read.targets))
    return f"it names {found} where it is not certain that it is not run: leave that out" if found else ""


def _of_devices(text: str, read: Commands, commands: list[Command], about: _Judgement) -> str:
    given = _GIVEN_DEVICES.search(text)
    named = given[1] if given and (given[1].startswith("/") or "/$" in text) else ""
    device = device_in(text, about.folders) or named
    names = {programs.family(one.words[0]) for one in commands}
    if device and (read.targets or not names <= programs.DEVICE_READERS):
        return f"it names {device}, which no unattended agent may write to"
    return ""


def _named(name: str, runner: str) -> str:
    runner = runner if is_known(runner) else "a program"
    return f"it names {name} in what {runner} may run: {PLAINLY}, or, {APART}"


def _without_reserved(words: tuple[str, ...]) -> tuple[str, ...]:
    first = next((at for at, word in enumerate(words) if word not in programs.RESERVED), len(words))
    return words[first:] if words[first : first + 1] not in _DATA else ()


def _judge(words: tuple[str, ...], about: _Judgement) -> str:
    if len(words) > MOST_WORDS:
        return f"it has more than {MOST_WORDS} words: {PLAINLY}"
    if words[0] == "{}" or _is_made(words[0]):
        return f"which program it runs is known only when it runs: {PLAINLY}"
    name = programs.family(words[0])
    if harm := programs.is_harmful(name):
        return harm
    if special := _SPECIAL.get(name):
        return special(name, words, about)
    return _among(words, about) if runs_others(words) or not about.context.trusted else ""


def _of_interpreter(name: str, words: tuple[str, ...], about: _Judgement) -> str:
    return objection_to_interpreter(name, words) or (_among(words, about) if runs_others(words) else "")


def _of_command(name: str, words: tuple[str, ...], about: _Judgement) -> str:
    """Judge `command`, which with an option only says what a name means."""
    del name
    return "" if words[1:2] in (("-v",), ("-V",)) else _among(words, about)


def _of_systemctl(name: str, words: tuple[str, ...], _: _Judgement) -> str:
    for word in words[1:]:
        if not is_known(word):
            return f"what {name} is told to do is known only when it runs: write it out"
        if word in programs.SYSTEMCTL_VERBS or word in programs.SYSTEMCTL_TARGETS:
            return f"{name} {word} stops the machine"
    return ""


def _of_kill(name: str, words: tuple[str, ...], _: _Judgement) -> str:
    """Judge `kill`: -1 stands for every process of the user, 1 for the first one of the machine."""
    targets = list(words[1:])
    if targets and targets[0].startswith("-"):
        option = targets.pop(0)
        targets = targets[1:] if option in {"-s", "-n", "--signal"} else targets
    ended = next((word for word in targets if word in {"-1", "1"}), "")
    return f"{name} {ended} ends all processes" if ended else ""


def _of_init(name: str, words: tuple[str, ...], _: _Judgement) -> str:
    """Judge `init`, which many programs have as a subcommand: it stops the machine by a level of one letter."""
    level = next((word for word in words[1:2] if not is_known(word) or re.fullmatch(r"[0-9sSqQuU]", word)), "")
    return f"{name} stops the machine" if level else ""


def _of_dd(name: str, words: tuple[str, ...], _: _Judgement) -> str:
    for word in words[1:]:
        if not is_known(word):
            return f"what {name} writes to is known only when it runs: write it out"
        if word.startswith("of=") and "/dev/" in word.replace("//", "/"):
            return f"{name} writes to {word[3:]}"
    return ""


def _of_rm(name: str, words: tuple[str, ...], about: _Judgement) -> str:
    options, targets = _options_and_targets(words)
    filled = [word for word in targets if "{}" in word]
    unknown = any(word[0] in (UNKNOWN, "-") for word in words[1:] if not is_known(word))
    recursive = name == "rm" and (unknown or any(map(_is_recursive, options)))
    if about.starts is not None and filled:  # find deletes whole folders with it, file by file
        return _of_found(filled, about) or (
            _of_targets([one for one in targets if one not in filled], about) * recursive
        )
    if recursive and (about.from_input or filled or not targets):
        return "what is deleted comes from another program: name it, or use find with -delete inside of the workspace"
    return _of_targets(targets, about) if recursive else ""


def _options_and_targets(words: tuple[str, ...]) -> tuple[list[str], list[str]]:
    options, targets, is_over = [], [], False
    for word in words[1:]:
        if word == "--" and not is_over:
            is_over = True
        elif word.startswith("-") and word != "-" and not is_over:
            options.append(word)
        else:
            targets.append(word)
    return options, targets


def _of_targets(targets: list[str], about: _Judgement) -> str:
    if about.context.links:
        return _AFTER_LINK
    return next(filter(None, (objection_to_deleting(one, about.folders, about.place) for one in targets)), "")


def _of_found(filled: list[str], about: _Judgement) -> str:
    """Judge the deletion of what find has found, below the folders in which it starts."""
    if any(not re.fullmatch(r"(?:\./)?\{\}(?:/[^.].*)?", word) or ".." in word for word in filled):
        return "what is deleted is known only when it runs: write the path out"
    if about.context.links:
        return _AFTER_LINK
    wrongs = (objection_to_deleting(one, about.search, about.place, start=True) for one in about.starts or ())
    return next(filter(None, wrongs), "")


def _is_recursive(option: str) -> bool:
    if option.startswith("--"):
        return option in {"--r", "--recursive"} or "--recursive".startswith(option)
    return "r" in option or "R" in option


def _of_find(name: str, words: tuple[str, ...], about: _Judgement) -> str:
    if name in {"fd", "fdfind"}:
        return _among(words, about._replace(from_input=True))
    found = read_find(words)
    if found.unknown or about.from_input:
        return _among(words, about) or f"what {name} acts on is known only when it runs: write it out"
    for command, in_folder_of_file in found.runs:
        if not command:
            return f"what {name} runs is known only when it runs: {PLAINLY}"
        folders = about.folders.unknown() if in_folder_of_file else about.folders
        if wrong := _judge(command, about._replace(starts=found.starts, found_in=about.folders, folders=folders)):
            return wrong
    if not found.deletes:
        return ""
    return _of_found([], about._replace(starts=found.starts, found_in=about.folders))


def _of_shell(name: str, words: tuple[str, ...], about: _Judgement) -> str:
    if about.starts is not None:
        return f"find runs a shell for each file: {PLAINLY}"
    start = read_start(name, words)
    if start.tells:
        return ""
    if start.reads or about.from_input:
        return f"{name} runs what it reads: put it into a file, or {PLAINLY}"
    for text in start.texts:
        if not is_known(text) or "{}" in text:
            return f"what {name} -c runs is known only when it runs: {PLAINLY}"
        if wrong := _inner(text, about):
            return wrong
    wrongs = (_of_script(name, file) for file in start.scripts)
    return next(filter(None, wrongs), "") or ("" if start.texts else _among((name, *start.arguments), about))


def _of_script(name: str, file: str) -> str:
    if not is_known(file) or file == "-" or file.startswith(("/dev/", "/proc/")):
        return f"{name} runs what it reads: {PLAINLY}"
    return ""


def _of_builtin(name: str, words: tuple[str, ...], about: _Judgement) -> str:
    if name in {"source", "."}:
        return _of_script(name, words[1]) if len(words) > 1 else ""
    if name in {"hash", "enable"}:
        changes = any(word.startswith("-") for word in words[1:2])
        return f"{name} changes what the names of programs mean: {PLAINLY}" if changes else ""
    if name == "eval":
        text = " ".join(words[2:] if words[1:2] == ("--",) else words[1:])
        return _inner(text, about) if is_known(text) else f"what eval runs is known only when it runs: {PLAINLY}"
    if name == "trap":
        operands = [word for at, word in enumerate(words) if at and (word == "-" or not word.startswith("-"))]
        return _inner(operands[0], about) if operands and words[1] not in {"-l", "-p"} else ""
    return _of_alias(words, about)


def _of_alias(words: tuple[str, ...], about: _Judgement) -> str:
    """Judge what an alias stands for: behind `=`, or in fish behind its name."""
    for word in words[1:]:
        value = word.partition("=")[2] or word
        if _is_made(value) or re.search(r"[$`]", value) or mentions.watched_in(value):
            return f"what an alias means is known only when it is used: {PLAINLY}"
        if wrong := _inner(value, about):
            return wrong
    return ""


def _among(words: tuple[str, ...], about: _Judgement) -> str:
    """Judge every command that a program may be told to run by its words, wherever it begins among them."""
    name = programs.family(words[0])
    inner = about._replace(from_input=about.from_input or name in {"xargs", "parallel"})
    if name == "xargs" and _replaces_program(words):
        return f"what xargs runs is known only when it runs: {PLAINLY}"
    first = start_of_inner(words)
    if first is None:
        return _of_words(words, len(words), inner) or _of_unknown(words, inner)
    if any(map(_LEADS_AWAY.search, words[1:first])):
        inner = inner._replace(folders=inner.folders.unknown())
    return _of_words(words[:first], 1, inner) or _judge(words[first:], inner)


def _of_words(words: tuple[str, ...], starts: int, about: _Judgement) -> str:
    """Judge what a program may run that begins at one of its words; up to `starts` it may be any program."""
    name = programs.family(words[0])
    runs = starts > 1 and _runs_words(words)
    for at in range(1, len(words)):
        word = words[at]
        if runs and (word[:1] == UNKNOWN or (_starts(word) and _is_made_program(word))):
            return f"what {name} runs is known only when it runs: {PLAINLY}"
        if _LEADS_AWAY.search(word):
            about = about._replace(folders=about.folders.unknown())
        only_name = _is_only_name(name, words[at - 1], word)
        if not only_name and (wrong := _at(words[at:], about, runner=words[0], is_start=runs)):
            return wrong
        runs = runs and not (is_known(word) and _starts(word) and _is_program(word))
    return ""


def _of_unknown(words: tuple[str, ...], about: _Judgement) -> str:
    """Judge what a program may be told to run by words, or by an input, that are known only when it runs."""
    name = programs.family(words[0])
    is_made = len(words[1:]) > 1 and _is_made_program(words[1])
    if is_made and not about.context.trusted and not shell_programs.is_known(name):
        return f"what {words[0]} runs is known only when it runs: {PLAINLY}"
    has_program = any(is_known(word) and _starts(word) for word in words[1:])
    if _runs_words(words) and about.from_input and name != "xargs" and not has_program:
        return f"{name} runs what it reads: {PLAINLY}"
    return ""


def _runs_words(words: tuple[str, ...]) -> bool:
    return programs.family(words[0]) in programs.RUNNERS or is_made_for_running(words)


def _is_only_name(name: str, before: str, word: str) -> bool:
    """Return whether a word of a program is the name of a target, a page or a package. `before` stands before it."""
    own = programs.family(word)
    if name not in programs.NAMES_ONLY or not programs.is_watched(own):
        return False
    return not before.startswith("-") or programs.is_carrier(own)


def _at(words: tuple[str, ...], about: _Judgement, *, runner: str = "", is_start: bool = False) -> str:
    """Judge the command that may begin at a word, and the commands that are written in that word."""
    word, rest = words[0], words[1:]
    if not is_known(word):
        found = mentions.watched_in(word.replace(UNKNOWN, HIDDEN))
        return _named(min(found), runner) if found else ""
    if mentions.is_text(word):
        return _of_text(word, rest, about, runner)
    name = programs.family(word)
    if programs.is_watched(name) or (is_start and (name in programs.RUNNERS or name in _SPECIAL)):
        return _judge(words, about)
    for piece, at_end in mentions.pieces(word):
        name = programs.family(piece)
        if at_end and piece != word and programs.is_watched(name):
            if wrong := _judge((piece, *rest), about):
                return wrong
        elif not at_end and programs.is_denied(name):
            return _named(name, runner)
    return ""


def _of_text(word: str, rest: tuple[str, ...], about: _Judgement, runner: str) -> str:
    """Judge a word that a program may read as a shell does, and run."""
    found = bool(mentions.watched_in(word)) or _DEVICES.search(word) is not None
    if not found and not mentions.may_hide(word):
        return ""
    context = about.context._replace(rest=rest, trusted=programs.family(runner) in programs.RUNNERS)
    for text in mentions.readings(word):
        if not found and not _is_command(text) and not (context.trusted and text == word and _PROGRAMS.search(text)):
            continue
        if wrong := _inner(text, about._replace(context=context)):
            return wrong
    return ""


def _is_command(text: str) -> bool:
    """Return whether a text that names nothing that matters can be read as commands, and not only as some data."""
    read = commands_in(text.replace(UNKNOWN, HIDDEN))
    firsts = [words[0] for one in read.found if (words := _without_reserved(one.words))]
    is_data = any(set(first) & set("{}[]") or (_is_made(first) and not _is_made_program(first)) for first in firsts)
    return not read.objection and not is_data


def _replaces_program(words: tuple[str, ...]) -> bool:
    """Return whether xargs puts what it reads where its program is named."""
    sign, at = "", 1
    while at < len(words) and words[at].startswith("-"):
        option, value = words[at][:2], words[at][2:]
        takes_value = option in {"-I", "-n", "-P", "-L", "-d", "-a", "-s", "-E"} and not value
        if option == "-I":
            sign = value or "".join(words[at + 1 : at + 2])
        at += 2 if takes_value else 1
    return bool(sign) and sign in "".join(words[at : at + 1])


def _is_made(word: str) -> bool:
    """Return whether a word is known only when it runs, also as a name of a file."""
    return not is_known(word) or (word != "{}" and re.search(r"[*?{}]|\[.", word) is not None)


def _is_made_program(word: str) -> bool:
    """Return whether a word may be the name of any program: no wildcard of the folder in which it runs is that."""
    return _is_made(word) and (not is_known(word) or "/" in word or "{" in word)


def _is_program(word: str) -> bool:
    name = programs.family(word)
    return shell_programs.is_known(name) or programs.is_watched(name) or name in programs.RUNNERS


def _starts(word: str) -> bool:
    """Return whether a word may be the program that a runner runs: the first that is neither option nor setting."""
    return not word.startswith(("-", "+")) and "=" not in word and word != "{}" and bool(word.strip("0123456789.smhd"))


def _inner(text: str, about: _Judgement) -> str:
    folders, text = about.folders, text.replace(UNKNOWN, HIDDEN)
    places = [about.place._replace(folder=folder) for folder in folders.known] if folders.certain else []
    wrong = ""
    for place in places or [about.place._replace(folder="")]:
        wrong = wrong or _judge_text(text, about.context._replace(place=place), about.depth - 1)
    return wrong


_SPECIAL: dict[str, Callable[[str, tuple[str, ...], _Judgement], str]] = {
    **dict.fromkeys(("systemctl", "loginctl"), _of_systemctl),
    "kill": _of_kill,
    **dict.fromkeys(("rm", "unlink", "rmdir"), _of_rm),
    **dict.fromkeys(programs.FINDS, _of_find),
    **dict.fromkeys(programs.SHELLS, _of_shell),
    **dict.fromkeys(programs.INTERPRETERS, _of_interpreter),
    **dict.fromkeys(programs.AWKS | programs.SEDS, lambda name, words, _: objection_to_text_tool(name, words)),
    **dict.fromkeys(("eval", "trap", "alias", "source", ".", "hash", "enable"), _of_builtin),
    **dict.fromkeys(programs.SIGNALS, lambda *_: ""),
    "init": _of_init,
    "dd": _of_dd,
    "command": _of_command,
}
"""How programs are judged that are not judged by their names or words alone."""
