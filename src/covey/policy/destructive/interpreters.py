"""Programs that are given in a command line to an interpreter, awk or sed: what they do is not read."""

from __future__ import annotations

import re
from typing import Literal

from covey.policy.destructive.commands import is_known
from covey.policy.destructive.programs import INTERPRETERS
from covey.policy.destructive.sed import runs_commands
from covey.policy.wildcard import UNKNOWN

_TAKES_VALUE = {"python": "XWQ", "perl": "I", "ruby": "IrCE", "node": "r", "php": "cdz", "lua": "l"}
_NO_PROGRAM = {"-V", "-v", "--version", "-h", "--help", "-vV", "-VV"}
_MODULES = {"python", "pypy"}
_Meaning = Literal["unknown", "program", "harmless", "option", "takes a value", "value"]
_IS_PROGRAM = re.compile(r"-[nErsuz]*e|--ex\w*|--so\w*")
_IS_FILE = re.compile(r"-[nErsuz]*f|--f\w*")
_GLUED = re.compile(r"-[nErsuz]*(?:e|f)(?=.)|--(?:ex|so|f)\w*=", re.DOTALL)
"""Options of awk and sed whose value is a program, or a file with one: in the next word, or in the same."""
_OTHER_VALUES = ("-v", "-F", "-l", "--assign")
_INPUTS = ("-", "/dev/", "/proc/", UNKNOWN)
_LONG = {"--eval", "--print", "--command", "--execute"}
_STATEMENT = re.compile(r"[;}\n]")
_TO_MADE_FILE = re.compile(r">\s*[A-Za-z_$(]")
_AWK_RUNS = re.compile(r"\bsystem\b|\bgetline\b|\||@\s*(?:load|include)|\bclose\b")


def objection_to_interpreter(name: str, words: tuple[str, ...]) -> str:
    """Return why an interpreter may not be started so.

    Empty if it runs a file or a module, or only tells about itself.
    """
    instead = f"put the program into a file and run {name} with it, or write it as one plain command"
    skip = False
    for word in words[1:]:
        meaning = "value" if skip else _meaning(name, word)
        skip = meaning == "takes a value"
        if meaning == "harmless":
            return ""
        if meaning == "program":
            return f"the program for {name} in the command line is not read: {instead}"
        if meaning == "unknown":
            break
    return f"{name} runs what it reads: {instead}"


def _meaning(name: str, word: str) -> _Meaning:  # noqa: PLR0911 - one return for each meaning
    """Return what a word says about what an interpreter runs."""
    if not is_known(word) or word == "-" or word.startswith(("/dev/", "/proc/")):
        return "unknown"
    if word == "eval" or word.partition("=")[0] in _LONG:
        return "program"
    if word in _NO_PROGRAM or not word.startswith("-"):
        return "harmless"
    letters = word[1:]
    if word.startswith("--") or (name == "perl" and letters[0] in "MIxD"):
        return "option"
    if name in _MODULES and letters.endswith("m"):
        return "harmless"
    if any(letter in INTERPRETERS[name] for letter in letters):
        return "program"
    return "takes a value" if letters[-1:] in tuple(_TAKES_VALUE.get(name, "")) else "option"


def objection_to_text_tool(name: str, words: tuple[str, ...]) -> str:
    """Return why awk or sed may not be run so; empty if its program only changes text."""
    is_sed = name.endswith("sed")
    for program in _programs_of(words[1:], is_sed=is_sed):
        if program == UNKNOWN or (not is_sed and not is_known(program)):
            return f"the program of {name} is known only when it runs: write it in single quotes"
        runs = _sed_runs(program) if is_sed else _awk_runs(program)
        if runs:
            return f"the program of {name} may run others: write it as one plain command"
    return ""


def _awk_runs(program: str) -> bool:
    """Return whether a program of awk may run a command, or writes a file whose name it puts together."""
    return _AWK_RUNS.search(program.replace("||", "")) is not None or any(
        "print" in statement and _TO_MADE_FILE.search(statement) for statement in _STATEMENT.split(program)
    )


def _sed_runs(program: str) -> bool:
    """Return whether a program of sed may run a command; what is not known of it is a number, a text or a name."""
    return runs_commands(program.replace(UNKNOWN, "1"))


def _programs_of(words: tuple[str, ...], *, is_sed: bool) -> list[str]:
    """Return the words that are programs: those of the options, else the first that is no option.

    With awk it is any of those, as an option that is not known here may have a value. `UNKNOWN` stands for a program
    that is read from the input.
    """
    found: list[str] = []
    operands: list[str] = []
    before, has_file = "", False
    for word in words:
        glued = _GLUED.match(word)
        is_file = _IS_FILE.fullmatch(before) or (glued is not None and "f" in glued[0])
        is_value = _IS_PROGRAM.fullmatch(before) or _IS_FILE.fullmatch(before)
        if _IS_PROGRAM.fullmatch(before):
            found.append(word)
        elif is_file:
            has_file = True
            file = word if is_value or glued is None else word[glued.end() :]
            found += [UNKNOWN] * file.startswith(_INPUTS)
        elif glued:
            found.append(word[glued.end() :])
        elif before not in _OTHER_VALUES and word and not word.startswith("-"):
            operands.append(word)
        before = "" if is_value else word
    return found or ([] if has_file else operands[: 1 if is_sed else None])
