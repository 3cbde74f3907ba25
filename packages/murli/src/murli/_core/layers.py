"""Values that do not come from the command line: structured input, environment variables and profiles.

All three become ordinary flags in front of the framework, so that they are parsed and judged exactly like flags that
were typed. What was typed wins over `--input`, which wins over the environment, which wins over the profile.
"""

from __future__ import annotations

import os

from murli._core import wording
from murli._core.errors import user_error
from murli._core.route import is_flag

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from murli._core.command import Argument, Flag, Parameter
    from murli._core.route import Invocation, Level

LARGEST_INPUT = 8 * 1024 * 1024
HIGHEST_COUNT = 100
TRUE = ("true", "1", "yes", "on", "t", "y")
FALSE = ("false", "0", "no", "off", "f", "n")


def apply_input(invocation: Invocation, document: Mapping[str, Any]) -> None:
    """Give the parameters of a JSON object to the command that was called and to the groups above it."""
    places = [(index, parameter) for index, level in enumerate(invocation.levels) for parameter in _parameters(level)]
    exact = {parameter.name: (index, parameter) for index, parameter in places}  # the nearest command wins
    loose = {_key(parameter.name): (index, parameter) for index, parameter in places}
    given: list[dict[str, list[str]]] = [{} for _ in invocation.levels]
    named: set[tuple[int, str]] = set()
    for key, value in document.items():
        place = exact.get(key) or loose.get(_key(key))
        if place is None:
            names = [parameter.name for _, parameter in exact.values() if not getattr(parameter, "hidden", False)]
            raise wording.unknown_parameter(key, invocation.path, names)
        index, parameter = place
        if (index, parameter.name) in named:
            raise _input_error(f"--input names {parameter.name!r} twice")
        named.add((index, parameter.name))
        texts = _texts(parameter, value, invocation.path)
        if texts is not None:
            given[index][parameter.name] = texts
    for level, values in zip(invocation.levels, given, strict=True):
        typed = {name for name in level.given if level.is_on(name)}
        for flag in level.command.flags:
            if flag.name in values and not _taken(level, flag, typed):
                add_flag(level, flag, values[flag.name], invocation.path)
        _add_arguments(level, values, invocation.path)


def _add_arguments(level: Level, given: Mapping[str, list[str]], path: str) -> None:
    """Add positional arguments in their declared order.

    An argument that is missing before one that is given would shift all that follow, so it is an error.
    """
    gap = None
    for argument in level.command.arguments[len(level.positionals) :]:
        if argument.name not in given:
            gap = gap or argument
        elif gap:
            raise wording.missing(gap, path)
        else:
            level.added_positionals += given[argument.name]


def apply_environment(invocation: Invocation, environ: Mapping[str, str]) -> None:
    """Use the environment variables that the tool named for its flags, where the framework does not do so itself."""
    for level in invocation.levels:
        for flag in level.command.flags:
            if flag.env and not flag.env_is_native and environ.get(flag.env) and not _taken(level, flag):
                add_flag(level, flag, [environ[flag.env]], invocation.path)


def apply_profile(invocation: Invocation, saved: Mapping[str, str], environ: Mapping[str, str]) -> None:
    """Use the values of a profile for the flags that nothing else has set."""
    for level in invocation.levels:
        for flag in level.command.flags:
            from_environment = flag.env_is_native and flag.env in environ
            if flag.profileable and flag.name in saved and not from_environment and not _taken(level, flag):
                add_flag(level, flag, from_saved(flag, saved[flag.name]), invocation.path)


def add_flag(level: Level, flag: Flag, texts: list[str], path: str = "") -> None:
    """Put a flag and its values where the framework will read them."""
    if flag.arity == 0:
        times = _times(flag, texts[-1], path)
        level.given[flag.name] = ["true"] * times or ["false"]
        level.added += [flag.long] * times or ([flag.negative] if flag.negative else [])
        return
    level.given[flag.name] = texts
    if flag.arity in (1, "?"):
        _add_each(level, flag, texts)
        return
    if level.command.is_group and isinstance(flag.arity, str):
        raise wording.bad_value(
            flag,
            "[…]",
            path,
            "its values on the command line: in front of a command it would swallow the command's name",
        )
    wanted = flag.arity if isinstance(flag.arity, int) else len(texts) or 1
    if len(texts) % wanted or (not texts and isinstance(flag.arity, int)):
        raise wording.bad_value(flag, "[…]", path, f"{wanted} values")
    for text in texts:
        if is_flag(text) and (isinstance(flag.arity, str) or not level.command.takes_dashed_values):
            raise wording.bad_value(flag, text, path, "values that do not start with a dash")
    chunks = [texts[start : start + wanted] for start in range(0, len(texts), wanted)] or [[]]
    level.added = [word for chunk in chunks for word in (flag.long, *chunk)] + level.added


