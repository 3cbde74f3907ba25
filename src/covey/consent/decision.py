"""What a person decides by a call: by the operation, by one of its parameters, or by the setting that it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.contract import Operation
    from covey.kernel.config.settings import Settings

SETTING_CHANGES = frozenset({"config.set", "config.unset"})


def decision_in(operation: Operation, params: Mapping[str, Any], settings: Settings) -> str:
    """Return what a person decides by this call, in words for an error; empty if it permits nothing.

    A dry run decides nothing.
    """
    if params.get("check_only"):
        return ""
    if operation.consent:
        return f"covey {' '.join(operation.cli)}" if operation.cli else operation.name
    if operation.name in SETTING_CHANGES:
        key = params["key"]
        return f"the setting {key}" if key in settings and settings[key].consent else ""
    for parameter in operation.parameters:
        given = params.get(parameter.name)
        if parameter.consent and given and given != parameter.default:
            given_as = f"with {parameter.name}" if parameter.positional else f"--{parameter.flag}"
            return f"covey {' '.join(operation.cli)} {given_as}"
    return ""
