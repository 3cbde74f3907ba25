"""MCP on standard input and output: one message a line. Nothing else is ever written to standard output."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, NoReturn, cast

import mcp_types as types
from mcp.server.stdio import stdio_server

from covey.mcp.server import make_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import anyio

    from covey.kernel.home import Home

LONGEST_LINE = 4 * 1024 * 1024
CHUNK = 64 * 1024
AHEAD = 64
"""How many lines are read before the first of them is taken."""
STDIN, STDOUT = 0, 1
HINT = "covey mcp waits for an agent that speaks MCP. Give it to one: claude mcp add covey -- covey mcp\n"


class LineReader:
    """Lines of a descriptor, read by a thread. A line that is too long is None, and is not kept."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[bytes | EOFError | None] = asyncio.Queue()
        self._room = threading.Semaphore(AHEAD)
        # A daemon thread that reads the descriptor itself: it may hang in there when the process ends.
        threading.Thread(target=self._read, name="standard input", daemon=True).start()

    async def __aiter__(self) -> AsyncIterator[bytes | None]:
        while not isinstance(line := await self._lines.get(), EOFError):
            self._room.release()
            yield line

    def _read(self) -> None:
        parts, size = list[bytes](), 0
        with contextlib.suppress(OSError):
            while chunk := os.read(self._descriptor, CHUNK):
                *ends, rest = chunk.split(b"\n")
                for end in ends:
                    parts.append(end)
                    self._put(b"".join(parts) if size + len(end) <= LONGEST_LINE else None)
                    parts, size = [], 0
                size += len(rest)
                parts = [*parts, rest] if size <= LONGEST_LINE else []
        self._put(EOFError())

    def _put(self, line: bytes | EOFError | None) -> None:
        self._room.acquire()
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line)


class Output:
    """Standard output, of which each write is whole."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._turn = asyncio.Lock()

    async def write(self, text: str) -> None:
        async with self._turn:
            await asyncio.to_thread(self._write, text.encode())

    async def flush(self) -> None:
        """Do nothing: `write` keeps nothing back."""

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._descriptor, view) :]


async def messages(lines: LineReader, output: Output) -> AsyncIterator[str]:
    """Yield the lines that are JSON objects, and answer all others with an error, as JSON-RPC has it."""
    async for line in lines:
        if line is not None and not line.strip():
            continue
        problem = f"the line is longer than {LONGEST_LINE} bytes"
        if line is not None:
            try:
                text = line.decode()
                if isinstance(json.loads(text), dict):
                    yield text
                    continue
                problem = "the line is not a JSON object"
            except (ValueError, RecursionError) as error:
                problem = f"the line is not JSON in UTF-8: {str(error)[:100]}"
        refused = {"jsonrpc": "2.0", "id": None, "error": {"code": types.PARSE_ERROR, "message": problem}}
        await output.write(f"{json.dumps(refused)}\n")


async def serve(home: Home) -> int:
    """Serve until standard input ends or a signal comes. Returns the exit code."""
    server = make_server(home)
    output = Output(STDOUT)
    lines = messages(LineReader(STDIN), output)
    loop, task, code = asyncio.get_running_loop(), asyncio.current_task(), 0

    def stop(number: signal.Signals) -> None:
        nonlocal code
        code = 128 + number
        cast("asyncio.Task[int]", task).cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop, number)
    if os.isatty(STDIN):
        sys.stderr.write(HINT)
    with contextlib.suppress(asyncio.CancelledError):
        try:
            # The SDK's own files are text files; it only iterates over the one, and writes and flushes the other.
            async with stdio_server(cast("anyio.AsyncFile[str]", lines), cast("anyio.AsyncFile[str]", output)) as (
                received,
                sent,
            ):
                await server.run(received, sent, server.create_initialization_options())
        except* OSError:  # the client has closed its end
            pass
    return code


def run(home: Home) -> NoReturn:
    """Be the server, and end the process: a thread may still wait for input, and nothing else may be printed."""
    logging.getLogger().addHandler(logging.NullHandler())  # what the SDK logs is for those who develop it
    os._exit(asyncio.run(serve(home)))
