"""Says why a command may not be run by an agent that nobody watches."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from covey.policy.destructive import programs
from covey.policy.destructive.commands import commands_in, is_known
from covey.policy.destructive.interpreters import objection_to_interpreter, objection_to_text_tool
from covey.policy.destructive.targets import Folders, Place, device_in, objection_to_deleting
from covey.policy.wildcard import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from covey.policy.destructive.commands import Commands

DEEPEST = 6
"""Commands in the words of commands."""
MOST_WORDS = 200
PLAINLY = "write it as one plain command"
_DATA = {(word,) for word in programs.DATA}
_FIND_RUNS = {"-exec", "-execdir", "-ok", "-okdir"}
_TOKEN = re.compile(r"[\w.+-]+")
_PIECE = re.compile(r"[\s;&|()<>`$]")


def objection(text: str, place: Place) -> str:
    """Return why a command is refused, as a sentence for the model that asked for it; empty if it may run.

    Refused is what harms beyond repair (deletes outside of the workspace, writes to devices, stops the machine, takes
    the rights of root), in whichever way it is written, and what cannot be read.
    """
    return _judge_text(text, place, DEEPEST)


class _Judgement(NamedTuple):
    """What is known of the text around a command."""

    place: Place
    folders: Folders
    read: Commands
    depth: int
    from_input: bool = False
    """Whether further words come from what the command reads (xargs)."""


def _judge_text(text: str, place: Place, depth: int) -> str:
    if not depth:
        return f"it has commands within commands: {PLAINLY}"
    read = commands_in(text)
    if read.objection:
        return f"it cannot be read ({read.objection}): {PLAINLY}"
    about = _Judgement(place, Folders(place), read, depth)
    commands = [words for command in read.found if (words := _without_reserved(command))]
    repeated = "()" in text or any(word in programs.LOOPS for words in commands for word in words[:3])
    for words in commands:
        if wrong := _folder_after(words, about, repeated=repeated) or _judge(words, about):
            return wrong
    names = {programs.family(words[0]) for words in commands}
    if "<<" in text and any(_reads_commands(name) for name in names):
        return f"it gives commands to another program: put them into a file, or {PLAINLY}"
    device = device_in(text, about.folders)
    if device and (read.redirects or not names <= programs.DEVICE_READERS):
        return f"it names {device}, which no unattended agent may write to"
    return ""


def _folder_after(words: tuple[str, ...], about: _Judgement, *, repeated: bool) -> str:
    """Take a command that changes the folder into account; return what is wrong with it."""
    if words[0] == "popd":
        about.folders.certain = False
    return about.folders.change(words, repeated=repeated) if words[0] in {"cd", "pushd", "chdir"} else ""


def _reads_commands(name: str) -> bool:
    return name in {"ssh", "at", "batch", "psql", "mysql", "sqlite3"}


def _without_reserved(words: tuple[str, ...]) -> tuple[str, ...]:
    first = next((at for at, word in enumerate(words) if word not in programs.RESERVED), len(words))
    return words[first:] if words[first : first + 1] not in _DATA else ()


def _judge(words: tuple[str, ...], about: _Judgement) -> str:  # noqa: PLR0911, C901 - one line for each kind of program
    if len(words) > MOST_WORDS:
        return f"it has more than {MOST_WORDS} words: {PLAINLY}"
    if not is_known(words[0]) or words[0] == "{}" or re.search(r"[*?{}]|\[.", words[0]):
        return f"which program it runs is known only when it runs: {PLAINLY}"
    name = programs.family(words[0])
    if harm := programs.is_harmful(name):
        return harm
    if name in {"systemctl", "loginctl"}:
        return _of_systemctl(name, words)
    if name == "dd":
        return _of_dd(words)
    if name == "rm":
        return _of_rm(words, about)
    if name in {"find", "fd", "fdfind", "gfind", "bfs"}:
        return _of_find(name, words, about)
    if name in programs.SHELLS:
        return _of_shell(name, words, about)
    if name in programs.INTERPRETERS:
        return objection_to_interpreter(name, words)
    if name in programs.AWKS or name in {"sed", "gsed"}:
        return objection_to_text_tool(name, words)
    if name in {"eval", "trap", "alias", "source", "."} or (name in {"hash", "enable"} and len(words) > 1):
        return _of_builtin(name, words, about)
    if name == "git" and _runs_others(words):
        return _among(words, about)
    return "" if name in programs.PLAIN else _among(words, about)


def _of_systemctl(name: str, words: tuple[str, ...]) -> str:
    for word in words[1:]:
        if not is_known(word):
            return f"what {name} is told to do is known only when it runs: write it out"
        if word in programs.SYSTEMCTL_VERBS or word in programs.SYSTEMCTL_TARGETS:
            return f"{name} {word} stops the machine"
    return ""


def _of_dd(words: tuple[str, ...]) -> str:
    for word in words[1:]:
        if not is_known(word):
            return "what dd writes to is known only when it runs: write it out"
        if word.startswith("of=") and "/dev/" in word.replace("//", "/"):
            return f"dd writes to {word[3:]}"
    return ""


def _of_rm(words: tuple[str, ...], about: _Judgement) -> str:
    options, targets, is_over = [], [], False
    for word in words[1:]:
        if word == "--" and not is_over:
            is_over = True
        elif word.startswith("-") and word != "-" and not is_over:
            options.append(word)
        else:
            targets.append(word)
    unknown = any(not is_known(word) and (word[0] in (UNKNOWN, "-")) for word in words[1:])
    recursive = any(_is_recursive(option) for option in options) or unknown
    if not recursive:
        return ""
    if about.from_input:
        return "what is deleted comes from another program: name it, or use find with -delete inside of the workspace"
    for target in targets:
        if wrong := objection_to_deleting(target, about.folders, about.place):
            return wrong
    return ""


def _is_recursive(option: str) -> bool:
    if option.startswith("--"):
        return option in {"--r", "--recursive"} or "--recursive".startswith(option)
    return "r" in option or "R" in option


def _of_find(name: str, words: tuple[str, ...], about: _Judgement) -> str:
    rest = [word for word in words[1:] if word not in {"-H", "-L", "-P"}]
    acts = [at for at, word in enumerate(rest) if word in _FIND_RUNS]
    unknown = any(word.startswith((UNKNOWN, f"-{UNKNOWN}")) for word in rest)
    if name != "find" or unknown or "-files0-from" in rest:
        return _among(words, about) or (f"what {name} acts on is known only when it runs: write it out" * unknown)
    deletes = "-delete" in rest
    for at in acts:
        stop = next((end for end in range(at, len(rest)) if rest[end] in (";", "+")), len(rest))
        command = tuple(rest[at + 1 : stop])
        if not command or programs.family(command[0]) in programs.SHELLS:
            return f"find runs a shell for each file: {PLAINLY}"
        if programs.family(command[0]) in {"rm", "unlink", "rmdir"} and all(map(is_known, command)):
            deletes = True
            command = tuple(word for word in command if "{}" not in word)
        if wrong := _judge(command, about):
            return wrong
    end = next((at for at, word in enumerate(rest) if word.startswith(("-", "(", "!"))), len(rest))
    wrongs = (objection_to_deleting(one, about.folders, about.place, start=True) for one in rest[:end] or ["."])
    return next(filter(None, wrongs), "") if deletes else ""


def _of_shell(name: str, words: tuple[str, ...], about: _Judgement) -> str:  # noqa: PLR0911 - one return for each form
    has_text, at = False, 1
    while at < len(words) and words[at].startswith(("-", "+")) and words[at] not in {"-", "--"}:
        option = words[at]
        if not is_known(option):
            return f"how {name} is started is known only when it runs: {PLAINLY}"
        if option in {"--version", "--help"}:
            return ""
        letters = "" if option.startswith("--") else option[1:]
        has_text |= "c" in letters or option == "--command"
        if "s" in letters:
            return f"{name} runs what it reads: put it into a file, or {PLAINLY}"
        takes_value = letters[-1:] in ("o", "O") or option in {"--rcfile", "--init-file"}
        at += 2 if takes_value else 1
    operands = words[at + 1 :] if words[at : at + 1] == ("--",) else words[at:]
    if not operands or about.from_input:
        return f"{name} runs what it reads: {PLAINLY}"
    if not has_text:
        return _of_script(name, operands[0])
    if not is_known(operands[0]) or "{}" in operands[0]:
        return f"what {name} -c runs is known only when it runs: {PLAINLY}"
    return _inner(operands[0], about)


def _of_script(name: str, file: str) -> str:
    if not is_known(file) or file == "-" or file.startswith(("/dev/", "/proc/")):
        return f"{name} runs what it reads: {PLAINLY}"
    return ""


def _of_builtin(name: str, words: tuple[str, ...], about: _Judgement) -> str:
    if name in {"source", "."}:
        return _of_script(name, words[1]) if len(words) > 1 else ""
    if name in {"hash", "enable"}:
        return f"{name} changes what the names of programs mean: {PLAINLY}" if words[1].startswith("-") else ""
    if name == "eval":
        text = " ".join(words[1:])
        return _inner(text, about) if is_known(text) else f"what eval runs is known only when it runs: {PLAINLY}"
    if name == "trap":
        text = words[1] if len(words) > 1 and not words[1].startswith("-") else ""
        return _inner(text.replace(UNKNOWN, "x"), about) if text else ""
    for word in words[1:]:
        _, assigns, value = word.partition("=")
        if assigns and (not is_known(value) or (wrong := _inner(value, about))):
            return wrong if is_known(value) else f"what an alias means is known only when it runs: {PLAINLY}"
    return ""


def _runs_others(words: tuple[str, ...]) -> bool:
    """Return whether git is told by its words to run another program."""
    return any(
        word in {"-c", "--config-env", "bisect", "foreach", "filter-branch", "config", "-x"}
        or word.startswith(("--exec", "--upload-pack", "--receive-pack", "-c", "--tree-filter"))
        for word in words[1:]
    )


def _among(words: tuple[str, ...], about: _Judgement) -> str:
    """Judge every command that a program may be told to run by its words, wherever it begins among them."""
    name = programs.family(words[0])
    runs = name in programs.RUNNERS
    if name == "xargs" and _replaces_program(words):
        return f"what xargs runs is known only when it runs: {PLAINLY}"
    inner = about._replace(from_input=about.from_input or name in {"xargs", "parallel"})
    started = False
    for at in range(1, len(words)):
        word = words[at]
        if word[:1] == UNKNOWN and runs and not started:
            return f"what {name} runs is known only when it runs: {PLAINLY}"
        if is_known(word):
            if wrong := _at(words[at:], inner, is_start=runs and not started):
                return wrong
            started = started or (runs and _starts(word))
    if runs and not started and inner.from_input and name != "xargs":
        return f"{name} runs what it reads: {PLAINLY}"
    return ""


def _at(words: tuple[str, ...], about: _Judgement, *, is_start: bool) -> str:
    """Judge the command that may begin at a word, and the texts in that word."""
    name = programs.family(words[0])
    if (programs.is_watched(name) or (is_start and name in programs.RUNNERS)) and (wrong := _judge(words, about)):
        return wrong
    return next(filter(None, (_inner(text, about) for text in _texts_in(words[0]))), "")


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


def _starts(word: str) -> bool:
    """Return whether a word may be the program that a runner runs: the first that is neither option nor setting."""
    return not word.startswith(("-", "+")) and "=" not in word and word != "{}" and bool(word.strip("0123456789.smhd"))


def _texts_in(word: str) -> Iterator[str]:
    """Yield the texts in a word that may be commands and name a program that matters."""
    if not _PIECE.search(word) and "=" not in word and "!" not in word:
        return
    for text in dict.fromkeys((word, word.partition("=")[2], word.removeprefix("-S").lstrip(), word.partition("!")[2])):
        names = {programs.family(token) for token in _TOKEN.findall(text)}
        if text and (_PIECE.search(text) or text != word) and any(map(programs.is_watched, names)):
            yield text


def _inner(text: str, about: _Judgement) -> str:
    folders = about.folders
    start = folders.known[-1] if folders.known and folders.certain else ""
    wrong = ""
    for folder in folders.known if folders.certain else [start]:
        wrong = wrong or _judge_text(text, about.place._replace(folder=folder), about.depth - 1)
    return wrong
