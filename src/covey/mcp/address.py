"""Where MCP is served over HTTP: the addresses, and the files that hold the ports."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from covey.kernel.atomic_file import write_file
from covey.kernel.regular_file import read_regular

if TYPE_CHECKING:
    from covey.kernel.seat import Seat

HOST, PATH, SSE_PATH = "127.0.0.1", "/mcp", "/sse"
NODE, KEEPER = "mcp", "keeper-mcp"
"""The servers, each of which has a port of its own: that of the node's tools, and that of the kept sessions."""
LONGEST = 64


def port_file(seat: Seat, server: str = NODE) -> Path:
    return Path(seat.directory) / f"{server}.port"


def record_port(seat: Seat, port: int, server: str = NODE) -> None:
    """Write the port that this process listens on, for the node's status and for the next time."""
    write_file(str(port_file(seat, server)), f"{port} {os.getpid()}\n".encode(), 0o600)


def recorded_port(seat: Seat, pid: int | None = None, server: str = NODE) -> int | None:
    """Return the port that was listened on last, by the process `pid` if one is named; None if there is none."""
    try:
        port, _, owner = read_regular(port_file(seat, server), LONGEST).decode("ascii").strip().partition(" ")
    except (OSError, UnicodeDecodeError):
        return None
    return int(port) if port.isdigit() and pid in {None, int(owner) if owner.isdigit() else 0} else None


def address(port: int, path: str = PATH) -> str:
    return f"http://{HOST}:{port}{path}"
