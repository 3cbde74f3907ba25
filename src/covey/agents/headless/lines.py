"""What the readers of all agents need: JSON lines that may be anything, and tools in short."""

from __future__ import annotations

import json
from typing import Any

from covey.agents.headless.secrets import redacted

INPUT_CHARACTERS = 200
OUTPUT_CHARACTERS = 4000


def read(text: str) -> dict[str, Any]:
    """A line as an object, without secrets; empty if it is none."""
    if not text.lstrip().startswith("{"):
        return {}
    try:
        line = redacted(json.loads(text))
    except (ValueError, RecursionError):
        return {}
    return line if isinstance(line, dict) else {}


def table(value: object) -> dict[str, Any]:
    """A value that should be an object, as one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[dict[str, Any]]:
    """A value that should be a list of objects, as one."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(value: object) -> str:
    """A value that should be text, as text."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def number(value: object) -> int:
    """A value that should be a count, as one."""
    return (
        int(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value == value and abs(value) < 1e15  # noqa: PLR0124, PLR2004 - not nan
        else 0
    )


def cost(value: object) -> float | None:
    """A value that should be an amount of money, as one; None if it is none."""
    return (
        float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e9 else None  # noqa: PLR2004 - nan is not
    )


def short(arguments: dict[str, Any]) -> str:
    """A tool's input for one line: its only or telling value, else all of it."""
    telling = next(
        (
            arguments[name]
            for name in ("command", "cmd", "file_path", "path", "url", "pattern", "query")
            if arguments.get(name)
        ),
        None,
    )
    said = " ".join(text(arguments if telling is None and arguments else telling or "").split())
    return said if len(said) <= INPUT_CHARACTERS else said[:INPUT_CHARACTERS] + "…"
