"""Programs that are given in a command line to an interpreter, awk or sed: what they do is not read."""

from __future__ import annotations

import re
from typing import Literal

from covey.policy.destructive.commands import is_known
from covey.policy.destructive.programs import INTERPRETERS

_TAKES_VALUE = {"python": "XWQ", "perl": "I", "ruby": "IrCE", "node": "r", "php": "cdz", "lua": "l"}
_NO_PROGRAM = {"-V", "-v", "--version", "-h", "--help", "-vV", "-VV"}
_MODULES = {"python", "pypy"}
_Meaning = Literal["unknown", "program", "harmless", "option", "takes a value", "value"]
_LONG = {"--eval", "--print", "--command", "--execute"}
_AWK_RUNS = re.compile(r"\bsystem\b|\bgetline\b|\||@\s*(?:load|include)|\bclose\b")
_SED_RUNS = re.compile(r"(?:^|[;{}\n]|[0-9$/])[ \t]*e(?:\s|$)|([|/,\#@!~])[gpiImMw0-9]*e[gpiImM0-9]*[ \t]*(?:[;}\n]|$)")


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
    programs = _programs_of(words[1:], file_options=("-f", "--file"), text_options=("-e", "--expression"))
    for program in programs:
        if not is_known(program):
            if not is_sed:
                return f"the program of {name} is known only when it runs: write it in single quotes"
            continue
        runs = _SED_RUNS.search(program) if is_sed else _AWK_RUNS.search(program.replace("||", ""))
        if runs:
            return f"the program of {name} may run others: write it as one plain command"
    return ""


def _programs_of(words: tuple[str, ...], *, file_options: tuple[str, ...], text_options: tuple[str, ...]) -> list[str]:
    """Return the words that are programs: those of the options, else the first that is no option."""
    found: list[str] = []
    first, before, has_file = "", "", False
    for word in words:
        if before in text_options:
            found.append(word)
        elif before in (*file_options, "-v", "-F", "-l", "--assign"):
            has_file |= before in file_options
        elif word.startswith(tuple(f"{option}=" for option in text_options if option.startswith("--"))):
            found.append(word.partition("=")[2])
        elif word.startswith("-e") and len(word) > 2:  # noqa: PLR2004 - the option and its value in one word
            found.append(word[2:])
        elif not word.startswith("-") and not first:
            first = word
        before = word
    return found or ([first] if first and not has_file else [])
