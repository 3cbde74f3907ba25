"""What can be set for the attention queue in `config.toml`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from covey.attention.channel import EXPECTED_COMMAND, is_command, problems
from covey.kernel.config.setting import Setting, Tables

if TYPE_CHECKING:
    from collections.abc import Sequence


def _command(value: Sequence[str]) -> str:
    return "" if not value or is_command(value) else EXPECTED_COMMAND


SETTINGS = (
    Setting(
        "attention.notify",
        "Command, with its arguments, that is run when something needs you; nothing for none.",
        consent=True,
        type="list",
        default=[],
        check=_command,
    ),
    Tables(
        "attention.channel",
        "Ways to tell you that something needs you, each with its rules: a command, the terminal bell, tmux's message"
        " line, or apprise.",
        consent=True,
        required=["kind"],
        columns={
            **dict.fromkeys(["kind", "name", "quiet"], ("text",)),
            **dict.fromkeys(["command", "urls", "only", "agents"], ("text", "list")),
            "every": ("text", "number"),
        },
        secret_columns=["urls"],
        check_tables=problems,
    ),
)
