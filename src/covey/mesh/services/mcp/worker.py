"""A process that speaks to one MCP server with the official SDK, for the peer, which never loads it.

The first line of its input is a `Start`, each further one a `Call`; it writes a `Ready` or a `Failed`, then a
`Done` for each call. It ends the server and itself at the end of its input, at SIGTERM, and when the server ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import msgspec
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED

from covey.mesh.services.mcp.protocol import LARGEST_ANSWER, LONGEST_LINE, Call, Done, Failed, Ready, Start
from covey.mesh.services.mcp.registered import Http, Stdio

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import TextIO

    from mcp_types import Tool

MOST_TOOLS, MOST_PAGES = 500, 20
MOST_MEMORY = 384 << 20
"""Bytes in memory with which it gives up: the server has sent more than anybody could use."""
LOOK_EVERY_S = 0.2
STATM = Path("/proc/self/statm")


class _Output:
    """What the peer reads: a line for each value."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, value: Ready | Failed | Done) -> None:
        self._file.write(msgspec.json.encode(value).decode() + "\n")
        self._file.flush()


@contextlib.asynccontextmanager
async def _connected(transport: Stdio | Http) -> AsyncIterator[Client]:
    if isinstance(transport, Stdio):
        program, *args = transport.command
        server = StdioServerParameters(command=program, args=args, env=transport.env, cwd=transport.cwd)
        async with Client(server) as client:
            yield client
        return
    async with (
        create_mcp_http_client(headers=transport.headers) as http,
        Client(streamable_http_client(transport.url, http_client=http)) as client,
    ):
        yield client


async def _tools(client: Client) -> list[dict[str, Any]]:
    found: list[Tool] = []
    cursor = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if cursor is None or len(found) >= MOST_TOOLS:
            break
    return [
        {"name": one.name, "description": one.description or "", "input_schema": one.input_schema}
        for one in found[:MOST_TOOLS]
    ]


async def _call(client: Client, call: Call) -> Done:
    """Perform a call and return what came of it. A deadline cancels it at the server. Raises if that has ended."""
    try:
        with anyio.fail_after(call.timeout_s):
            result = await client.call_tool(call.tool, call.args)
    except TimeoutError:
        return Done(id=call.id, failed="timeout")
    except MCPError as error:
        if error.code == CONNECTION_CLOSED:
            raise
        return Done(id=call.id, failed="refused", message=str(error)[:2000])
    shown = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    answer = {
        "is_error": bool(result.is_error),
        "content": shown.get("content", []),
        "structured": shown.get("structuredContent"),
    }
    size = len(msgspec.json.encode(answer))
    if size > LARGEST_ANSWER:
        return Done(id=call.id, failed="large", message=str(size))
    return Done(id=call.id, answer=answer)


def _resident() -> int:
    """Return the bytes that this process has in memory.

    Linux counts the parent's memory at the fork among the most that a process ever had, so that is no measure there.
    """
    try:
        return int(STATM.read_text(encoding="ascii").split()[1]) * resource.getpagesize()
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024


async def _serve(start: Start, lines: asyncio.StreamReader, output: _Output) -> None:
    async with _connected(start.transport) as client, anyio.create_task_group() as group:
        output.write(Ready(tools=await _tools(client)))

        async def perform(call: Call) -> None:
            output.write(await _call(client, call))

        async def look() -> None:
            while _resident() < MOST_MEMORY:  # noqa: ASYNC110 - nothing tells of it
                await anyio.sleep(LOOK_EVERY_S)
            output.write(Failed(message="the server sent more than fits into memory"))
            group.cancel_scope.cancel()

        group.start_soon(look)
        while line := await lines.readline():
            group.start_soon(perform, msgspec.json.decode(line, type=Call))
        group.cancel_scope.cancel()


async def _main() -> None:
    loop = asyncio.get_running_loop()
    lines = asyncio.StreamReader(limit=LONGEST_LINE)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    output = _Output(os.fdopen(os.dup(1), "w"))
    os.dup2(2, 1)  # whatever is printed by chance is no answer
    start = msgspec.json.decode(await lines.readline(), type=Start)
    task = asyncio.create_task(_serve(start, lines, output))
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        await task
    except asyncio.CancelledError:
        return
    except Exception as error:  # noqa: BLE001 - whatever it is, the peer is told
        output.write(Failed(message=_reason(error)))


def _reason(error: BaseException) -> str:
    """Return why the server could not be used, from inside the groups of the SDK."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"[:2000]


if __name__ == "__main__":
    asyncio.run(_main())
