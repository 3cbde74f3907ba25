"""What an adapter for a framework is made of: the command tree that murli reads, and the runner that calls it.

Subclass `Command` for the tree and `Adapter` for the call, then `execute(adapter, argv)`. `murli.argparse` and
`murli.click` are made of the same parts.
"""

from __future__ import annotations

from murli._core.command import Argument, Command, Flag
from murli._core.metadata import ArgumentMetadata, Example, Metadata, ReturnSchema
from murli._core.route import Invocation, Level, read
from murli._core.runner import Adapter, Refused, execute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "Adapter",
    "Argument",
    "ArgumentMetadata",
    "Command",
    "Example",
    "Flag",
    "Invocation",
    "Level",
    "Metadata",
    "Refused",
    "ReturnSchema",
    "describe",
    "execute",
    "read",
]


def describe(root: Command, *, version: str = "") -> dict[str, Any]:
    """Return what `describe` prints for a tool."""
    from murli._core.builtin import document  # not needed to run a command
    from murli._core.tool import Tool

    return document(Tool(root, version))
