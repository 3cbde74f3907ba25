"""What does a tool of another member cost? A call through the mesh, beside the same call of the official SDK.

Two real peers, each a process of its own, and a real broker; the MCP server is the one of the tests, over standard
input and output. The calls are made in turn in one run, so that a noisy machine disturbs all alike.

    direct      the official SDK in this process calls the server
    owner       its owner calls it through its own peer: the peer's socket, and the process that speaks MCP
    member      another member calls it: sealed, over the broker, to the owner's peer and back

    ./run python bench/mesh_mcp.py [--calls 300]
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.remove(str(Path(__file__).resolve().parent))  # it has an mcp.py

from mcp import Client, StdioServerParameters

from lab.mesh.stage import open_stage
from lab.show import table

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

ROOT = Path(__file__).parent.parent
SERVER = ROOT / "tests" / "covey" / "mesh" / "services" / "mcp" / "tool_server.py"
COMMAND = [sys.executable, str(SERVER), "stdio"]
ARGS = {"a": 2, "b": 3}
LIMIT_S = 60.0


async def measure(calls: int) -> None:
    """Print one table of medians and ratios."""
    async with open_stage() as stage, Client(StdioServerParameters(command=COMMAND[0], args=COMMAND[1:])) as client:
        member = await stage.join("member")
        await stage.acquainted()
        owner = stage.authority
        transport = {"type": "stdio", "command": COMMAND}
        given = {"server_name": "tools", "tools": ["add"], "transport": transport}
        idle = (await owner.api.call("GET", "/v1/status"))["rss_bytes"]
        await owner.api.call("POST", "/v1/mcp/register", given)
        deadline = time.monotonic() + LIMIT_S
        while not (await member.api.call("GET", "/v1/mcp/list"))["items"]:
            assert time.monotonic() < deadline, "the offer did not come"
            await asyncio.sleep(0.1)
        asked = {"server": "tools", "tool": "add", "args": ARGS}
        ways: dict[str, Callable[[], Awaitable[Any]]] = {
            "direct": lambda: client.call_tool("add", ARGS),
            "owner": lambda: owner.api.call("POST", "/v1/mcp/call", asked),
            "member": lambda: member.api.call("POST", "/v1/mcp/call", asked),
        }
        took: dict[str, list[float]] = {way: [] for way in ways}
        for number in range(calls + 10):
            for way, call in ways.items():
                began = time.perf_counter()
                await call()
                if number >= 10:
                    took[way].append((time.perf_counter() - began) * 1000)
        used = (await owner.api.call("GET", "/v1/status"))["rss_bytes"]
    base = statistics.median(took["direct"])
    rows = [
        [
            way,
            f"{statistics.median(one):.2f}",
            f"{statistics.quantiles(one, n=20)[-1]:.2f}",
            f"{statistics.median(one) / base:.2f}",
        ]
        for way, one in took.items()
    ]
    print(table(["call", "p50 ms", "p95 ms", "x direct"], rows))
    print(f"the owner's peer: {idle >> 20} MB before it offered anything, {used >> 20} MB after the calls")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=300)
    asyncio.run(measure(parser.parse_args().calls))
