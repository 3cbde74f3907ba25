"""Tool patterns in the way of Claude Code, `Bash(curl *)`, `Edit`, `mcp__server`, taken apart for agents that have another way to deny tools."""

from __future__ import annotations

SHELL = "Bash"
MCP = "mcp__"


def parts(pattern: str) -> tuple[str, str | None]:
    """The tool, and what its input has to look like; None if all of its calls are meant. `x:*` is an old spelling of `x *`."""
    name, found, rest = pattern.partition("(")
    argument = rest.removesuffix(")") if found else "*"
    if argument.endswith(":*"):
        argument = argument.removesuffix(":*") + " *"
    return name, None if argument.strip() in {"", "*"} else argument
