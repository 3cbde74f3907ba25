"""A small MCP server, written with the official SDK, whose tools do what servers do: answer, hang, die, say too much.

`python tool_server.py stdio` speaks on standard input and output, `python tool_server.py http PORT` on loopback.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time

from mcp.server import MCPServer

server = MCPServer("tools of a test")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def pid() -> int:
    """Return the process of this server."""
    return os.getpid()


@server.tool()
def variable(name: str) -> str:
    """Return a variable of its environment."""
    return os.environ.get(name, "")


@server.tool()
async def wait() -> str:
    """Never answer, but listen to others."""
    await asyncio.sleep(3600)
    return "late"


@server.tool()
async def hang() -> str:
    """Hang the whole server, and ignore being asked to end."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(3600)  # noqa: ASYNC251 - nothing else runs in the meantime
    return "late"


@server.tool()
def die() -> str:
    """End this server in the middle of a call."""
    os._exit(3)


@server.tool()
def say(size: int) -> str:
    """Answer with so many characters."""
    return "x" * size


@server.tool()
def fail() -> str:
    """Answer with an error."""
    raise ValueError("it does not work")


@server.tool()
def secret() -> str:
    """Do what its owner does not offer."""
    return "secret"


if __name__ == "__main__":
    if sys.argv[1] == "http":
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
    else:
        server.run("stdio")
