"""`covey policy test`, with the rules of a file."""

from __future__ import annotations

import os
import sys

from covey.cli.perform import ask, show
from murli import user_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home

LARGEST = 512 * 1024
"""Bytes; a longer file is no policy."""


def test(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Run a policy over the requests of the past, and show what would have been decided."""
    if params["rules"] is not None:
        params = {**params, "rules": _read(params["rules"])}
    show(operation, ask(home, operation, params))
    return 0


def _read(source: str) -> str:
    """Return the text of a file, or of standard input for `-`. Raises AgentError if it cannot be read."""
    try:
        if source == "-":
            data = sys.stdin.buffer.read(LARGEST + 1)
        else:
            with open(os.path.expanduser(source), "rb") as file:
                data = file.read(LARGEST + 1)
        if len(data) <= LARGEST:
            return data.decode()
        why = f"it is larger than {LARGEST} bytes"
    except OSError as error:
        why = error.strerror or str(error)
    except ValueError:
        why = "it is not UTF-8 text"
    raise user_error(
        f"{source} cannot be read: {why}", "Name a file with tables [[policy.rule]], as in config.toml.", field="rules"
    )
