"""`covey adapters explain`: the file with the screen is read here, from the caller's folder."""

from __future__ import annotations

import os
import sys

from covey.cli.perform import ask
from murli import user_error, writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home

LARGEST = 512 * 1024
"""Bytes; more is no screen."""


def explain(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Which state a saved screen shows, and which pattern says so."""
    from covey.cli.render import render

    out = writer()
    result = ask(home, operation, {**params, "screen": read_screen(params["screen"])})
    out.success(lambda shown: render(operation, shown, colour=out.colour), result)
    return 0


def read_screen(source: str) -> str:
    """The text of a file, or of standard input for `-`."""
    try:
        if source == "-":
            data = sys.stdin.buffer.read(LARGEST + 1)
        else:
            with open(os.path.expanduser(source), "rb") as file:
                data = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        raise user_error(f"the screen cannot be read: {error}", "Save one with: tmux capture-pane -p > screen.txt", field="screen") from error
    if len(data) > LARGEST:
        raise user_error(f"{source} is larger than {LARGEST} bytes: no screen is", "Save one with: tmux capture-pane -p > screen.txt", field="screen")
    return data.decode("utf-8", "replace")
