"""What can be set for MCP in `config.toml`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from covey.kernel.config.setting import Setting
from covey.mcp.tools import ALL, OFFERABLE

if TYPE_CHECKING:
    from collections.abc import Sequence


def _operations(value: Sequence[str]) -> str:
    unknown = [name for name in value if name != ALL and name not in OFFERABLE]
    return f"{ALL}, or names of operations such as list.windows or kill, but not {unknown[0][:60]}" if unknown else ""


SETTINGS = (
    Setting(
        "mcp.act",
        "Let agents act on other agents over MCP: send, interrupt. Approvals are never theirs.",
        consent=True,
        type="bool",
        default=False,
    ),
    Setting(
        "mcp.tools",
        "Operations that are offered over MCP besides the usual ones, by name, or all.",
        consent=True,
        type="list",
        default=[],
        check=_operations,
    ),
    Setting(
        "mcp.http",
        "Serve MCP over HTTP on a loopback port too, guarded by the token of the API.",
        consent=True,
        type="bool",
        default=False,
        restart=True,
    ),
    Setting(
        "mcp.port",
        "The TCP port of MCP over HTTP; 0 for the one that it had before, or any that is free.",
        consent=False,
        type="int",
        default=0,
        minimum=0,
        maximum=65_535,
        restart=True,
    ),
)