def _times(flag: Flag, text: str, path: str) -> int:
    """How often a switch has to be written."""
    if flag.type == "count" and text.isdecimal() and int(text[:4]) <= HIGHEST_COUNT:
        return int(text[:4])
    word = text.lower()
    if word not in (*TRUE, *FALSE) or (flag.type == "count" and text != "true"):
        raise wording.bad_value(flag, text, path)
    return int(word in TRUE)


def _add_each(level: Level, flag: Flag, texts: list[str]) -> None:
    for text in texts:
        level.added += (
            [f"{flag.long}={text}"]
            if flag.long.startswith("--")
            else [f"{flag.long}{text}"]
            if text
            else [flag.long, text]
        )


def to_saved(flag: Flag, texts: list[str]) -> str:
    """The values of a flag as the one string that a profile stores."""
    import json  # only `profile save` pays for it

    if flag.type == "count":
        return str(sum(int(text) if text.isdecimal() else int(text == "true") for text in texts))
    return json.dumps(texts, ensure_ascii=False) if flag.multiple else texts[-1]


def from_saved(flag: Flag, text: str) -> list[str]:
    """The values of a flag from the string that a profile stores."""
    if not flag.multiple:
        return [text]
    import json  # only flags with several values pay for it

    try:
        values = json.loads(text)
    except ValueError:
        return [text]
    return [str(value) for value in values] if isinstance(values, list) else [text]


def read_input(source: str) -> dict[str, Any]:
    """The JSON object that `--input` names: `-` for standard input, `@path` for a file."""
    import json  # only structured input pays for it

    data = _read(source)
    if len(data) > LARGEST_INPUT:
        raise _input_error(
            f"--input is larger than {LARGEST_INPUT} bytes",
            "Send less, or name files instead of sending their content.",
        )
    try:
        document = json.loads(data.decode("utf-8"), object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise _input_error(f"--input is not valid JSON: {error}") from error
    if not isinstance(document, dict):
        raise _input_error(f"--input must be a JSON object, not {_kind(document)}")
    return document


def _read(source: str) -> bytes:
    import sys

    if source == "-" and sys.stdin is None:
        raise _input_error("--input - needs standard input, which is closed")
    if (source != "-" and not source.startswith("@")) or source == "@":
        raise _input_error(
            f"invalid value {source!r} for --input", "Pass --input - for standard input or --input @FILE for a file."
        )
    try:
        if source == "-":
            return sys.stdin.buffer.read(LARGEST_INPUT + 1)
        with open(os.path.expanduser(source[1:]), "rb") as file:  # pathlib costs start-up time
            return file.read(LARGEST_INPUT + 1)
    except (OSError, ValueError) as error:
        raise _input_error(f"--input cannot be read: {error}") from error


def _texts(parameter: Parameter, value: object, path: str) -> list[str] | None:
    """A JSON value as the words of a command line; nothing for null."""
    if value is None:
        return None
    if isinstance(value, list):
        several = parameter.multiple or getattr(parameter, "arity", 1) not in (0, 1, "?")
        if not several:
            raise wording.bad_value(parameter, "[…]", path, f"one {parameter.type}, not a list")
        return [_text(parameter, item, path) for item in value]
    return [_text(parameter, value, path)]


def _text(parameter: Parameter, value: object, path: str) -> str:
    if isinstance(value, bool):
        text, right = ("true" if value else "false"), parameter.type == "bool"
    elif isinstance(value, int):
        text, right = str(value), parameter.type != "bool"
    elif isinstance(value, float):
        text, right = repr(value), parameter.type not in ("bool", "int", "count")
    elif isinstance(value, str):
        text, right = value, parameter.type not in ("bool", "count")
    elif isinstance(value, dict) and parameter.type == "object":
        import json  # only objects pay for it

        text, right = json.dumps(value, ensure_ascii=False), True
    else:
        text, right = _kind(value), False
    if not right:
        raise wording.bad_value(parameter, text, path)
    return text


def _taken(level: Level, flag: Flag, names: Iterable[str] | None = None) -> bool:
    """Whether the flag, or one that excludes it, has a value already."""
    on = {name for name in level.given if level.is_on(name)} if names is None else set(names)
    excluding = {
        other.name
        for other in level.command.flags
        if other.name in flag.mutually_exclusive_with or flag.name in other.mutually_exclusive_with
    }
    return flag.name in level.given or bool(on & excluding)


def _parameters(level: Level) -> Iterable[Flag | Argument]:
    return [*level.command.flags, *level.command.arguments]


def _key(name: str) -> str:
    return name.replace("-", "_").lower()


def _kind(value: object) -> str:
    return {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}.get(
        type(value), "a number"
    )


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        left = dict(pairs)
        twice = next(key for key, _ in pairs if left.pop(key, left) is left)
        raise _input_error(f"--input names {twice!r} twice")
    return document


def _no_constant(name: str) -> None:
    raise _input_error(f"--input is not valid JSON: {name} is no JSON value")


def _input_error(
    message: str, suggestion: str = "Send one JSON object whose keys are the names of flags and arguments."
) -> Exception:
    return user_error(message, suggestion, error="invalid_input", field="input")
