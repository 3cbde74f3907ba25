"""Builds and edits command lines from what `describe` says: the words that follow the tool's name."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from murli.conformance.model import VALUED_BUILTINS, Argument, Command, Flag

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

Words = tuple[str, ...]

CONFIRMATIONS = frozenset({"yes", "force", "dry-run"})
_SAMPLES = (
    "example",
    "example-1",
    "Example",
    "EXAMPLE",
    "1",
    "10",
    "1.0",
    "1.0.0",
    "a1",
    "abc123",
    "2024-01-31",
    "2024-01-31T00:00:00Z",
    "12:00",
    "10s",
    "10m",
    "me@example.com",
    "example.com",
    "https://example.com",
    "#ffffff",
    "127.0.0.1",
    "00000000-0000-4000-8000-000000000000",
)


def sample(parameter: Flag | Argument) -> str | None:
    """A value the parameter should accept, or None when nothing here matches its pattern."""
    if parameter.enum:
        return parameter.enum[0]
    if isinstance(parameter, Flag):
        if parameter.pattern:
            return next((value for value in _SAMPLES if _matches(parameter.pattern, value)), None)
        if (
            parameter.default is not None
            and isinstance(parameter.default, str | int | float)
            and not isinstance(parameter.default, bool)
        ):
            return str(parameter.default)
    return {"int": "1", "float": "1.5", "path": "example.txt", "object": "{}"}.get(parameter.type, "example")


def synthesise(command: Command) -> Words | None:
    """Return the shortest command line that gives the command everything it requires.

    Returns None when a value cannot be guessed.
    """
    words = command.path
    for flag in command.every_flag:
        if not flag.required:
            continue
        value = sample(flag)
        if value is None:
            return None
        words = with_flag(command, words, flag, value)
    values = [sample(argument) for argument in command.arguments if argument.required]
    if None in values:
        return None
    return append(words, [value for value in values if value is not None])


def append(words: Words, extra: Iterable[str]) -> Words:
    """Add words at the end, but never behind a `--`, where they would be plain arguments."""
    cut = words.index("--") if "--" in words else len(words)
    return (*words[:cut], *extra, *words[cut:])


def with_flag(command: Command, words: Words, flag: Flag, value: str = "") -> Words:
    """Return the command line with the flag set to `value`.

    It replaces any value the flag had, and goes where the owner of the flag accepts it.
    """
    words = without(command, words, [flag])
    added = (flag.option, value) if flag.takes_value else (flag.option,)
    if flag.depth >= len(command.path):
        return append(words, added)
    at = _position(command, words, flag.depth)
    return (*words[:at], *added, *words[at:])


def without(command: Command, words: Words, flags: Collection[Flag]) -> Words:
    """The command line without these flags and their values."""
    spellings = {spelling: flag for flag in flags for spelling in flag.spellings}
    kept: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            return (*kept, *words[at:])
        name, has_value, _ = word.partition("=")
        flag = spellings.get(name) if word.startswith("-") else None
        if flag is not None:
            at += 1 if has_value or not flag.takes_value else 2
        elif word.startswith("-") and not has_value and _takes_value(command, word):
            kept.extend(words[at : at + 2])
            at += 2
        else:
            kept.append(word)
            at += 1
    return tuple(kept)


def without_names(command: Command, words: Words, names: Collection[str]) -> Words:
    """The same for flags that every command takes and `describe` may therefore not list on each of them."""
    known = {flag.name: flag for flag in command.every_flag}
    flags = [
        known.get(name) or Flag(name, type="string" if name in VALUED_BUILTINS else "bool") for name in sorted(names)
    ]
    return without(command, words, flags)


def unconfirmed(command: Command, words: Words) -> Words:
    """The command line without anything that would let it past the guard."""
    return without_names(command, words, CONFIRMATIONS)


def parameters(command: Command, words: Words) -> tuple[Words, dict[str, object]] | None:
    """Split a command line into what stays on it and the command's own parameters as a JSON object.

    Returns None when unsure.
    """
    start = _position(command, words, len(command.path))
    own = {spelling: flag for flag in command.flags for spelling in flag.spellings}
    stay = list(words[:start])
    found: dict[str, object] = {}
    plain: list[str] = []
    rest = list(words[start:])
    while rest:
        word = rest.pop(0)
        if word == "--":
            plain += rest
            break
        if not word.startswith("-") or word == "-":
            plain.append(word)
            continue
        name, has_value, value = word.partition("=")
        flag = own.get(name)
        if flag is None:
            stay.append(word)
            if not has_value and _takes_value(command, word) and rest:
                stay.append(rest.pop(0))
        elif not flag.takes_value:
            if flag.type == "count":
                return None
            found[flag.name] = not (flag.negatable and name.startswith("--no-"))
        elif has_value or rest:
            _store(found, flag, value if has_value else rest.pop(0))
        else:
            return None
    return (tuple(stay), found) if _positional(command.arguments, plain, found) else None


def separable(flags: Sequence[Flag]) -> list[list[Flag]]:
    """The flags in as few batches as possible, none with two flags that exclude each other."""
    batches: list[list[Flag]] = []
    for flag in flags:
        for batch in batches:
            if not any(flag.name in other.exclusive or other.name in flag.exclusive for other in batch):
                batch.append(flag)
                break
        else:
            batches.append([flag])
    return batches


def typed(kind: str, value: str) -> object:
    """The word as the JSON value it stands for; text stays text, and so does a number that is none."""
    try:
        if kind == "object":
            return json.loads(value)
        return {"int": int, "float": float}[kind](value)
    except (KeyError, ValueError):
        return value


def _positional(arguments: Sequence[Argument], plain: list[str], found: dict[str, object]) -> bool:
    for argument in arguments:
        if not plain:
            return not argument.required
        if argument.multiple:
            found[argument.name] = [typed(argument.type, value) for value in plain]
            plain = []
        else:
            found[argument.name] = typed(argument.type, plain.pop(0))
    return not plain


def _store(found: dict[str, object], flag: Flag, value: str) -> None:
    if not flag.multiple:
        found[flag.name] = typed(flag.type, value)
        return
    values = found.setdefault(flag.name, [])
    if isinstance(values, list):
        values.append(typed(flag.type, value))


def _position(command: Command, words: Words, depth: int) -> int:
    """The index just behind the first `depth` words of the command's path."""
    at = seen = 0
    while at < len(words) and seen < depth:
        word = words[at]
        if word.startswith("-"):
            at += 2 if "=" not in word and _takes_value(command, word) else 1
            continue
        seen += 1
        at += 1
    return at


def _takes_value(command: Command, word: str) -> bool:
    if word.lstrip("-") in VALUED_BUILTINS:
        return True
    return any(word in flag.spellings and flag.takes_value for flag in command.every_flag)


def _matches(pattern: str, value: str) -> bool:
    try:
        return re.search(pattern, value) is not None
    except re.error:
        return False
