"""Parameters in, checked values out; the same rules for every surface."""

from __future__ import annotations

from murli import AgentError, objection, user_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from covey.contract.operation import Operation, Parameter

LARGEST = 2**63
FARTHEST = 1.7976931348623157e308
NAMES = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "string": "text",
    "object": "a JSON object",
    "json": "a JSON value",
}


def validate(
    operation: Operation, given: Mapping[str, Any], *, textual: bool = False, partial: bool = False
) -> dict[str, Any]:
    """The operation's parameters, checked, with defaults filled in.

    `textual` values come from a URL and are converted; others are JSON and must have their type. `partial` leaves out
    what is missing.
    """
    values: dict[str, Any] = {}
    named: dict[str, Any] = {}
    for name, value in given.items():
        known = operation.parameter(name)
        if known is None:
            raise _unknown(operation, name)
        if known.name in named:
            raise _twice(known.name)
        named[known.name] = value
    for parameter in operation.parameters:
        value = named.get(parameter.name)
        if parameter.name not in named and partial:
            continue
        if parameter.name not in named:
            if parameter.required:
                raise user_error(
                    f"{parameter.name!r} is missing",
                    f"Pass {parameter.name}: {parameter.help}",
                    error="argument_error",
                    field=parameter.name,
                )
            values[parameter.name] = [] if parameter.multiple and parameter.default is None else parameter.default
        elif textual and isinstance(value, list) and not parameter.multiple:
            raise _twice(parameter.name)
        elif parameter.multiple:
            values[parameter.name] = [
                _value(parameter, item, textual=textual) for item in (value if isinstance(value, list) else [value])
            ]
        else:
            values[parameter.name] = _value(parameter, value, textual=textual)
    return values


def _value(parameter: Parameter, value: object, *, textual: bool) -> object:
    try:
        checked = _converted(parameter, value) if textual else _typed(parameter, value)
    except ValueError:
        raise _bad(parameter, value) from None
    if parameter.enum and checked not in parameter.enum:
        raise _bad(parameter, value)
    if isinstance(checked, (int, float)) and not isinstance(checked, bool):
        low, high = parameter.minimum, parameter.maximum
        if (low is not None and checked < low) or (high is not None and checked > high):
            raise _bad(
                parameter,
                value,
                NAMES[parameter.type]
                + (f" from {low}" if low is not None else "")
                + (f" to {high}" if high is not None else ""),
            )
    if isinstance(checked, str):
        _harden(parameter, checked)
    return checked


def _converted(parameter: Parameter, value: object) -> object:
    """Convert text to the parameter's type; stricter than Python, which reads underscores, other digits and spaces."""
    text = str(value)
    if parameter.type == "int":
        if not text.removeprefix("-").isdigit() or not text.isascii():
            raise ValueError(text)
        return _bounded(int(text))
    if parameter.type == "float":
        if "_" in text or text != text.strip():
            raise ValueError(text)
        return _finite(float(text))
    if parameter.type == "bool":
        if text not in ("true", "false"):
            raise ValueError(text)
        return text == "true"
    if parameter.type in ("object", "json"):
        from covey.kernel import given_json

        return _typed(parameter, given_json.parse(text, parameter.name))
    return text


def _typed(parameter: Parameter, value: object) -> object:
    if parameter.type in ("object", "json"):
        return _document(parameter, value)
    if isinstance(value, bool):
        if parameter.type != "bool":
            raise ValueError(value)
        return value
    if parameter.type == "int":
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # JSON knows one kind of number: 1.0 is whole
        if isinstance(value, int):
            return _bounded(value)
    if parameter.type == "float" and isinstance(value, (int, float)):
        return _finite(value)
    if parameter.type == "string" and isinstance(value, str):
        return value
    raise ValueError(value)


def _document(parameter: Parameter, value: object) -> object:
    if parameter.type == "object" and not isinstance(value, dict):
        raise ValueError(value)
    from covey.kernel import given_json

    given_json.check_depth(value, parameter.name)
    return value


def _bounded(number: int) -> int:
    """As large as the database and every other JSON reader can take."""
    if abs(number) >= LARGEST:
        raise ValueError(number)
    return number


def _finite(number: float) -> float:
    if number != number or abs(number) > FARTHEST:  # noqa: PLR0124 - not a number is not even itself
        raise ValueError(number)
    return number


def _harden(parameter: Parameter, value: str) -> None:
    """The same objections as the command line has: see murli's input hardening."""
    why = objection(parameter.name, value, parameter.content)
    if why:
        raise user_error(
            f"{parameter.name!r} {why}",
            "Check the value; it looks like it was garbled or invented.",
            error="invalid_input",
            field=parameter.name,
        )


def _bad(parameter: Parameter, value: object, expected: str = "") -> AgentError:
    shown = "" if parameter.sensitive else f" {str(value)[:60]!r}"
    wanted = expected or ("one of " if parameter.enum else "") + (", ".join(parameter.enum) or NAMES[parameter.type])
    return user_error(
        f"invalid value{shown} for {parameter.name!r}: expected {wanted}",
        f"Pass {wanted} as {parameter.flag}, or leave it out."
        if not parameter.required
        else f"Pass {wanted} as {parameter.flag}.",
        error="argument_error",
        field=parameter.name,
        valid_values=parameter.enum,
    )


def _twice(name: str) -> AgentError:
    return user_error(f"{name!r} is given more than once", f"Pass {name} once.", error="argument_error", field=name)


def _unknown(operation: Operation, name: str) -> AgentError:
    import difflib  # only mistakes pay for it

    valid = [parameter.name for parameter in operation.parameters]
    near = difflib.get_close_matches(name, valid, n=1)
    advice = f"Did you mean {near[0]}?" if near else "Leave it out." if not valid else "Use one of the valid names."
    return user_error(
        f"{operation.name} has no parameter {name[:60]!r}",
        advice,
        error="argument_error",
        field=name[:60],
        valid_values=valid,
    )
