"""MCP over HTTP: a child of the node, behind the token of the API."""

from __future__ import annotations

import http.client
import json
import os
import signal
from urllib.parse import urlsplit

from covey.hosts.processes import ProcessTable
from covey.mcp.tools import CURATED
from tests.covey.conftest import TIME_LIMIT, Covey
from tests.covey.fleet.room import until
from tests.covey.mcp.conftest import address_of, call, refused
from tests.covey.mcp.conftest import http as connected

LIST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})


def post(address: str, body: str = LIST, **headers: str) -> int:
    """Send one request and return the status of its answer."""
    place = urlsplit(address)
    connection = http.client.HTTPConnection("127.0.0.1", place.port or 0, timeout=TIME_LIMIT)
    usual = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    try:
        connection.request("POST", place.path, body, {**usual, **headers})
        return connection.getresponse().status
    finally:
        connection.close()


async def test_it_is_served_behind_the_token_by_a_child_that_is_kept(covey: Covey) -> None:
    covey.run("config", "set", "mcp.http", "true", "--yes")
    covey.run("up")
    address = await address_of(covey)
    (child,) = covey.run("status").result["children"]
    assert (child["name"], child["state"]) == ("mcp", "running")
    async with connected(covey, address) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} < set(CURATED.values())
        assert (await call(client, "list_agents"))["items"] == []
        assert (await refused(client, "list_agents", bogus=1))["code"] == "argument_error"
        assert (await refused(client, "send_message", ref="%1", text="x"))["code"] == "mcp_act_off"

    token = f"Bearer {covey.token}"
    assert post(address) == 401
    assert post(address, Authorization="Bearer wrong") == 401
    assert post(address, Authorization=token) == 200
    assert post(address, Authorization=token, Host="example.com") == 421
    assert post(address, Authorization=token, Origin="http://localhost:3000") == 403
    assert post(address, "nonsense", Authorization=token) == 400
    assert post(address, "[" * 100_000, Authorization=token) == 400
    assert post(address, " " * 5_000_000, Authorization=token) == 413

    os.kill(child["pid"], signal.SIGKILL)
    until(lambda: covey.run("status").result["children"][0]["restarts"] == 1)
    assert await address_of(covey) == address, "the next one listens where it was"
    async with connected(covey, address) as client:
        await call(client, "covey_status")
    last = covey.run("status").result["children"][0]["pid"]
    covey.run("down")
    assert ProcessTable.read().get(last) is None


def test_it_is_off_unless_it_is_wanted(covey: Covey) -> None:
    covey.run("up")
    status = covey.run("status").result
    assert (status["children"], status["mcp"]) == ([], {"act": False, "http": None})
