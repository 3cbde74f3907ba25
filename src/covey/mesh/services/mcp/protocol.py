"""What the peer and the process that speaks to an MCP server write to each other: a JSON object in each line."""

from __future__ import annotations

from typing import Any, Final, Literal

from msgspec import Struct

from covey.mesh.services.mcp.registered import Transport  # noqa: TC001 - msgspec reads it

LARGEST_ANSWER: Final = 400 * 1024
"""Bytes of an answer of a tool."""
LONGEST_LINE: Final = 16 << 20
"""Bytes of a line: of the list of tools, most of all."""


class Start(Struct, frozen=True, kw_only=True):
    """What the process is for."""

    transport: Transport


class Call(Struct, frozen=True, kw_only=True):
    """A tool to call."""

    id: int
    tool: str
    args: dict[str, Any]
    timeout_s: float


class Ready(Struct, frozen=True, kw_only=True, tag=True):
    """The server is connected."""

    tools: list[dict[str, Any]]


class Failed(Struct, frozen=True, kw_only=True, tag=True):
    """The server cannot be used, or not any more."""

    message: str


class Done(Struct, frozen=True, kw_only=True, tag=True):
    """What came of a call: the answer, or why there is none."""

    id: int
    answer: dict[str, Any] | None = None
    failed: Literal["", "timeout", "refused", "large"] = ""
    message: str = ""


Line = Ready | Failed | Done
