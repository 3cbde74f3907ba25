"""Checks a command line before the framework sees it, whatever the framework.

Checked are encoding, murli's own flags, content, enumerations, patterns and flags that exclude each other.
"""

from __future__ import annotations

import os

from murli._core import wire
from murli._core.errors import user_error
from murli._core.route import REDUCING_FLAGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from murli._core.command import Parameter
    from murli._core.errors import AgentError
    from murli._core.route import Invocation, Level

LONGEST_ID = 256
LONGEST_TEXT = 1_000_000
ID_NAMES = ("id", "name", "slug")


def check_encoding(argv: Sequence[str]) -> None:
    """Refuse words that are not UTF-8: they could not be repeated in an answer."""
    for index, word in enumerate(argv, start=1):
        if not word.isascii() and any("\ud800" <= letter <= "\udfff" for letter in word):
            raise user_error(
                f"word {index} of the command line is not valid UTF-8: {word!a}",
                "Pass text as UTF-8.",
                error="invalid_input",
            )


def check_own_flags(invocation: Invocation) -> None:
    """Refuse values of murli's own flags that are unknown, and flags that cut a result where there is a stream."""
    own = invocation.own
    for option, valid in (("--output", wire.OUTPUT_FORMATS), ("--protocol-version", (wire.PROTOCOL_VERSION,))):
        if option in own and own[option] not in valid:
            raise user_error(
                f"invalid value {own[option]!r} for {option}",
                "Use one of the valid values.",
                error="flag_error",
                field=option[2:],
                valid_values=valid,
            )
    returns = invocation.leaf.command.metadata.returns
    reducing = [flag for flag in REDUCING_FLAGS if flag in own]
    if reducing and returns is not None and returns.type == "ndjson":  # before the handler streams, not after
        raise user_error(
            f"{reducing[0]} does not apply: this command answers with a stream",
            f"Leave out {reducing[0]}.",
            error="flag_error",
            field=reducing[0].removeprefix("--"),
        )


def check_prompts(invocation: Invocation) -> None:
    """Refuse a missing flag that the framework would ask for: an agent cannot answer a prompt."""
    for level in invocation.levels:
        for flag in level.command.flags:
            if flag.prompts and flag.name not in level.given and flag.env not in os.environ:
                from murli._core import wording  # only mistakes pay for it

                raise wording.missing(flag, invocation.path)


def check_values(invocation: Invocation) -> None:
    """Refuse values that break what the tool declared or that no honest caller would pass."""
    for level in invocation.levels:
        if level.given or level.positionals or level.added_positionals:
            _check_level(level, invocation.path)


def _check_level(level: Level, path: str) -> None:
    for parameter, value in level.values():
        if level.command.passthrough and parameter.label == "argument":
            continue
        why = objection(parameter.name, value, parameter.content or ("text" if parameter.type == "path" else ""))
        foreign = parameter.enum and not parameter.enum_is_native and value not in parameter.enum
        if why or foreign or (parameter.pattern and not _matches(parameter.pattern, value)):
            raise _refusal(parameter, value, why, path)
    for flag in level.command.flags if len(level.given) > 1 else ():
        for other in flag.mutually_exclusive_with:
            if level.is_on(flag.name) and level.is_on(other):
                from murli._core import wording  # only mistakes pay for it

                raise wording.flags_exclude_each_other(flag.shown, f"--{other}", path)


def _refusal(parameter: Parameter, value: str, why: str, path: str) -> AgentError:
    from murli._core import wording  # only mistakes pay for it

    if why:
        return wording.refused_value(parameter, why)
    of_right_type = wording.fits(parameter, value)
    return wording.bad_value(parameter, value, path, f"text that matches {parameter.pattern}" if of_right_type else "")


def objection(name: str, value: str, content: str = "") -> str:
    """Why a value for the parameter of that name cannot be meant, or nothing; `content` as in `FlagAnnotation`."""
    content = content or _content_by_name(name)
    if content == "raw":
        return ""
    longest = LONGEST_ID if content == "id" else LONGEST_TEXT
    if len(value) > longest:
        return f"is {len(value)} characters long; at most {longest} are accepted"
    if not value.isprintable():
        allowed = "" if content == "id" else "\t\n\r"
        for letter in value:
            if (letter < " " or "\x7f" <= letter <= "\x9f") and letter not in allowed:
                return f"holds a control character (U+{ord(letter):04X})"
    if content == "id":
        plain = value.lower().replace("%2e", ".").replace("%2f", "/").replace("%5c", "/").replace("\\", "/")
        if ".." in plain.split("/") or plain.startswith(("/", "~")):
            return "must be a plain name, not a path"
    return ""


def _content_by_name(name: str) -> str:
    return "id" if name.lower().replace("_", "-").rpartition("-")[2] in ID_NAMES else "text"


def _matches(pattern: str, value: str) -> bool:
    import re  # only flags with a pattern pay for it

    if pattern.endswith("$") and value.endswith("\n"):
        return False  # Python's `$` would overlook the line break
    return re.search(pattern, value) is not None
