"""Patterns of tools as Claude Code has them: `Bash(curl *)`, `Edit`, `mcp__server`.

Other agents deny tools in other ways.
"""

from __future__ import annotations

SHELL = "Bash"
MCP = "mcp__"


def parts(pattern: str) -> tuple[str, str | None]:
    """Return the tool, and the pattern of its input; None if all of its calls are meant.

    `x:*` is an old form of `x *`.
    """
    name, found, rest = pattern.partition("(")
    argument = rest.removesuffix(")") if found else "*"
    if argument.endswith(":*"):
        argument = argument.removesuffix(":*") + " *"
    return name, None if argument.strip() in {"", "*"} else argument
