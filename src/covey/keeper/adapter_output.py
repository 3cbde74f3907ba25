"""What an adapter has written to its log since its last start: why it ended."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from covey.kernel.regular_file import open_regular

if TYPE_CHECKING:
    from pathlib import Path

_STARTS = "--- "
"""How the line begins that the supervisor writes before each start."""
_TAIL_BYTES, _LONGEST = 16 * 1024, 400


def last_line(path: Path) -> str:
    """Return the last line of an adapter's log, of a JSON line its message; empty if there is none."""
    try:
        with open_regular(path) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL_BYTES))
            text = file.read(_TAIL_BYTES).decode(errors="replace")
    except OSError:
        return ""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(_STARTS)]
    said = _message(lines[-1]) if lines else ""
    return "".join(letter if letter.isprintable() else "?" for letter in said)[:_LONGEST]


def _message(line: str) -> str:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return line
    return str(entry["msg"]) if isinstance(entry, dict) and "msg" in entry else line
