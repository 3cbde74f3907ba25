"""What a tool call is, as far as a policy looks at it: known from the agent and the tool, never from what it says."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Kind = Literal["shell", "patch", "file", "web", "mcp", "other"]
SHELL: Literal["shell"] = "shell"
PATCH: Literal["patch"] = "patch"
FILE: Literal["file"] = "file"
WEB: Literal["web"] = "web"
MCP: Literal["mcp"] = "mcp"
OTHER: Literal["other"] = "other"
KINDS: tuple[Kind, ...] = (SHELL, PATCH, FILE, WEB, MCP, OTHER)


class ToolCall(Struct, frozen=True, kw_only=True):
    """One call of a tool. `unread` says why its input is not understood whole; no rule allows such a call."""

    kind: Kind
    command: str = ""
    """What a shell is given; empty for other kinds."""
    paths: tuple[str, ...] = ()
    """The files that it names."""
    deep: bool = False
    """Whether it reaches what is below its paths, as a search does."""
    texts: tuple[str, ...] = ()
    """Every text in its input, names of keys too: where a deny looks if the input has no declared form."""
    folder: str = ""
    """The folder in which it runs, if its input names one."""
    unread: str = ""
