"""What can be set for the attention queue in `config.toml`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from covey.kernel.config.setting import Setting

if TYPE_CHECKING:
    from collections.abc import Sequence


def _command(value: Sequence[str]) -> str:
    program = value[0] if value else "none"
    fits = program.strip() and ("/" not in program or program.startswith(("/", "~/"))) and "\0" not in "".join(value)
    return (
        ""
        if fits
        else "a command and its arguments; the command is a name on the PATH, or a path that begins with / or ~/"
    )


SETTINGS = (
    Setting(
        "attention.notify",
        "Command, with its arguments, that is run when something needs you; nothing for none.",
        type="list",
        default=[],
        check=_command,
    ),
)
