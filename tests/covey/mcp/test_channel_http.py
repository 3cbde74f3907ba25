"""MCP for kept sessions over both transports: what a session may do, and that it is the token that decides whose."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp.client import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from covey.mcp.address import KEEPER, SSE_PATH, address, port_file
from covey.mcp.channel_http import token_file
from tests.covey.conftest import TIME_LIMIT, Covey
from tests.covey.mcp import channel_daemon
from tests.covey.mcp.kept_sessions import Keeper

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
MEGABYTE = 1_000_000
Connected = Callable[[Keeper, str], AbstractAsyncContextManager[Client]]


@pytest.fixture
def keeper(covey: Covey) -> Iterator[Keeper]:
    found = Keeper(covey)
    with found.daemon(), found.server():
        yield found


def shown(session: str) -> dict[str, str]:
    return {"Authorization": f"Bearer token of {session}"}


@asynccontextmanager
async def over_http(keeper: Keeper, session: str) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers=shown(session), timeout=TIME_LIMIT) as requests,
        Client(streamable_http_client(address(keeper.port), http_client=requests)) as client,
    ):
        yield client


@asynccontextmanager
async def over_sse(keeper: Keeper, session: str) -> AsyncIterator[Client]:
    """With the handshake, as the agents that know this transport do it."""
    transport = sse_client(address(keeper.port, SSE_PATH), shown(session), timeout=TIME_LIMIT)
    async with Client(transport, mode="legacy") as client:
        yield client


both = pytest.mark.parametrize("connected", [over_http, over_sse])


async def call(client: Client, tool: str, **arguments: Any) -> tuple[str, Any]:
    """The text and the structure that a call returns, which succeeds."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    return text_of(result), result.structured_content


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """The text of the error of a call that fails."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result
    return text_of(result)


def text_of(result: types.CallToolResult) -> str:
    (text,) = result.content
    assert isinstance(text, types.TextContent)
    return text.text


@both
async def test_a_session_lists_its_channels_and_writes_to_them(keeper: Keeper, connected: Connected) -> None:
    async with connected(keeper, "api") as client:
        assert "not the person's consent" in (client.instructions or "")
        send, channels = (await client.list_tools()).tools
        assert (send.name, channels.name) == ("send_to_channel", "list_channels")
        assert send.input_schema["required"] == ["channel", "message"]
        assert set(send.input_schema["properties"]) == {"channel", "message"}
        assert channels.input_schema["properties"] == {}
        assert (hints := send.annotations) is not None
        assert (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint) == (False, False, False)
        assert (hints := channels.annotations) is not None
        assert hints.read_only_hint is True

        text, found = await call(client, "list_channels")
        assert [(item["name"], item["outgoing"]) for item in found["items"]] == [("alerts", True), ("telegram", True)]
        assert json.loads(text) == found

        said = "héllo,\nworld \x1b[31m \N{PARTY POPPER}"
        assert await call(client, "send_to_channel", channel="telegram", message=said) == ("ok", {"ok": True})
        assert await call(client, "send_to_channel", channel="telegram", message=said) == ("ok", {"ok": True})
        large = "x" * MEGABYTE
        await call(client, "send_to_channel", channel="alerts", message=large)
    assert keeper.written("api", "telegram") == [said, said]
    assert keeper.written("api", "alerts") == [large]


@both
async def test_an_error_tells_the_agent_what_happened_and_which_channels_there_are(
    keeper: Keeper, connected: Connected
) -> None:
    async with connected(keeper, "api") as client:
        assert await refused(client, "send_to_channel", channel="slack", message="x") == (
            "there is no outgoing channel 'slack'. Write to one that exists. "
            "Outgoing channels of this session: alerts, telegram."
        )
        assert "'message' is missing" in await refused(client, "send_to_channel", channel="alerts")
        assert "expected text" in await refused(client, "send_to_channel", channel="alerts", message=7)
        assert "list_channels has no parameter 'bogus'" in await refused(client, "list_channels", bogus=1)
        text = await refused(client, "send_to_channel", channel="alerts", message="x" * (2 * MEGABYTE))
        assert "1048576 bytes" in text
        assert "Call one of these: send_to_channel, list_channels." in await refused(client, "list_agents")
    assert keeper.written("api", "alerts") == []


@both
async def test_the_token_and_nothing_else_decides_whose_channels_are_written(
    keeper: Keeper, connected: Connected
) -> None:
    async with connected(keeper, "api") as client, connected(keeper, "web") as other:
        text = await refused(client, "send_to_channel", channel="alerts", message="x", name="web")
        assert "no parameter 'name'" in text
        await asyncio.gather(
            *(call(client, "send_to_channel", channel="alerts", message=f"api {n}") for n in range(20)),
            *(call(other, "send_to_channel", channel="alerts", message=f"web {n}") for n in range(20)),
        )
    assert sorted(keeper.written("api", "alerts")) == sorted(f"api {n}" for n in range(20))
    assert sorted(keeper.written("web", "alerts")) == sorted(f"web {n}" for n in range(20))


def test_others_are_refused(keeper: Keeper) -> None:
    mcp, sse, messages = ("POST", "/mcp", LIST), ("GET", "/sse", None), ("POST", "/messages/?session_id=00", LIST)
    daemons = (Path(keeper.seat.directory) / "http.token").read_text().strip()
    for request in (mcp, sse, messages, ("GET", "/", None)):
        for token in ("", "Bearer", "Bearer ", "Bearer wrong", "Basic token of api", f"Bearer {daemons}"):
            assert keeper.ask(*request, **({"Authorization": token} if token else {})) == 401
        assert keeper.ask(*request, Host="example.com") == 401
    for request in (mcp, sse, messages):
        assert keeper.ask(*request, **shown("api"), Origin="http://127.0.0.1:3000") == 403
        assert keeper.ask(*request, **shown("api"), Host="example.com") == 421
    assert keeper.ask(*mcp, **shown("api")) == 200
    assert keeper.ask("GET", "/messages/", **shown("api")) == 405
    assert keeper.ask("POST", "/messages/", LIST, **shown("api")) == 400
    assert keeper.ask("POST", f"/messages/?session_id={'0' * 32}", LIST, **shown("api")) == 404
    assert keeper.ask("GET", "/", **shown("api")) == 404


def test_only_a_regular_file_of_ours_that_holds_something_is_a_token(keeper: Keeper) -> None:
    file = token_file(keeper.seat, "api")
    file.write_text("\n")
    assert keeper.ask("POST", "/mcp", LIST, Authorization="Bearer ") == 401
    file.unlink()
    os.mkfifo(file)
    assert keeper.ask("POST", "/mcp", LIST, **shown("api")) == 401
    file.unlink()
    file.write_text("token of web")
    assert keeper.ask("POST", "/mcp", LIST, **shown("web")) == 401, "it is the token of two sessions"
    file.unlink()
    (file.parent.parent / "a file").touch()
    assert keeper.ask("POST", "/mcp", LIST, **shown("web")) == 200


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_token_that_belongs_to_somebody_else_counts_for_nothing(keeper: Keeper) -> None:
    os.chown(token_file(keeper.seat, "api"), 12345, -1)
    assert keeper.ask("POST", "/mcp", LIST, **shown("api")) == 401


async def test_an_open_stream_takes_messages_only_while_its_token_is_that_of_a_session(keeper: Keeper) -> None:
    streams: list[str] = []
    transport = sse_client(address(keeper.port, SSE_PATH), shown("api"), on_session_created=streams.append)
    file = token_file(keeper.seat, "api")
    async with Client(transport) as client:
        posted = f"/messages/?session_id={streams[0]}"
        params = {"name": "send_to_channel", "arguments": {"channel": "alerts", "message": "stray"}}
        message = {"jsonrpc": "2.0", "id": 999, "method": "tools/call", "params": params}
        assert keeper.ask("POST", posted, message, **shown("web")) == 404, "the stream of another session"
        assert keeper.ask("POST", posted, message) == 401

        file.rename(file.with_name("away"))
        assert keeper.ask("POST", posted, message, **shown("api")) == 401
        file.with_name("away").rename(file)
        await call(client, "send_to_channel", channel="alerts", message="again")

        file.parent.rename(file.parent.with_name("renamed"))
        channels = channel_daemon.folder(keeper.seat.home, "api")
        channels.rename(channels.with_name("renamed"))
        await call(client, "send_to_channel", channel="alerts", message="renamed")
    assert keeper.written("renamed", "alerts") == ["again", "renamed"]
    assert keeper.written("web", "alerts") == []


@both
async def test_a_daemon_that_is_restarted_is_found_again(covey: Covey, connected: Connected) -> None:
    keeper = Keeper(covey)
    with keeper.server():
        async with connected(keeper, "api") as client:
            text = await refused(client, "send_to_channel", channel="alerts", message="too soon")
            assert "is not running" in text
            assert "Outgoing" not in text
            for number in range(2):
                with keeper.daemon():
                    await call(client, "send_to_channel", channel="alerts", message=str(number))
                assert "is not running" in await refused(client, "list_channels")
    assert keeper.written("api", "alerts") == ["0", "1"]


def test_it_takes_the_port_that_is_wanted_or_that_of_the_last_time_or_any(covey: Covey) -> None:
    keeper = Keeper(covey)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        wanted = taken.getsockname()[1]
        with keeper.server(wanted):
            other = keeper.port
            assert other not in (0, wanted)
            assert port_file(keeper.seat, KEEPER).name == "keeper-mcp.port"
            assert keeper.ask("POST", "/mcp", LIST, **shown("api")) == 200
        with keeper.server(wanted):
            assert keeper.port == other
    with keeper.server(wanted):
        assert keeper.port == wanted
        with keeper.server():
            assert keeper.port != wanted, "it is taken by the first"


def test_it_stops_without_a_word_while_a_stream_is_open(covey: Covey) -> None:
    keeper = Keeper(covey)
    with keeper.server() as process:
        connection = http.client.HTTPConnection("127.0.0.1", keeper.port, timeout=TIME_LIMIT)
        connection.request("GET", "/sse", headers=shown("api"))
        assert connection.getresponse().readline() == b"event: endpoint\r\n"
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=TIME_LIMIT)
        connection.close()
        assert (process.returncode, said) == (-signal.SIGTERM, "")
