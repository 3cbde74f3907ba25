"""MCP clients of the official SDK, for a server on standard input and output and for one over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import mcp_types as types
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.covey.conftest import COMMAND, Covey

Use = Callable[[Client], Awaitable[None]]


@asynccontextmanager
async def stdio(covey: Covey) -> AsyncIterator[Client]:
    """A client of `covey mcp`."""
    command = StdioServerParameters(command=COMMAND, args=["mcp"], env=covey.environment(), cwd=covey.folder)
    async with Client(stdio_client(command)) as client:
        yield client


@asynccontextmanager
async def http(covey: Covey, address: str) -> AsyncIterator[Client]:
    """A client of the server that the node keeps."""
    token = (covey.node / "http.token").read_text().strip()
    async with (
        httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=30) as session,
        Client(streamable_http_client(address, http_client=session)) as client,
    ):
        yield client


async def call(client: Client, name: str, **arguments: Any) -> Any:
    """Return the data of a call that succeeds."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result
    return result.structured_content["data"]


async def refused(client: Client, name: str, **arguments: Any) -> Any:
    """Return the error of a call that is refused, as text and as structure."""
    result = await client.call_tool(name, arguments)
    assert result.is_error
    (text,) = result.content
    assert isinstance(text, types.TextContent)
    error = result.structured_content["error"]
    assert error["message"] in text.text.replace('\\"', '"')
    return error


async def address_of(covey: Covey) -> str:
    """The address of MCP over HTTP, as soon as the status has it."""
    for _ in range(600):
        if found := covey.run("status").result["mcp"]["http"]:
            return str(found)
        await asyncio.sleep(0.1)
    raise AssertionError("MCP is not served over HTTP")
