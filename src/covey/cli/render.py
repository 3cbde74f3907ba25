"""The text of a result for a person: the first line answers the question, detail follows."""

from __future__ import annotations

import os

from covey.cli.handlers import renderer_of
from covey.cli.text import Paint, columns, value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation

WIDE_PIPE = 200
"""Columns of a wide table that goes into a file or a pager."""


def render(operation: Operation, result: Any, *, colour: bool = False, wide: bool = False) -> str:
    """Return the text for an operation's result; with `wide`, tables have every column."""
    room = WIDE_PIPE if wide and not os.isatty(1) else columns()
    return renderer_of(operation.name)(result, Paint(room, colour=colour, wide=wide))


def fields(result: Any, _: Paint) -> str:
    """Return the fields of any result, one a line."""
    if isinstance(result, dict):
        width = max((len(key) for key in result), default=0)
        return "\n".join(f"{key:<{width}}  {value_text(value)}" for key, value in result.items())
    if isinstance(result, list):
        return "\n".join(value_text(item) for item in result)
    return value_text(result).rstrip("\n")
