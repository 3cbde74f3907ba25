"""JSON that somebody gives as the value of a parameter: parsed, and bounded in depth, whichever way it comes."""

from __future__ import annotations

from covey.kernel import quick_json
from murli import user_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from murli import AgentError

DEEPEST = 100
"""How many lists and objects may be inside each other: far below what the parsers of all languages take."""


def parse(text: str, field: str) -> Any:
    """Return the value of a JSON document.

    Raises ValueError if it is not JSON, and AgentError, which names the field, if it is nested too deeply.
    """
    try:
        value = quick_json.loads(text)
    except RecursionError:
        raise _too_deep(field) from None
    check_depth(value, field)
    return value


def check_depth(value: object, field: str) -> None:
    """Raise AgentError, which names the field, if lists and objects are nested too deeply."""
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for one in level for inner in _parts(one) if isinstance(inner, (dict, list))]
        if not level:
            return
    raise _too_deep(field)


def _parts(value: object) -> Any:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _too_deep(field: str) -> AgentError:
    return user_error(
        f"{field!r} is nested too deeply",
        f"Give JSON with at most {DEEPEST} lists and objects inside each other.",
        error="invalid_input",
        field=field,
    )
