"""The sentences of murli's own errors, and what went wrong when a framework refused a command line.

The framework decides whether a command line is wrong; `diagnose` only finds the words, so that the same mistake reads
the same under argparse, click and typer.
"""

from __future__ import annotations

import os

from murli._core.command import profileable
from murli._core.errors import AgentError, user_error
from murli._core.route import OWN_FLAGS, offers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from murli._core.command import Parameter
    from murli._core.route import Invocation, Level

EXPECTED = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "count": "a whole number",
    "object": "a JSON object",
}


def confirmation_required() -> AgentError:
    return user_error(
        "This command mutates state and requires explicit confirmation.",
        "Pass --force or --yes to proceed without a TTY.",
        error="confirmation_required",
    )


def unknown_command(word: str, path: str, names: Iterable[str]) -> AgentError:
    valid = list(names)
    return user_error(
        f"unknown command {_excerpt(word)} for {path!r}",
        f"{_did_you_mean(word, valid)}Run `{path.split(maxsplit=1)[0]} describe` to see every command.",
        error="unknown_command",
        valid_values=valid,
    )


def missing_command(path: str, names: Iterable[str]) -> AgentError:
    return user_error(
        f"{path!r} needs a command",
        f"Name one of its commands. Run `{path.split(maxsplit=1)[0]} describe` to see them all.",
        error="missing_command",
        valid_values=names,
    )


def unknown_flag(option: str, path: str, names: Iterable[str]) -> AgentError:
    valid = list(names)
    return _flag_error(f"unknown flag {_cut(option)} for {path!r}", path, option, _did_you_mean(option, valid), valid)


def unknown_parameter(key: str, path: str, names: Iterable[str]) -> AgentError:
    """A key of structured input that is neither a flag nor an argument."""
    valid = list(names)
    return _flag_error(f"unknown parameter {_excerpt(key)} for {path!r}", path, key, _did_you_mean(key, valid), valid)


def flag_needs_value(option: str, path: str) -> AgentError:
    return _flag_error(f"{option} needs a value", path, option)


def flag_takes_no_value(option: str, path: str) -> AgentError:
    return _flag_error(f"{option} takes no value", path, option)


def ambiguous(option: str, own: str, word: str, path: str) -> AgentError:
    return _flag_error(
        f"it is not clear whether {_excerpt(word)} belongs to {option}",
        path,
        option,
        f"Put {own} in front of {option}. ",
    )


def flags_exclude_each_other(option: str, other: str, path: str) -> AgentError:
    return _flag_error(f"{option} and {other} exclude each other", path, option, "Pass only one of them. ")


def missing(parameter: Parameter, path: str) -> AgentError:
    return _parameter_error(
        parameter,
        f"missing {parameter.shown}" if parameter.label == "argument" else f"missing flag {parameter.shown}",
        path,
    )


def unexpected_argument(word: str, path: str) -> AgentError:
    return user_error(f"unexpected argument {_excerpt(word)} for {path!r}", _see(path), error="argument_error")


def bad_value(parameter: Parameter, value: str, path: str, expected: str = "") -> AgentError:
    """A value of the wrong type or outside the enumeration; a sensitive one is not repeated."""
    shown = "invalid value" if parameter.sensitive else f"invalid value {_excerpt(value)}"
    if parameter.enum:
        return _parameter_error(
            parameter,
            f"{shown} for {parameter.shown}",
            path,
            _did_you_mean(value, parameter.enum) or "Use one of the valid values. ",
            parameter.enum,
        )
    return _parameter_error(
        parameter,
        f"{shown} for {parameter.shown}: expected {expected or EXPECTED.get(parameter.type, parameter.type)}",
        path,
    )


def refused_value(parameter: Parameter, why: str) -> AgentError:
    """A value that no honest caller would pass: control characters, path traversal, absurd length."""
    return user_error(
        f"{parameter.shown} {why}",
        "Check the value; it looks like it was garbled or invented.",
        error="invalid_input",
        field=parameter.name,
    )


