"""A person at a terminal, for tests and demonstrations: `typed` puts a command in front of which somebody sits."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.contract import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TERMINAL = Path(__file__).parent / "terminator"
REQUEST = Path(__file__).with_name("request.py")
BY_WORDS = {operation.cli: operation for operation in OPERATIONS if operation.cli}


def typed(command: Sequence[str]) -> list[str]:
    """Return the command line that runs a command on a terminal of a person's."""
    return [sys.executable, "-I", "-S", str(TERMINAL), *command]


def requesting(socket: str, method: str, path: str, params: Mapping[str, Any]) -> list[str]:
    """Return the command line that makes one request to a daemon from such a terminal.

    It prints the status, a space and the body of the answer.
    """
    return typed([sys.executable, "-I", "-S", str(REQUEST), socket, method, path, json.dumps(params)])


def decides(words: Sequence[str]) -> bool:
    """Return whether the words of a `covey` command are a person's decision, or may be one."""
    operation = next((BY_WORDS[found] for n in (4, 3, 2, 1) if (found := tuple(words[:n])) in BY_WORDS), None)
    if operation is None:
        return False
    flags = ["--" if one.positional else f"--{one.flag}" for one in operation.parameters if one.consent]
    given = any(word.partition("=")[0] in flags for word in words)
    return operation.consent or given or operation.name in {"config.set", "config.unset"}