def diagnose(invocation: Invocation, framework_message: str = "") -> AgentError | None:
    """Return in murli's words what is wrong with a command line that the framework refused.

    Returns the framework's own sentence if nothing can be found.
    """
    for index, level in enumerate(invocation.levels):
        path = " ".join(step.word for step in invocation.levels[: index + 1])
        found = _unknown_flag(invocation, level, path) or _bad_value(level, path)
        if found:
            return found
    for index, level in enumerate(invocation.levels):
        path = " ".join(step.word for step in invocation.levels[: index + 1])
        above_builtin = invocation.leaf.command.is_builtin and not level.command.is_builtin
        found = None if above_builtin else _missing(level, path)  # `describe` needs nothing of the command it describes
        if found:
            return found
    extra = _unexpected(invocation.leaf, invocation.path)
    if extra or not framework_message:
        return extra
    return user_error(framework_message, _see(invocation.path), error="flag_error")


def _unknown_flag(invocation: Invocation, level: Level, path: str) -> AgentError | None:
    if level.unknown:
        with_profiles = bool(profileable(invocation.levels[0].command))
        own = [
            option for option in OWN_FLAGS if offers(level.command, option) and (with_profiles or option != "--profile")
        ]
        return unknown_flag(
            level.unknown[0], path, [*(flag.long for flag in level.command.flags if not flag.hidden), *own]
        )
    if level.dangling:
        return flag_needs_value(level.dangling[0].shown, path)
    return None


def _bad_value(level: Level, path: str) -> AgentError | None:
    for parameter, value in level.values():
        if not fits(parameter, value):
            return bad_value(parameter, value, path)
    return None


def _missing(level: Level, path: str) -> AgentError | None:
    arguments = level.command.arguments
    given = [*level.positionals, *level.added_positionals]
    for parameter in arguments[len(given) :]:
        if parameter.required:
            return missing(parameter, path)
    for flag in level.command.flags:
        if flag.required and flag.name not in level.given and not (flag.env_is_native and os.environ.get(flag.env)):
            return missing(flag, path)
    return None


def _unexpected(level: Level, path: str) -> AgentError | None:
    arguments = level.command.arguments
    given = [*level.positionals, *level.added_positionals]
    if level.command.is_group or any(argument.multiple for argument in arguments) or len(given) <= len(arguments):
        return None
    return unexpected_argument(given[len(arguments)], path)


def fits(parameter: Parameter, value: str) -> bool:
    """Whether a raw value has the parameter's type and is one of its choices."""
    if parameter.enum:
        return value in parameter.enum
    try:
        if parameter.type == "int":
            int(value)
        elif parameter.type == "float":
            float(value)
        elif parameter.type == "object":
            import json  # only mistakes pay for it

            return isinstance(json.loads(value), dict)
    except (ValueError, RecursionError):
        return False
    return parameter.type != "bool" or value in ("true", "false")


def _parameter_error(
    parameter: Parameter, message: str, path: str, advice: str = "", valid: Iterable[str] = ()
) -> AgentError:
    kind = "argument_error" if parameter.label == "argument" else "flag_error"
    return user_error(message, f"{advice}{_see(path)}", error=kind, field=parameter.name, valid_values=valid)


def _flag_error(message: str, path: str, option: str, advice: str = "", valid: Iterable[str] = ()) -> AgentError:
    return user_error(
        message, f"{advice}{_see(path)}", error="flag_error", field=_cut(option.lstrip("-")), valid_values=valid
    )


def _see(path: str) -> str:
    return f"Run `{path} --schema` or `{path} --help` to see what it takes."


def _did_you_mean(word: str, valid: list[str]) -> str:
    import difflib  # only mistakes pay for it

    near = difflib.get_close_matches(word, valid, n=1)
    return f"Did you mean {near[0]}? " if near else ""


def _excerpt(value: str) -> str:
    return repr(_cut(value))


def _cut(value: str) -> str:
    return value if len(value) <= LONGEST_EXCERPT else value[:LONGEST_EXCERPT] + "…"


LONGEST_EXCERPT = 60
